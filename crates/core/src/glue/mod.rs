//! Macros that put a lock behind `lock_api`: they implement its traits, in each version that is on.
//!
//! A crate can implement a trait of `lock_api` only for its own types. So each crate with locks calls these macros.

#[cfg(all(feature = "std", target_os = "linux"))]
mod deadline;
mod raw_mutex;
mod raw_rwlock;
mod types;

#[cfg(all(feature = "std", target_os = "linux"))]
pub use deadline::{deadline_after, deadline_at};
#[cfg(feature = "lock_api")]
pub use lock_api as v04;
#[cfg(feature = "lock_api_05")]
pub use lock_api_05 as v05;
pub use raw_rwlock::TimedRwLock;
#[cfg(feature = "lock_api_05")]
pub use raw_rwlock::{Stating, TimedStating};
#[cfg(all(feature = "std", target_os = "linux"))]
pub use std::time::Instant;

/// This code, if `lock_api` 0.4 is on.
#[cfg(feature = "lock_api")]
#[doc(hidden)]
#[macro_export]
macro_rules! if_04 {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(not(feature = "lock_api"))]
#[doc(hidden)]
#[macro_export]
macro_rules! if_04 {
    ($($code:tt)*) => {};
}

/// This code, if `lock_api` 0.5 is on.
#[cfg(feature = "lock_api_05")]
#[doc(hidden)]
#[macro_export]
macro_rules! if_05 {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(not(feature = "lock_api_05"))]
#[doc(hidden)]
#[macro_export]
macro_rules! if_05 {
    ($($code:tt)*) => {};
}
