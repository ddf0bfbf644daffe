//! Deadlines of the reader-writer semaphore.

use super::mutex::{deadline_after, deadline_at};
use crate::native::Native;
use crate::rwsem::Until;
use std::time::{Duration, Instant};

impl Until<'_, Native> {
    /// When `timeout` has passed; never, if that is longer than 584 years.
    pub fn after(timeout: Duration) -> Self {
        Self::deadline(deadline_after(timeout))
    }
    /// At `instant`. One in the past allows one attempt.
    pub fn at(instant: Instant) -> Self {
        Self::deadline(deadline_at(instant))
    }
}
