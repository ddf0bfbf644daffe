//! Locks whose guards may be sent to other threads.

use crate::mutex::{RawFairMutex, RawMutex};
use crate::platform::{Cells, ConstCells};
use crate::raw::{Order, RawLock};
use crate::rwlock::RawRwLock;
use core::ops::Deref;

/// A raw lock of this crate with guards that may be sent to another thread and dropped there. The guards of
/// [`RawMutex`] and [`RawRwLock`] stay in their thread, as in the standard library. Then a type that holds a guard says
/// by itself that it cannot move. The lock itself is the same.
///
/// ```
/// # #[cfg(feature = "lock_api")] {
/// use lockwright::SendMutex;
///
/// static TOTAL: SendMutex<u32> = SendMutex::new(0);
///
/// let mut total = TOTAL.lock();
/// std::thread::scope(|scope| {
///     scope.spawn(move || *total += 1);
/// });
/// assert_eq!(*TOTAL.lock(), 1);
/// # }
/// ```
#[repr(transparent)]
pub struct Sendable<L>(L);

impl<P: ConstCells, S> Sendable<RawMutex<P, S>> {
    /// An unlocked mutex, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self(RawMutex::INIT);
}
impl<P: ConstCells, S> Sendable<RawFairMutex<P, S>> {
    /// An unlocked mutex, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self(RawFairMutex::INIT);
}
impl<P: ConstCells, F> Sendable<RawRwLock<P, F>> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self(RawRwLock::INIT);
}

/// A lock that any thread may give back.
pub(super) trait Ownerless: RawLock {}
impl<P: Cells, S> Ownerless for RawMutex<P, S> where Self: RawLock {}
impl<P: Cells, S> Ownerless for RawFairMutex<P, S> where Self: RawLock {}
impl<P: Cells, F> Ownerless for RawRwLock<P, F> where Self: RawLock {}

impl<L: Ownerless> Deref for Sendable<L> {
    type Target = L;

    #[inline]
    fn deref(&self) -> &L {
        &self.0
    }
}

impl<L: Ownerless> RawLock for Sendable<L> {
    const ORDER: Order = L::ORDER;
    const WAITERS_SLEEP: bool = L::WAITERS_SLEEP;
    const READERS_SHARE: bool = L::READERS_SHARE;
    const NEXT_OWNER_MAY_FREE: bool = L::NEXT_OWNER_MAY_FREE;

    fn new() -> Self {
        Self(L::new())
    }
    #[inline]
    fn lock(&self) {
        self.0.lock();
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() };
    }
    #[inline]
    fn lock_shared(&self) {
        self.0.lock_shared();
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.0.try_lock_shared()
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller is a reader.
        unsafe { self.0.unlock_shared() };
    }
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.downgrade() };
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        L::word_is_legal(word)
    }
}
