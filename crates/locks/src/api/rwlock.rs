//! The reader-writer locks behind `lock_api`.

use super::mutex::{deadline_after, deadline_at};
use crate::native::Native;
use crate::percpu_rwlock::RawPercpuRwLock;
use crate::raw::RawLock;
use crate::rwlock::{Barging, Fairness, RawRwLock};
use crate::rwsem::{RwSem, RwSemPolicy, Until};
use std::time::{Duration, Instant};

/// A reader-writer lock with deadlines of the platform's clock.
trait Timed: RawLock {
    fn write_until(&self, deadline_ns: u64) -> bool;
    fn read_until(&self, deadline_ns: u64) -> bool;
}

impl<C: RwSemPolicy> Timed for RwSem<Native, C> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_within(Until::deadline(deadline_ns))
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_within(Until::deadline(deadline_ns))
    }
}
impl<F: Fairness> Timed for RawRwLock<Native, F> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_until(deadline_ns)
    }
}
impl Timed for RawPercpuRwLock<Native> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_until(deadline_ns)
    }
}

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

        // SAFETY: they return `true` exactly if the lock is taken.
        unsafe impl<$($bounds)*> lock_api::RawRwLockTimed for $lock {
            type Duration = Duration;
            type Instant = Instant;

            fn try_lock_shared_for(&self, timeout: Duration) -> bool {
                self.read_until(deadline_after(timeout))
            }
            fn try_lock_shared_until(&self, timeout: Instant) -> bool {
                self.read_until(deadline_at(timeout))
            }
            fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
                self.write_until(deadline_after(timeout))
            }
            fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
                self.write_until(deadline_at(timeout))
            }
        }
    )+};
}
// A reader of the per-CPU lock is in the slot of its thread.
#[cfg(feature = "lock_api")]
implement_04! {
    [C: RwSemPolicy] RwSem<Native, C>, GuardSend;
    [F: Fairness] RawRwLock<Native, F>, GuardSend;
    [] RawPercpuRwLock<Native>, GuardNoSend;
}

#[cfg(feature = "lock_api")]
macro_rules! recursive_04 {
    ($($lock:ty),+) => {$(
        // SAFETY: a reader of these locks may read again whoever waits.
        unsafe impl lock_api::RawRwLockRecursive for $lock {
            #[inline]
            fn lock_shared_recursive(&self) {
                if !self.try_lock_shared_again() {
                    RawLock::lock_shared(self);
                }
            }
            #[inline]
            fn try_lock_shared_recursive(&self) -> bool {
                self.try_lock_shared_again()
            }
        }
    )+};
}
#[cfg(feature = "lock_api")]
recursive_04!(RawRwLock<Native, Barging>, RawPercpuRwLock<Native>);

#[cfg(feature = "lock_api_05")]
mod v05 {
    use super::*;
    use crate::percpu_rwlock::ReadIn;
    use lock_api_05::{GuardNoSend, GuardSend};

    /// What the guard of a reader knows.
    trait Stating: Timed {
        type Shared;
        fn read(&self) -> Self::Shared;
        fn try_read(&self) -> Option<Self::Shared>;
        fn read_before(&self, deadline_ns: u64) -> Option<Self::Shared>;
        /// # Safety
        /// The caller is the reader that was told so.
        unsafe fn unread(&self, read: Self::Shared);
        /// # Safety
        /// The caller owns the lock, and is a reader afterwards.
        unsafe fn downgraded(&self) -> Self::Shared;
    }

    macro_rules! stating_nothing {
        ($([$($bounds:tt)*] $lock:ty;)+) => {$(
            impl<$($bounds)*> Stating for $lock {
                type Shared = GuardSend;

                #[inline]
                fn read(&self) -> GuardSend {
                    RawLock::lock_shared(self);
                    GuardSend::new()
                }
                #[inline]
                fn try_read(&self) -> Option<GuardSend> {
                    RawLock::try_lock_shared(self).then(GuardSend::new)
                }
                fn read_before(&self, deadline_ns: u64) -> Option<GuardSend> {
                    self.read_until(deadline_ns).then(GuardSend::new)
                }
                #[inline]
                unsafe fn unread(&self, _read: GuardSend) {
                    // SAFETY: the caller is a reader.
                    unsafe { RawLock::unlock_shared(self) };
                }
                unsafe fn downgraded(&self) -> GuardSend {
                    // SAFETY: the caller holds the lock.
                    unsafe { RawLock::downgrade(self) };
                    GuardSend::new()
                }
            }
        )+};
    }
    stating_nothing! {
        [C: RwSemPolicy] RwSem<Native, C>;
        [F: Fairness] RawRwLock<Native, F>;
    }

    impl Stating for RawPercpuRwLock<Native> {
        type Shared = (ReadIn, GuardNoSend);

        #[inline]
        fn read(&self) -> Self::Shared {
            (self.lock_shared_in(), GuardNoSend::default())
        }
        #[inline]
        fn try_read(&self) -> Option<Self::Shared> {
            Some((self.try_lock_shared_in()?, GuardNoSend::default()))
        }
        fn read_before(&self, deadline_ns: u64) -> Option<Self::Shared> {
            Some((self.lock_shared_in_until(deadline_ns)?, GuardNoSend::default()))
        }
        #[inline]
        unsafe fn unread(&self, (read, _): Self::Shared) {
            // SAFETY: the caller is the reader that was told so.
            unsafe { self.unlock_shared_in(read) };
        }
        unsafe fn downgraded(&self) -> Self::Shared {
            // SAFETY: the caller holds the lock.
            unsafe { RawLock::downgrade(self) };
            (ReadIn::Beneath, GuardNoSend::default())
        }
    }

    macro_rules! implement_05 {
        ($([$($bounds:tt)*] $lock:ty, $shared:ty;)+) => {$(
            // SAFETY: as in version 0.4; forgetting a guard only leaves the lock locked; nothing unwinds.
            unsafe impl<$($bounds)*> lock_api_05::RawRwLock for $lock {
                const INIT: Self = Self::INIT;
                type SharedGuard = $shared;
                type ExclusiveGuard = GuardSend;

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
                fn lock_exclusive(&self) -> GuardSend {
                    RawLock::lock(self);
                    GuardSend::new()
                }
                #[inline]
                fn try_lock_exclusive(&self) -> Option<GuardSend> {
                    RawLock::try_lock(self).then(GuardSend::new)
                }
                #[inline]
                unsafe fn unlock_exclusive(&self, _guard: GuardSend) {
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
                unsafe fn downgrade(&self, _guard: GuardSend) -> Self::SharedGuard {
                    // SAFETY: the caller holds the lock.
                    unsafe { self.downgraded() }
                }
            }

            // SAFETY: they return a guard exactly if the lock is taken.
            unsafe impl<$($bounds)*> lock_api_05::RawRwLockTimed for $lock {
                type Duration = Duration;
                type Instant = Instant;

                fn try_lock_shared_for(&self, timeout: Duration) -> Option<Self::SharedGuard> {
                    self.read_before(deadline_after(timeout))
                }
                fn try_lock_shared_until(&self, timeout: Instant) -> Option<Self::SharedGuard> {
                    self.read_before(deadline_at(timeout))
                }
                fn try_lock_exclusive_for(&self, timeout: Duration) -> Option<GuardSend> {
                    self.write_until(deadline_after(timeout)).then(GuardSend::new)
                }
                fn try_lock_exclusive_until(&self, timeout: Instant) -> Option<GuardSend> {
                    self.write_until(deadline_at(timeout)).then(GuardSend::new)
                }
            }
        )+};
    }
    implement_05! {
        [C: RwSemPolicy] RwSem<Native, C>, GuardSend;
        [F: Fairness] RawRwLock<Native, F>, GuardSend;
        [] RawPercpuRwLock<Native>, (ReadIn, GuardNoSend);
    }
}
