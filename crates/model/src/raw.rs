//! What the atomic types of the checkers have in common.

use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

/// A checker's atomic type.
pub trait RawCell: Send + Sync + 'static {
    /// What it holds.
    type Value: Copy + Eq + std::fmt::Debug;
    /// Where the cell remembers the value stored last, unseen by the checker.
    type Latest: Remember<Self::Value>;

    /// A cell holding zero.
    fn zero() -> Self;
    /// As in `core`.
    fn load(&self, order: Ordering) -> Self::Value;
    /// As in `core`.
    fn store(&self, value: Self::Value, order: Ordering);
    /// As in `core`.
    fn swap(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// As in `core`.
    fn compare_exchange(
        &self,
        old: Self::Value,
        new: Self::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self::Value, Self::Value>;
}

/// A checker's atomic integer.
pub trait RawInt: RawCell<Value: Arithmetic> {
    /// As in `core`.
    fn fetch_add(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// As in `core`.
    fn fetch_sub(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// As in `core`.
    fn fetch_or(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// As in `core`.
    fn fetch_and(&self, value: Self::Value, order: Ordering) -> Self::Value;
}

/// The arithmetic of [`RawInt`], to know the result of an operation.
pub trait Arithmetic: Copy {
    /// Sum, wrapping around.
    fn plus(self, other: Self) -> Self;
    /// Difference, wrapping around.
    fn minus(self, other: Self) -> Self;
    /// Bits of both.
    fn or(self, other: Self) -> Self;
    /// Common bits.
    fn and(self, other: Self) -> Self;
}

/// Memory for one value that the checker does not see.
pub trait Remember<T>: Send + Sync {
    /// Holding zero.
    const ZERO: Self;
    /// Remembers `value`.
    fn set(&self, value: T);
    /// What was remembered last.
    fn get(&self) -> T;
}

macro_rules! remember {
    ($($atomic:ty, $value:ty, $zero:expr;)+) => { $(
        impl Remember<$value> for $atomic {
            #[allow(clippy::declare_interior_mutable_const)]
            const ZERO: Self = <$atomic>::new($zero);
            fn set(&self, value: $value) {
                self.store(value, Relaxed);
            }
            fn get(&self) -> $value {
                self.load(Relaxed)
            }
        }
    )+ };
}
remember! {
    AtomicU32, u32, 0;
    AtomicU64, u64, 0;
    AtomicPtr<()>, *mut (), std::ptr::null_mut();
}

macro_rules! integer {
    ($($int:ty)+) => { $(
        impl Arithmetic for $int {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn or(self, other: Self) -> Self {
                self | other
            }
            fn and(self, other: Self) -> Self {
                self & other
            }
        }
    )+ };
}
integer!(u32 u64);

/// A checker's atomic type that can be built in a constant.
pub trait ConstRawCell: RawCell {
    /// Holding zero.
    const ZERO: Self;
}

/// Implements [`RawCell`] and [`RawInt`] for a checker's types, which have the same names in each.
macro_rules! raw_cells {
    () => {
        raw_cells! {
            AtomicU32, u32, std::sync::atomic::AtomicU32, 0;
            AtomicU64, u64, std::sync::atomic::AtomicU64, 0;
            AtomicPtr<()>, *mut (), std::sync::atomic::AtomicPtr<()>, std::ptr::null_mut();
        }
        raw_cells! { integers
            AtomicU32, u32;
            AtomicU64, u64;
        }
    };
    (integers $($atomic:ty, $value:ty;)+) => { $(
        impl $crate::raw::RawInt for $atomic {
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.fetch_add(value, order)
            }
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.fetch_sub(value, order)
            }
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.fetch_or(value, order)
            }
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.fetch_and(value, order)
            }
        }
    )+ };
    ($($atomic:ty, $value:ty, $latest:ty, $zero:expr;)+) => { $(
        impl $crate::raw::RawCell for $atomic {
            type Value = $value;
            type Latest = $latest;
            #[track_caller]
            fn zero() -> Self {
                <$atomic>::new($zero)
            }
            fn load(&self, order: Ordering) -> $value {
                self.load(order)
            }
            fn store(&self, value: $value, order: Ordering) {
                self.store(value, order);
            }
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.swap(value, order)
            }
            fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(old, new, success, failure)
            }
        }
    )+ };
}
pub(crate) use raw_cells;
