//! The locks with one owner.

/// Implements `RawMutex` for locks that have a constant `INIT`, with guards of these kinds.
#[macro_export]
macro_rules! raw_mutex {
    ($([$($bounds:tt)*] $lock:ty, $marker:ident;)+) => {$(
        $crate::if_04! {
            // SAFETY: the lock excludes, `lock` and `try_lock` acquire, `unlock` releases.
            unsafe impl<$($bounds)*> $crate::glue::v04::RawMutex for $lock {
                const INIT: Self = <$lock>::INIT;
                type GuardMarker = $crate::glue::v04::$marker;

                #[inline]
                fn lock(&self) {
                    $crate::raw::RawLock::lock(self);
                }
                #[inline]
                fn try_lock(&self) -> bool {
                    $crate::raw::RawLock::try_lock(self)
                }
                #[inline]
                unsafe fn unlock(&self) {
                    // SAFETY: the caller holds the lock.
                    unsafe { $crate::raw::RawLock::unlock(self) };
                }
                fn is_locked(&self) -> bool {
                    $crate::raw::RawLock::is_locked(self)
                }
            }
        }
        $crate::if_05! {
            // SAFETY: as in version 0.4; the guard has no state, so forgetting it only leaves the lock locked; nothing
            // unwinds.
            unsafe impl<$($bounds)*> $crate::glue::v05::RawMutex for $lock {
                const INIT: Self = <$lock>::INIT;
                type Guard = $crate::glue::v05::$marker;

                #[inline]
                fn lock(&self) -> Self::Guard {
                    $crate::raw::RawLock::lock(self);
                    Self::Guard::new()
                }
                #[inline]
                fn try_lock(&self) -> Option<Self::Guard> {
                    $crate::raw::RawLock::try_lock(self).then(Self::Guard::new)
                }
                #[inline]
                unsafe fn unlock(&self, _guard: Self::Guard) {
                    // SAFETY: the caller holds the lock.
                    unsafe { $crate::raw::RawLock::unlock(self) };
                }
                fn is_locked(&self) -> bool {
                    $crate::raw::RawLock::is_locked(self)
                }
            }
        }
    )+};
}

/// Implements `RawMutexTimed` for locks of a platform `P` that have `lock_until`.
#[macro_export]
macro_rules! timed_raw_mutex {
    ($([$($bounds:tt)*] $lock:ty;)+) => {$(
        $crate::if_04! {
            // SAFETY: they return `true` exactly if the lock is taken.
            unsafe impl<$($bounds)*> $crate::glue::v04::RawMutexTimed for $lock {
                type Duration = core::time::Duration;
                type Instant = $crate::glue::Instant;

                fn try_lock_for(&self, timeout: Self::Duration) -> bool {
                    self.lock_until($crate::glue::deadline_after::<P>(timeout))
                }
                fn try_lock_until(&self, timeout: Self::Instant) -> bool {
                    self.lock_until($crate::glue::deadline_at::<P>(timeout))
                }
            }
        }
        $crate::if_05! {
            // SAFETY: as in version 0.4; the guard has no state.
            unsafe impl<$($bounds)*> $crate::glue::v05::RawMutexTimed for $lock {
                type Duration = core::time::Duration;
                type Instant = $crate::glue::Instant;

                fn try_lock_for(&self, timeout: Self::Duration) -> Option<Self::Guard> {
                    self.lock_until($crate::glue::deadline_after::<P>(timeout)).then(Default::default)
                }
                fn try_lock_until(&self, timeout: Self::Instant) -> Option<Self::Guard> {
                    self.lock_until($crate::glue::deadline_at::<P>(timeout)).then(Default::default)
                }
            }
        }
    )+};
}

#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod of_queued_spinlock {
    use crate::platform::ConstCells;
    use crate::qspinlock::{QSpinlock, Succession, Waiting};
    use crate::queue::QueuePlatform;

    raw_mutex! {
        [P: QueuePlatform + ConstCells, S: Succession<P>, W: Waiting<P>] QSpinlock<P, S, W>, GuardSend;
    }
    #[cfg(all(feature = "std", target_os = "linux"))]
    timed_raw_mutex! {
        [P: QueuePlatform + ConstCells, S: Succession<P>] QSpinlock<P, S, crate::qspinlock::Spin>;
    }
}
