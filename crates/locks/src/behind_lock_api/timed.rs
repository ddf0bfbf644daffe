//! Time-outs of the raw locks, and the operations whose traits have time-outs: recursive and upgradable reads.

use super::*;
#[cfg(feature = "lock_api")]
use crate::raw::RawLock;
#[cfg(feature = "lock_api")]
use crate::rwlock::{Barging, Unlisted};
use lockwright_core::glue::{TimedRwLock, deadline_after, deadline_at};
use lockwright_core::{timed_raw_mutex, timed_raw_rwlock, timed_stating_nothing};
use std::time::{Duration, Instant};

timed_raw_mutex! {
    [P: ParkPlatform + ConstCells, S: Succession<P>] RawMutex<P, S>;
    [P: ParkPlatform + ConstCells, S: Succession<P>] Sendable<RawMutex<P, S>>;
    [P: ParkPlatform + ConstCells, S: Succession<P>] RawFairMutex<P, S>;
    [P: ParkPlatform + ConstCells, S: Succession<P>] Sendable<RawFairMutex<P, S>>;
}

impl<P: ParkPlatform, F: Fairness> TimedRwLock for RawRwLock<P, F> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_until(deadline_ns)
    }
}
impl<P: ParkPlatform, F: Fairness> TimedRwLock for Sendable<RawRwLock<P, F>> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_until(deadline_ns)
    }
}
impl<P: ReaderPlatform> TimedRwLock for RawPercpuRwLock<P> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_until(deadline_ns)
    }
}

timed_stating_nothing! {
    [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>;
    [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>;
}
#[cfg(feature = "lock_api_05")]
impl<P: ReaderPlatform + ConstCells> lockwright_core::glue::TimedStating for RawPercpuRwLock<P> {
    fn read_before(&self, deadline_ns: u64) -> Option<Self::Shared> {
        Some((self.lock_shared_in_until(deadline_ns)?, v05::GuardNoSend::default()))
    }
}
timed_raw_rwlock! {
    [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>;
    [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>;
    [P: ReaderPlatform + ConstCells] RawPercpuRwLock<P>;
}

#[cfg(feature = "lock_api")]
macro_rules! recursive_04 {
    ($($platform:ident, $lock:ty;)+) => {$(
        // SAFETY: a reader of these locks may read again even if threads wait.
        unsafe impl<P: $platform + ConstCells> v04::RawRwLockRecursive for $lock {
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
        // SAFETY: the functions return `true` exactly if the lock is taken.
        unsafe impl<P: $platform + ConstCells> v04::RawRwLockRecursiveTimed for $lock {
            fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
                self.try_lock_shared_again() || self.read_until(deadline_after::<P>(timeout))
            }
            fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
                self.try_lock_shared_again() || self.read_until(deadline_at::<P>(timeout))
            }
        }
    )+};
}
#[cfg(feature = "lock_api")]
recursive_04! {
    ParkPlatform, RawRwLock<P, Barging>;
    ParkPlatform, Sendable<RawRwLock<P, Unlisted>>;
    ReaderPlatform, RawPercpuRwLock<P>;
}

#[cfg(feature = "lock_api")]
macro_rules! upgradable_04 {
    ($($lock:ty;)+) => {$(
        // SAFETY: no thread writes while an upgradable reader reads, and no two upgradable readers read at once.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> v04::RawRwLockUpgrade for $lock {
            #[inline]
            fn lock_upgradable(&self) {
                RawRwLock::lock_upgradable(self);
            }
            #[inline]
            fn try_lock_upgradable(&self) -> bool {
                RawRwLock::try_lock_upgradable(self)
            }
            #[inline]
            unsafe fn unlock_upgradable(&self) {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::unlock_upgradable(self) };
            }
            #[inline]
            unsafe fn upgrade(&self) {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::upgrade(self) };
            }
            #[inline]
            unsafe fn try_upgrade(&self) -> bool {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::try_upgrade(self) }
            }
        }
        // SAFETY: the functions give back what the caller holds.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> v04::RawRwLockFair for $lock {
            unsafe fn unlock_shared_fair(&self) {
                // SAFETY: the caller is a reader.
                unsafe { RawRwLock::unlock_shared_fair(self) };
            }
            unsafe fn unlock_exclusive_fair(&self) {
                // SAFETY: the caller owns the lock.
                unsafe { self.unlock_fair() };
            }
        }
        // SAFETY: as above.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> v04::RawRwLockUpgradeFair
            for $lock
        {
            unsafe fn unlock_upgradable_fair(&self) {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::unlock_upgradable_fair(self) };
            }
        }
        // SAFETY: no thread writes in between.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> v04::RawRwLockUpgradeDowngrade
            for $lock
        {
            unsafe fn downgrade_upgradable(&self) {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::downgrade_upgradable(self) };
            }
            unsafe fn downgrade_to_upgradable(&self) {
                // SAFETY: the caller owns the lock.
                unsafe { RawRwLock::downgrade_to_upgradable(self) };
            }
        }
        // SAFETY: the functions return `true` exactly if the lock is taken, or upgraded.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> v04::RawRwLockUpgradeTimed
            for $lock
        {
            fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
                self.lock_upgradable_until(deadline_after::<P>(timeout))
            }
            fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
                self.lock_upgradable_until(deadline_at::<P>(timeout))
            }
            unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
                // SAFETY: the caller is the upgradable reader.
                unsafe { self.upgrade_until(deadline_after::<P>(timeout)) }
            }
            unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
                // SAFETY: the caller is the upgradable reader.
                unsafe { self.upgrade_until(deadline_at::<P>(timeout)) }
            }
        }
    )+};
}
#[cfg(feature = "lock_api")]
upgradable_04! {
    RawRwLock<P, F>;
    Sendable<RawRwLock<P, F>>;
}

#[cfg(feature = "lock_api_05")]
macro_rules! upgradable_05 {
    ($($lock:ty, $guard:ty;)+) => {$(
        // SAFETY: no thread writes while an upgradable reader reads, and no two upgradable readers read at once. To
        // forget a guard only leaves the lock locked. Nothing unwinds.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> v05::RawRwLockUpgrade
            for $lock
        {
            type UpgradableGuard = $guard;

            #[inline]
            fn lock_upgradable(&self) -> $guard {
                RawRwLock::lock_upgradable(self);
                <$guard>::new()
            }
            #[inline]
            fn try_lock_upgradable(&self) -> Option<$guard> {
                RawRwLock::try_lock_upgradable(self).then(<$guard>::new)
            }
            #[inline]
            unsafe fn unlock_upgradable(&self, _guard: $guard) {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::unlock_upgradable(self) };
            }
            #[inline]
            unsafe fn upgrade(&self, guard: $guard) -> $guard {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::upgrade(self) };
                guard
            }
            #[inline]
            unsafe fn try_upgrade(&self, guard: $guard) -> Result<$guard, $guard> {
                // SAFETY: the caller is the upgradable reader.
                if unsafe { RawRwLock::try_upgrade(self) } { Ok(guard) } else { Err(guard) }
            }
        }
        // SAFETY: the functions give back what the caller holds.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> v05::RawRwLockFair
            for $lock
        {
            unsafe fn unlock_shared_fair(&self, _guard: $guard) {
                // SAFETY: the caller is a reader.
                unsafe { RawRwLock::unlock_shared_fair(self) };
            }
            unsafe fn unlock_exclusive_fair(&self, _guard: $guard) {
                // SAFETY: the caller owns the lock.
                unsafe { self.unlock_fair() };
            }
        }
        // SAFETY: as above.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness>
            v05::RawRwLockUpgradeFair for $lock
        {
            unsafe fn unlock_upgradable_fair(&self, _guard: $guard) {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::unlock_upgradable_fair(self) };
            }
        }
        // SAFETY: no thread writes in between.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness>
            v05::RawRwLockUpgradeDowngrade for $lock
        {
            unsafe fn downgrade_upgradable(&self, guard: $guard) -> $guard {
                // SAFETY: the caller is the upgradable reader.
                unsafe { RawRwLock::downgrade_upgradable(self) };
                guard
            }
            unsafe fn downgrade_to_upgradable(&self, guard: $guard) -> $guard {
                // SAFETY: the caller owns the lock.
                unsafe { RawRwLock::downgrade_to_upgradable(self) };
                guard
            }
        }
        // SAFETY: the functions return a guard exactly if the lock is taken, and say if it is upgraded.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness>
            v05::RawRwLockUpgradeTimed for $lock
        {
            fn try_lock_upgradable_for(&self, timeout: Duration) -> Option<$guard> {
                self.lock_upgradable_until(deadline_after::<P>(timeout)).then(<$guard>::new)
            }
            fn try_lock_upgradable_until(&self, timeout: Instant) -> Option<$guard> {
                self.lock_upgradable_until(deadline_at::<P>(timeout)).then(<$guard>::new)
            }
            unsafe fn try_upgrade_for(
                &self,
                guard: $guard,
                timeout: Duration,
            ) -> Result<$guard, $guard> {
                // SAFETY: the caller is the upgradable reader.
                let is_ours = unsafe { self.upgrade_until(deadline_after::<P>(timeout)) };
                if is_ours { Ok(guard) } else { Err(guard) }
            }
            unsafe fn try_upgrade_until(
                &self,
                guard: $guard,
                timeout: Instant,
            ) -> Result<$guard, $guard> {
                // SAFETY: the caller is the upgradable reader.
                let is_ours = unsafe { self.upgrade_until(deadline_at::<P>(timeout)) };
                if is_ours { Ok(guard) } else { Err(guard) }
            }
        }
    )+};
}
#[cfg(feature = "lock_api_05")]
upgradable_05! {
    RawRwLock<P, F>, v05::GuardNoSend;
    Sendable<RawRwLock<P, F>>, v05::GuardSend;
}
