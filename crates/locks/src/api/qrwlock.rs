//! The queued reader-writer spinlock behind `lock_api`.

use crate::platform::{ConstCells, Platform};
use crate::qrwlock::QRwLock;
use crate::raw::RawLock;

#[cfg(feature = "lock_api")]
// SAFETY: readers and writers exclude each other, taking it acquires, giving it back releases.
unsafe impl<P: Platform + ConstCells> lock_api::RawRwLock for QRwLock<P> {
    const INIT: Self = Self::INIT;
    type GuardMarker = lock_api::GuardSend;

    #[inline]
    fn lock_shared(&self) {
        RawLock::lock_shared(self);
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        RawLock::try_lock_shared(self)
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller is a reader.
        unsafe { RawLock::unlock_shared(self) };
    }
    #[inline]
    fn lock_exclusive(&self) {
        RawLock::lock(self);
    }
    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        RawLock::try_lock(self)
    }
    #[inline]
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { RawLock::unlock(self) };
    }
    fn is_locked(&self) -> bool {
        RawLock::is_locked(self)
    }
    fn is_locked_exclusive(&self) -> bool {
        self.is_owned()
    }
}

#[cfg(feature = "lock_api")]
// SAFETY: nobody owns the lock in between.
unsafe impl<P: Platform + ConstCells> lock_api::RawRwLockDowngrade for QRwLock<P> {
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { RawLock::downgrade(self) };
    }
}

#[cfg(feature = "lock_api_05")]
// SAFETY: as in version 0.4; the guards have no state, so forgetting one only leaves the lock locked;
// nothing unwinds.
unsafe impl<P: Platform + ConstCells> lock_api_05::RawRwLock for QRwLock<P> {
    const INIT: Self = Self::INIT;
    type SharedGuard = lock_api_05::GuardSend;
    type ExclusiveGuard = lock_api_05::GuardSend;

    #[inline]
    fn lock_shared(&self) -> Self::SharedGuard {
        RawLock::lock_shared(self);
        lock_api_05::GuardSend::default()
    }
    #[inline]
    fn try_lock_shared(&self) -> Option<Self::SharedGuard> {
        RawLock::try_lock_shared(self).then(lock_api_05::GuardSend::default)
    }
    #[inline]
    unsafe fn unlock_shared(&self, _guard: Self::SharedGuard) {
        // SAFETY: the caller is a reader.
        unsafe { RawLock::unlock_shared(self) };
    }
    #[inline]
    fn lock_exclusive(&self) -> Self::ExclusiveGuard {
        RawLock::lock(self);
        lock_api_05::GuardSend::default()
    }
    #[inline]
    fn try_lock_exclusive(&self) -> Option<Self::ExclusiveGuard> {
        RawLock::try_lock(self).then(lock_api_05::GuardSend::default)
    }
    #[inline]
    unsafe fn unlock_exclusive(&self, _guard: Self::ExclusiveGuard) {
        // SAFETY: the caller holds the lock.
        unsafe { RawLock::unlock(self) };
    }
    fn is_locked(&self) -> bool {
        RawLock::is_locked(self)
    }
    fn is_locked_exclusive(&self) -> bool {
        self.is_owned()
    }
}

#[cfg(feature = "lock_api_05")]
// SAFETY: nobody owns the lock in between.
unsafe impl<P: Platform + ConstCells> lock_api_05::RawRwLockDowngrade for QRwLock<P> {
    unsafe fn downgrade(&self, _guard: Self::ExclusiveGuard) -> Self::SharedGuard {
        // SAFETY: the caller holds the lock.
        unsafe { RawLock::downgrade(self) };
        lock_api_05::GuardSend::default()
    }
}
