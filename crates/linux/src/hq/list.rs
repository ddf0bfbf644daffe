//! The list of queues: the order of their turns, and the way in which a queue leaves the list.
//!
//! The head of the lock does all of this alone, while it holds the lock. Other threads append queues meanwhile.
//!
//! ```text
//!   head queue ─next─> queue ─next─> ... ─next─> last queue       (both ends in the word)
//!     │                  │                         │
//!   first ─> waiter    first                     first ─> waiter ─> newest, in the tail of the queue
//! ```
//!
//! The head of the lock is the first waiter of any of the queues. Its turn:
//!
//! 1. It waits for the lock. If it is the only waiter of the only queue, it takes the lock and ends HQ mode in one
//!    exchange of the word, leaves its queue and gives the metadata back.
//! 2. Otherwise it takes the lock. A *local* handoff, to the next waiter of its queue, is allowed up to a threshold.
//! 3. A *remote* handoff goes to the first waiter of the queue behind, or from the last queue to the head queue.
//! 4. A queue without a next waiter is taken out of the list first. Only then does its last waiter leave it. So a
//!    thread that finds the queue empty may append it. If a thread has joined in between, the last waiter tells it to
//!    append the queue.
//!
//! A queue that was taken out and comes back is appended. So two small queues could pass the turn to each other for
//! ever, and never reach the end of the list. `left_out` counts remote handoffs that leave out the head queue. It
//! travels with the turn. When it reaches the number of NUMA nodes, the turn goes to the head queue.

use super::pool::{Metadata, NumaQueue};
use super::queue::{Role, leave, wait_for_next};
use super::word::Queues;
use super::{FAIRNESS_THRESHOLD, HqPlatform, HqPolicy, HqSpinlock, HqWord};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, TailCode, link_to, linked, named, node};
use crate::tunables::Tunable;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

impl<P: HqPlatform, F: HqPolicy> HqSpinlock<P, F> {
    /// Takes the lock, as its head from queue `own` of the list, after `handoffs` within that queue. Makes another
    /// waiter the head.
    pub(super) fn wait_by_node(&self, metadata: &Metadata<P>, own: u8, id: NodeId, handoffs: u32) {
        loop {
            let seen = self.wait_for_lock();
            let is_only = seen.queues() == Queues::only(own);
            if !is_only || !metadata.queue(own).ends_with(id) {
                break;
            }
            let left = match F::TURN.is_under_load() {
                true => seen.queued(TailCode::NONE).held(),
                false => seen.undecided().held(),
            };
            // (q q,hq,0,0) -> (invalid,undecided,0,1) or (0,queued,0,1)
            // ordering: Relaxed; the lock was acquired where it was seen free, H4, and nothing is read through an
            // invalid or empty tail. On failure Relaxed: the failure value is not used.
            if self.word.compare_exchange(seen.bits(), left.bits(), Relaxed, Relaxed).is_ok() {
                leave(metadata, own, id);
                metadata.entry.give_back();
                return;
            }
        }
        self.take_as_head();
        self.hand_over(metadata, own, id, handoffs);
    }

    /// Makes another waiter the head of the lock, as the owner.
    pub(super) fn hand_over(&self, metadata: &Metadata<P>, own: u8, id: NodeId, handoffs: u32) {
        let queue = metadata.queue(own);
        let next = behind(queue, id);
        let to = match next {
            Some(next) if u64::from(handoffs) <= fairness_threshold::<P>() => {
                P::count(Event::hq_handoff_local);
                return Role::Head(handoffs.saturating_add(1)).tell::<P>(next);
            }
            Some(next) => {
                // ordering: Relaxed; read by heads only, H3.
                queue.head.store(link_to(next), Relaxed);
                self.queue_after(metadata, own)
            }
            None => self.take_out(metadata, own),
        };
        P::count(Event::hq_handoff_remote);
        // ordering: Relaxed; acquired with the link to the queue, H6, or written by a head, H3.
        let first = metadata.queue(to).head.load(Relaxed);
        Role::Head(0).tell::<P>(named(first));
        if next.is_none() {
            leave(metadata, own, id);
        }
    }

    /// Returns the queue whose turn it is after queue `own`, which stays in the list.
    fn queue_after(&self, metadata: &Metadata<P>, own: u8) -> u8 {
        // ordering: Relaxed; a queue that is appended meanwhile is one for a later turn.
        let Queues { tail, head } = HqWord::from_bits(self.word.load(Relaxed)).queues();
        let behind = if own == tail { head } else { wait_for_behind(metadata, own) };
        pass_turn(metadata, own, behind, head)
    }

    /// Takes queue `own` out of the list, which has other queues. Returns the queue whose turn it is.
    fn take_out(&self, metadata: &Metadata<P>, own: u8) -> u8 {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let seen = HqWord::from_bits(self.word.load(Relaxed));
        let Queues { head, .. } = seen.queues();
        if own == head {
            let behind = wait_for_behind(metadata, own);
            self.make_head_queue(seen, behind);
            return pass_turn(metadata, own, behind, behind);
        }
        let in_front = in_front_of(metadata, own, head);
        let front = metadata.queue(in_front);
        // From the exchange in `cut_tail` on, this link belongs to the next thread that appends a queue.
        // ordering: Relaxed; published by H5.
        front.next.store(0, Relaxed);
        if self.cut_tail(seen, own, in_front) {
            return pass_turn(metadata, own, head, head);
        }
        let behind = wait_for_behind(metadata, own);
        // ordering: Relaxed; read by heads only, H3.
        front.next.store(behind.into(), Relaxed);
        pass_turn(metadata, own, behind, head)
    }
    /// Makes `queue` the head queue.
    fn make_head_queue(&self, seen: HqWord, queue: u8) {
        let mut seen = seen;
        loop {
            let left = seen.hq(Queues { head: queue, ..seen.queues() });
            // (t h,hq,*,1) -> (t q,hq,*,1)
            // ordering: Relaxed; read by heads only, H3. On failure Relaxed: only a hint, re-checked at the next
            // attempt.
            match self.word.compare_exchange(seen.bits(), left.bits(), Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
    }
    /// Makes `in_front` the last queue, if `own` is. Returns `false` if a thread has appended another one.
    fn cut_tail(&self, seen: HqWord, own: u8, in_front: u8) -> bool {
        let mut seen = seen;
        while seen.queues().tail == own {
            let cut = seen.hq(Queues { tail: in_front, ..seen.queues() });
            // (q h,hq,*,1) -> (p h,hq,*,1)
            // ordering: Release; H5. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(seen.bits(), cut.bits(), Release, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
        false
    }
}

/// Returns the waiter behind `id`, the first one of the queue, if there is one.
fn behind<P: HqPlatform>(queue: &NumaQueue<P>, id: NodeId) -> Option<NodeId> {
    let me = node::<P>(id);
    // ordering: Acquire; H2.
    let next = linked(me.next.load(Acquire));
    next.or_else(|| (!queue.ends_with(id)).then(|| wait_for_next(me)))
}

/// Returns the queue behind `own` in the list, which is not the last one.
fn wait_for_behind<P: HqPlatform>(metadata: &Metadata<P>, own: u8) -> u8 {
    // ordering: Acquire; H6.
    metadata.queue(own).next.cond_load(Acquire, |next| next != 0) as u8
}

/// Returns the queue whose link names `own`, which is not the head queue.
fn in_front_of<P: HqPlatform>(metadata: &Metadata<P>, own: u8, head: u8) -> u8 {
    let mut at = head;
    loop {
        // ordering: Relaxed; the turn has passed all links in front of it, H3.
        match metadata.queue(at).next.load(Relaxed) as u8 {
            next if next == own => return at,
            next => at = next,
        }
    }
}

/// Gives the turn to the queue `behind`, or to the head queue if that one was left out for too long. Returns the queue
/// that has the turn.
fn pass_turn<P: HqPlatform>(metadata: &Metadata<P>, own: u8, behind: u8, head: u8) -> u8 {
    // ordering: Relaxed; written by a head, H3, or before the queue was appended, H6.
    let left_out = metadata.queue(own).left_out.load(Relaxed);
    let is_due = left_out >= P::numa_nodes();
    if is_due && behind != head {
        P::count(Event::hq_head_due);
    }
    let (to, left_out) =
        if is_due || behind == head { (head, 0) } else { (behind, left_out.saturating_add(1)) };
    // ordering: Relaxed; read by heads only, H3.
    metadata.queue(to).left_out.store(left_out, Relaxed);
    to
}

/// Returns the number of handoffs within a NUMA node above which another node gets its turn.
fn fairness_threshold<P: HqPlatform>() -> u64 {
    P::tunable(Tunable::hqlock_fairness_threshold).unwrap_or(FAIRNESS_THRESHOLD)
}
