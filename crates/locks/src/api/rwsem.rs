//! The reader-writer semaphore behind `lock_api`.

use super::mutex::{deadline_after, deadline_at};
use crate::native::Native;
use crate::raw::RawLock;
use crate::rwsem::{RwSem, RwSemPolicy, Until};
use std::time::{Duration, Instant};

impl Until<'_, Native> {
    /// When `timeout` has passed; never, if that is longer than 584 years.
    pub fn after(timeout: Duration) -> Self {
        Self::deadline(deadline_after(timeout))
    }
    /// At `instant`. One in the past allows one attempt.
    pub fn at(instant: Instant) -> Self {
        Self::deadline(deadline_at(instant))
    }
}

#[cfg(feature = "lock_api")]
// SAFETY: readers and writers exclude each other, taking it acquires, giving it back releases.
unsafe impl<C: RwSemPolicy> lock_api::RawRwLock for RwSem<Native, C> {
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
unsafe impl<C: RwSemPolicy> lock_api::RawRwLockDowngrade for RwSem<Native, C> {
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { RawLock::downgrade(self) };
    }
}

#[cfg(feature = "lock_api")]
// SAFETY: they return `true` exactly if the lock is taken.
unsafe impl<C: RwSemPolicy> lock_api::RawRwLockTimed for RwSem<Native, C> {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        self.lock_shared_within(Until::after(timeout))
    }
    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        self.lock_shared_within(Until::at(timeout))
    }
    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        self.lock_within(Until::after(timeout))
    }
    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        self.lock_within(Until::at(timeout))
    }
}

#[cfg(feature = "lock_api_05")]
// SAFETY: as in version 0.4; the guards have no state, so forgetting one only leaves the lock locked;
// nothing unwinds.
unsafe impl<C: RwSemPolicy> lock_api_05::RawRwLock for RwSem<Native, C> {
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
unsafe impl<C: RwSemPolicy> lock_api_05::RawRwLockDowngrade for RwSem<Native, C> {
    unsafe fn downgrade(&self, _guard: Self::ExclusiveGuard) -> Self::SharedGuard {
        // SAFETY: the caller holds the lock.
        unsafe { RawLock::downgrade(self) };
        lock_api_05::GuardSend::default()
    }
}

#[cfg(feature = "lock_api_05")]
// SAFETY: they return a guard exactly if the lock is taken.
unsafe impl<C: RwSemPolicy> lock_api_05::RawRwLockTimed for RwSem<Native, C> {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, timeout: Duration) -> Option<Self::SharedGuard> {
        let until = Until::after(timeout);
        self.lock_shared_within(until).then(lock_api_05::GuardSend::default)
    }
    fn try_lock_shared_until(&self, timeout: Instant) -> Option<Self::SharedGuard> {
        let until = Until::at(timeout);
        self.lock_shared_within(until).then(lock_api_05::GuardSend::default)
    }
    fn try_lock_exclusive_for(&self, timeout: Duration) -> Option<Self::ExclusiveGuard> {
        let until = Until::after(timeout);
        self.lock_within(until).then(lock_api_05::GuardSend::default)
    }
    fn try_lock_exclusive_until(&self, timeout: Instant) -> Option<Self::ExclusiveGuard> {
        let until = Until::at(timeout);
        self.lock_within(until).then(lock_api_05::GuardSend::default)
    }
}
