#![doc = include_str!("README.md")]

mod sleep;
mod spin;

use crate::park::{Awaited, ParkPlatform, SleepTable};
use crate::platform::{
    Atomic, Cells, ConstCells, ConstZeroed, LockWordOps, Zeroed, barrier_before_look,
};
use crate::qspinlock::{LOCKED, Succession, Word, cna};
use crate::raw::{FairnessThreshold, Order, RawLock};
use crate::tunables::Tunable;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The lower half of the word of a lock that is held and not reserved.
const HELD_HALF: u16 = LOCKED as u16;

/// A mutex for programs: 4 bytes, zero is unlocked; its waiters spin for a moment and sleep then.
///
/// `S` is the order in which they spin. Fairness bound and costs are in the module's documentation;
/// `unlock` does not touch the lock after its releasing store, so the next owner may free it.
#[repr(transparent)]
pub struct RawMutex<P: Cells, S = cna::Cna<cna::V10>> {
    word: P::Word,
    _succession: PhantomData<fn() -> S>,
}

impl<P: ConstCells, S> RawMutex<P, S> {
    /// An unlocked mutex, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED, _succession: PhantomData };
}

impl<P: ParkPlatform, S: Succession<P>> RawLock for RawMutex<P, S> {
    const ORDER: Order = Order::None;
    const WAITERS_SLEEP: bool = true;

    fn fairness_threshold(
        _numa_nodes: u32,
        _set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        FairnessThreshold { ns: sleep::UNFAIR_NS, ..FairnessThreshold::default() }
    }
    fn new() -> Self {
        Self { word: Zeroed::zeroed(), _succession: PhantomData }
    }
    #[inline]
    fn lock(&self) {
        if !self.take_free() {
            self.lock_slowpath(None);
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.take_free() || P::has_forked() && self.take_abandoned()
    }
    #[inline]
    unsafe fn unlock(&self) {
        let name = self.name();
        // (*,*,1) -> (*,*,0), after which the lock may no longer exist.
        if SleepTable::<P>::is_quiet(name) {
            // ordering: Release; L1.
            self.word.store_byte0(0, Release);
            SleepTable::<P>::released(name);
        } else {
            // ordering: Release; L1.
            self.word.swap_byte0(0, Release);
            SleepTable::<P>::released_by_exchange(name);
        }
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        Word::from_bits(self.word.load(Relaxed)).is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        let word = Word::from_bits(word);
        word.is_legal() && word.bits() as u8 <= LOCKED
    }
}

impl<P: ParkPlatform, S: Succession<P>> RawMutex<P, S> {
    /// Takes the lock before `deadline_ns` of the platform's clock. Returns `true` if it did. Waits a little
    /// longer where it spins at that moment.
    #[inline]
    pub fn lock_until(&self, deadline_ns: u64) -> bool {
        self.take_free() || self.lock_slowpath(Some(deadline_ns))
    }

    /// Gives the lock to the thread that has slept for it longest, or releases it if nobody sleeps.
    ///
    /// # Safety
    /// The caller holds the lock.
    pub unsafe fn unlock_fair(&self) {
        let name = self.name();
        let unreserve = || {
            // (*,1,1) -> (*,0,1): it was reserved for the one that owns it now.
            // ordering: Relaxed; published by the grant, W4.
            self.word.store_byte1(0, Relaxed);
        };
        if !SleepTable::<P>::grant(name, unreserve) {
            // SAFETY: the caller holds the lock.
            unsafe { self.unlock() };
        }
    }

    /// Makes the bucket of this lock quiet if nobody sleeps in it, so that a checker need not wait for
    /// that.
    #[cfg(feature = "internals")]
    pub fn calm(&self) {
        SleepTable::<P>::calm(self.name());
    }

    /// The first attempt.
    #[inline(always)]
    fn take_free(&self) -> bool {
        // (*,0,0) -> (*,0,1)
        // ordering: Acquire; L1. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange_half0(0, HELD_HALF, Acquire, Relaxed).is_ok()
    }

    /// What its sleepers are found by.
    #[inline(always)]
    fn name(&self) -> u64 {
        SleepTable::<P>::name(Awaited::Mutex, &self.word)
    }

    /// The lock word, which names the lock.
    pub(crate) fn word(&self) -> &P::Word {
        &self.word
    }
}

/// Returns `true` if no thread holds the mutex with this word.
pub(crate) fn is_free<P: ParkPlatform>(word: &P::Word) -> bool {
    // ordering: Relaxed; after the barrier of W3, or only a hint, re-checked there.
    !Word::from_bits(word.load(Relaxed)).is_locked()
}
