//! The types that a program uses. The crate root re-exports them.
//!
//! - `raw_mutex` and `sharing` implement the traits of `lock_api` for the raw locks on every platform, `mutex` and
//!   `rwlock` add what needs the standard library's clock.
//! - `mutex_types`, `reentrant` and `rwlock_types` are the aliases, for either version of `lock_api`;
//!   `interruptible` adds waits that another thread ends.
//! - `semaphore`, `owned_permit`, `seqlock`, `record`, `once`, `once_lock`, `lazy`, `barrier` and `resilient` do not
//!   need `lock_api`.

#[cfg(all(feature = "std", target_os = "linux"))]
mod barrier;
#[cfg(all(feature = "std", target_os = "linux"))]
mod deadline;
#[cfg(all(feature = "std", target_os = "linux"))]
mod lazy;
#[cfg(all(feature = "std", target_os = "linux"))]
mod once;
#[cfg(all(feature = "std", target_os = "linux"))]
mod once_lock;
#[cfg(all(feature = "std", target_os = "linux"))]
mod owned_permit;
mod record;
#[cfg(all(feature = "std", target_os = "linux"))]
mod resilient;
#[cfg(all(feature = "std", target_os = "linux"))]
mod semaphore;
mod seqlock;

#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod raw_mutex;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod reentrant;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod sendable;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod sharing;

#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(feature = "lock_api", feature = "lock_api_05")
))]
mod interruptible;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(feature = "lock_api", feature = "lock_api_05")
))]
mod mutex;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(feature = "lock_api", feature = "lock_api_05")
))]
mod mutex_types;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(feature = "lock_api", feature = "lock_api_05")
))]
mod rwlock;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(feature = "lock_api", feature = "lock_api_05")
))]
mod rwlock_types;

#[cfg(all(doctest, feature = "std", feature = "lock_api", target_os = "linux"))]
mod refused;

#[cfg(all(feature = "std", target_os = "linux"))]
pub use barrier::{Barrier, BarrierWaitResult};
#[cfg(all(feature = "std", target_os = "linux"))]
pub use lazy::LazyLock;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(feature = "lock_api", feature = "lock_api_05")
))]
pub use mutex::WaitTimeoutResult;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use once::{Once, OnceState};
#[cfg(all(feature = "std", target_os = "linux"))]
pub use once_lock::OnceLock;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use owned_permit::OwnedSemaphorePermit;
pub use record::Record;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
pub use reentrant::ThreadNumber;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use resilient::{LockError, LockErrorKind, ResilientSpinLock, ResilientSpinLockGuard};
#[cfg(all(feature = "std", target_os = "linux"))]
pub use semaphore::{Semaphore, SemaphorePermit};
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
pub use sendable::Sendable;
pub use seqlock::SeqLock;

/// The types for `lock_api` 0.4.
#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api"))]
pub mod v04 {
    use super::Sendable;
    use super::interruptible::interruptible_rwlock;
    use super::mutex_types::mutex_types;
    use super::reentrant::reentrant_types;
    use super::rwlock_types::{more_guards, rwlock_types};
    use crate::native::Native;

    pub use super::mutex::v04::Condvar;
    #[doc(no_inline)]
    pub use ::lock_api;
    mutex_types!("https://docs.rs/lock_api/0.4/lock_api");
    reentrant_types!("https://docs.rs/lock_api/0.4/lock_api");
    rwlock_types! {
        "https://docs.rs/lock_api/0.4/lock_api"
        /// - `read_recursive(&self) -> R` and `try_read_recursive(&self) -> Option<R>`: as `read` and `try_read`, for a
        ///   thread that may hold a read lock already. They do not wait for a writer that waits. With time-outs:
        ///   `try_read_recursive_for` and `try_read_recursive_until`.
    }
    interruptible_rwlock!();
}

/// The same types for `lock_api` 0.5 (feature `lock_api_05`). Their guards are those of that version.
///
/// [`Semaphore`] and [`SeqLock`] do not depend on `lock_api`.
#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api_05"))]
pub mod v05 {
    use super::Sendable;
    use super::interruptible::interruptible_rwlock;
    use super::mutex_types::mutex_types;
    use super::reentrant::reentrant_types;
    use super::rwlock_types::{more_guards, rwlock_types};
    use crate::native::Native;

    pub use super::mutex::v05::Condvar;
    #[doc(no_inline)]
    pub use lock_api_05 as lock_api;
    mutex_types!("https://docs.rs/lock_api/0.5/lock_api");
    reentrant_types!("https://docs.rs/lock_api/0.5/lock_api");
    rwlock_types!("https://docs.rs/lock_api/0.5/lock_api");
    interruptible_rwlock!(Default::default());
}

#[cfg(all(feature = "std", target_os = "linux"))]
const _: () = assert!(size_of::<crate::rwsem::RwSem<crate::native::Native>>() == 48);
