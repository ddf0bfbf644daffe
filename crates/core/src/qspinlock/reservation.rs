//! Competition for a lock word that newcomers may take, and its reservation. The first waiters of the bounded hybrid
//! and of the mutex use these functions.
//!
//! Nothing here takes the lock: the caller takes it by an exchange of its own.

use crate::platform::{Atomic, Bound, Budget, LockWordOps};
use crate::qspinlock::Word;
use crate::queue::{QueuePlatform, SPIN_NS, UNTIL_OVER};

use core::sync::atomic::Ordering::Relaxed;

/// The time, in nanoseconds, that a free lock stays reserved for a thread that does not take it. A few wake-ups take as
/// long.
const RESERVED_NS: u64 = 50_000;
/// The value of the pending byte of a lock that is reserved.
const RESERVED_BYTE: u8 = 1;
/// The lower half of a lock that is free and reserved.
pub const RESERVED_HALF: u16 = (RESERVED_BYTE as u16) << 8;

/// Waits until the lock is free and tries to `take` it, until a pause says that the time is over. Returns `true` if the
/// lock is taken.
pub fn compete<P: QueuePlatform>(
    word: &P::Word,
    mut pause: impl FnMut() -> bool,
    mut take: impl FnMut() -> bool,
) -> bool {
    let is_free = |bits| Word::from_bits(bits).is_free_for_head();
    loop {
        // ordering: Relaxed; only a hint, re-checked by `take`.
        if word.cond_load_bounded(Relaxed, UNTIL_OVER, is_free, &mut pause).is_err() {
            return false;
        }
        if take() {
            return true;
        }
        if pause() {
            return false;
        }
    }
}

/// Reserves the lock, and spins for it until it is taken or `is_over` says so. Returns `true` if it is taken. The lock
/// stays reserved.
pub fn reserve<P: QueuePlatform>(
    word: &P::Word,
    mut is_over: impl FnMut() -> bool,
    mut take: impl FnMut() -> bool,
) -> bool {
    // (*,*,*) -> (*,1,*)
    // ordering: Relaxed; only keeps newcomers away, nothing is read through it.
    word.store_byte1(RESERVED_BYTE, Relaxed);
    let is_free = |bits| !Word::from_bits(bits).is_locked();
    let bound = Bound::of(Budget::Nanoseconds(SPIN_NS), 16);
    // ordering: Relaxed; only a hint, re-checked by `take`.
    while word.cond_load_bounded(Relaxed, bound, is_free, &mut is_over).is_ok() {
        if take() {
            return true;
        }
    }
    false
}

/// Returns `true` if the lock was reserved and free for `RESERVED_NS`. Then the thread for which it is reserved has
/// no CPU.
#[cold]
pub fn is_abandoned<P: QueuePlatform>(word: &P::Word) -> bool {
    let is_used = |bits| {
        let seen = Word::from_bits(bits);
        !seen.is_pending() || seen.is_locked()
    };
    // ordering: Relaxed; only a hint, re-checked by the thread that takes it.
    word.cond_load_bounded(Relaxed, Bound::nanoseconds(RESERVED_NS), is_used, || false).is_err()
}
