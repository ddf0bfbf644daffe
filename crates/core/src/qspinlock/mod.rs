#![doc = include_str!("README.md")]

mod fork;
mod pending;
pub mod queue;
pub mod reservation;
pub mod succession;
pub mod testing;
pub mod timed;
pub mod waiting;
pub mod word;

pub use succession::{Alone, Fifo, Grant, Succession};
pub use waiting::{Spin, Waiting};
pub use word::{LOCKED, PENDING, SLOW, Word};

use crate::events::Event;
use crate::platform::{
    Atomic, Cells, ConstCells, ConstZeroed, LockWordOps, Zeroed, barrier_before_look,
};
use crate::queue::{QueuePlatform, TailCode};
use crate::raw::{FairnessThreshold, Order, RawLock, Schedules};
use crate::tunables::Tunable;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The queued spinlock: `S` decides which waiter is next, `W` how a thread waits.
///
/// It has four bytes, and zero is unlocked. For its fairness bound see the succession. `unlock` does not touch the lock
/// after its releasing store. Queue nodes belong to a process, so the lock must not lie in memory that is shared
/// between processes.
#[repr(transparent)]
pub struct QSpinlock<P: Cells, S = Fifo, W = Spin> {
    word: P::Word,
    _policies: PhantomData<fn() -> (S, W)>,
}

impl<P: ConstCells, S, W> QSpinlock<P, S, W> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED, _policies: PhantomData };
}

impl<P: QueuePlatform, S: Succession<P>, W: Waiting<P>> RawLock for QSpinlock<P, S, W> {
    const ORDER: Order = if W::KEEPS_ORDER { S::ORDER } else { Order::None };
    const WAITERS_SLEEP: bool = W::SLEEPS;
    const SCHEDULES: Schedules =
        if W::KEEPS_ORDER { Schedules::Finite } else { Schedules::Endless };

    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let ns_per_waiter = W::UNFAIR_NS;
        FairnessThreshold { ns_per_waiter, ..S::fairness_threshold(numa_nodes, set) }
    }
    fn new() -> Self {
        Self { word: Zeroed::zeroed(), _policies: PhantomData }
    }
    #[doc(alias = "queued_spin_lock")]
    #[inline]
    fn lock(&self) {
        if let Err(seen) = self.take_free() {
            self.lock_slowpath(seen);
        }
    }
    #[doc(alias = "queued_spin_trylock")]
    #[inline]
    fn try_lock(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let seen = Word::from_bits(self.word.load(Relaxed));
        if !Self::may_be_taken(seen) {
            return !seen.is_locked() && P::has_forked() && self.try_lock_after_fork();
        }
        self.take_free().is_ok()
    }
    #[doc(alias = "queued_spin_unlock")]
    #[inline]
    unsafe fn unlock(&self) {
        W::unlock(&self.word);
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        Word::from_bits(self.word.load(Relaxed)).is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        W::word_is_legal(Word::from_bits(word))
    }
}

impl<P: QueuePlatform, S: Succession<P>, W: Waiting<P>> QSpinlock<P, S, W> {
    /// Returns its word, for a lock that is built on this one.
    #[inline(always)]
    pub fn word(&self) -> &P::Word {
        &self.word
    }
    /// Returns `true` if a newcomer may take the lock at its first attempt.
    pub fn may_be_taken(seen: Word) -> bool {
        if W::BARGES { seen.is_free_for_head() } else { seen == Word::FREE }
    }

    /// Makes the first attempt: takes the lock if a newcomer may. Otherwise returns the word that it saw.
    #[inline(always)]
    pub fn take_free(&self) -> Result<(), Word> {
        if W::BARGES {
            return self.barge();
        }
        let (free, held) = (Word::FREE.bits(), Word::HELD.bits());
        // (0,0,0) -> (0,0,1)
        // ordering: Acquire; Q4. On failure Relaxed: only a hint, re-checked in the slow path.
        self.word.compare_exchange(free, held, Acquire, Relaxed).map_err(Word::from_bits)?;
        Ok(())
    }

    /// Makes the first attempt of a policy whose newcomers need not look at the queue.
    #[inline(always)]
    fn barge(&self) -> Result<(), Word> {
        // (*,0,0) -> (*,0,1)
        // ordering: Acquire; Q4. On failure Relaxed: the failure value is not used.
        if self.word.compare_exchange_half0(0, word::LOCKED_HALF, Acquire, Relaxed).is_err() {
            // ordering: Relaxed; only a hint, re-checked in the slow path.
            return Err(Word::from_bits(self.word.load(Relaxed)));
        }
        // ordering: Relaxed; only used for counting.
        if P::is_counting() && Word::from_bits(self.word.load(Relaxed)).tail() != TailCode::NONE {
            P::count(Event::pv_lock_stealing);
        }
        Ok(())
    }

    /// Takes the lock after a first attempt has failed and has seen `seen`.
    #[cold]
    pub fn lock_slowpath(&self, seen: Word) {
        debug_assert!(seen.is_legal(), "qspinlock: illegal lock word {seen:?}");
        if P::has_forked() {
            self.bury_orphans();
        } else if W::USES_PENDING && self.lock_pending(seen) {
            return;
        }
        self.lock_queue();
    }
}
