//! The locks with one owner behind `lock_api`.

use super::Sendable;
use crate::clh::ClhLock;
use crate::mcs::McsLock;
use crate::mutex::{RawFairMutex, RawMutex};
use crate::park::ParkPlatform;
use crate::platform::{Barriers, ConstCells};
use crate::qspinlock::{QSpinlock, Succession, Waiting};
use crate::queue::QueuePlatform;
use crate::raw::RawLock;
use crate::ticket::TicketLock;
use crate::unfair::{Backoff, UnfairLock};

/// One `RawMutex` implementation per lock, for one version of `lock_api`.
macro_rules! raw_mutexes {
    ($implement:ident) => {
        $implement!([P: QueuePlatform + ConstCells, S: Succession<P>, W: Waiting<P>] QSpinlock<P, S, W>, GuardSend);
        $implement!([P: ParkPlatform + ConstCells, S: Succession<P>] RawMutex<P, S>, GuardNoSend);
        $implement!([P: ParkPlatform + ConstCells, S: Succession<P>] Sendable<RawMutex<P, S>>, GuardSend);
        $implement!([P: ParkPlatform + ConstCells, S: Succession<P>] RawFairMutex<P, S>, GuardNoSend);
        $implement!([P: ParkPlatform + ConstCells, S: Succession<P>] Sendable<RawFairMutex<P, S>>, GuardSend);
        $implement!([P: Barriers + ConstCells, B: Backoff] UnfairLock<P, B>, GuardSend);
        $implement!([P: Barriers + ConstCells] TicketLock<P>, GuardSend);
        $implement!([P: QueuePlatform + ConstCells] McsLock<P>, GuardSend);
        $implement!([P: QueuePlatform + ConstCells] ClhLock<P>, GuardSend);
    };
}

#[cfg(feature = "lock_api")]
macro_rules! implement_04 {
    ([$($bounds:tt)*] $lock:ty, $marker:ident) => {
        // SAFETY: the lock excludes, `lock` and `try_lock` acquire, `unlock` releases.
        unsafe impl<$($bounds)*> lock_api::RawMutex for $lock {
            const INIT: Self = <$lock>::INIT;
            type GuardMarker = lock_api::$marker;

            #[inline]
            fn lock(&self) {
                RawLock::lock(self);
            }
            #[inline]
            fn try_lock(&self) -> bool {
                RawLock::try_lock(self)
            }
            #[inline]
            unsafe fn unlock(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { RawLock::unlock(self) };
            }
            fn is_locked(&self) -> bool {
                RawLock::is_locked(self)
            }
        }
    };
}
#[cfg(feature = "lock_api")]
raw_mutexes!(implement_04);

#[cfg(feature = "lock_api_05")]
macro_rules! implement_05 {
    ([$($bounds:tt)*] $lock:ty, $marker:ident) => {
        // SAFETY: the lock excludes, `lock` and `try_lock` acquire, `unlock` releases; the guard
        // has no state, so forgetting it only leaves the lock locked; nothing unwinds.
        unsafe impl<$($bounds)*> lock_api_05::RawMutex for $lock {
            const INIT: Self = <$lock>::INIT;
            type Guard = lock_api_05::$marker;

            #[inline]
            fn lock(&self) -> Self::Guard {
                RawLock::lock(self);
                lock_api_05::$marker::new()
            }
            #[inline]
            fn try_lock(&self) -> Option<Self::Guard> {
                RawLock::try_lock(self).then(lock_api_05::$marker::new)
            }
            #[inline]
            unsafe fn unlock(&self, _guard: Self::Guard) {
                // SAFETY: the caller holds the lock.
                unsafe { RawLock::unlock(self) };
            }
            fn is_locked(&self) -> bool {
                RawLock::is_locked(self)
            }
        }
    };
}
#[cfg(feature = "lock_api_05")]
raw_mutexes!(implement_05);
