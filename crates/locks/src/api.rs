//! The types a program uses: `lock_api` on top of the raw locks, and aliases for statics.
//!
//! ```
//! # #[cfg(all(feature = "std", feature = "lock_api"))] {
//! use lockwright::SpinLock;
//!
//! static HITS: SpinLock<u64> = SpinLock::new(0);
//!
//! *HITS.lock() += 1;
//! assert_eq!(*HITS.lock(), 1);
//! # }
//! ```
//!
//! Feature `lock_api` (default) serves version 0.4, feature `lock_api_05` version 0.5 in the module
//! `v05`; both may be on. Guards may be sent to other threads: none of these locks cares who
//! unlocks it.

use crate::clh::ClhLock;
use crate::mcs::McsLock;
use crate::platform::{Barriers, ConstCells, Platform, QueueNodes};
use crate::qspinlock::{QSpinlock, Succession, Waiting};
use crate::raw::RawLock;
use crate::ticket::TicketLock;
use crate::unfair::{Backoff, UnfairLock};

/// One `RawMutex` implementation per lock, for one version of `lock_api`.
macro_rules! raw_mutexes {
    ($implement:ident) => {
        $implement!([P: Platform + ConstCells, S: Succession<P>, W: Waiting<P>] QSpinlock<P, S, W>);
        $implement!([P: Barriers + ConstCells, B: Backoff] UnfairLock<P, B>);
        $implement!([P: Barriers + ConstCells] TicketLock<P>);
        $implement!([P: Barriers + QueueNodes + ConstCells] McsLock<P>);
        $implement!([P: Barriers + QueueNodes + ConstCells] ClhLock<P>);
    };
}

#[cfg(feature = "lock_api")]
macro_rules! implement_04 {
    ([$($bounds:tt)*] $lock:ty) => {
        // SAFETY: the lock excludes, `lock` and `try_lock` acquire, `unlock` releases.
        unsafe impl<$($bounds)*> lock_api::RawMutex for $lock {
            const INIT: Self = <$lock>::INIT;
            type GuardMarker = lock_api::GuardSend;

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
    ([$($bounds:tt)*] $lock:ty) => {
        // SAFETY: the lock excludes, `lock` and `try_lock` acquire, `unlock` releases; the guard
        // has no state, so forgetting it only leaves the lock locked; nothing unwinds.
        unsafe impl<$($bounds)*> lock_api_05::RawMutex for $lock {
            const INIT: Self = <$lock>::INIT;
            type Guard = lock_api_05::GuardSend;

            #[inline]
            fn lock(&self) -> Self::Guard {
                RawLock::lock(self);
                lock_api_05::GuardSend::default()
            }
            #[inline]
            fn try_lock(&self) -> Option<Self::Guard> {
                RawLock::try_lock(self).then(lock_api_05::GuardSend::default)
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

/// The aliases, for one version of `lock_api`.
#[cfg(feature = "std")]
macro_rules! aliases {
    ($lock_api:ident) => {
        /// A value guarded by the queued spinlock: first come, first served, a four-byte lock.
        pub type SpinLock<T> = $lock_api::Mutex<crate::qspinlock::QSpinlock<Native>, T>;
        /// Guard of a [`SpinLock`].
        pub type SpinLockGuard<'a, T> =
            $lock_api::MutexGuard<'a, crate::qspinlock::QSpinlock<Native>, T>;
        /// A value guarded by the NUMA-aware queued spinlock, CNA version 10: a four-byte lock.
        pub type CnaSpinLock<T> = $lock_api::Mutex<Cna, T>;
        /// Guard of a [`CnaSpinLock`].
        pub type CnaSpinLockGuard<'a, T> = $lock_api::MutexGuard<'a, Cna, T>;
    };
}

#[cfg(feature = "std")]
use crate::native::Native;
#[cfg(feature = "std")]
type Cna = crate::qspinlock::CnaSpinlock<Native>;

#[cfg(all(feature = "std", feature = "lock_api"))]
aliases!(lock_api);

/// The aliases for `lock_api` 0.5.
#[cfg(all(feature = "std", feature = "lock_api_05"))]
pub mod v05 {
    use super::{Cna, Native};
    aliases!(lock_api_05);
}
