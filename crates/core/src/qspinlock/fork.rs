//! Lock words that a forked child has inherited.

use super::{QSpinlock, SLOW, Succession, Waiting, Word};
use crate::platform::Atomic;
use crate::queue::QueuePlatform;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

impl<P: QueuePlatform, S: Succession<P>, W: Waiting<P>> QSpinlock<P, S, W> {
    /// Removes waiters that do not exist in this process, a forked child, from the word.
    ///
    /// If the newest waiter is an orphan, all waiters in front of it are orphans, too: they queued before it, and the
    /// only thread that came through the fork was not queueing. A pending bit also belongs to an orphan, because no
    /// thread of a forked process becomes a pending waiter. In some policies the head of the queue sets the bit. Then
    /// the bit belongs to an orphan if the newest waiter is one, because no thread queues behind orphans. Once these
    /// facts are true they stay true, so a compare-exchange of the whole word is safe, no matter how long this took.
    #[cold]
    pub fn bury_orphans(&self) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut bits = self.word.load(Relaxed);
        loop {
            let seen = Word::from_bits(bits);
            let tail_is_orphan = seen.tail().node().is_some_and(P::is_orphaned);
            let pending_is_orphan = W::USES_PENDING && seen.is_pending();
            if !tail_is_orphan && !pending_is_orphan {
                return;
            }
            if tail_is_orphan && seen.bits() as u8 == SLOW {
                // The owner of the lock takes the entry out of the hash and overwrites the byte. That would overwrite
                // what a new head of the queue writes there. So no thread becomes the head before that.
                // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
                bits = self.word.cond_load(Relaxed, |now| now as u8 != SLOW);
                continue;
            }
            if tail_is_orphan {
                W::forget(&self.word, P::is_orphaned);
            }
            let buried =
                if tail_is_orphan { seen.without_waiters() } else { seen.without_pending() };
            // (orphan,*,l) -> (0,0,l), (t,1,l) -> (t,0,l)
            // ordering: Relaxed; nothing is read through it: orphans published nothing here.
            match self.word.compare_exchange(bits, buried.bits(), Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => bits = now,
            }
        }
    }

    /// Does the rest of `try_lock` in a forked child that finds waiters but no owner.
    #[cold]
    pub(crate) fn try_lock_after_fork(&self) -> bool {
        self.bury_orphans();
        let (free, held) = (Word::FREE.bits(), Word::HELD.bits());
        // (0,0,0) -> (0,0,1)
        // ordering: Acquire; Q4. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(free, held, Acquire, Relaxed).is_ok()
    }
}
