//! The locks that readers share.

use crate::raw::RawLock;

/// A reader-writer lock with deadlines of the platform's clock.
pub trait TimedRwLock: RawLock {
    /// Takes it as the writer before a deadline. Returns `true` if it did.
    fn write_until(&self, deadline_ns: u64) -> bool;
    /// Takes it as a reader before a deadline. Returns `true` if it did.
    fn read_until(&self, deadline_ns: u64) -> bool;
}

/// A lock for `lock_api` 0.5, whose reader may know more than that it is one.
#[cfg(feature = "lock_api_05")]
pub trait Stating: RawLock {
    /// What the guard of a reader knows.
    type Shared;
    /// Takes the lock as a reader.
    fn read(&self) -> Self::Shared;
    /// Takes the lock as a reader if that is possible at once.
    fn try_read(&self) -> Option<Self::Shared>;
    /// Gives back what a reader has.
    ///
    /// # Safety
    /// The caller is the reader that was told so.
    unsafe fn unread(&self, read: Self::Shared);
    /// Makes the writer a reader.
    ///
    /// # Safety
    /// The caller owns the lock, and is a reader afterwards.
    unsafe fn downgraded(&self) -> Self::Shared;
}

/// Such a lock with deadlines.
#[cfg(feature = "lock_api_05")]
pub trait TimedStating: Stating + TimedRwLock {
    /// Takes the lock as a reader before a deadline.
    fn read_before(&self, deadline_ns: u64) -> Option<Self::Shared>;
}

/// Implements [`Stating`] for locks whose readers know nothing.
#[macro_export]
macro_rules! stating_nothing {
    ($([$($bounds:tt)*] $lock:ty, $shared:ident;)+) => {$(
        $crate::if_05! {
            impl<$($bounds)*> $crate::glue::Stating for $lock {
                type Shared = $crate::glue::v05::$shared;

                #[inline]
                fn read(&self) -> Self::Shared {
                    $crate::raw::RawLock::lock_shared(self);
                    Self::Shared::new()
                }
                #[inline]
                fn try_read(&self) -> Option<Self::Shared> {
                    $crate::raw::RawLock::try_lock_shared(self).then(Self::Shared::new)
                }
                #[inline]
                unsafe fn unread(&self, _read: Self::Shared) {
                    // SAFETY: the caller is a reader.
                    unsafe { $crate::raw::RawLock::unlock_shared(self) };
                }
                unsafe fn downgraded(&self) -> Self::Shared {
                    // SAFETY: the caller holds the lock.
                    unsafe { $crate::raw::RawLock::downgrade(self) };
                    Self::Shared::new()
                }
            }
        }
    )+};
}

/// Implements `RawRwLock` and `RawRwLockDowngrade` for locks that have a constant `INIT` and are
/// [`Stating`](crate::glue::Stating), with guards of these kinds.
#[macro_export]
macro_rules! raw_rwlock {
    ($([$($bounds:tt)*] $lock:ty, $marker:ident;)+) => {$(
        $crate::if_04! {
            // SAFETY: readers and writers exclude each other, taking it acquires, giving it back releases.
            unsafe impl<$($bounds)*> $crate::glue::v04::RawRwLock for $lock {
                const INIT: Self = Self::INIT;
                type GuardMarker = $crate::glue::v04::$marker;

                #[inline]
                fn lock_shared(&self) {
                    $crate::raw::RawLock::lock_shared(self);
                }
                #[inline]
                fn try_lock_shared(&self) -> bool {
                    $crate::raw::RawLock::try_lock_shared(self)
                }
                #[inline]
                unsafe fn unlock_shared(&self) {
                    // SAFETY: the caller is a reader.
                    unsafe { $crate::raw::RawLock::unlock_shared(self) };
                }
                #[inline]
                fn lock_exclusive(&self) {
                    $crate::raw::RawLock::lock(self);
                }
                #[inline]
                fn try_lock_exclusive(&self) -> bool {
                    $crate::raw::RawLock::try_lock(self)
                }
                #[inline]
                unsafe fn unlock_exclusive(&self) {
                    // SAFETY: the caller holds the lock.
                    unsafe { $crate::raw::RawLock::unlock(self) };
                }
                fn is_locked(&self) -> bool {
                    $crate::raw::RawLock::is_locked(self)
                }
                fn is_locked_exclusive(&self) -> bool {
                    self.is_owned()
                }
            }
            // SAFETY: no thread owns the lock in between.
            unsafe impl<$($bounds)*> $crate::glue::v04::RawRwLockDowngrade for $lock {
                unsafe fn downgrade(&self) {
                    // SAFETY: the caller holds the lock.
                    unsafe { $crate::raw::RawLock::downgrade(self) };
                }
            }
        }
        $crate::if_05! {
            // SAFETY: as in version 0.4; forgetting a guard only leaves the lock locked; nothing unwinds.
            unsafe impl<$($bounds)*> $crate::glue::v05::RawRwLock for $lock {
                const INIT: Self = Self::INIT;
                type SharedGuard = <Self as $crate::glue::Stating>::Shared;
                type ExclusiveGuard = $crate::glue::v05::$marker;

                #[inline]
                fn lock_shared(&self) -> Self::SharedGuard {
                    $crate::glue::Stating::read(self)
                }
                #[inline]
                fn try_lock_shared(&self) -> Option<Self::SharedGuard> {
                    $crate::glue::Stating::try_read(self)
                }
                #[inline]
                unsafe fn unlock_shared(&self, guard: Self::SharedGuard) {
                    // SAFETY: the caller is the reader with this guard.
                    unsafe { $crate::glue::Stating::unread(self, guard) };
                }
                #[inline]
                fn lock_exclusive(&self) -> Self::ExclusiveGuard {
                    $crate::raw::RawLock::lock(self);
                    Self::ExclusiveGuard::new()
                }
                #[inline]
                fn try_lock_exclusive(&self) -> Option<Self::ExclusiveGuard> {
                    $crate::raw::RawLock::try_lock(self).then(Self::ExclusiveGuard::new)
                }
                #[inline]
                unsafe fn unlock_exclusive(&self, _guard: Self::ExclusiveGuard) {
                    // SAFETY: the caller holds the lock.
                    unsafe { $crate::raw::RawLock::unlock(self) };
                }
                fn is_locked(&self) -> bool {
                    $crate::raw::RawLock::is_locked(self)
                }
                fn is_locked_exclusive(&self) -> bool {
                    self.is_owned()
                }
            }
            // SAFETY: no thread owns the lock in between.
            unsafe impl<$($bounds)*> $crate::glue::v05::RawRwLockDowngrade for $lock {
                unsafe fn downgrade(&self, _guard: Self::ExclusiveGuard) -> Self::SharedGuard {
                    // SAFETY: the caller holds the lock.
                    unsafe { $crate::glue::Stating::downgraded(self) }
                }
            }
        }
    )+};
}

/// Implements `RawRwLockTimed` for locks of a platform `P` that are [`TimedRwLock`], and in version 0.5
/// [`TimedStating`](crate::glue::TimedStating).
#[macro_export]
macro_rules! timed_raw_rwlock {
    ($([$($bounds:tt)*] $lock:ty;)+) => {$(
        $crate::if_04! {
            // SAFETY: they return `true` exactly if the lock is taken.
            unsafe impl<$($bounds)*> $crate::glue::v04::RawRwLockTimed for $lock {
                type Duration = core::time::Duration;
                type Instant = $crate::glue::Instant;

                fn try_lock_shared_for(&self, timeout: Self::Duration) -> bool {
                    $crate::glue::TimedRwLock::read_until(self, $crate::glue::deadline_after::<P>(timeout))
                }
                fn try_lock_shared_until(&self, timeout: Self::Instant) -> bool {
                    $crate::glue::TimedRwLock::read_until(self, $crate::glue::deadline_at::<P>(timeout))
                }
                fn try_lock_exclusive_for(&self, timeout: Self::Duration) -> bool {
                    $crate::glue::TimedRwLock::write_until(self, $crate::glue::deadline_after::<P>(timeout))
                }
                fn try_lock_exclusive_until(&self, timeout: Self::Instant) -> bool {
                    $crate::glue::TimedRwLock::write_until(self, $crate::glue::deadline_at::<P>(timeout))
                }
            }
        }
        $crate::if_05! {
            // SAFETY: they return a guard exactly if the lock is taken.
            unsafe impl<$($bounds)*> $crate::glue::v05::RawRwLockTimed for $lock {
                type Duration = core::time::Duration;
                type Instant = $crate::glue::Instant;

                fn try_lock_shared_for(&self, timeout: Self::Duration) -> Option<Self::SharedGuard> {
                    let deadline_ns = $crate::glue::deadline_after::<P>(timeout);
                    $crate::glue::TimedStating::read_before(self, deadline_ns)
                }
                fn try_lock_shared_until(&self, timeout: Self::Instant) -> Option<Self::SharedGuard> {
                    let deadline_ns = $crate::glue::deadline_at::<P>(timeout);
                    $crate::glue::TimedStating::read_before(self, deadline_ns)
                }
                fn try_lock_exclusive_for(
                    &self,
                    timeout: Self::Duration,
                ) -> Option<Self::ExclusiveGuard> {
                    let deadline_ns = $crate::glue::deadline_after::<P>(timeout);
                    $crate::glue::TimedRwLock::write_until(self, deadline_ns).then(Default::default)
                }
                fn try_lock_exclusive_until(
                    &self,
                    timeout: Self::Instant,
                ) -> Option<Self::ExclusiveGuard> {
                    let deadline_ns = $crate::glue::deadline_at::<P>(timeout);
                    $crate::glue::TimedRwLock::write_until(self, deadline_ns).then(Default::default)
                }
            }
        }
    )+};
}

/// Implements [`TimedStating`](crate::glue::TimedStating) for locks whose readers know nothing.
#[macro_export]
macro_rules! timed_stating_nothing {
    ($([$($bounds:tt)*] $lock:ty;)+) => {$(
        $crate::if_05! {
            impl<$($bounds)*> $crate::glue::TimedStating for $lock {
                fn read_before(&self, deadline_ns: u64) -> Option<Self::Shared> {
                    $crate::glue::TimedRwLock::read_until(self, deadline_ns).then(Default::default)
                }
            }
        }
    )+};
}
