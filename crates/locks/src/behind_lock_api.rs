//! The raw locks behind `lock_api`, on every platform.

use crate::api::Sendable;
use crate::mutex::{RawFairMutex, RawMutex};
use crate::park::ParkPlatform;
use crate::percpu_rwlock::{RawPercpuRwLock, ReaderPlatform};
use crate::platform::ConstCells;
use crate::qspinlock::Succession;
use crate::rwlock::{Fairness, RawRwLock};
#[cfg(feature = "lock_api")]
use lockwright_core::glue::v04;
#[cfg(feature = "lock_api_05")]
use lockwright_core::glue::v05;
use lockwright_core::{raw_mutex, raw_rwlock, stating_nothing};

raw_mutex! {
    [P: ParkPlatform + ConstCells, S: Succession<P>] RawMutex<P, S>, GuardNoSend;
    [P: ParkPlatform + ConstCells, S: Succession<P>] Sendable<RawMutex<P, S>>, GuardSend;
    [P: ParkPlatform + ConstCells, S: Succession<P>] RawFairMutex<P, S>, GuardNoSend;
    [P: ParkPlatform + ConstCells, S: Succession<P>] Sendable<RawFairMutex<P, S>>, GuardSend;
}

/// Fair unlocks of a mutex, for both versions of `lock_api`.
macro_rules! fair {
    ($($lock:ty;)+) => {$(
        #[cfg(feature = "lock_api")]
        // SAFETY: `unlock_fair` gives the lock back, or to a waiter that acquires what the owner released.
        unsafe impl<P: ParkPlatform + ConstCells, S: Succession<P>> v04::RawMutexFair for $lock {
            unsafe fn unlock_fair(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }

        #[cfg(feature = "lock_api_05")]
        // SAFETY: as above.
        unsafe impl<P: ParkPlatform + ConstCells, S: Succession<P>> v05::RawMutexFair for $lock {
            unsafe fn unlock_fair(&self, _guard: Self::Guard) {
                // SAFETY: the caller holds the lock.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }
    )+};
}
fair! {
    RawMutex<P, S>;
    Sendable<RawMutex<P, S>>;
    RawFairMutex<P, S>;
    Sendable<RawFairMutex<P, S>>;
}

// The per-CPU lock is not in this list: its reader may be in the slot of its thread, and the guard says so.
stating_nothing! {
    [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>, GuardNoSend;
    [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>, GuardSend;
}
raw_rwlock! {
    [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>, GuardNoSend;
    [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>, GuardSend;
    [P: ReaderPlatform + ConstCells] RawPercpuRwLock<P>, GuardNoSend;
}

#[cfg(feature = "lock_api_05")]
impl<P: ReaderPlatform + ConstCells> lockwright_core::glue::Stating for RawPercpuRwLock<P> {
    type Shared = (crate::percpu_rwlock::ReadIn, v05::GuardNoSend);

    #[inline]
    fn read(&self) -> Self::Shared {
        (self.lock_shared_in(), v05::GuardNoSend::default())
    }
    #[inline]
    fn try_read(&self) -> Option<Self::Shared> {
        Some((self.try_lock_shared_in()?, v05::GuardNoSend::default()))
    }
    #[inline]
    unsafe fn unread(&self, (read, _): Self::Shared) {
        // SAFETY: the caller is the reader that was told `read`.
        unsafe { self.unlock_shared_in(read) };
    }
    unsafe fn downgraded(&self) -> Self::Shared {
        // SAFETY: the caller holds the lock.
        unsafe { crate::raw::RawLock::downgrade(self) };
        (crate::percpu_rwlock::ReadIn::Beneath, v05::GuardNoSend::default())
    }
}

#[cfg(all(feature = "std", target_os = "linux"))]
mod timed;
