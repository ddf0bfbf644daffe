//! The processor's own cells, for every platform whose threads run on the processor: programs, and a kernel.
//!
//! They need no operating system. Only a wait with a time limit needs a clock, which is the parameter `C`. The narrow
//! accesses of a lock word are in `word_*`. They are assembly where that is sound.

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod wait_aarch64;
#[cfg(all(target_arch = "aarch64", not(miri), not(lockwright_whole_word)))]
mod word_aarch64;
#[cfg(any(miri, lockwright_whole_word, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod word_whole;
#[cfg(all(target_arch = "x86_64", not(miri), not(lockwright_whole_word)))]
mod word_x86_64;

use crate::platform::{Atomic, AtomicInt, Bound, Budget, Clock, ConstZeroed, RaceTracker, Zeroed};
use core::hint::spin_loop;
use core::marker::PhantomData;
use core::ptr::null_mut;
#[cfg(target_has_atomic = "64")]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// An atomic of `core` as a cell of a platform with the clock `C`.
#[repr(transparent)]
pub struct Hardware<A, C>(A, PhantomData<fn() -> C>);

/// A 32-bit cell.
pub type HardwareU32<C> = Hardware<AtomicU32, C>;
/// A 64-bit cell, on processors that have one.
#[cfg(target_has_atomic = "64")]
pub type HardwareU64<C> = Hardware<AtomicU64, C>;
/// A cell that holds a pointer.
pub type HardwarePtr<C> = Hardware<AtomicPtr<()>, C>;

impl<A, C> Hardware<A, C> {
    /// Returns the cell that holds what `core` holds.
    pub const fn new(core: A) -> Self {
        Self(core, PhantomData)
    }
    /// Returns the atomic of `core`.
    #[inline(always)]
    pub const fn core(&self) -> &A {
        &self.0
    }
}

/// A 32-bit word whose bytes and halves can be accessed alone.
#[repr(transparent)]
pub struct HardwareWord<C>(AtomicU32, PhantomData<fn() -> C>);

/// A tracker that tracks nothing: plain fields are only plain fields.
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

/// Lets time pass until the cell at `at` may no longer hold `value`, which its last load has found. On aarch64 the
/// processor waits for an event, if it has a stream of events that ends such a wait in any case.
#[inline(always)]
fn wait_for_change<C: Clock, T: Copy>(at: *const T, value: T) {
    if C::has_event_stream() {
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        return wait_aarch64::wait_for_change(at, value);
    }
    let _ = (at, value);
    spin_loop();
}

/// The number of looks at the cell between two looks at the clock.
const LOOKS_PER_CLOCK: u64 = 64;

/// Polls `load` within `bound`. It is the body of every native `cond_load_bounded`.
#[inline(always)]
fn poll_bounded<C: Clock, T: Copy>(
    bound: Bound,
    mut load: impl FnMut() -> T,
    mut pred: impl FnMut(T) -> bool,
    mut stop: impl FnMut() -> bool,
) -> Result<T, T> {
    // 2^64 looks, one each nanosecond, take 584 years.
    let (looks_max, deadline_ns) = match bound.budget {
        Budget::Looks(looks) => (u64::from(looks), None),
        Budget::Nanoseconds(ns) => (u64::MAX, Some(C::now_ns().saturating_add(ns))),
        Budget::Unlimited => (u64::MAX, None),
    };
    let stop_every = u64::from(bound.stop_every.max(1));
    let mut looks = 0_u64;
    loop {
        let value = load();
        if pred(value) {
            return Ok(value);
        }
        let is_asked =
            if bound.stop_first { looks % stop_every == 0 } else { (looks + 1) % stop_every == 0 };
        looks += 1;
        let is_late =
            deadline_ns.is_some_and(|at| looks % LOOKS_PER_CLOCK == 0 && C::now_ns() >= at);
        if looks >= looks_max || is_late || is_asked && stop() {
            return Err(value);
        }
        spin_loop();
    }
}

/// Implements the operations that every cell has, by the `core` atomic that `$cell` holds.
macro_rules! atomic {
    ($cell:ty, $value:ty, $zero:expr) => {
        impl<C: Clock + 'static> Zeroed for $cell {
            #[inline(always)]
            fn zeroed() -> Self {
                Self::ZEROED
            }
        }
        impl<C: Clock + 'static> ConstZeroed for $cell {
            const ZEROED: Self = Self($zero, PhantomData);
        }
        // SAFETY: every operation is that of a `core` atomic, or a loop around its load.
        unsafe impl<C: Clock + 'static> Atomic<$value> for $cell {
            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }
            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
            }
            #[inline(always)]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(old, new, success, failure)
            }
            #[inline(always)]
            fn cond_load(&self, order: Ordering, mut pred: impl FnMut($value) -> bool) -> $value {
                loop {
                    let value = Atomic::load(self, order);
                    if pred(value) {
                        return value;
                    }
                    wait_for_change::<C, _>(self.0.as_ptr().cast_const(), value);
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
                poll_bounded::<C, _>(bound, || Atomic::load(self, order), pred, stop)
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

/// Implements the operations of integer cells.
macro_rules! atomic_int {
    ($cell:ty, $value:ty) => {
        // SAFETY: every operation is that of a `core` atomic.
        unsafe impl<C: Clock + 'static> AtomicInt<$value> for $cell {
            #[inline(always)]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_add(value, order)
            }
            #[inline(always)]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_sub(value, order)
            }
            #[inline(always)]
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_or(value, order)
            }
            #[inline(always)]
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_and(value, order)
            }
        }
    };
}

atomic!(HardwareU32<C>, u32, AtomicU32::new(0));
#[cfg(target_has_atomic = "64")]
atomic!(HardwareU64<C>, u64, AtomicU64::new(0));
atomic!(HardwarePtr<C>, *mut (), AtomicPtr::new(null_mut()));
atomic!(HardwareWord<C>, u32, AtomicU32::new(0));
atomic_int!(HardwareU32<C>, u32);
#[cfg(target_has_atomic = "64")]
atomic_int!(HardwareU64<C>, u64);
atomic_int!(HardwareWord<C>, u32);

#[cfg(test)]
mod tests {
    use super::*;

    struct NoClock;
    impl Clock for NoClock {
        fn now_ns() -> u64 {
            unreachable!("no wait here has a limit of time")
        }
    }

    /// The looks at which the condition is asked, of the first 700.
    fn asked_at(bound: Bound) -> [u32; 4] {
        let (looks, mut asked, mut times) = (core::cell::Cell::new(0), [0; 4], 0);
        let look = || looks.set(looks.get() + 1);
        let stop = || {
            asked[times] = looks.get();
            times += 1;
            looks.get() > 600
        };
        assert!(poll_bounded::<NoClock, _>(bound, look, |()| false, stop).is_err());
        asked
    }

    #[test]
    fn a_condition_is_asked_after_so_many_looks_or_at_the_first_one_and_then_after_so_many() {
        let bound = Bound::until_stopped(256);
        assert_eq!(asked_at(bound), [256, 512, 768, 0]);
        assert_eq!(asked_at(bound.asked_first()), [1, 257, 513, 769]);
    }
}
