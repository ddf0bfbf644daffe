//! Deadlines of the reader-writer semaphore.

use super::mutex::{deadline_after, deadline_at};
use crate::platform::Platform;
use crate::rwsem::Until;
use std::time::{Duration, Instant};

impl<P: Platform> Until<'_, P> {
    /// When `timeout` has passed; never, if that is longer than 584 years.
    pub fn after(timeout: Duration) -> Self {
        Self::deadline(deadline_after::<P>(timeout))
    }
    /// At `instant`. One in the past allows one attempt.
    pub fn at(instant: Instant) -> Self {
        Self::deadline(deadline_at::<P>(instant))
    }
}
