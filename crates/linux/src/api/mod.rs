//! The types that a program uses. The crate root re-exports them.

#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod interruptible;
#[cfg(feature = "lock_api")]
#[doc(no_inline)]
pub use lockwright_core::glue::v04 as lock_api;
#[cfg(feature = "lock_api")]
#[doc(hidden)]
pub mod mutex_types;
#[cfg(feature = "lock_api")]
pub mod presets;
mod resilient;
#[cfg(feature = "lock_api")]
#[doc(hidden)]
pub mod rwlock_types;
#[cfg(feature = "lock_api_05")]
pub mod v05;

#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
pub use interruptible::InterruptibleRwLock;
#[cfg(feature = "lock_api")]
pub use mutex_types::*;
pub use resilient::{LockError, LockErrorKind, ResilientSpinLock, ResilientSpinLockGuard};
#[cfg(feature = "lock_api")]
pub use rwlock_types::*;
