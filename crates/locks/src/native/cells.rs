//! `core`'s atomics as platform cells.

use super::Native;
use crate::platform::{
    Atomic, AtomicInt, Bound, Budget, Cells, Clock, ConstZeroed, RaceTracker, Zeroed,
};
use core::hint::spin_loop;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

impl Cells for Native {
    type U32 = AtomicU32;
    type U64 = AtomicU64;
    type Ptr = AtomicPtr<()>;
    type Word = NativeWord;
    type Tracker = Untracked;
}

/// A 32-bit word with byte and half-word access; the narrow operations are in `word_*`.
#[repr(transparent)]
pub struct NativeWord(pub(super) AtomicU32);

/// A cell that starts with `value`, in a constant.
pub(crate) const fn u32_cell(value: u32) -> AtomicU32 {
    AtomicU32::new(value)
}

/// Tracks nothing: plain fields are plain fields.
pub struct Untracked;

impl Zeroed for Untracked {
    fn zeroed() -> Self {
        Self
    }
}
impl ConstZeroed for Untracked {
    const ZEROED: Self = Self;
}
impl RaceTracker for Untracked {
    #[inline(always)]
    fn read<R>(&self, _at: *const (), read: impl FnOnce() -> R) -> R {
        read()
    }
    #[inline(always)]
    fn write<R>(&self, _at: *const (), write: impl FnOnce() -> R) -> R {
        write()
    }
}

/// How many looks pass between two looks at the clock.
const LOOKS_PER_CLOCK: u64 = 64;

/// Polls `load` within `bound`; the body of every native `cond_load_bounded`.
#[inline(always)]
fn poll_bounded<T: Copy>(
    bound: Bound,
    mut load: impl FnMut() -> T,
    mut pred: impl FnMut(T) -> bool,
    mut stop: impl FnMut() -> bool,
) -> Result<T, T> {
    let (looks_max, deadline_ns) = match bound.budget {
        Budget::Looks(looks) => (u64::from(looks), None),
        Budget::Nanoseconds(ns) => (u64::MAX, Some(Native::now_ns().saturating_add(ns))),
    };
    let stop_every = u64::from(bound.stop_every.max(1));
    let mut looks = 0_u64;
    loop {
        let value = load();
        if pred(value) {
            return Ok(value);
        }
        looks += 1;
        let is_late = deadline_ns
            .is_some_and(|at| looks.is_multiple_of(LOOKS_PER_CLOCK) && Native::now_ns() >= at);
        if looks >= looks_max || is_late || looks.is_multiple_of(stop_every) && stop() {
            return Err(value);
        }
        spin_loop();
    }
}

/// The operations every cell has, by way of the `core` atomic that `$cell` is or holds.
macro_rules! atomic {
    ($cell:ty, $value:ty, $core:ty, $zero:expr, $inner:expr) => {
        impl Zeroed for $cell {
            #[inline(always)]
            fn zeroed() -> Self {
                Self::ZEROED
            }
        }
        impl ConstZeroed for $cell {
            const ZEROED: Self = $zero;
        }
        // SAFETY: every operation is that of a `core` atomic, or a loop around its load.
        unsafe impl Atomic<$value> for $cell {
            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                let inner: fn(&$cell) -> &$core = $inner;
                inner(self).load(order)
            }
            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                let inner: fn(&$cell) -> &$core = $inner;
                inner(self).store(value, order);
            }
            #[inline(always)]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                let inner: fn(&$cell) -> &$core = $inner;
                inner(self).swap(value, order)
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let inner: fn(&$cell) -> &$core = $inner;
                inner(self).compare_exchange(old, new, success, failure)
            }
            #[inline(always)]
            fn cond_load(&self, order: Ordering, mut pred: impl FnMut($value) -> bool) -> $value {
                loop {
                    let value = Atomic::load(self, order);
                    if pred(value) {
                        return value;
                    }
                    spin_loop();
                }
            }
            #[inline(always)]
            fn cond_load_bounded(
                &self,
                order: Ordering,
                bound: Bound,
                pred: impl FnMut($value) -> bool,
                stop: impl FnMut() -> bool,
            ) -> Result<$value, $value> {
                poll_bounded(bound, || Atomic::load(self, order), pred, stop)
            }
            #[inline(always)]
            fn cond_load_stepping(
                &self,
                order: Ordering,
                mut pred: impl FnMut($value) -> bool,
                mut step: impl FnMut() -> bool,
            ) -> $value {
                let mut steps = true;
                loop {
                    let value = Atomic::load(self, order);
                    if pred(value) {
                        return value;
                    }
                    steps = steps && step();
                    spin_loop();
                }
            }
        }
    };
}

/// The operations of integer cells.
macro_rules! atomic_int {
    ($cell:ty, $value:ty, $core:ty, $inner:expr) => {
        // SAFETY: every operation is that of a `core` atomic.
        unsafe impl AtomicInt<$value> for $cell {
            #[inline(always)]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                let inner: fn(&$cell) -> &$core = $inner;
                inner(self).fetch_add(value, order)
            }
            #[inline(always)]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                let inner: fn(&$cell) -> &$core = $inner;
                inner(self).fetch_sub(value, order)
            }
            #[inline(always)]
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                let inner: fn(&$cell) -> &$core = $inner;
                inner(self).fetch_or(value, order)
            }
            #[inline(always)]
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                let inner: fn(&$cell) -> &$core = $inner;
                inner(self).fetch_and(value, order)
            }
        }
    };
}

atomic!(AtomicU32, u32, AtomicU32, AtomicU32::new(0), |cell| cell);
atomic!(AtomicU64, u64, AtomicU64, AtomicU64::new(0), |cell| cell);
atomic!(AtomicPtr<()>, *mut (), AtomicPtr<()>, AtomicPtr::new(null_mut()), |cell| cell);
atomic!(NativeWord, u32, AtomicU32, NativeWord(AtomicU32::new(0)), |cell| &cell.0);
atomic_int!(AtomicU32, u32, AtomicU32, |cell| cell);
atomic_int!(AtomicU64, u64, AtomicU64, |cell| cell);
atomic_int!(NativeWord, u32, AtomicU32, |cell| &cell.0);
