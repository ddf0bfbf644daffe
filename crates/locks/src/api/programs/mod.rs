//! The types that need threads on Linux.
//!
//! - `mutex_types`, `rwlock_types` and `cna_mutex` are aliases of types of `lock_api` 0.4, and `v05` has such aliases
//!   for 0.5. `condvar` is for both versions.
//! - The others do not need `lock_api`.

mod barrier;
mod lazy;
mod once;
mod once_lock;
mod owned_permit;
mod semaphore;

pub use barrier::{Barrier, BarrierWaitResult};
pub use lazy::LazyLock;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use owned_permit::OwnedSemaphorePermit;
pub use semaphore::{Semaphore, SemaphorePermit};

#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod condvar;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
pub use condvar::{Condvar, WaitTimeoutResult};

/// Tells threads apart, for `ReentrantMutex`. It is the `G` of `lock_api::ReentrantMutex`.
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
pub type RawThreadId = crate::api::ThreadNumber<crate::native::Native>;

#[cfg(feature = "lock_api")]
mod mutex_types;
#[cfg(feature = "lock_api")]
mod rwlock_types;
#[cfg(feature = "lock_api")]
#[doc(no_inline)]
pub use lockwright_core::glue::v04 as lock_api;
#[cfg(feature = "lock_api")]
pub use {mutex_types::*, rwlock_types::*};

#[cfg(all(feature = "lock_api", feature = "linux"))]
mod cna_mutex;
#[cfg(all(feature = "lock_api", feature = "linux"))]
pub use cna_mutex::*;
#[cfg(all(feature = "lock_api", feature = "linux"))]
#[doc(inline)]
pub use lockwright_linux::api::{mutex_types::*, rwlock_types::*};

#[cfg(all(any(feature = "lock_api", feature = "lock_api_05"), feature = "linux"))]
#[doc(inline)]
pub use lockwright_linux::InterruptibleRwLock;

#[cfg(feature = "lock_api_05")]
pub mod v05;

#[cfg(all(doctest, feature = "lock_api"))]
mod refused;
