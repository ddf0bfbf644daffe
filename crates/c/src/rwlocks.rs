//! Locks with one writer or many readers.

use crate::calls::{
    LockSharedUntil, LockUntil, keep_errno, taken, taken_until, too_many_readers, unless_full,
};
use crate::locks::exclusive;
use crate::tsan;
use core::ffi::c_int;
use libc::timespec;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::rwlock::RawRwLock;
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;
use lockwright_linux::rwsem::RwSem;

/// The functions for readers of a lock.
macro_rules! shared {
    ($Lock:ty: $lock:ident $try_lock:ident $lock_until:ident $unlock:ident $downgrade:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $lock(lock: *const $Lock) {
            // SAFETY: the caller's lock.
            let lock = unsafe { &*lock };
            if !lock.take_shared_at_once() && !keep_errno(|| lock.take_shared()) {
                too_many_readers();
            }
            tsan::shared(lock);
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $try_lock(lock: *const $Lock) -> c_int {
            // SAFETY: the caller's lock.
            let lock = unsafe { &*lock };
            let result = unless_full(taken(lock.try_lock_shared()), lock);
            tsan::taken_by(result, lock, tsan::shared)
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $lock_until(
            lock: *const $Lock,
            clock: c_int,
            deadline: *const timespec,
        ) -> c_int {
            // SAFETY: the caller's lock.
            let lock = unsafe { &*lock };
            let take = |deadline_ns| lock.take_shared_until(deadline_ns);
            // SAFETY: the caller's deadline.
            let result = unsafe { taken_until(clock, deadline, take) };
            tsan::taken_by(unless_full(result, lock), lock, tsan::shared)
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $unlock(lock: *const $Lock) {
            // SAFETY: the caller's lock, ...
            let lock = unsafe { &*lock };
            tsan::unshared(lock);
            // SAFETY: ... which it reads.
            unsafe { lock.unlock_shared() };
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $downgrade(lock: *const $Lock) {
            // SAFETY: the caller's lock, ...
            let lock = unsafe { &*lock };
            tsan::disowned(lock);
            // SAFETY: ... which it holds.
            unsafe { lock.downgrade() };
        }
    };
}

exclusive! {
    RawRwLock<Native>, 4, 4: lw_rwlock_lock lw_rwlock_try_lock lw_rwlock_lock_until lw_rwlock_unlock
}
shared! {
    RawRwLock<Native>:
    lw_rwlock_lock_shared lw_rwlock_try_lock_shared lw_rwlock_lock_shared_until
    lw_rwlock_unlock_shared lw_rwlock_downgrade
}
exclusive! {
    RawPercpuRwLock<Native>, 16, 8:
    lw_percpu_rwlock_lock lw_percpu_rwlock_try_lock lw_percpu_rwlock_lock_until
    lw_percpu_rwlock_unlock
}
shared! {
    RawPercpuRwLock<Native>:
    lw_percpu_rwlock_lock_shared lw_percpu_rwlock_try_lock_shared
    lw_percpu_rwlock_lock_shared_until lw_percpu_rwlock_unlock_shared lw_percpu_rwlock_downgrade
}
exclusive! {
    RwSem<Native>, 48, 8: lw_rwsem_lock lw_rwsem_try_lock lw_rwsem_lock_until lw_rwsem_unlock
}
shared! {
    RwSem<Native>:
    lw_rwsem_lock_shared lw_rwsem_try_lock_shared lw_rwsem_lock_shared_until
    lw_rwsem_unlock_shared lw_rwsem_downgrade
}

/// Functions of the reader-writer lock that only do something with a lock that the caller holds.
macro_rules! of_holder {
    ($($name:ident calls $method:ident, tells $before:ident $after:ident;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(lock: *const RawRwLock<Native>) {
            // SAFETY: the caller's lock, ...
            let lock = unsafe { &*lock };
            tsan::$before(lock);
            // SAFETY: ... which it holds.
            keep_errno(|| unsafe { lock.$method() });
            tsan::$after(lock);
        }
    )+};
}

of_holder! {
    lw_rwlock_unlock_fair calls unlock_fair, tells disowned nothing;
    lw_rwlock_unlock_shared_fair calls unlock_shared_fair, tells unshared nothing;
    lw_rwlock_unlock_upgradable calls unlock_upgradable, tells unshared nothing;
    lw_rwlock_downgrade_upgradable calls downgrade_upgradable, tells nothing nothing;
    lw_rwlock_downgrade_to_upgradable calls downgrade_to_upgradable, tells disowned nothing;
    lw_rwlock_upgrade calls upgrade, tells nothing owned;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_lock_shared_again(lock: *const RawRwLock<Native>) {
    // SAFETY: the caller's lock.
    let lock = unsafe { &*lock };
    if !lock.try_lock_shared_again() && !keep_errno(|| lock.take_shared()) {
        too_many_readers();
    }
    tsan::shared(lock);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_lock_upgradable(lock: *const RawRwLock<Native>) {
    // SAFETY: the caller's lock.
    let lock = unsafe { &*lock };
    if !keep_errno(|| lock.lock_upgradable_unless_full()) {
        too_many_readers();
    }
    tsan::shared(lock);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_try_lock_upgradable(lock: *const RawRwLock<Native>) -> c_int {
    // SAFETY: the caller's lock.
    let lock = unsafe { &*lock };
    let result = unless_full(keep_errno(|| taken(lock.try_lock_upgradable())), lock);
    tsan::taken_by(result, lock, tsan::shared)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_lock_upgradable_until(
    lock: *const RawRwLock<Native>,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: the caller's lock.
    let lock = unsafe { &*lock };
    let take = |deadline_ns| lock.lock_upgradable_until(deadline_ns);
    // SAFETY: the caller's deadline.
    let result = unsafe { taken_until(clock, deadline, take) };
    tsan::taken_by(unless_full(result, lock), lock, tsan::shared)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_try_upgrade(lock: *const RawRwLock<Native>) -> c_int {
    // SAFETY: the caller's lock, ...
    let lock = unsafe { &*lock };
    // SAFETY: ... of which it is the upgradable reader.
    let result = taken(unsafe { lock.try_upgrade() });
    tsan::taken_by(result, lock, tsan::owned)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_rwlock_upgrade_until(
    lock: *const RawRwLock<Native>,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: the caller's lock.
    let lock = unsafe { &*lock };
    // SAFETY: the caller is the upgradable reader.
    let upgrade = |deadline_ns| unsafe { lock.upgrade_until(deadline_ns) };
    // SAFETY: the caller's deadline.
    let result = unsafe { taken_until(clock, deadline, upgrade) };
    tsan::taken_by(result, lock, tsan::owned)
}
