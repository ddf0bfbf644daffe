//! The semaphore for programs, with guards that hold permits.

use super::mutex::{deadline_after, deadline_at};
use crate::native::Native;
use crate::semaphore::RawSemaphore;
use core::fmt;
use std::time::{Duration, Instant};

/// A counting semaphore for any number of threads: waiters sleep and are served first come, first served. Four bytes.
///
/// It begins with `PERMITS` permits, in a `static` as well, or with as many as
/// [`with_permits`](Self::with_permits) says.
///
/// ```
/// use lockwright::Semaphore;
///
/// static SLOTS: Semaphore<2> = Semaphore::new();
///
/// let first = SLOTS.acquire();
/// let second = SLOTS.try_acquire(1).expect("one is left");
/// assert!(SLOTS.try_acquire(1).is_none());
/// drop(first);
/// assert_eq!(SLOTS.available(), 1);
/// // This one is used up and not given back.
/// second.forget();
/// SLOTS.release(1);
/// assert_eq!(SLOTS.acquire_many(2).permits(), 2);
/// ```
///
/// *Ordering.* Whoever acquires permits acquires what was done before they were released.
///
/// *Fairness.* First come, first served: nobody who comes later gets permits before a thread that waits, not even where
/// there are enough for the later one only. Attempts fail then.
///
/// *Errors, panics.* None. There may be 2^31 - 1 permits: a release of more adds nothing and returns `false`, and who
/// wants more waits for ever. A permit whose guard is dropped while there is no room for it is lost. With 65,532 threads waiting in a
/// process, more try again every millisecond, in no order.
///
/// *After release.* `release`, or dropping a guard, does not touch the semaphore after the permits are to be had: whoever gets them may
/// free it.
///
/// *Signals, forks.* A handler may release permits at any time, and acquire some if its thread need not go on for that. A
/// forked child may use it; the permits of threads that do not exist there stay taken. Not for memory
/// shared between processes.
pub struct Semaphore<const PERMITS: u32 = 0> {
    raw: RawSemaphore<Native, PERMITS>,
}

impl<const PERMITS: u32> Semaphore<PERMITS> {
    /// One with `PERMITS` permits.
    pub const fn new() -> Self {
        Self { raw: RawSemaphore::INIT }
    }
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
    pub fn acquire(&self) -> SemaphorePermits<'_, PERMITS> {
        self.acquire_many(1)
    }
    /// Waits for this many permits, which it gets at once.
    pub fn acquire_many(&self, permits: u32) -> SemaphorePermits<'_, PERMITS> {
        self.raw.acquire(permits);
        SemaphorePermits { semaphore: self, permits }
    }
    /// Takes this many permits if there are as many and nobody waits.
    pub fn try_acquire(&self, permits: u32) -> Option<SemaphorePermits<'_, PERMITS>> {
        self.held(permits, self.raw.try_acquire(permits))
    }
    /// Waits for this many permits, no longer than this.
    pub fn try_acquire_for(
        &self,
        permits: u32,
        timeout: Duration,
    ) -> Option<SemaphorePermits<'_, PERMITS>> {
        self.held(permits, self.raw.acquire_until(permits, deadline_after(timeout)))
    }
    /// Waits for this many permits until `instant` at most.
    pub fn try_acquire_until(
        &self,
        permits: u32,
        instant: Instant,
    ) -> Option<SemaphorePermits<'_, PERMITS>> {
        self.held(permits, self.raw.acquire_until(permits, deadline_at(instant)))
    }
    fn held(&self, permits: u32, are_ours: bool) -> Option<SemaphorePermits<'_, PERMITS>> {
        are_ours.then(|| SemaphorePermits { semaphore: self, permits })
    }
}

impl<const PERMITS: u32> Default for Semaphore<PERMITS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const PERMITS: u32> fmt::Debug for Semaphore<PERMITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("available", &self.available()).finish()
    }
}

/// Permits of a [`Semaphore`], given back when this is dropped. May be sent to other threads.
#[must_use = "the permits are given back at once if this is not kept"]
#[derive(Debug)]
pub struct SemaphorePermits<'a, const PERMITS: u32 = 0> {
    semaphore: &'a Semaphore<PERMITS>,
    permits: u32,
}

impl<const PERMITS: u32> SemaphorePermits<'_, PERMITS> {
    /// How many.
    pub fn permits(&self) -> u32 {
        self.permits
    }
    /// Does not give them back.
    pub fn forget(mut self) {
        self.permits = 0;
    }
}

impl<const PERMITS: u32> Drop for SemaphorePermits<'_, PERMITS> {
    fn drop(&mut self) {
        if self.permits > 0 {
            self.semaphore.release(self.permits);
        }
    }
}
