//! The lock that readers share.

use lockwright::native::Native;

/// The lock of a [`RwLock`], without its value. It is unlocked with `lock_api::RawRwLock::INIT`.
#[cfg(not(feature = "send_guard"))]
pub type RawRwLock = lockwright::rwlock::RawRwLock<Native>;
/// The lock of a [`RwLock`], without its value. It is unlocked with `lock_api::RawRwLock::INIT`.
#[cfg(feature = "send_guard")]
pub type RawRwLock =
    lockwright::api::Sendable<lockwright::rwlock::RawRwLock<Native, lockwright::rwlock::Unlisted>>;

/// A value that many threads read at once, or one changes: [`lockwright::RwLock`], or with feature `send_guard`
/// [`lockwright::SendRwLock`].
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// The guard of a thread that reads.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// The guard of a thread that writes.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// The guard of a thread that reads, next to other readers, and may become the writer. There is one at a time.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// The guard of a part of the value, of a thread that reads.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// The guard of a part of the value, of a thread that writes.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// Creates an unlocked lock, for statics. [`RwLock::new`] does so, too.
pub const fn const_rwlock<T>(val: T) -> RwLock<T> {
    RwLock::new(val)
}
