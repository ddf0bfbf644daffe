//! Entry points for tests that begin where HQ mode begins, or with a list of queues, and that stop a thread between two
//! steps.
//!
//! A checker can afford two or three threads, and the interesting states of the list need more. Here a test builds such
//! a state by hand: waiters without threads, called *absent*. A thread acts for one ([`QueuesAtOnce::act_for`]).

use super::handover::{Change, change_list, hand_over};
use super::meta::Metadata;
use super::queue::{Fields, Place, Waiter, claim, link_behind, prepare};
use super::word::Mode;
use super::{HqPlatform, HqSpinlock, HqWord};
use crate::platform::{Atomic, Cells};
use crate::queue::NodeId;
use crate::raw::{Order, RawLock};
use core::sync::atomic::Ordering::Relaxed;

/// The lock whose waiters go straight to a queue: no thread becomes the pending waiter, so two waiters are enough for
/// two queues. If not `IN_ORDER`, it begins as it is after much contention: the first waiter decides how threads
/// queue.
#[repr(transparent)]
pub struct QueuesAtOnce<P: Cells, const IN_ORDER: bool = false>(HqSpinlock<P>);

/// A waiter without a thread.
#[derive(Clone, Copy, Debug)]
pub struct Absent {
    waiter: Waiter,
    place: Place,
}

/// The list of queues of a lock, and the use of its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HqList {
    /// The number of the use; it stays when the use is over.
    pub number: u32,
    /// The first queue, counted from 1; 0 if there is none.
    pub first: u16,
    /// The last one.
    pub last: u16,
    /// True if a lock has the metadata.
    pub is_in_use: bool,
}

impl<P: HqPlatform, const IN_ORDER: bool> QueuesAtOnce<P, IN_ORDER> {
    const FREE: HqWord = if IN_ORDER { HqWord::FREE } else { HqWord::WITHOUT_MODE };

    /// Returns a lock that is held.
    pub fn held() -> Self {
        Self(HqSpinlock::with_word(Self::FREE.held()))
    }
    /// Returns `true` if both locks would use the same metadata.
    pub fn shares_metadata_with(&self, other: &Self) -> bool {
        core::ptr::eq(Metadata::<P>::of(&self.0.word).entry, Metadata::<P>::of(&other.0.word).entry)
    }
    /// Returns its word.
    pub fn word(&self) -> u32 {
        // ordering: Relaxed; nothing is read through it.
        self.0.word.load(Relaxed)
    }
    /// Overwrites its word.
    pub fn poke(&self, word: u32) {
        // ordering: Relaxed; nothing is read through it.
        self.0.word.store(word, Relaxed);
    }
    /// Returns `true` if the lock is in HQ mode.
    pub fn is_in_hq_mode(&self) -> bool {
        HqWord::from_bits(self.word()).mode() == Mode::Hq
    }
    /// Returns what the metadata of the lock say.
    pub fn list(&self) -> HqList {
        let metadata = Metadata::<P>::of(&self.0.word);
        let ends = metadata.entry.ends();
        let (number, is_in_use) = (metadata.entry.number(), !metadata.entry.is_free());
        HqList { number, first: ends.first, last: ends.last, is_in_use }
    }
    /// Returns the queue behind this one in the list, both counted from 1; 0 if none is linked.
    pub fn behind(&self, queue: u16) -> u32 {
        // ordering: Relaxed; nothing is read through it.
        Metadata::<P>::of(&self.0.word).queue(queue).next.load(Relaxed)
    }
    /// Returns how many turns were given past the first queue before this one, counted from 1.
    pub fn left(&self, queue: u16) -> u32 {
        // ordering: Relaxed; nothing is read through it.
        Metadata::<P>::of(&self.0.word).queue(queue).left.load(Relaxed)
    }

    /// Returns a waiter on the calling CPU that has joined no queue yet.
    fn arrive(&self) -> Waiter {
        self.arrive_with(claim::<P>().expect("a node"))
    }
    fn arrive_with(&self, id: NodeId) -> Waiter {
        prepare::<P>(id);
        Waiter { id, aware: HqWord::from_bits(self.word()).is_aware() }
    }
    /// # Safety
    /// Its thread, or one that acts for it, has the lock and has handed over.
    unsafe fn leave(waiter: Waiter) {
        // SAFETY: claimed in `arrive`; as in `lock_queue` no thread reaches it now.
        unsafe { P::release_node(waiter.id) };
    }
    /// Adds a waiter on the calling CPU.
    ///
    /// # Panics
    /// If there is no node.
    pub fn enqueue_absent(&self) -> Absent {
        let mut waiter = self.arrive();
        let place = self.0.join(&mut waiter);
        if let Place::Behind(prev) = place {
            link_behind::<P>(prev, waiter.id);
        }
        Absent { waiter, place }
    }
    /// Does what the thread of an absent waiter would do from here on: waits for its turn, then for the lock. The
    /// caller holds the lock afterwards.
    ///
    /// # Safety
    /// It is a waiter of this lock, and no other thread acts for it.
    pub unsafe fn act_for(&self, Absent { waiter, place }: Absent) {
        self.0.wait_and_take(waiter, place);
        // SAFETY: it has the lock and has handed over.
        unsafe { Self::leave(waiter) };
    }
    /// Comes for the lock, as a thread that has just found it so, and wants to become the pending waiter. Returns
    /// `true` if it has taken the lock.
    pub fn lock_pending_late(&self, seen: u32) -> bool {
        self.0.lock_pending(HqWord::from_bits(seen))
    }
    /// Takes the lock, as a thread that found it in queued mode, and comes to the queue only now. Pauses when it has
    /// exchanged the tail. Without a node it takes the lock as usual.
    pub fn lock_late(&self, pause: impl FnOnce()) {
        let Some(id) = claim::<P>() else { return self.0.lock() };
        let mut waiter = Waiter { aware: false, ..self.arrive_with(id) };
        let place = self.0.join_one_queue(waiter.id.code());
        pause();
        let place = place.unwrap_or_else(|| self.0.join_late(&mut waiter));
        self.0.wait_and_take(waiter, place);
        // SAFETY: it has the lock and has handed over.
        unsafe { Self::leave(waiter) };
    }
    /// Takes the lock in HQ mode. If no waiter is behind it in its queue, pauses when it has changed the list, before
    /// it clears the tail of the queue. Returns `false` if one is behind.
    ///
    /// # Panics
    /// If there is no node, or the lock is in queued mode.
    pub fn lock_slowly(&self, pause: impl FnOnce()) -> bool {
        let (waiter, metadata) = self.lock_and_keep_queue();
        let changed = change_list(&metadata, waiter.id);
        pause();
        match changed {
            Some((seen, change)) => self.0.leave_queue(&metadata, waiter.id, seen, change),
            None => hand_over(&metadata, waiter.id),
        }
        // SAFETY: it has the lock and has handed over.
        unsafe { Self::leave(waiter) };
        changed.is_some()
    }
    /// Takes the lock in HQ mode, as the last waiter of all queues. Pauses when it has found all of them empty, before
    /// it ends HQ mode.
    ///
    /// # Panics
    /// If there is no node, the lock is in queued mode, or there is another waiter.
    pub fn lock_and_end_slowly(&self, pause: impl FnOnce()) {
        let (waiter, metadata) = self.lock_and_keep_queue();
        let (seen, change) = change_list(&metadata, waiter.id).expect("no waiter behind");
        assert!(change == Change::Emptied, "no queue behind");
        let own = Fields::<P>::of(waiter.id).queue();
        let is_last = metadata.queue(own).clear_tail(seen) && metadata.is_unused();
        assert!(is_last, "no other waiter");
        pause();
        self.0.end_hq_mode(&metadata);
        // SAFETY: it has the lock, and no waiter is behind it.
        unsafe { Self::leave(waiter) };
    }
    fn lock_and_keep_queue(&self) -> (Waiter, Metadata<'_, P>) {
        let mut waiter = self.arrive();
        let place = self.0.join(&mut waiter);
        let is_by_node = self.0.wait_for_turn(waiter, place).is_none();
        assert!(is_by_node, "in HQ mode");
        (waiter, Metadata::of(&self.0.word))
    }
}

impl Absent {
    /// Returns how many handoffs its predecessor has told it.
    pub fn count<P: HqPlatform>(&self) -> u32 {
        Fields::<P>::of(self.waiter.id).count()
    }
    /// Changes that number.
    pub fn set_count<P: HqPlatform>(&self, count: u16) {
        Fields::<P>::of(self.waiter.id).set_count(count.into());
    }
    /// Returns `true` if a late thread in front of it has brought it to its queue.
    pub fn is_foreign<P: HqPlatform>(&self) -> bool {
        Fields::<P>::of(self.waiter.id).is_foreign()
    }
}

impl<P: HqPlatform, const IN_ORDER: bool> RawLock for QueuesAtOnce<P, IN_ORDER> {
    const ORDER: Order = Order::Grouped;

    fn new() -> Self {
        Self(HqSpinlock::with_word(Self::FREE))
    }
    fn lock(&self) {
        self.0.lock_queue(HqWord::from_bits(self.word()).is_aware());
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
