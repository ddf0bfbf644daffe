//! The queued spinlock of the crate `lockwright-core`, with the orders and the ways of waiting that the kernel has, or
//! was offered.
//!
//! | module | what it has |
//! |---|---|
//! | [`cna`] | the NUMA-aware order (CNA), in nine versions |
//! | [`pv`] | waiters that sleep, for guests and for programs with more threads than CPUs |
//! | [`resilient`] | the lock that gives up in a deadlock |

pub mod cna;
pub mod pv;
pub mod resilient;
mod two_level;

pub use cna::CnaSpinlock;
pub use lockwright_core::qspinlock::*;
pub use pv::{Hybrid, HybridBounded, Park, ParkFullSpin, StealOnce, StealOnceFullSpin};
pub use two_level::TwoLevel;
