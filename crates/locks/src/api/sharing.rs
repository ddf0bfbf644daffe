//! The locks that readers share behind `lock_api`.

use crate::platform::ConstCells;
use crate::qrwlock::RawQRwLock;
use crate::queue::QueuePlatform;
use crate::raw::RawLock;

#[cfg(feature = "lock_api")]
macro_rules! implement_04 {
    ($([$($bounds:tt)*] $lock:ty, $marker:ident;)+) => {$(
        // SAFETY: readers and writers exclude each other, taking it acquires, giving it back releases.
        unsafe impl<$($bounds)*> lock_api::RawRwLock for $lock {
            const INIT: Self = Self::INIT;
            type GuardMarker = lock_api::$marker;

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

        // SAFETY: nobody owns the lock in between.
        unsafe impl<$($bounds)*> lock_api::RawRwLockDowngrade for $lock {
            unsafe fn downgrade(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { RawLock::downgrade(self) };
            }
        }
    )+};
}
#[cfg(feature = "lock_api")]
implement_04! {
    [P: QueuePlatform + ConstCells] RawQRwLock<P>, GuardSend;
}
#[cfg(all(feature = "lock_api", feature = "std", target_os = "linux"))]
pub(super) use implement_04;

#[cfg(feature = "lock_api_05")]
pub(super) mod v05 {
    use super::*;
    use lock_api_05::GuardSend;

    /// What the guard of a reader knows.
    pub(in crate::api) trait Stating: RawLock {
        type Shared;
        fn read(&self) -> Self::Shared;
        fn try_read(&self) -> Option<Self::Shared>;
        /// # Safety
        /// The caller is the reader that was told so.
        unsafe fn unread(&self, read: Self::Shared);
        /// # Safety
        /// The caller owns the lock, and is a reader afterwards.
        unsafe fn downgraded(&self) -> Self::Shared;
    }

    macro_rules! stating_nothing {
        ($([$($bounds:tt)*] $lock:ty, $shared:ident;)+) => {$(
            impl<$($bounds)*> Stating for $lock {
                type Shared = $shared;

                #[inline]
                fn read(&self) -> $shared {
                    RawLock::lock_shared(self);
                    $shared::new()
                }
                #[inline]
                fn try_read(&self) -> Option<$shared> {
                    RawLock::try_lock_shared(self).then($shared::new)
                }
                #[inline]
                unsafe fn unread(&self, _read: $shared) {
                    // SAFETY: the caller is a reader.
                    unsafe { RawLock::unlock_shared(self) };
                }
                unsafe fn downgraded(&self) -> $shared {
                    // SAFETY: the caller holds the lock.
                    unsafe { RawLock::downgrade(self) };
                    $shared::new()
                }
            }
        )+};
    }
    stating_nothing! {
        [P: QueuePlatform + ConstCells] RawQRwLock<P>, GuardSend;
    }

    macro_rules! implement_05 {
        ($([$($bounds:tt)*] $lock:ty, $shared:ty, $exclusive:ident;)+) => {$(
            // SAFETY: as in version 0.4; forgetting a guard only leaves the lock locked; nothing unwinds.
            unsafe impl<$($bounds)*> lock_api_05::RawRwLock for $lock {
                const INIT: Self = Self::INIT;
                type SharedGuard = $shared;
                type ExclusiveGuard = $exclusive;

                #[inline]
                fn lock_shared(&self) -> Self::SharedGuard {
                    self.read()
                }
                #[inline]
                fn try_lock_shared(&self) -> Option<Self::SharedGuard> {
                    self.try_read()
                }
                #[inline]
                unsafe fn unlock_shared(&self, guard: Self::SharedGuard) {
                    // SAFETY: the caller is the reader with this guard.
                    unsafe { self.unread(guard) };
                }
                #[inline]
                fn lock_exclusive(&self) -> $exclusive {
                    RawLock::lock(self);
                    $exclusive::new()
                }
                #[inline]
                fn try_lock_exclusive(&self) -> Option<$exclusive> {
                    RawLock::try_lock(self).then($exclusive::new)
                }
                #[inline]
                unsafe fn unlock_exclusive(&self, _guard: $exclusive) {
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

            // SAFETY: nobody owns the lock in between.
            unsafe impl<$($bounds)*> lock_api_05::RawRwLockDowngrade for $lock {
                unsafe fn downgrade(&self, _guard: $exclusive) -> Self::SharedGuard {
                    // SAFETY: the caller holds the lock.
                    unsafe { self.downgraded() }
                }
            }
        )+};
    }
    implement_05! {
        [P: QueuePlatform + ConstCells] RawQRwLock<P>, GuardSend, GuardSend;
    }
    #[cfg(all(feature = "std", target_os = "linux"))]
    pub(in crate::api) use {implement_05, stating_nothing};
}
