//! The types for `lock_api` 0.5 (feature `lock_api_05`). Their guards are those of that version.
//!
//! [`Condvar`], [`Semaphore`](crate::Semaphore) and [`SeqLock`](crate::SeqLock) do not depend on `lock_api`.

use crate::api::Sendable;
use crate::mutex;
use crate::native::Native;
use crate::percpu_rwlock::RawPercpuRwLock;
use crate::rwlock::{self, Fair, Unlisted};
use lockwright_core::{mutex_types_again, rwlock_types_again};

pub use crate::api::{Condvar, RawThreadId};
#[doc(no_inline)]
pub use lockwright_core::glue::v05 as lock_api;
#[cfg(feature = "linux")]
#[doc(inline)]
pub use lockwright_linux::api::v05::*;

mutex_types_again! {
    Mutex, MutexGuard, MappedMutexGuard, ArcMutexGuard: mutex::RawMutex<Native>;
    SendMutex, SendMutexGuard, MappedSendMutexGuard, ArcSendMutexGuard: Sendable<mutex::RawMutex<Native>>;
    FairMutex, FairMutexGuard, MappedFairMutexGuard, ArcFairMutexGuard: mutex::RawFairMutex<Native>;
}
#[cfg(feature = "linux")]
mutex_types_again! {
    CnaMutex, CnaMutexGuard, MappedCnaMutexGuard, ArcCnaMutexGuard: crate::linux::RawCnaMutex<Native>;
}
rwlock_types_again! {
    RwLock, RwLockReadGuard, RwLockWriteGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, ArcRwLockReadGuard,
    ArcRwLockWriteGuard, RwLockUpgradableReadGuard, ArcRwLockUpgradableReadGuard: rwlock::RawRwLock<Native>;
    SendRwLock, SendRwLockReadGuard, SendRwLockWriteGuard, MappedSendRwLockReadGuard, MappedSendRwLockWriteGuard,
    ArcSendRwLockReadGuard, ArcSendRwLockWriteGuard, SendRwLockUpgradableReadGuard,
    ArcSendRwLockUpgradableReadGuard: Sendable<rwlock::RawRwLock<Native, Unlisted>>;
    FairRwLock, FairRwLockReadGuard, FairRwLockWriteGuard, MappedFairRwLockReadGuard, MappedFairRwLockWriteGuard,
    ArcFairRwLockReadGuard, ArcFairRwLockWriteGuard, FairRwLockUpgradableReadGuard,
    ArcFairRwLockUpgradableReadGuard: rwlock::RawRwLock<Native, Fair>;
    PercpuRwLock, PercpuRwLockReadGuard, PercpuRwLockWriteGuard, MappedPercpuRwLockReadGuard,
    MappedPercpuRwLockWriteGuard, ArcPercpuRwLockReadGuard, ArcPercpuRwLockWriteGuard: RawPercpuRwLock<Native>;
}

/// As [`ReentrantMutex`](crate::ReentrantMutex) of the crate.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// The guard of a [`ReentrantMutex`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// The guard of a part of the value of a [`ReentrantMutex`].
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// The guard of an `Arc<ReentrantMutex<T>>`.
#[cfg(feature = "arc_lock")]
pub type ArcReentrantMutexGuard<T> = lock_api::ArcReentrantMutexGuard<RawMutex, RawThreadId, T>;

/// The lock of a [`Mutex`] without its value.
pub type RawMutex = mutex::RawMutex<Native>;
/// The lock of a [`FairMutex`] without its value.
pub type RawFairMutex = mutex::RawFairMutex<Native>;
/// The lock of a [`RwLock`] without its value.
pub type RawRwLock = rwlock::RawRwLock<Native>;
