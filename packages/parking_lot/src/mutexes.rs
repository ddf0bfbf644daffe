//! The locks with one owner.

use core::num::NonZeroUsize;
use lock_api::GetThreadId;
use lockwright::native::Native;

/// The lock of a [`Mutex`], without its value. It is unlocked with `lock_api::RawMutex::INIT`.
#[cfg(not(feature = "send_guard"))]
pub type RawMutex = lockwright::mutex::RawMutex<Native>;
/// The lock of a [`Mutex`], without its value. It is unlocked with `lock_api::RawMutex::INIT`.
#[cfg(feature = "send_guard")]
pub type RawMutex = lockwright::api::Sendable<lockwright::mutex::RawMutex<Native>>;

/// A value behind a mutex: [`lockwright::Mutex`], or with feature `send_guard` [`lockwright::SendMutex`].
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// The guard of a [`Mutex`]: unlocks it when it is dropped.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// The guard of a part of the value of a [`Mutex`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// Creates an unlocked mutex, for statics. [`Mutex::new`] does so, too.
pub const fn const_mutex<T>(val: T) -> Mutex<T> {
    Mutex::new(val)
}

/// The lock of a [`FairMutex`], without its value. It is unlocked with `lock_api::RawMutex::INIT`.
#[cfg(not(feature = "send_guard"))]
pub type RawFairMutex = lockwright::mutex::RawFairMutex<Native>;
/// The lock of a [`FairMutex`], without its value. It is unlocked with `lock_api::RawMutex::INIT`.
#[cfg(feature = "send_guard")]
pub type RawFairMutex = lockwright::api::Sendable<lockwright::mutex::RawFairMutex<Native>>;

/// A mutex whose every unlock is fair: [`lockwright::FairMutex`].
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// The guard of a [`FairMutex`]: gives the lock to a thread that sleeps for it, or frees it, when it is dropped.
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// The guard of a part of the value of a [`FairMutex`].
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// Creates an unlocked mutex, for statics. [`FairMutex::new`] does so, too.
pub const fn const_fair_mutex<T>(val: T) -> FairMutex<T> {
    FairMutex::new(val)
}

/// Tells threads apart, for [`ReentrantMutex`].
pub struct RawThreadId;

// SAFETY: no two living threads have the same number, and a thread keeps its own.
unsafe impl GetThreadId for RawThreadId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        <lockwright::api::ThreadNumber<Native> as GetThreadId>::INIT.nonzero_thread_id()
    }
}

/// A mutex that its owner may take again: [`lockwright::ReentrantMutex`].
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// The guard of a [`ReentrantMutex`]. The mutex is unlocked when the last of them is dropped.
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// The guard of a part of the value of a [`ReentrantMutex`].
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// Creates an unlocked mutex, for statics. [`ReentrantMutex::new`] does so, too.
pub const fn const_reentrant_mutex<T>(val: T) -> ReentrantMutex<T> {
    ReentrantMutex::new(val)
}
