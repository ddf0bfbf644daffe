//! Reading with the right to become the owner.

use crate::peers::rwlocks::{MakeReader, OfRwTrait};
use lockwright::rwlock::{Fair, Fairness, RawRwLock};
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;

/// The operations of an upgradable reader of a lock, whose place the caller passes.
#[derive(Clone, Copy)]
pub struct UpgradeOperations {
    /// Reads, and may become the owner.
    pub lock_upgradable: unsafe fn(*const ()),
    /// Becomes the owner.
    pub upgrade: unsafe fn(*const ()),
}

/// A lock one of whose readers may become the owner.
trait Upgrades: RawLock {
    fn lock_upgradable(&self);
    /// # Safety
    /// The caller is the upgradable reader.
    unsafe fn upgrade(&self);
}

impl<F: Fairness> Upgrades for RawRwLock<Native, F> {
    fn lock_upgradable(&self) {
        RawRwLock::lock_upgradable(self);
    }
    unsafe fn upgrade(&self) {
        // SAFETY: the caller's.
        unsafe { RawRwLock::upgrade(self) }
    }
}

impl<R: MakeReader + lock_api::RawRwLockUpgrade + Send + Sync + 'static> Upgrades for OfRwTrait<R> {
    fn lock_upgradable(&self) {
        self.0.lock_upgradable();
    }
    unsafe fn upgrade(&self) {
        // SAFETY: the caller's.
        unsafe { self.0.upgrade() }
    }
}

const fn of<L: Upgrades>() -> UpgradeOperations {
    UpgradeOperations {
        lock_upgradable: |place| {
            // SAFETY: the caller passes the place of an `L`.
            let lock = unsafe { &*place.cast::<L>() };
            lock.lock_upgradable();
        },
        upgrade: |place| {
            // SAFETY: the caller passes the place of an `L`.
            let lock = unsafe { &*place.cast::<L>() };
            // SAFETY: the caller is the upgradable reader.
            unsafe { lock.upgrade() }
        },
    }
}

/// Those of the lock of that name, one of ours or a peer, if its readers can upgrade.
pub fn upgrade_of(name: &str) -> Option<UpgradeOperations> {
    match name {
        "rwlock" => Some(of::<RawRwLock<Native>>()),
        "rwlock-fair" => Some(of::<RawRwLock<Native, Fair>>()),
        "parking_lot-rwlock" => Some(of::<OfRwTrait<parking_lot::RawRwLock>>()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upgradable_reader_becomes_the_owner() {
        fn upgrades<L: Upgrades>(name: &str) {
            let (lock, operations) = (L::new(), upgrade_of(name).expect("its readers can upgrade"));
            let place = (&raw const lock).cast();
            // SAFETY: the place of the lock.
            unsafe { (operations.lock_upgradable)(place) };
            assert!(lock.try_lock_shared(), "others read");
            // SAFETY: taken above.
            unsafe { lock.unlock_shared() };
            // SAFETY: taken above.
            unsafe { (operations.upgrade)(place) };
            assert!(!lock.try_lock_shared(), "it is owned");
            // SAFETY: as above.
            unsafe { lock.unlock() };
            assert!(!lock.is_locked());
        }
        upgrades::<RawRwLock<Native>>("rwlock");
        upgrades::<RawRwLock<Native, Fair>>("rwlock-fair");
        upgrades::<OfRwTrait<parking_lot::RawRwLock>>("parking_lot-rwlock");
        assert!(upgrade_of("std-rwlock").is_none());
    }
}
