//! How threads tell each other how far a round has come.

use core::sync::atomic::Ordering::{Acquire, Release};
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Atomic;

/// The thread says that round `round` has come so far.
pub(crate) fn say<P: Platform>(cell: &P::U32, round: u32) {
    cell.store(round, Release);
}
/// Waits until a thread has said so.
pub(crate) fn hear<P: Platform>(cell: &P::U32, round: u32) {
    cell.cond_load(Acquire, |said| said >= round);
}
