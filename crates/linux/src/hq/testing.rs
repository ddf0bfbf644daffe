//! Entry points for tests that begin where HQ mode begins, or with a list of queues.
//!
//! A checker can afford two or three threads, and the interesting states of the list need more. Here a test builds such
//! a state by hand: waiters without threads, called *absent*. A thread acts for one ([`QueuesAtOnce::act_for`]).

use super::pool::{Joined, Metadata};
use super::queue::{Role, link_behind, prepare};
use super::word::Mode;
use super::{HqPlatform, HqPolicy, HqPosted, HqSpinlock, HqWord};
use crate::platform::{Atomic, Cells};
use crate::queue::{NodeId, node};
use crate::raw::{Order, RawLock};
use core::sync::atomic::Ordering::Relaxed;

/// The lock whose waiters go straight to a queue: no thread becomes the pending waiter, so two waiters are enough for
/// two queues. If not `IN_ORDER`, it begins as it is after much contention: the first waiter decides how threads
/// queue.
#[repr(transparent)]
pub struct QueuesAtOnce<P: Cells, F = HqPosted, const IN_ORDER: bool = false>(HqSpinlock<P, F>);

impl<P: HqPlatform, F: HqPolicy, const IN_ORDER: bool> QueuesAtOnce<P, F, IN_ORDER> {
    /// Returns a lock that is held.
    pub fn held() -> Self {
        Self(HqSpinlock::with_word(Self::FREE.held()))
    }
    const FREE: HqWord = if IN_ORDER { HqWord::FREE } else { HqWord::UNDECIDED };

    /// Returns `true` if both locks would use the same metadata.
    pub fn shares_metadata_with(&self, other: &Self) -> bool {
        core::ptr::eq(Metadata::<P>::of(&self.0.word).entry, Metadata::<P>::of(&other.0.word).entry)
    }
}

/// A waiter without a thread.
#[derive(Clone, Copy, Debug)]
pub struct Absent {
    id: NodeId,
    /// 0 if it has queued in order of arrival.
    queue: u8,
}

impl<P: HqPlatform, F: HqPolicy, const IN_ORDER: bool> QueuesAtOnce<P, F, IN_ORDER> {
    /// Adds a waiter on the calling CPU that has queued by NUMA node. If it is the head of the lock, its NUMA node has
    /// had as many handoffs as it may.
    ///
    /// # Panics
    /// If there is no node, or a thread uses the lock, which was free, or the metadata already.
    pub fn enqueue_absent(&self) -> Absent {
        let id = P::claim_node().expect("a node for an absent waiter");
        prepare::<P>(id);
        let metadata = Metadata::of(&self.0.word);
        metadata.entry.take(metadata.name);
        self.0.set_mode(HqWord::UNDECIDED, HqWord::hq_begins);
        let use_of_it =
            metadata.entry.use_by(metadata.name).expect("metadata that no other lock has");
        let queue = metadata.own_queue();
        match metadata.queue(queue).join(use_of_it, id) {
            Joined::Behind(prev) => link_behind::<P>(prev, id),
            Joined::First => {
                let is_head = self.0.enter_list(&metadata, queue, id).expect("HQ mode");
                if is_head {
                    Role::Head(u32::MAX).tell::<P>(id);
                }
            }
            Joined::TooLate | Joined::Occupied => panic!("a thread uses the metadata"),
        }
        Absent { id, queue }
    }
    /// Adds a waiter on the calling CPU that has queued in order of arrival. If it is the head of the lock, there have
    /// been as many handoffs as can be counted.
    ///
    /// # Panics
    /// If there is no node, or the lock is not in queued mode.
    pub fn enqueue_absent_in_order(&self) -> Absent {
        let id = P::claim_node().expect("a node for an absent waiter");
        prepare::<P>(id);
        let prev = self.0.join_in_order(HqWord::FREE, id).expect("a lock in queued mode");
        match prev.node() {
            Some(prev) => link_behind::<P>(prev, id),
            None => Role::Head(u32::MAX).tell::<P>(id),
        }
        Absent { id, queue: 0 }
    }
    /// Returns the number of the use in which the lock has its metadata; 0 if it has none.
    pub fn number_of_use(&self) -> u64 {
        let metadata = Metadata::<P>::of(&self.0.word);
        metadata.entry.use_by(metadata.name).unwrap_or(0)
    }
    /// Returns `true` if the lock is in HQ mode.
    pub fn is_in_hq_mode(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        HqWord::from_bits(self.0.word.load(Relaxed)).mode() == Mode::Hq
    }
    /// Sets the pending bit, as a thread that found the lock held and without a waiter, and comes only now. Returns
    /// `true` if it has taken the lock.
    pub fn lock_pending_late(&self) -> bool {
        self.0.lock_pending(HqWord::FREE.held())
    }
    /// Takes the lock, as a thread that found it in HQ mode in the use with this number, and comes to the queue only
    /// now.
    ///
    /// # Panics
    /// If there is no node.
    pub fn lock_late(&self, number: u64) {
        let id = P::claim_node().expect("a node for a late thread");
        prepare::<P>(id);
        let has_lock = self.0.queue_in_use(&Metadata::of(&self.0.word), number, id);
        // SAFETY: claimed above; as in `lock_queue` no thread reaches it now.
        unsafe { P::release_node(id) };
        if !has_lock {
            self.0.lock_queue();
        }
    }
    /// Does what the thread of an absent waiter would do from here on: waits for its turn, then for the lock. The
    /// caller holds the lock afterwards.
    ///
    /// # Panics
    /// If it is told a role that a waiter in the list is never told.
    ///
    /// # Safety
    /// It is a waiter of this lock, and no other thread acts for it.
    pub unsafe fn act_for(&self, Absent { id, queue }: Absent) {
        let Role::Head(handoffs) = Role::wait(node::<P>(id)) else {
            panic!("a waiter in the list was told to append its queue");
        };
        match queue {
            0 => self.0.lead_in_order(id, handoffs),
            _ => self.0.wait_by_node(&Metadata::of(&self.0.word), queue, id, handoffs),
        }
        // SAFETY: claimed when the waiter was built; as in `lock_queue` no thread reaches it now.
        unsafe { P::release_node(id) };
    }
}

impl<P: HqPlatform, F: HqPolicy, const IN_ORDER: bool> RawLock for QueuesAtOnce<P, F, IN_ORDER> {
    const ORDER: Order = Order::Grouped;

    fn new() -> Self {
        Self(HqSpinlock::with_word(Self::FREE))
    }
    fn lock(&self) {
        self.0.lock_queue();
    }
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        HqWord::from_bits(word).is_legal()
    }
}
