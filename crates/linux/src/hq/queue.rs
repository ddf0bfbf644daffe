//! The queues: how a waiter joins one, takes the lock as the waiter whose turn it is, and hands over.
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

use super::meta::{Ends, Metadata, NumaQueue, Taken, online, own_queue, tail_of};
use super::word::{self, INVALID_TAIL, Mode};
use super::{HqPlatform, HqSpinlock, HqWord};
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::queue::{NodeId, QNode, TailCode, link_to, named, node};
use crate::tunables::Tunable;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The number of handoffs within a NUMA node above which another node gets its turn, if the tunable is not set.
pub(super) const FAIRNESS_THRESHOLD: u64 = 1000;
/// The number of handoffs in queued mode above which a lock without waiters gives the mode up, if the tunable is not
/// set.
const GENERAL_HANDOFFS: u64 = 50;
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

/// What the owner has done to the list when it tries to clear the tail of its queue, in which it is the last waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Its queue was the last one. The list now ends with the one in front.
    Moved,
    /// Its queue was the only one. The list is empty.
    Emptied,
    /// Nothing: the queue `next` is behind, and the queue `before`, if any, in front.
    None { before: u16, next: u16 },
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
    fn set_queue(&self, queue: u16) {
        // ordering: Relaxed; published by H3, or its own.
        self.0.numa.store(queue.into(), Relaxed);
    }
    /// The newest waiter that a late thread brought with it to its queue.
    pub(super) fn foreign(&self) -> TailCode {
        // ordering: Relaxed; acquired by H3, or its own.
        TailCode::from_bits(self.0.prev.load(Relaxed) as u16)
    }
    fn set_foreign(&self, code: TailCode) {
        // ordering: Relaxed; published by H3, or its own.
        self.0.prev.store(code.bits().into(), Relaxed);
    }
    /// Passes a count that is one higher on to `next`. It stops at 65,534.
    fn pass_count(&self, to: &Self, is_counted: bool) {
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

/// Makes `id` a waiter that may take the lock when that is free.
fn grant<P: HqPlatform>(id: NodeId) {
    // ordering: Release; H3.
    node::<P>(id).locked.store(1, Release);
}

/// Waits until the waiter behind `id`, which has joined, is linked. Returns it.
fn wait_for_next<P: HqPlatform>(id: NodeId) -> NodeId {
    // ordering: Acquire; H2.
    named(node::<P>(id).next.cond_load(Acquire, |link| link != 0))
}

/// Links `id` behind `prev`.
pub(super) fn link_behind<P: HqPlatform>(prev: NodeId, id: NodeId) {
    // ordering: Release; H2.
    node::<P>(prev).next.store(link_to(id), Release);
}

// Joining.
impl<P: HqPlatform> HqSpinlock<P> {
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

    /// Finds out how threads queue, and decides it if nobody has. Returns the number of the use, or `None` if the lock
    /// is in queued mode.
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
fn append<P: HqPlatform>(metadata: &Metadata<P>, own: u16) -> u16 {
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

// Taking the lock and handing over.
impl<P: HqPlatform> HqSpinlock<P> {
    /// Waits at its place in a queue, and takes the lock.
    pub(super) fn wait_and_take(&self, waiter: Waiter, place: Place) {
        if let Some(seen) = self.wait_for_turn(waiter, place) {
            return self.take_in_order(seen, waiter.id, place);
        }
        let metadata = Metadata::of(&self.word);
        match change_list(&metadata, waiter.id) {
            None => hand_over(&metadata, waiter.id),
            Some((seen, change)) => self.leave_queue(&metadata, waiter.id, seen, change),
        }
    }
    /// Waits at its place in a queue, and for the lock. In HQ mode it takes the lock and returns `None`. In queued mode
    /// it returns the word.
    #[doc(alias = "hqlock_clear_tail_handoff")]
    pub(super) fn wait_for_turn(&self, waiter: Waiter, place: Place) -> Option<HqWord> {
        if let Place::Behind(prev) = place {
            link_behind::<P>(prev, waiter.id);
        }
        if place != Place::Front {
            // ordering: Acquire; H3.
            node::<P>(waiter.id).locked.cond_load(Acquire, |granted| granted != 0);
        }
        // (*,*,*,*) -> (*,*,0,0) by the owner and the pending waiter
        // ordering: Acquire; H4.
        let seen = self.word.cond_load(Acquire, |bits| HqWord::from_bits(bits).is_free_for_head());
        if waiter.aware || Fields::<P>::of(waiter.id).foreign() != TailCode::NONE {
            self.take_as_head();
            return None;
        }
        Some(HqWord::from_bits(seen))
    }
    /// Takes the lock as its head. A plain store: no thread steals.
    fn take_as_head(&self) {
        // (*,*,0,0) -> (*,*,0,1)
        // ordering: Relaxed; the next owner is ordered by our own release, H4.
        self.word.store_byte0(word::LOCKED, Relaxed);
    }

    /// Takes the lock in queued mode, and makes the next waiter the head.
    #[doc(alias = "low_contention_try_clear_tail")]
    fn take_in_order(&self, seen: HqWord, id: NodeId, place: Place) {
        let me = Fields::<P>::of(id);
        if seen.tail() == id.code() {
            let limit = P::tunable(Tunable::hqlock_general_handoffs_turn_numa);
            let gives_up = u64::from(me.count()) > limit.unwrap_or(GENERAL_HANDOFFS);
            let left = if gives_up { HqWord::WITHOUT_MODE } else { HqWord::FREE }.held();
            // (n,queued,0,0) -> (0,queued,0,1) or (invalid,none,0,1)
            // ordering: Relaxed; the lock was acquired where it was seen free, H4. On failure Relaxed: the failure
            // value is not used.
            if self.word.compare_exchange(seen.bits(), left.bits(), Relaxed, Relaxed).is_ok() {
                return;
            }
        }
        self.take_as_head();
        hand_over_in_order::<P>(id, place);
    }

    /// Tries to clear the tail of the own queue, as the owner that has changed the list so. Hands over, unless another
    /// waiter looks at the word already.
    #[doc(alias = "hqlock_try_clear_tail")]
    pub(super) fn leave_queue(
        &self,
        metadata: &Metadata<P>,
        id: NodeId,
        seen: u64,
        change: Change,
    ) {
        let own = Fields::<P>::of(id).queue();
        let queue = metadata.queue(own);
        match (queue.clear_tail(seen), change) {
            (true, Change::Emptied) => {
                if metadata.entry.ends() == Ends::NONE && metadata.is_unused() {
                    self.end_hq_mode(metadata);
                }
            }
            (true, Change::Moved) => hand_over_remote(metadata, own, None),
            (true, Change::None { before, next }) => {
                unlink(metadata, before, next);
                hand_over_remote(metadata, own, Some(next));
            }
            // A thread has joined behind this one.
            (false, Change::None { .. }) => hand_over(metadata, id),
            (false, Change::Moved) => {
                queue.unlink();
                append(metadata, own);
                hand_over(metadata, id);
            }
            (false, Change::Emptied) => {
                queue.unlink();
                match append(metadata, own) {
                    0 => hand_over(metadata, id),
                    // The first waiter of that one found the list empty: it looks at the word.
                    _ => queue.set_first_waiter(wait_for_next::<P>(id)),
                }
            }
        }
    }

    /// Ends HQ mode and gives the metadata back, as the owner, unless a thread waits in a queue.
    #[doc(alias = "release_lock_meta")]
    pub(super) fn end_hq_mode(&self, metadata: &Metadata<P>) {
        if !metadata.end_use() {
            return;
        }
        loop {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let seen = self.word.cond_load(Relaxed, |bits| !HqWord::from_bits(bits).is_pending());
            let ended = HqWord::from_bits(seen).with_mode(Mode::None).bits();
            // (*,hq,0,1) -> (*,none,0,1)
            // ordering: Relaxed; published by H7. On failure Relaxed: the failure value is not used.
            if self.word.compare_exchange(seen, ended, Relaxed, Relaxed).is_ok() {
                return metadata.entry.give_back();
            }
        }
    }
}

/// Hands over in queued mode, with the count of handoffs. It does not grow if the next waiter was in front, too.
#[doc(alias = "low_contention_mcs_lock_handoff")]
fn hand_over_in_order<P: HqPlatform>(id: NodeId, place: Place) {
    let next = wait_for_next::<P>(id);
    let is_counted = place != Place::Behind(next);
    Fields::<P>::of(id).pass_count(&Fields::of(next), is_counted);
    grant::<P>(next);
}

/// Changes the list, as an owner that is the last waiter of its queue, before it clears the tail of that. Returns the
/// unit of the queue, too. Returns `None` if other waiters are behind.
pub(super) fn change_list<P: HqPlatform>(
    metadata: &Metadata<P>,
    id: NodeId,
) -> Option<(u64, Change)> {
    let (own, entry) = (Fields::<P>::of(id).queue(), metadata.entry);
    let queue = metadata.queue(own);
    let unit = queue.seen();
    if tail_of(unit) != id.code() {
        return None;
    }
    // ordering: Relaxed; written by owners, H3 and H4, or before the queue was appended.
    let before = queue.before.load(Relaxed) as u16;
    let seen = entry.ends();
    if seen.last == own && before != 0 {
        let front = metadata.queue(before);
        // From the exchange on, this link belongs to the next thread that appends a queue.
        // ordering: Relaxed; published by H10.
        front.next.store(0, Relaxed);
        if entry.exchange(seen, Ends { last: before, ..seen }) {
            queue.unlink();
            return Some((unit, Change::Moved));
        }
        // ordering: Relaxed; read by owners, H3 and H4.
        front.next.store(own.into(), Relaxed);
    }
    if before == 0 && entry.ends().last == own && entry.exchange(Ends::only(own), Ends::NONE) {
        return Some((unit, Change::Emptied));
    }
    // ordering: Acquire; H6.
    let next = queue.next.cond_load(Acquire, |next| next != 0) as u16;
    Some((unit, Change::None { before, next }))
}

/// Takes a queue out of the list, between these two. `before` is 0 if it is the first one.
fn unlink<P: HqPlatform>(metadata: &Metadata<P>, before: u16, next: u16) {
    if before != 0 {
        // ordering: Relaxed; read by owners, H3 and H4.
        metadata.queue(before).next.store(next.into(), Relaxed);
    }
    // ordering: Relaxed; read by owners, H3 and H4.
    metadata.queue(next).before.store(before.into(), Relaxed);
    if before == 0 {
        metadata.entry.set_first(next);
    }
}

/// Hands over, as an owner with a waiter behind it in its queue: within the queue, or at the threshold to another one.
#[doc(alias = "hqlock_handoff")]
pub(super) fn hand_over<P: HqPlatform>(metadata: &Metadata<P>, id: NodeId) {
    let me = Fields::<P>::of(id);
    let (own, next) = (me.queue(), wait_for_next::<P>(id));
    let queue = metadata.queue(own);
    queue.set_first_waiter(next);
    let threshold = P::tunable(Tunable::hqlock_fairness_threshold).unwrap_or(FAIRNESS_THRESHOLD);
    // A late thread and those that it has brought stay together.
    let is_foreign = me.foreign() != TailCode::NONE;
    if u64::from(me.count()) <= threshold || is_foreign {
        return hand_over_local(id, next, &me);
    }
    let ends = metadata.entry.ends();
    if ends.last != own {
        // ordering: Acquire; H6.
        match queue.next.load(Acquire) as u16 {
            0 => hand_over_local(id, next, &me),
            behind => hand_over_remote(metadata, own, Some(behind)),
        }
    } else if metadata.entry.ends().first == own {
        me.set_count(0);
        hand_over_local(id, next, &me);
    } else {
        hand_over_remote(metadata, own, None);
    }
}

/// Hands over to the next waiter of the queue.
#[doc(alias = "handoff_local")]
fn hand_over_local<P: HqPlatform>(id: NodeId, next: NodeId, me: &Fields<P>) {
    let to = Fields::<P>::of(next);
    me.pass_count(&to, true);
    if me.foreign() != TailCode::NONE && me.foreign() != id.code() {
        to.set_queue(me.queue());
        to.set_foreign(me.foreign());
    }
    P::count(Event::hq_handoff_local);
    grant::<P>(next);
}

/// Hands over to the queue `to`, or to the first one if none is given or the first one is due.
#[doc(alias = "handoff_remote")]
fn hand_over_remote<P: HqPlatform>(metadata: &Metadata<P>, own: u16, to: Option<u16>) {
    let entry = metadata.entry;
    let first = entry.ends().first;
    // ordering: Relaxed; written by owners, H3 and H4, or before the queue was appended.
    let left = metadata.queue(own).left.load(Relaxed);
    let is_due = left >= online::<P>().into();
    if is_due && to.is_some() {
        P::count(Event::hq_first_due);
    }
    let (to, left) = match to {
        Some(to) if !is_due => (to, left + u32::from(first != own)),
        _ => (entry.wait_for_first(), 0),
    };
    let queue: &NumaQueue<P> = metadata.queue(to);
    // ordering: Relaxed; read by owners, H3 and H4.
    queue.left.store(left, Relaxed);
    P::count(Event::hq_handoff_remote);
    grant::<P>(queue.first_waiter());
}
