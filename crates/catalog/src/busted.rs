//! Locks that are wrong on purpose. The harnesses prove themselves on them.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | B1 | `store` in `unlock`, Relaxed where Release belongs | `compare_exchange` in `try_lock`, Acquire | nothing, which is the fault |

mod grouped_condvar;

pub use grouped_condvar::{
    GivesBack, GroupedCondvar, GroupedMutex, KeepsStolen, NeverSteals, Stealing,
};

use crate::platform::{Atomic, Barriers, Cells, ConstCells, ConstZeroed, Zeroed};
use crate::raw::{Order, RawLock};
use crate::unfair::UnfairLock;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// A lock that takes nothing. Every torture must fail on it.
pub struct BustedLock<P: Cells>(PhantomData<fn() -> P>);

impl<P: Cells> BustedLock<P> {
    /// An "unlocked" lock, for statics.
    pub const INIT: Self = Self(PhantomData);
}

impl<P: Cells> RawLock for BustedLock<P> {
    const ORDER: Order = Order::Broken;

    fn new() -> Self {
        Self::INIT
    }
    // All of this is wrong on purpose.
    fn lock(&self) {}
    fn try_lock(&self) -> bool {
        true
    }
    unsafe fn unlock(&self) {}
    fn is_locked(&self) -> bool {
        false
    }
}

/// A lock whose writers exclude each other, and whose readers take nothing. Every harness that has readers must fail on
/// it, and no other harness.
#[repr(transparent)]
pub struct BustedRwLock<P: Cells> {
    writers: UnfairLock<P>,
}

impl<P: ConstCells> BustedRwLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { writers: UnfairLock::INIT };
}

impl<P: Barriers> RawLock for BustedRwLock<P> {
    const ORDER: Order = Order::Broken;
    const READERS_SHARE: bool = true;

    fn new() -> Self {
        Self { writers: UnfairLock::new() }
    }
    fn lock(&self) {
        self.writers.lock();
    }
    fn try_lock(&self) -> bool {
        self.writers.try_lock()
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock as a writer.
        unsafe { self.writers.unlock() }
    }
    // Wrong on purpose from here on.
    fn lock_shared(&self) {}
    fn try_lock_shared(&self) -> bool {
        true
    }
    unsafe fn unlock_shared(&self) {}
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds the lock as a writer.
        unsafe { self.writers.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.writers.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        UnfairLock::<P>::word_is_legal(word)
    }
}

/// A lock that excludes, but its release orders nothing: the next owner may miss what this one did.
///
/// Checkers that model weak memory must fail on it. x86 cannot show the fault: there every store is a release.
#[repr(transparent)]
pub struct BustedRelaxedLock<P: Cells> {
    word: P::U32,
}

impl<P: ConstCells> BustedRelaxedLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED };
}

impl<P: Cells> RawLock for BustedRelaxedLock<P> {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self { word: Zeroed::zeroed() }
    }
    fn lock(&self) {
        loop {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            self.word.cond_load(Relaxed, |word| word == 0);
            if self.try_lock() {
                return;
            }
        }
    }
    fn try_lock(&self) -> bool {
        // ordering: Acquire; B1. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }
    unsafe fn unlock(&self) {
        // ordering: Relaxed; this is the fault of the lock: it had to be Release; B1.
        self.word.store(0, Relaxed);
    }
    fn is_locked(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) != 0
    }
}
