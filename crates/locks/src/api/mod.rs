//! The types that a program uses. The crate root re-exports them.

#[cfg(all(feature = "std", target_os = "linux"))]
mod programs;
mod record;
mod sendable;
mod seqlock;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod thread_number;

#[cfg(all(feature = "std", target_os = "linux"))]
pub use programs::*;
pub use record::Record;
pub use sendable::Sendable;
pub use seqlock::SeqLock;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
pub use thread_number::ThreadNumber;
