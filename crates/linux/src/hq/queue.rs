//! The queues: how a waiter joins one.
//!
//! In queued mode this is the one queue of the queued spinlock. In HQ mode there is a list of queues:
//!
//! ```text
//!   first queue <─before/next─> queue <─> ... <─> last queue       (both ends in the metadata)
//!     │                           │                 │
//!   first ─> waiter             first             first ─> waiter ─> newest, in the tail of the queue
//! ```
//!
//! Only one waiter looks at the word: that which found the list empty, or was granted. All other changes of the list
//! than an append are made by the owner of the lock, when it has taken the lock.

use super::meta::{Metadata, Taken, own_queue};
use super::word::{INVALID_TAIL, Mode};
use super::{HqPlatform, HqSpinlock, HqWord};
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::queue::{NodeId, QNode, TailCode, count_nesting, link_to, node};
use crate::raw::RawLock;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Counts stop one below this one.
const COUNT_END: u32 = u16::MAX as u32;

/// A waiter and what it knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) id: NodeId,
    /// True if the lock had left queued mode when it came, or when it joined.
    pub(super) aware: bool,
}

/// A place in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In front: it waits for the word.
    Front,
    /// Behind this waiter, which grants it.
    Behind(NodeId),
    /// The first of its queue, behind other queues. A waiter of another queue grants it.
    FirstOfQueue,
}

/// The fields of a node that belong to this lock.
pub(super) struct Fields<'a, P: HqPlatform>(&'a QNode<P>);

impl<P: HqPlatform> Fields<'_, P> {
    pub(super) fn of(id: NodeId) -> Self {
        Self(node(id))
    }
    /// The number of handoffs to the waiters in front of this one.
    pub(super) fn count(&self) -> u32 {
        // ordering: Relaxed; acquired by H3, or its own.
        self.0.intra_count.load(Relaxed)
    }
    pub(super) fn set_count(&self, count: u32) {
        // ordering: Relaxed; published by H3, or its own.
        self.0.intra_count.store(count, Relaxed);
    }
    /// The queue in which it is.
    pub(super) fn queue(&self) -> u16 {
        // ordering: Relaxed; acquired by H3, or its own.
        self.0.numa.load(Relaxed) as u16
    }
    pub(super) fn set_queue(&self, queue: u16) {
        // ordering: Relaxed; published by H3, or its own.
        self.0.numa.store(queue.into(), Relaxed);
    }
    /// The newest waiter that a late thread brought with it to its queue.
    pub(super) fn foreign(&self) -> TailCode {
        // ordering: Relaxed; acquired by H3, or its own.
        TailCode::from_bits(self.0.prev.load(Relaxed) as u16)
    }
    /// Returns `true` if it is a late thread that has brought others, or one of these.
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign() != TailCode::NONE
    }
    pub(super) fn set_foreign(&self, code: TailCode) {
        // ordering: Relaxed; published by H3, or its own.
        self.0.prev.store(code.bits().into(), Relaxed);
    }
    /// Passes a count that is one higher on to `next`. It stops at 65,534.
    pub(super) fn pass_count(&self, to: &Self, is_counted: bool) {
        let next = self.count() + 1;
        to.set_count(if is_counted && next != COUNT_END { next } else { self.count() });
    }
}

/// Makes `id` the node of a waiter that no other thread knows yet.
#[doc(alias = "hqlock_init_node")]
pub(super) fn prepare<P: HqPlatform>(id: NodeId) {
    let me = node::<P>(id);
    // ordering: Relaxed; published by H1 and H2.
    me.next.store(TailCode::NONE.bits().into(), Relaxed);
    // ordering: Relaxed; published by H1 and H2.
    me.locked.store(0, Relaxed);
    let fields = Fields(me);
    fields.set_count(0);
    fields.set_queue(own_queue::<P>());
    fields.set_foreign(TailCode::NONE);
}

/// Links `id` behind `prev`.
pub(super) fn link_behind<P: HqPlatform>(prev: NodeId, id: NodeId) {
    // ordering: Release; H2.
    node::<P>(prev).next.store(link_to(id), Release);
}

/// Claims a queue node. The one whose code is the invalid tail is not for waiters: the posted lock does not work with
/// more CPUs than come before it.
pub(super) fn claim<P: HqPlatform>() -> Option<NodeId> {
    let id = P::claim_node()?;
    if id.code() == INVALID_TAIL {
        // SAFETY: claimed above, and no other thread knows it.
        unsafe { P::release_node(id) };
        return None;
    }
    Some(id)
}

// Joining.
impl<P: HqPlatform> HqSpinlock<P> {
    /// Takes the lock by way of a queue. The word said, when the thread came, if it is `aware`.
    pub(super) fn lock_queue(&self, aware: bool) {
        P::count(Event::lock_slowpath);
        let Some(id) = claim::<P>() else { return self.lock_without_node() };
        count_nesting::<P>(id);
        prepare::<P>(id);
        if !self.try_lock() {
            let mut waiter = Waiter { id, aware };
            let place = self.join(&mut waiter);
            self.wait_and_take(waiter, place);
        }
        // SAFETY: claimed above. No thread reaches the node now: neither the word nor a tail names it, its predecessor
        // has granted, and its successor has been granted or is the first waiter of the queue.
        unsafe { P::release_node(id) };
    }
    /// Competes for the word without a place in a queue, because no queue node is left.
    #[cold]
    fn lock_without_node(&self) {
        P::count(Event::lock_no_node);
        while !self.try_lock() {
            // ordering: Relaxed; only a hint, re-checked by `try_lock`.
            self.word.cond_load(Relaxed, |bits| HqWord::from_bits(bits).is_free());
        }
    }

    /// Makes the waiter the newest one of a queue.
    #[doc(alias = "hqlock_xchg_tail")]
    pub(super) fn join(&self, waiter: &mut Waiter) -> Place {
        match waiter.aware {
            true => self.join_by_node(waiter, waiter.id.code()),
            false => match self.join_one_queue(waiter.id.code()) {
                Some(place) => place,
                None => self.join_late(waiter),
            },
        }
    }

    /// Exchanges the tail of the word, as a thread that is not aware. Returns `None` if the tail was invalid: the lock
    /// has left queued mode.
    pub(super) fn join_one_queue(&self, code: TailCode) -> Option<Place> {
        // (p,queued,*,*) -> (n,queued,*,*), (invalid,*,*,*) -> (n,*,*,*)
        // ordering: AcqRel; H1 both ways.
        match TailCode::from_bits(self.word.swap_half1(code.bits(), AcqRel)) {
            INVALID_TAIL => None,
            old => Some(old.node().map_or(Place::Front, Place::Behind)),
        }
    }

    /// Joins a queue as a *late* thread, which has put its code in place of the invalid tail. Threads that came since
    /// then are behind it and do not know. They come along.
    pub(super) fn join_late(&self, waiter: &mut Waiter) -> Place {
        P::count(Event::hq_late);
        match self.repair_tail() {
            Some(newest) => self.join_by_node(waiter, newest),
            None => Place::Front,
        }
    }
    /// Makes the tail of the word invalid again. Returns the newest waiter, or `None` if the lock is in queued mode.
    #[doc(alias = "try_update_tail_qspinlock_mode")]
    fn repair_tail(&self) -> Option<TailCode> {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = HqWord::from_bits(self.word.load(Relaxed));
        while seen.is_aware() {
            let repaired = seen.with_tail(INVALID_TAIL).bits();
            // (n,*,*,*) -> (invalid,*,*,*)
            // ordering: Acquire; H1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(seen.bits(), repaired, Acquire, Relaxed) {
                Ok(_) => return Some(seen.tail()),
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
        None
    }

    /// Joins the queue of the own NUMA node with `newest`, the waiter itself or the last one of those behind it. If the
    /// lock is in queued mode, it joins the one queue.
    fn join_by_node(&self, waiter: &mut Waiter, newest: TailCode) -> Place {
        let (metadata, me) = (Metadata::of(&self.word), Fields::<P>::of(waiter.id));
        let mut newest = newest;
        loop {
            let Some(number) = self.set_up_mode(&metadata) else {
                waiter.aware = false;
                if let Some(place) = self.join_one_queue(newest) {
                    return place;
                }
                P::count(Event::hq_late);
                match self.repair_tail() {
                    Some(now) => newest = now,
                    None => return Place::Front,
                }
                continue;
            };
            let own = me.queue();
            if let Some(old) = metadata.queue(own).join(number, newest) {
                waiter.aware = true;
                if newest != waiter.id.code() {
                    me.set_foreign(newest);
                }
                return match old.node() {
                    Some(prev) => Place::Behind(prev),
                    None => append_new(&metadata, own, waiter.id),
                };
            }
            P::delay(1);
        }
    }

    /// Finds out how threads queue, and decides it if no thread has. Returns the number of the use, or `None` if the
    /// lock is in queued mode.
    #[doc(alias = "setup_lock_mode")]
    fn set_up_mode(&self, metadata: &Metadata<P>) -> Option<u32> {
        loop {
            // ordering: Acquire; H5: no number of an older use is read, such as the 0 of a queue that is not in use.
            match HqWord::from_bits(self.word.load(Acquire)).mode() {
                Mode::Queued => return None,
                Mode::Hq => {
                    let number = metadata.entry.number();
                    // ordering: Acquire; H5.
                    if HqWord::from_bits(self.word.load(Acquire)).mode() == Mode::Hq {
                        return Some(number);
                    }
                }
                Mode::None => match metadata.take() {
                    Taken::Now(number) => {
                        // (*,none,0,*) -> (*,hq,0,*)
                        if self.set_mode(|seen| seen.with_mode(Mode::Hq)) {
                            P::count(Event::hq_mode_on);
                            return Some(number);
                        }
                        metadata.entry.give_back();
                    }
                    Taken::ByAnother => {
                        // (invalid,none,0,*) -> (0,queued,0,*), (n,none,0,*) -> (n,queued,0,*)
                        if self.set_mode(HqWord::queued) {
                            P::count(Event::hq_mode_refused);
                            return None;
                        }
                    }
                    Taken::Before => {}
                },
            }
            P::delay(1);
        }
    }
    /// Changes the word of a lock without a mode, when no pending bit is set. Returns `false` if it has a mode.
    #[doc(alias = "set_lock_mode")]
    fn set_mode(&self, change: impl Fn(HqWord) -> HqWord) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = HqWord::from_bits(self.word.load(Relaxed));
        while seen.mode() == Mode::None {
            if seen.is_pending() {
                let may_go_on = |bits| !HqWord::from_bits(bits).is_pending();
                // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
                seen = HqWord::from_bits(self.word.cond_load(Relaxed, may_go_on));
                continue;
            }
            // ordering: Release; H5. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(seen.bits(), change(seen).bits(), Release, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
        false
    }
}

/// Appends queue `own`, in which `id` is the first waiter.
fn append_new<P: HqPlatform>(metadata: &Metadata<P>, own: u16, id: NodeId) -> Place {
    let queue = metadata.queue(own);
    queue.set_first_waiter(id);
    // ordering: Relaxed; published by H6.
    queue.left.store(0, Relaxed);
    queue.unlink();
    if append(metadata, own) == 0 { Place::Front } else { Place::FirstOfQueue }
}

/// Makes queue `own` the last one of the list. Returns the one in front, or 0 if the list was empty.
#[doc(alias = "append_node_queue")]
#[doc(alias = "set_next_queue")]
pub(super) fn append<P: HqPlatform>(metadata: &Metadata<P>, own: u16) -> u16 {
    let before = metadata.entry.exchange_last(own);
    if before == 0 {
        metadata.entry.set_first(own);
    } else {
        // ordering: Relaxed; published by H6.
        metadata.queue(own).before.store(before.into(), Relaxed);
        // ordering: Release; H6.
        metadata.queue(before).next.store(own.into(), Release);
    }
    before
}
