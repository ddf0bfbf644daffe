//! The turn of a lock to HQ mode while threads wait (`hq-bounded`).
//!
//! The owner does it, with waiters behind it in the one queue. That whole queue becomes the queue of the owner's NUMA
//! node, and the first one of the list. Its waiters are of any node and do not move.
//!
//! 1. The owner takes the metadata and *reserves* the queue: the tail gets the owner as its waiter, and a number below
//!    that of the use. So a late thread does not join: it finds waiters of an older use, or a newer one.
//! 2. One exchange of the word turns the lock to HQ mode, with this queue as the list. From then on no thread joins the
//!    one queue. The exchange shows which waiter is its newest one.
//! 3. The owner *opens* the queue: the tail gets that waiter, and the number of the use. Threads of this NUMA node that
//!    came between 2 and 3 wait until the lock word changes, and come again.
//!
//! If another lock has the metadata, or a late thread of an older use is in the queue, the lock stays in queued mode
//! until the next look. A waiter that queued in order learns the mode from the word when it becomes the head, and its
//! queue from the metadata.

use super::pool::{Metadata, Taken};
use super::word::{Mode, Queues};
use super::{HqPlatform, HqPolicy, HqSpinlock, HqWord};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, TailCode, linked, node};
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

impl<P: HqPlatform, F: HqPolicy> HqSpinlock<P, F> {
    /// Turns the lock to HQ mode and makes another waiter the head, as the owner, with node `id` and waiters behind it
    /// in the one queue. Returns `false` if the lock stays in queued mode; then the next waiter was told nothing.
    pub(super) fn turn_under_load(&self, id: NodeId) -> bool {
        let metadata = Metadata::<P>::of(&self.word);
        if metadata.entry.take(metadata.name) != Taken::Now {
            P::count(Event::hq_mode_refused);
            return false;
        }
        let own = metadata.own_queue();
        let queue = metadata.queue(own);
        let sequence = metadata.entry.number();
        if !queue.reserve(sequence, id) {
            metadata.entry.give_back();
            P::count(Event::hq_mode_refused);
            return false;
        }
        metadata.entry.begins_with(own);
        // ordering: Relaxed; published by H5.
        queue.next.store(0, Relaxed);
        // ordering: Relaxed; published by H5.
        queue.left_out.store(0, Relaxed);
        queue.open(sequence, self.exchange_queues(own));
        P::count(Event::hq_mode_on);
        self.hand_over(&metadata, own, id, 0);
        true
    }
    /// Turns the lock to HQ mode, with the one queue as queue `own`. Returns its newest waiter.
    fn exchange_queues(&self, own: u8) -> TailCode {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = HqWord::from_bits(self.word.load(Relaxed));
        loop {
            debug_assert_eq!(seen.mode(), Mode::Queued, "hq: the mode changed under its owner");
            let turned = seen.hq(Queues::only(own));
            // (n,queued,*,1) -> (q q,hq,*,1)
            // ordering: AcqRel; H5 the number of the use, H1 from the newest waiter. On failure Relaxed: only a hint,
            // re-checked at the next attempt.
            match self.word.compare_exchange(seen.bits(), turned.bits(), AcqRel, Relaxed) {
                Ok(_) => return seen.tail(),
                Err(now) => seen = HqWord::from_bits(now),
            }
        }
    }
}

/// Returns `true` if at least `waiters` are linked behind `id`, which is in a queue. Only a hint: more may come.
pub(super) fn has_waiters<P: HqPlatform>(id: NodeId, waiters: u64) -> bool {
    let mut at = id;
    for _ in 0..waiters {
        // ordering: Relaxed; only a hint: with an older link this counts waiters of another queue.
        match linked(node::<P>(at).next.load(Relaxed)) {
            Some(next) => at = next,
            None => return false,
        }
    }
    true
}
