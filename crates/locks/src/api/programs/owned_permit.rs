//! Permits whose guard owns a share of the semaphore.

use super::semaphore::{Semaphore, SemaphorePermit};
use crate::native::Native;
use crate::park::ParkPlatform;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Permits in an [`Arc`]: they can outlive the reference that they were taken through.
impl<P: ParkPlatform> Semaphore<P> {
    /// Like [`acquire`](Self::acquire); the guard keeps the semaphore alive.
    pub fn acquire_owned(self: &Arc<Self>) -> OwnedSemaphorePermit<P> {
        self.acquire_many_owned(1)
    }
    /// Like [`acquire_many`](Self::acquire_many); the guard keeps the semaphore alive.
    pub fn acquire_many_owned(self: &Arc<Self>, permits: u32) -> OwnedSemaphorePermit<P> {
        OwnedSemaphorePermit::of(self, self.acquire_many(permits))
    }
    /// Like [`try_acquire`](Self::try_acquire); the guard keeps the semaphore alive.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_owned(self: &Arc<Self>) -> Option<OwnedSemaphorePermit<P>> {
        self.try_acquire_many_owned(1)
    }
    /// Like [`try_acquire_many`](Self::try_acquire_many); the guard keeps the semaphore alive.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_many_owned(
        self: &Arc<Self>,
        permits: u32,
    ) -> Option<OwnedSemaphorePermit<P>> {
        Some(OwnedSemaphorePermit::of(self, self.try_acquire_many(permits)?))
    }
    /// Like [`try_acquire_for`](Self::try_acquire_for); the guard keeps the semaphore alive.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_owned_for(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Option<OwnedSemaphorePermit<P>> {
        self.try_acquire_many_owned_for(1, timeout)
    }
    /// Like [`try_acquire_many_for`](Self::try_acquire_many_for); the guard keeps the semaphore alive.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_many_owned_for(
        self: &Arc<Self>,
        permits: u32,
        timeout: Duration,
    ) -> Option<OwnedSemaphorePermit<P>> {
        Some(OwnedSemaphorePermit::of(self, self.try_acquire_many_for(permits, timeout)?))
    }
    /// Like [`try_acquire_until`](Self::try_acquire_until); the guard keeps the semaphore alive.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_owned_until(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Option<OwnedSemaphorePermit<P>> {
        self.try_acquire_many_owned_until(1, deadline)
    }
    /// Like [`try_acquire_many_until`](Self::try_acquire_many_until); the guard keeps the semaphore alive.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_many_owned_until(
        self: &Arc<Self>,
        permits: u32,
        deadline: Instant,
    ) -> Option<OwnedSemaphorePermit<P>> {
        Some(OwnedSemaphorePermit::of(self, self.try_acquire_many_until(permits, deadline)?))
    }
}

/// The guard of some permits of an `Arc<Semaphore>`: gives them back when it is dropped. It has no lifetime.
///
/// It may be sent to another thread and dropped there. If there is no room for a permit when it is given back, because
/// [`add_permits`](Semaphore::add_permits) has added too many, the permit is lost.
///
/// # Examples
///
/// ```
/// use lockwright::Semaphore;
/// use std::sync::Arc;
///
/// let connections = Arc::new(Semaphore::new(1));
/// let permit = connections.acquire_owned();
/// let worker = std::thread::spawn(move || {
///     // Uses the connection.
///     drop(permit);
/// });
/// worker.join().unwrap();
/// assert!(connections.try_acquire_owned().is_some());
/// ```
#[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
#[derive(Debug)]
pub struct OwnedSemaphorePermit<P: ParkPlatform = Native> {
    semaphore: Arc<Semaphore<P>>,
    permits: u32,
}

impl<P: ParkPlatform> OwnedSemaphorePermit<P> {
    fn of(semaphore: &Arc<Semaphore<P>>, permit: SemaphorePermit<'_, P>) -> Self {
        let permits = permit.permits();
        permit.forget();
        Self { semaphore: Arc::clone(semaphore), permits }
    }
    /// Returns the number of permits that this guard holds.
    #[must_use]
    pub fn permits(&self) -> u32 {
        self.permits
    }
    /// Returns the semaphore that the permits are of.
    #[must_use]
    pub fn semaphore(&self) -> &Arc<Semaphore<P>> {
        &self.semaphore
    }
    /// Drops the guard and does not give its permits back. [`Semaphore::add_permits`] can replace them.
    pub fn forget(mut self) {
        self.permits = 0;
    }
}

impl<P: ParkPlatform> Drop for OwnedSemaphorePermit<P> {
    fn drop(&mut self) {
        // If there is no room for them, they are lost.
        let _has_room = self.permits == 0 || self.semaphore.add_permits(self.permits);
    }
}
