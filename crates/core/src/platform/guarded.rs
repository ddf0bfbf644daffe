//! Plain fields that an internal lock guards and that race detectors see.

use super::{Cells, ConstCells, ConstZeroed, Zeroed};
use core::cell::UnsafeCell;

/// Tells a race detector or a cost model about accesses to a plain field. Natively it does nothing.
pub trait RaceTracker: Zeroed + Send + Sync {
    /// Runs `read`, which reads the field at `at`.
    fn read<R>(&self, at: *const (), read: impl FnOnce() -> R) -> R;
    /// Runs `write`, which writes (and may read) the field at `at`.
    fn write<R>(&self, at: *const (), write: impl FnOnce() -> R) -> R;
}

/// A plain field of a lock that another lock, or ownership of this one, guards.
///
/// The value is not atomic. If one of two accesses is a write, something else must order them. The model checkers see
/// both accesses and report a race if nothing orders them.
pub struct Guarded<P: Cells, T> {
    value: UnsafeCell<T>,
    tracker: P::Tracker,
}

// SAFETY: access goes through the unsafe methods below, whose callers promise exclusion.
unsafe impl<P: Cells, T: Send> Sync for Guarded<P, T> {}

impl<P: Cells, T> Guarded<P, T> {
    /// Returns a field that holds `value`.
    pub fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), tracker: Zeroed::zeroed() }
    }
    /// Reads the field.
    ///
    /// # Safety
    /// No write happens concurrently: the caller holds the lock that guards the field.
    pub unsafe fn get(&self) -> T
    where
        T: Copy,
    {
        let at = self.value.get();
        // SAFETY: the caller excludes writers; the pointer is to a live field of `self`.
        self.tracker.read(at.cast(), || unsafe { *at })
    }
    /// Writes the field.
    ///
    /// # Safety
    /// No other access happens concurrently: the caller holds the lock that guards the field.
    pub unsafe fn set(&self, value: T) {
        let at = self.value.get();
        // SAFETY: the caller excludes all other threads; the pointer is to a live field of `self`.
        self.tracker.write(at.cast(), || unsafe { *at = value })
    }
}

impl<P: ConstCells, T> Guarded<P, T> {
    /// Returns a field that holds `value`, in a constant.
    pub const fn const_new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), tracker: ConstZeroed::ZEROED }
    }
}
