//! A typed view of the platform's erased atomic pointer.

use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed};
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

/// A `P::Ptr` with a type.
#[repr(transparent)]
pub struct NodePtr<P: Cells, T> {
    raw: P::Ptr,
    _to: PhantomData<fn() -> T>,
}

impl<P: Cells, T> NodePtr<P, T> {
    /// Returns the null pointer.
    pub fn null() -> Self {
        Self { raw: Zeroed::zeroed(), _to: PhantomData }
    }
    /// Reads the pointer.
    #[inline]
    pub fn load(&self, order: Ordering) -> *mut T {
        self.raw.load(order).cast()
    }
    /// Returns the platform's cell.
    #[inline]
    pub fn cell(&self) -> &P::Ptr {
        &self.raw
    }
    /// Replaces the pointer and returns the old one.
    #[inline]
    pub fn swap(&self, value: *mut T, order: Ordering) -> *mut T {
        self.raw.swap(value.cast(), order).cast()
    }
    /// Replaces `old` by `new`. Returns `true` if it did.
    #[inline]
    pub fn replace(&self, old: *mut T, new: *mut T, success: Ordering, failure: Ordering) -> bool {
        self.raw.compare_exchange(old.cast(), new.cast(), success, failure).is_ok()
    }
}

impl<P: ConstCells, T> NodePtr<P, T> {
    /// The null pointer, as a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const NULL: Self = Self { raw: ConstZeroed::ZEROED, _to: PhantomData };
}
