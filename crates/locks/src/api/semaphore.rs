//! The semaphore for programs, with guards that hold permits.

use super::mutex::{deadline_after, deadline_at};
use crate::platform::{ConstCells, Platform};
use crate::semaphore::RawSemaphore;
use core::fmt;
use std::time::{Duration, Instant};

/// [`lockwright::Semaphore`](crate::Semaphore) on any platform.
pub struct Semaphore<P: Platform, const PERMITS: u32 = 0> {
    raw: RawSemaphore<P, PERMITS>,
}

impl<P: Platform + ConstCells, const PERMITS: u32> Semaphore<P, PERMITS> {
    /// One with `PERMITS` permits.
    pub const fn new() -> Self {
        Self { raw: RawSemaphore::INIT }
    }
}

impl<P: Platform, const PERMITS: u32> Semaphore<P, PERMITS> {
    /// One with this many permits, or 2^31 - 1 if that is less.
    pub fn with_permits(permits: u32) -> Self {
        Self { raw: RawSemaphore::with_permits(permits) }
    }
    /// How many permits are to be had at the moment.
    pub fn available(&self) -> u32 {
        self.raw.available()
    }
    /// Adds permits; `false`, and no change, if they would be more than 2^31 - 1.
    pub fn release(&self, permits: u32) -> bool {
        self.raw.release(permits)
    }

    /// Waits for a permit.
    pub fn acquire(&self) -> SemaphorePermits<'_, P, PERMITS> {
        self.acquire_many(1)
    }
    /// Waits for this many permits, which it gets at once.
    pub fn acquire_many(&self, permits: u32) -> SemaphorePermits<'_, P, PERMITS> {
        self.raw.acquire(permits);
        SemaphorePermits { semaphore: self, permits }
    }
    /// Takes this many permits if there are as many and nobody waits.
    pub fn try_acquire(&self, permits: u32) -> Option<SemaphorePermits<'_, P, PERMITS>> {
        self.held(permits, self.raw.try_acquire(permits))
    }
    /// Waits for this many permits, no longer than this.
    pub fn try_acquire_for(
        &self,
        permits: u32,
        timeout: Duration,
    ) -> Option<SemaphorePermits<'_, P, PERMITS>> {
        self.held(permits, self.raw.acquire_until(permits, deadline_after::<P>(timeout)))
    }
    /// Waits for this many permits until `instant` at most.
    pub fn try_acquire_until(
        &self,
        permits: u32,
        instant: Instant,
    ) -> Option<SemaphorePermits<'_, P, PERMITS>> {
        self.held(permits, self.raw.acquire_until(permits, deadline_at::<P>(instant)))
    }
    fn held(&self, permits: u32, are_ours: bool) -> Option<SemaphorePermits<'_, P, PERMITS>> {
        are_ours.then(|| SemaphorePermits { semaphore: self, permits })
    }
}

impl<P: Platform + ConstCells, const PERMITS: u32> Default for Semaphore<P, PERMITS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform, const PERMITS: u32> fmt::Debug for Semaphore<P, PERMITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("available", &self.available()).finish()
    }
}

/// Permits of a [`Semaphore`], given back when this is dropped. May be sent to other threads.
#[must_use = "the permits are given back at once if this is not kept"]
#[derive(Debug)]
pub struct SemaphorePermits<'a, P: Platform, const PERMITS: u32 = 0> {
    semaphore: &'a Semaphore<P, PERMITS>,
    permits: u32,
}

impl<P: Platform, const PERMITS: u32> SemaphorePermits<'_, P, PERMITS> {
    /// How many.
    pub fn permits(&self) -> u32 {
        self.permits
    }
    /// Does not give them back.
    pub fn forget(mut self) {
        self.permits = 0;
    }
}

impl<P: Platform, const PERMITS: u32> Drop for SemaphorePermits<'_, P, PERMITS> {
    fn drop(&mut self) {
        if self.permits > 0 {
            self.semaphore.release(self.permits);
        }
    }
}
