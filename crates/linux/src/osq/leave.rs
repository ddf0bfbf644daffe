//! Leaving the queue: from its head, or from anywhere.

use super::OsqLock;
use super::word::{Link, TAKEN, code, named};
use crate::platform::{Atomic, AtomicInt, SchedulerHints};
use crate::queue::{NodeId, QueuePlatform, node};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

impl<P: QueuePlatform + SchedulerHints> OsqLock<P> {
    /// Takes a waiter out of the queue. Returns `false` if it is the head by now, and stays.
    #[cold]
    pub(super) fn leave(&self, me: NodeId) -> bool {
        let Some(prev) = mark::<P>(me) else { return false };
        let link = &node::<P>(prev).next;
        match self.take_next(me, Some(prev)) {
            Some(next) => {
                tell::<P>(next, Some(prev));
                // (t,1,me) -> (t,0,next)
                // ordering: Release; O3.
                link.fetch_add(Link::relinked(me, next), Release);
            }
            None => {
                // (t,1,me+n) -> (t,0,n)
                // ordering: Relaxed; nothing is read through it: the thread that waits for this writes to the same word
                // next, if it writes to any.
                link.fetch_sub(Link::of_leaving(me), Relaxed);
            }
        }
        true
    }

    /// Keeps the thread behind `me` where it is until it is told which node is in front of it now, and returns its
    /// node. Returns `None` if no thread is behind: then the node in front is the newest, and `me` is in no queue.
    pub(super) fn take_next(&self, me: NodeId, prev: Option<NodeId>) -> Option<NodeId> {
        let link = &node::<P>(me).next;
        if self.put_tail_back(me, prev) {
            // The last thread that left from behind may not have cleared its mark yet.
            // ordering: Relaxed; nothing is read through it. By O5 it is known that there is a mark.
            link.cond_load(Relaxed, |bits| !Link::from_bits(bits).is_leaving());
            return None;
        }
        // (0,l,n) -> (1,l,n)
        // ordering: Acquire; O3.
        let mut seen = Link::from_bits(link.fetch_or(TAKEN, Acquire));
        if seen.is_leaving() {
            // ordering: Acquire; O3.
            let bits = link.cond_load(Acquire, |bits| !Link::from_bits(bits).is_leaving());
            seen = Link::from_bits(bits);
        }
        // No thread is behind, or one that has not linked itself yet and cannot leave.
        if seen.next().is_none() && !self.put_tail_back(me, prev) {
            // ordering: Acquire; O3.
            let bits = link.cond_load(Acquire, |bits| Link::from_bits(bits).next().is_some());
            seen = Link::from_bits(bits);
        }
        seen.next()
    }

    /// Makes the node in front the newest, if no thread has come after `me`. Returns `true` if that is so.
    fn put_tail_back(&self, me: NodeId, prev: Option<NodeId>) -> bool {
        let newest = prev.map_or(0, code);
        // ordering: AcqRel; O2, O5 both ways. On failure Relaxed: the failure value is not used.
        self.tail.compare_exchange(code(me), newest, AcqRel, Relaxed).is_ok()
    }
}

/// Marks the link of the node in front of `me`, which stays there then, and returns that node. Returns `None` if `me`
/// is the head.
fn mark<P: QueuePlatform + SchedulerHints>(me: NodeId) -> Option<NodeId> {
    let mine = node::<P>(me);
    // ordering: Acquire; O4.
    let mut seen = mine.prev.load(Acquire);
    loop {
        // The node in front may have left by now, and be in another queue. There is no link to us there.
        let prev = named(seen)?;
        let link = &node::<P>(prev).next;
        // (0,0,me) -> (0,1,me)
        // ordering: Relaxed; published by O5. On failure only a hint, re-checked at the next attempt.
        match link.compare_exchange(code(me), Link::of_leaving(me), Relaxed, Relaxed) {
            Ok(_) => return Some(prev),
            Err(bits) if Link::from_bits(bits).is_leaving() => {
                // A thread that leaves from in between has told us already, and has not linked us yet.
                // ordering: Relaxed; only a hint, re-checked at the next attempt.
                link.cond_load(Relaxed, |now| now != bits);
                // ordering: Acquire; O4.
                seen = mine.prev.load(Acquire);
            }
            Err(_) => {
                // ordering: Acquire; O4.
                seen = mine.prev.cond_load(Acquire, |now| now != seen);
            }
        }
    }
}

/// Tells `next` which node is in front of it: none, if it is the head. The caller has taken the link to `next`.
pub(super) fn tell<P: QueuePlatform + SchedulerHints>(next: NodeId, prev: Option<NodeId>) {
    // ordering: Release; O4.
    node::<P>(next).prev.store(prev.map_or(0, code), Release);
}
