//! The pending phase, in which a single waiter needs no queue.

use super::{QSpinlock, Succession, Waiting, Word, word};
use crate::events::Event;
use crate::platform::{Atomic, AtomicInt, Bound, LockWordOps};
use crate::queue::QueuePlatform;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The number of times that a newcomer looks during a handover to the pending waiter, before it queues: the kernel
/// pauses 512 times, and looks once more.
const HANDOVER_LOOKS: u32 = 513;

impl<P: QueuePlatform, S: Succession<P>, W: Waiting<P>> QSpinlock<P, S, W> {
    /// Takes the lock as its only waiter. Returns `false` if there are other waiters; then the caller queues.
    pub fn lock_pending(&self, seen: Word) -> bool {
        let Some(seen) = self.become_pending(seen) else { return false };
        if seen.is_locked() {
            // (*,1,1) -> (*,1,0) by the owner
            // ordering: Acquire; Q4.
            self.word.cond_load(Acquire, |bits| !Word::from_bits(bits).is_locked());
        }
        self.take_as_pending();
        true
    }

    /// Sets the pending bit and returns the word as it was before, if the caller is the only waiter.
    pub fn become_pending(&self, seen: Word) -> Option<Word> {
        self.no_waiter_after_handover(seen)?;
        // (0,0,*) -> (0,1,*)
        // ordering: Acquire; Q4, when the lock has become free.
        let seen = Word::from_bits(self.word.fetch_or(word::PENDING, Acquire));
        if !seen.has_no_waiter() {
            if !seen.is_pending() {
                self.withdraw_pending();
            }
            return None;
        }
        Some(seen)
    }

    /// Takes the pending bit back: another thread queues, or the time of the pending waiter is over.
    pub fn withdraw_pending(&self) {
        // (*,1,*) -> (*,0,*)
        // ordering: Relaxed; nothing is read through it.
        self.word.store_byte1(0, Relaxed);
    }

    /// Takes the lock as its pending waiter, which has seen that it is free.
    pub fn take_as_pending(&self) {
        // (*,1,0) -> (*,0,1)
        // ordering: Relaxed; the next owner is ordered by our own release, Q4.
        self.word.store_half0(word::LOCKED_HALF, Relaxed);
        P::count(Event::lock_pending);
    }

    /// Waits a little if the pending waiter is just taking over. Returns `None` if a thread waits after that.
    fn no_waiter_after_handover(&self, seen: Word) -> Option<()> {
        let mut seen = seen.bits();
        let handover = Word::HANDED_TO_PENDING.bits();
        if seen == handover {
            let bound = Bound::looks(HANDOVER_LOOKS);
            // ordering: Relaxed; only a hint, re-checked at the `fetch_or`.
            let wait = self.word.cond_load_bounded(Relaxed, bound, |now| now != handover, || false);
            seen = wait.unwrap_or_else(|last| last);
        }
        Word::from_bits(seen).has_no_waiter().then_some(())
    }
}
