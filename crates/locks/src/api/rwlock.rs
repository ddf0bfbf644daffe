//! The reader-writer locks behind `lock_api`.

use super::Sendable;
use super::deadline::{deadline_after, deadline_at};
use crate::park::ParkPlatform;
use crate::percpu_rwlock::{RawPercpuRwLock, ReaderPlatform};
use crate::platform::ConstCells;
use crate::raw::RawLock;
#[cfg(feature = "lock_api")]
use crate::rwlock::{Barging, Unlisted};
use crate::rwlock::{Fairness, RawRwLock};
use crate::rwsem::{RwSem, RwSemPolicy, Until};
use std::time::{Duration, Instant};

/// A reader-writer lock with deadlines of the platform's clock.
trait Timed: RawLock {
    fn write_until(&self, deadline_ns: u64) -> bool;
    fn read_until(&self, deadline_ns: u64) -> bool;
}

impl<P: ParkPlatform, C: RwSemPolicy> Timed for RwSem<P, C> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_within(Until::deadline(deadline_ns))
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_within(Until::deadline(deadline_ns))
    }
}
impl<P: ParkPlatform, F: Fairness> Timed for RawRwLock<P, F> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_until(deadline_ns)
    }
}
impl<P: ParkPlatform, F: Fairness> Timed for Sendable<RawRwLock<P, F>> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_until(deadline_ns)
    }
}
impl<P: ReaderPlatform> Timed for RawPercpuRwLock<P> {
    fn write_until(&self, deadline_ns: u64) -> bool {
        self.lock_until(deadline_ns)
    }
    fn read_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_until(deadline_ns)
    }
}

// A reader of the per-CPU lock is in the slot of its thread.
#[cfg(feature = "lock_api")]
super::sharing::implement_04! {
    [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>, GuardSend;
    [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>, GuardNoSend;
    [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>, GuardSend;
    [P: ReaderPlatform + ConstCells] RawPercpuRwLock<P>, GuardNoSend;
}

#[cfg(feature = "lock_api")]
macro_rules! timed_04 {
    ($([$($bounds:tt)*] $lock:ty;)+) => {$(
        // SAFETY: they return `true` exactly if the lock is taken.
        unsafe impl<$($bounds)*> lock_api::RawRwLockTimed for $lock {
            type Duration = Duration;
            type Instant = Instant;

            fn try_lock_shared_for(&self, timeout: Duration) -> bool {
                self.read_until(deadline_after::<P>(timeout))
            }
            fn try_lock_shared_until(&self, timeout: Instant) -> bool {
                self.read_until(deadline_at::<P>(timeout))
            }
            fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
                self.write_until(deadline_after::<P>(timeout))
            }
            fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
                self.write_until(deadline_at::<P>(timeout))
            }
        }
    )+};
}
#[cfg(feature = "lock_api")]
timed_04! {
    [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>;
    [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>;
    [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>;
    [P: ReaderPlatform + ConstCells] RawPercpuRwLock<P>;
}

#[cfg(feature = "lock_api")]
macro_rules! recursive_04 {
    ($($platform:ident, $lock:ty;)+) => {$(
        // SAFETY: a reader of these locks may read again even if threads wait.
        unsafe impl<P: $platform + ConstCells> lock_api::RawRwLockRecursive for $lock {
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
        // SAFETY: they return `true` exactly if the lock is taken.
        unsafe impl<P: $platform + ConstCells> lock_api::RawRwLockRecursiveTimed for $lock {
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
        // SAFETY: no thread writes while one of them reads, and no two of them read at once.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> lock_api::RawRwLockUpgrade for $lock {
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
                // SAFETY: the caller's.
                unsafe { RawRwLock::unlock_upgradable(self) };
            }
            #[inline]
            unsafe fn upgrade(&self) {
                // SAFETY: the caller's.
                unsafe { RawRwLock::upgrade(self) };
            }
            #[inline]
            unsafe fn try_upgrade(&self) -> bool {
                // SAFETY: the caller's.
                unsafe { RawRwLock::try_upgrade(self) }
            }
        }
        // SAFETY: they give back what the caller holds.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> lock_api::RawRwLockFair for $lock {
            unsafe fn unlock_shared_fair(&self) {
                // SAFETY: the caller's.
                unsafe { RawRwLock::unlock_shared_fair(self) };
            }
            unsafe fn unlock_exclusive_fair(&self) {
                // SAFETY: the caller's.
                unsafe { self.unlock_fair() };
            }
        }
        // SAFETY: as above.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> lock_api::RawRwLockUpgradeFair
            for $lock
        {
            unsafe fn unlock_upgradable_fair(&self) {
                // SAFETY: the caller's.
                unsafe { RawRwLock::unlock_upgradable_fair(self) };
            }
        }
        // SAFETY: no thread writes in between.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> lock_api::RawRwLockUpgradeDowngrade
            for $lock
        {
            unsafe fn downgrade_upgradable(&self) {
                // SAFETY: the caller's.
                unsafe { RawRwLock::downgrade_upgradable(self) };
            }
            unsafe fn downgrade_to_upgradable(&self) {
                // SAFETY: the caller's.
                unsafe { RawRwLock::downgrade_to_upgradable(self) };
            }
        }
        // SAFETY: they return `true` exactly if the lock is taken, or upgraded.
        unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> lock_api::RawRwLockUpgradeTimed
            for $lock
        {
            fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
                self.lock_upgradable_until(deadline_after::<P>(timeout))
            }
            fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
                self.lock_upgradable_until(deadline_at::<P>(timeout))
            }
            unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
                // SAFETY: the caller's.
                unsafe { self.upgrade_until(deadline_after::<P>(timeout)) }
            }
            unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
                // SAFETY: the caller's.
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
mod v05 {
    use super::*;
    use crate::api::sharing::v05::{Stating, implement_05, stating_nothing};
    use crate::percpu_rwlock::ReadIn;
    use lock_api_05::{GuardNoSend, GuardSend};

    stating_nothing! {
        [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>, GuardSend;
        [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>, GuardNoSend;
        [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>, GuardSend;
    }
    impl<P: ReaderPlatform + ConstCells> Stating for RawPercpuRwLock<P> {
        type Shared = (ReadIn, GuardNoSend);

        #[inline]
        fn read(&self) -> Self::Shared {
            (self.lock_shared_in(), GuardNoSend::default())
        }
        #[inline]
        fn try_read(&self) -> Option<Self::Shared> {
            Some((self.try_lock_shared_in()?, GuardNoSend::default()))
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

    implement_05! {
        [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>, GuardSend, GuardSend;
        [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>, GuardNoSend, GuardNoSend;
        [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>, GuardSend, GuardSend;
        [P: ReaderPlatform + ConstCells] RawPercpuRwLock<P>, (ReadIn, GuardNoSend), GuardNoSend;
    }

    fn read_until<L: Timed + Stating>(lock: &L, deadline_ns: u64) -> Option<L::Shared>
    where
        L::Shared: Default,
    {
        lock.read_until(deadline_ns).then(Default::default)
    }
    fn read_in_until<P: ReaderPlatform>(
        lock: &RawPercpuRwLock<P>,
        deadline_ns: u64,
    ) -> Option<(ReadIn, GuardNoSend)> {
        Some((lock.lock_shared_in_until(deadline_ns)?, GuardNoSend::default()))
    }

    macro_rules! timed_05 {
        ($([$($bounds:tt)*] $lock:ty, $read_until:ident;)+) => {$(
            // SAFETY: they return a guard exactly if the lock is taken.
            unsafe impl<$($bounds)*> lock_api_05::RawRwLockTimed for $lock {
                type Duration = Duration;
                type Instant = Instant;

                fn try_lock_shared_for(&self, timeout: Duration) -> Option<Self::SharedGuard> {
                    $read_until(self, deadline_after::<P>(timeout))
                }
                fn try_lock_shared_until(&self, timeout: Instant) -> Option<Self::SharedGuard> {
                    $read_until(self, deadline_at::<P>(timeout))
                }
                fn try_lock_exclusive_for(
                    &self,
                    timeout: Duration,
                ) -> Option<Self::ExclusiveGuard> {
                    self.write_until(deadline_after::<P>(timeout)).then(Default::default)
                }
                fn try_lock_exclusive_until(
                    &self,
                    timeout: Instant,
                ) -> Option<Self::ExclusiveGuard> {
                    self.write_until(deadline_at::<P>(timeout)).then(Default::default)
                }
            }
        )+};
    }
    timed_05! {
        [P: ParkPlatform + ConstCells, C: RwSemPolicy] RwSem<P, C>, read_until;
        [P: ParkPlatform + ConstCells, F: Fairness] RawRwLock<P, F>, read_until;
        [P: ParkPlatform + ConstCells, F: Fairness] Sendable<RawRwLock<P, F>>, read_until;
        [P: ReaderPlatform + ConstCells] RawPercpuRwLock<P>, read_in_until;
    }

    macro_rules! upgradable_05 {
        ($($lock:ty, $guard:ident;)+) => {$(
            // SAFETY: no thread writes while one of them reads, and no two of them read at once; forgetting a guard
            // only leaves the lock locked; nothing unwinds.
            unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> lock_api_05::RawRwLockUpgrade
                for $lock
            {
                type UpgradableGuard = $guard;

                #[inline]
                fn lock_upgradable(&self) -> $guard {
                    RawRwLock::lock_upgradable(self);
                    $guard::new()
                }
                #[inline]
                fn try_lock_upgradable(&self) -> Option<$guard> {
                    RawRwLock::try_lock_upgradable(self).then($guard::new)
                }
                #[inline]
                unsafe fn unlock_upgradable(&self, _guard: $guard) {
                    // SAFETY: the caller's.
                    unsafe { RawRwLock::unlock_upgradable(self) };
                }
                #[inline]
                unsafe fn upgrade(&self, guard: $guard) -> $guard {
                    // SAFETY: the caller's.
                    unsafe { RawRwLock::upgrade(self) };
                    guard
                }
                #[inline]
                unsafe fn try_upgrade(&self, guard: $guard) -> Result<$guard, $guard> {
                    // SAFETY: the caller's.
                    if unsafe { RawRwLock::try_upgrade(self) } { Ok(guard) } else { Err(guard) }
                }
            }
            // SAFETY: they give back what the caller holds.
            unsafe impl<P: ParkPlatform + ConstCells, F: Fairness> lock_api_05::RawRwLockFair
                for $lock
            {
                unsafe fn unlock_shared_fair(&self, _guard: $guard) {
                    // SAFETY: the caller's.
                    unsafe { RawRwLock::unlock_shared_fair(self) };
                }
                unsafe fn unlock_exclusive_fair(&self, _guard: $guard) {
                    // SAFETY: the caller's.
                    unsafe { self.unlock_fair() };
                }
            }
            // SAFETY: as above.
            unsafe impl<P: ParkPlatform + ConstCells, F: Fairness>
                lock_api_05::RawRwLockUpgradeFair for $lock
            {
                unsafe fn unlock_upgradable_fair(&self, _guard: $guard) {
                    // SAFETY: the caller's.
                    unsafe { RawRwLock::unlock_upgradable_fair(self) };
                }
            }
            // SAFETY: no thread writes in between.
            unsafe impl<P: ParkPlatform + ConstCells, F: Fairness>
                lock_api_05::RawRwLockUpgradeDowngrade for $lock
            {
                unsafe fn downgrade_upgradable(&self, guard: $guard) -> $guard {
                    // SAFETY: the caller's.
                    unsafe { RawRwLock::downgrade_upgradable(self) };
                    guard
                }
                unsafe fn downgrade_to_upgradable(&self, guard: $guard) -> $guard {
                    // SAFETY: the caller's.
                    unsafe { RawRwLock::downgrade_to_upgradable(self) };
                    guard
                }
            }
            // SAFETY: they return a guard exactly if the lock is taken, and say whether it is upgraded.
            unsafe impl<P: ParkPlatform + ConstCells, F: Fairness>
                lock_api_05::RawRwLockUpgradeTimed for $lock
            {
                fn try_lock_upgradable_for(&self, timeout: Duration) -> Option<$guard> {
                    self.lock_upgradable_until(deadline_after::<P>(timeout)).then($guard::new)
                }
                fn try_lock_upgradable_until(&self, timeout: Instant) -> Option<$guard> {
                    self.lock_upgradable_until(deadline_at::<P>(timeout)).then($guard::new)
                }
                unsafe fn try_upgrade_for(
                    &self,
                    guard: $guard,
                    timeout: Duration,
                ) -> Result<$guard, $guard> {
                    // SAFETY: the caller's.
                    let is_ours = unsafe { self.upgrade_until(deadline_after::<P>(timeout)) };
                    if is_ours { Ok(guard) } else { Err(guard) }
                }
                unsafe fn try_upgrade_until(
                    &self,
                    guard: $guard,
                    timeout: Instant,
                ) -> Result<$guard, $guard> {
                    // SAFETY: the caller's.
                    let is_ours = unsafe { self.upgrade_until(deadline_at::<P>(timeout)) };
                    if is_ours { Ok(guard) } else { Err(guard) }
                }
            }
        )+};
    }
    upgradable_05! {
        RawRwLock<P, F>, GuardNoSend;
        Sendable<RawRwLock<P, F>>, GuardSend;
    }
}
