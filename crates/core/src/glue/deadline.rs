//! Deadlines of the platform's clock.

use crate::platform::Clock;
use std::time::{Duration, Instant};

/// The last time of a platform's clock, after 292 years. Deadlines above it are dates for the real machine.
const LAST_NS: u64 = i64::MAX as u64;

/// Returns the time of the platform's clock at which `timeout` has passed.
pub fn deadline_after<P: Clock>(timeout: Duration) -> u64 {
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    P::now_ns().saturating_add(timeout_ns).min(LAST_NS)
}

/// Returns the time of the platform's clock at `instant`, or the present time if `instant` has passed.
pub fn deadline_at<P: Clock>(instant: Instant) -> u64 {
    deadline_after::<P>(instant.saturating_duration_since(Instant::now()))
}
