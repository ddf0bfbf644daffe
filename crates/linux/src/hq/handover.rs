//! How the waiter whose turn it is takes the lock and hands over: all of it by the owner, when it has taken the lock.

use super::meta::{Ends, Metadata, NumaQueue, online, tail_of};
use super::queue::{Fields, Place, Waiter, append, link_behind};
use super::word::{self, Mode};
use super::{FAIRNESS_THRESHOLD, HqPlatform, HqSpinlock, HqWord};
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::queue::{NodeId, named, node};
use crate::tunables::Tunable;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The number of handoffs in queued mode above which a lock without waiters gives the mode up, if the tunable is not
/// set.
const GENERAL_HANDOFFS: u64 = 50;
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
        if waiter.aware || Fields::<P>::of(waiter.id).is_foreign() {
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
        let (me, mut seen) = (Fields::<P>::of(id), seen);
        while seen.tail() == id.code() {
            let limit = P::tunable(Tunable::hqlock_general_handoffs_turn_numa);
            let gives_up = u64::from(me.count()) > limit.unwrap_or(GENERAL_HANDOFFS);
            let left = if gives_up { HqWord::WITHOUT_MODE } else { HqWord::FREE }.held();
            // (n,queued,0,0) -> (0,queued,0,1) or (invalid,none,0,1)
            // ordering: Relaxed; the lock was acquired where it was seen free, H4. On failure Relaxed: looked at again.
            if self.word.compare_exchange(seen.bits(), left.bits(), Relaxed, Relaxed).is_ok() {
                return;
            }
            // A thread that saw our queue too late takes its pending bit back and will join us. But it does not if it
            // has no node, so look again and do not rely on it.
            // ordering: Relaxed; no other thread can take the lock meanwhile, so there is nothing more to acquire.
            let free =
                self.word.cond_load(Relaxed, |bits| HqWord::from_bits(bits).is_free_for_head());
            seen = HqWord::from_bits(free);
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
    if u64::from(me.count()) <= threshold || me.is_foreign() {
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
    if me.is_foreign() && me.foreign() != id.code() {
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
