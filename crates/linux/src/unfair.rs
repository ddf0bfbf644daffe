//! `UnfairLock`: test-and-test-and-set, no queue.
//!
//! The kernel falls back to this lock in guests without paravirtual support. It is cheap alone, and unfair in company.
//! It is one word:
//!
//! ```text
//!  31                               8 7              0
//! +----------------------------------+----------------+
//! |                0                 |     locked     |      0: free   1: held
//! +----------------------------------+----------------+
//! ```
//!
//! | state | means | moved by |
//! |---|---|---|
//! | 0 | free | any thread, to 1 |
//! | 1 | held | the owner, to 0 |
//!
//! Fairness: none; a thread may wait for ever. Orderings:
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | U1 | `store_byte0` in `unlock`, Release | `compare_exchange` in `try_lock`, Acquire | the owner's work |

use crate::platform::{
    Atomic, Barriers, Cells, ConstCells, ConstZeroed, LockWordOps, Zeroed, barrier_before_look,
};
use crate::raw::{Order, RawLock};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A rule for back-off after a failed attempt.
pub trait Backoff: Send + Sync + 'static {
    /// Returns the number of pauses to spend after `failures` failed attempts (counted from 1); 0 for none.
    fn pauses(failures: u32) -> u32;
}

/// No back-off: a waiter tries again as soon as it sees the lock free.
pub struct NoBackoff;
impl Backoff for NoBackoff {
    #[inline]
    fn pauses(_failures: u32) -> u32 {
        0
    }
}

/// A back-off of 2, 4, 8 ... 1024 pauses.
pub struct Exponential;
impl Backoff for Exponential {
    #[inline]
    fn pauses(failures: u32) -> u32 {
        1 << failures.min(10)
    }
}

/// A test-and-test-and-set lock; `B` decides about back-off.
#[repr(transparent)]
pub struct UnfairLock<P: Cells, B = NoBackoff> {
    word: P::Word,
    _backoff: PhantomData<fn() -> B>,
}

impl<P: ConstCells, B> UnfairLock<P, B> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED, _backoff: PhantomData };
}

impl<P: Barriers, B: Backoff> RawLock for UnfairLock<P, B> {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self { word: Zeroed::zeroed(), _backoff: PhantomData }
    }
    #[inline]
    fn lock(&self) {
        if !self.try_lock() {
            self.lock_slowpath();
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        // 0 -> 1
        // ordering: Acquire; U1. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // 1 -> 0
        // ordering: Release; U1.
        self.word.store_byte0(0, Release);
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) != 0
    }
    fn word_is_legal(word: u32) -> bool {
        word <= 1
    }
}

impl<P: Barriers, B: Backoff> UnfairLock<P, B> {
    #[cold]
    fn lock_slowpath(&self) {
        let mut failures = 0;
        loop {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange of `try_lock`.
            self.word.cond_load(Relaxed, |word| word == 0);
            if self.try_lock() {
                return;
            }
            failures += 1;
            match B::pauses(failures) {
                0 => {}
                pauses => P::delay(pauses),
            }
        }
    }
}
