//! The semaphore for programs, with guards that hold permits.

use crate::native::Native;
use crate::park::ParkPlatform;
use crate::platform::Zeroed;
use crate::semaphore::{PERMITS_MAX, RawSemaphore};
use core::fmt;
use core::sync::atomic::AtomicU32;
use lockwright_core::glue::{deadline_after, deadline_at};
use lockwright_core::hardware::Hardware;
use std::time::{Duration, Instant};

/// A counting semaphore: threads take permits, and wait while there are too few. Four bytes.
///
/// Waiters sleep and are served in order of arrival. A permit is given back when its guard is dropped.
///
/// # Examples
///
/// ```
/// use lockwright::Semaphore;
///
/// // At most two threads use the connections at the same time.
/// static CONNECTIONS: Semaphore = Semaphore::new(2);
///
/// let first = CONNECTIONS.acquire();
/// let second = CONNECTIONS.try_acquire().expect("one permit is left");
/// assert!(CONNECTIONS.try_acquire().is_none());
/// drop(first);
/// assert_eq!(CONNECTIONS.available_permits(), 1);
///
/// // This connection is broken: its permit is not given back.
/// second.forget();
/// // A new connection replaces it.
/// assert!(CONNECTIONS.add_permits(1));
/// assert_eq!(CONNECTIONS.acquire_many(2).permits(), 2);
/// ```
///
/// # Memory ordering
///
/// What a thread did before it gave back permits, or added some, is visible to the threads that acquire these permits.
///
/// # Fairness
///
/// First come, first served. A thread that arrives later never gets permits before a waiter, not even if there are
/// enough for the later thread and too few for the waiter. In that case [`try_acquire`](Self::try_acquire) fails.
///
/// # Limits
///
/// There can be [`MAX_PERMITS`](Self::MAX_PERMITS) permits. A thread that asks for more waits for ever. Up to 65,532
/// threads of a process can wait in queues; any further ones try again every millisecond, in no order.
///
/// # Signals and fork
///
/// A signal handler may give back or add permits at any time. It may wait for permits only if the interrupted thread is
/// not needed to make them available.
///
/// The handler of a fault (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGTRAP`, `SIGSYS`) can interrupt an operation on
/// a reader-writer lock for programs or on a semaphore where no other handler can, if that lock lies in the memory that
/// faults, or if such a signal is sent. Then it must not use locks of these types, and must return or end the process.
///
/// A forked child may use the semaphore. Permits that other threads of the parent held stay taken in the child. A
/// semaphore does not work in memory that several processes share.
///
/// # Freeing
///
/// Once the permits are visible to other threads, the thread that gave them back no longer touches the semaphore. So
/// the thread that acquires them may free it.
///
/// The type parameter `P` is for tests on other platforms. Programs leave it out.
pub struct Semaphore<P: ParkPlatform = Native> {
    raw: RawSemaphore<P, 0>,
}

impl Semaphore {
    /// The largest number of permits: 2,147,483,647 (2^31 - 1).
    pub const MAX_PERMITS: u32 = PERMITS_MAX;

    /// Creates a semaphore with `permits` permits. 0 is allowed: `acquire` waits until
    /// [`add_permits`](Self::add_permits).
    ///
    /// # Panics
    ///
    /// If `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS). In a `static` that is a compile-time error.
    #[must_use]
    pub const fn new(permits: u32) -> Self {
        assert!(permits <= PERMITS_MAX, "more permits than `Semaphore::MAX_PERMITS`");
        let word = RawSemaphore::<Native, 0>::word_of(permits);
        Self { raw: RawSemaphore::from_cell(Hardware::new(AtomicU32::new(word))) }
    }
}

impl<P: ParkPlatform> Semaphore<P> {
    /// Creates a semaphore without permits, on any platform.
    #[doc(hidden)]
    pub fn new_on() -> Self {
        Self { raw: RawSemaphore::from_cell(Zeroed::zeroed()) }
    }

    /// Returns the number of permits that are available now. Another thread may change it at any time.
    #[must_use]
    pub fn available_permits(&self) -> u32 {
        self.raw.available()
    }
    /// Adds permits, for example those of a guard that was [forgotten](SemaphorePermit::forget). Waiters get them
    /// first.
    ///
    /// Returns `false` and adds none if there would be more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    #[must_use = "`false` means that no permit was added: there would be more than `Semaphore::MAX_PERMITS`"]
    #[doc(alias = "release")]
    #[doc(alias = "up")]
    pub fn add_permits(&self, permits: u32) -> bool {
        self.raw.release(permits)
    }

    /// Takes one permit, and waits until there is one.
    #[doc(alias = "down")]
    pub fn acquire(&self) -> SemaphorePermit<'_, P> {
        self.acquire_many(1)
    }
    /// Takes `permits` permits, all at once, and waits until there are enough.
    ///
    /// 0 is allowed, too: the guard holds no permit. The call waits only while threads that came earlier wait.
    pub fn acquire_many(&self, permits: u32) -> SemaphorePermit<'_, P> {
        self.raw.acquire(permits);
        SemaphorePermit { semaphore: self, permits }
    }
    /// Takes one permit if there is one and no thread waits. Never waits.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire(&self) -> Option<SemaphorePermit<'_, P>> {
        self.try_acquire_many(1)
    }
    /// Takes `permits` permits, which may be 0, if there are enough and no thread waits. Never waits.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_many(&self, permits: u32) -> Option<SemaphorePermit<'_, P>> {
        self.held(permits, self.raw.try_acquire(permits))
    }
    /// Takes one permit, and waits for it no longer than `timeout`.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_for(&self, timeout: Duration) -> Option<SemaphorePermit<'_, P>> {
        self.try_acquire_many_for(1, timeout)
    }
    /// Takes `permits` permits, all at once, and waits for them no longer than `timeout`.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_many_for(
        &self,
        permits: u32,
        timeout: Duration,
    ) -> Option<SemaphorePermit<'_, P>> {
        self.held(permits, self.raw.acquire_until(permits, deadline_after::<P>(timeout)))
    }
    /// Takes one permit, and waits for it until `deadline` at the latest.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_until(&self, deadline: Instant) -> Option<SemaphorePermit<'_, P>> {
        self.try_acquire_many_until(1, deadline)
    }
    /// Takes `permits` permits, all at once, and waits for them until `deadline` at the latest.
    #[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
    pub fn try_acquire_many_until(
        &self,
        permits: u32,
        deadline: Instant,
    ) -> Option<SemaphorePermit<'_, P>> {
        self.held(permits, self.raw.acquire_until(permits, deadline_at::<P>(deadline)))
    }
    fn held(&self, permits: u32, are_ours: bool) -> Option<SemaphorePermit<'_, P>> {
        are_ours.then(|| SemaphorePermit { semaphore: self, permits })
    }
}

impl<P: ParkPlatform> fmt::Debug for Semaphore<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("available_permits", &self.available_permits()).finish()
    }
}

/// The guard of some permits of a [`Semaphore`]: gives them back when it is dropped.
///
/// It may be sent to another thread and dropped there. If there is no room for a permit when it is given back, because
/// [`add_permits`](Semaphore::add_permits) has added too many, the permit is lost.
#[must_use = "keep it: `let _permit = ...` (not `let _ = ...`, which gives it back at once)"]
#[derive(Debug)]
pub struct SemaphorePermit<'a, P: ParkPlatform = Native> {
    semaphore: &'a Semaphore<P>,
    permits: u32,
}

impl<P: ParkPlatform> SemaphorePermit<'_, P> {
    /// Returns the number of permits that this guard holds.
    #[must_use]
    pub fn permits(&self) -> u32 {
        self.permits
    }
    /// Drops the guard and does not give its permits back. [`Semaphore::add_permits`] can replace them.
    pub fn forget(mut self) {
        self.permits = 0;
    }
}

impl<P: ParkPlatform> Drop for SemaphorePermit<'_, P> {
    fn drop(&mut self) {
        if self.permits > 0 {
            self.semaphore.raw.release(self.permits);
        }
    }
}
