//! The condition variable of programs.

use crate::api::Sendable;
use crate::condvar::RawCondvar;
use crate::mutex::RawMutex;
use crate::native::Native;
use crate::park::ParkPlatform;
use crate::platform::ConstCells;
use crate::qspinlock::Succession;
use lockwright_core::glue::{deadline_after, deadline_at};
use std::time::{Duration, Instant};

/// Says if a wait for a [`Condvar`](crate::Condvar) with a time-out has timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the time-out passed before a notification came. For `wait_while_for` and
    /// `wait_while_until`: if the condition was still true.
    #[must_use]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

mod sealed {
    use crate::mutex::RawMutex;
    use crate::park::ParkPlatform;
    use crate::qspinlock::Succession;

    /// The mutexes that a condition variable works with.
    #[diagnostic::on_unimplemented(
        message = "a `Condvar` cannot wait with this lock",
        note = "a `Condvar` waits with a `Mutex`, a `CnaMutex` or a `SendMutex`"
    )]
    pub trait Waitable<P: ParkPlatform> {
        type Succession: Succession<P>;

        fn raw_mutex(&self) -> &RawMutex<P, Self::Succession>;
    }

    /// The guards of such mutexes, in each version of `lock_api`.
    pub trait WaitGuard<P: ParkPlatform> {
        type Value: ?Sized;
        type Succession: Succession<P>;

        fn value(&mut self) -> &mut Self::Value;
        fn raw_mutex(&self) -> &RawMutex<P, Self::Succession>;
    }
}
use sealed::{WaitGuard, Waitable};

impl<P: ParkPlatform, S: Succession<P>> Waitable<P> for RawMutex<P, S> {
    type Succession = S;

    fn raw_mutex(&self) -> &Self {
        self
    }
}
impl<P: ParkPlatform, S: Succession<P>> Waitable<P> for Sendable<RawMutex<P, S>> {
    type Succession = S;

    fn raw_mutex(&self) -> &RawMutex<P, S> {
        self
    }
}

macro_rules! wait_guard {
    ($lock_api:ident) => {
        impl<P: ParkPlatform, L: Waitable<P> + $lock_api::RawMutex, T: ?Sized> WaitGuard<P>
            for $lock_api::MutexGuard<'_, L, T>
        {
            type Value = T;
            type Succession = L::Succession;

            fn value(&mut self) -> &mut T {
                self
            }
            fn raw_mutex(&self) -> &RawMutex<P, L::Succession> {
                // SAFETY: the mutex is not unlocked through this reference.
                unsafe { $lock_api::MutexGuard::mutex(self).raw() }.raw_mutex()
            }
        }
    };
}
#[cfg(feature = "lock_api")]
use lockwright_core::glue::v04;
#[cfg(feature = "lock_api")]
wait_guard!(v04);
#[cfg(feature = "lock_api_05")]
use lockwright_core::glue::v05;
#[cfg(feature = "lock_api_05")]
wait_guard!(v05);

/// A condition variable: threads wait until another thread says that something has changed.
///
/// It is used with a [`Mutex`](crate::Mutex), a [`CnaMutex`](crate::CnaMutex) or a
/// [`SendMutex`](crate::SendMutex) that guards what changes.
///
/// # Examples
///
/// ```
/// use lockwright::{Condvar, Mutex};
///
/// static READY: Mutex<bool> = Mutex::new(false);
/// static CHANGED: Condvar = Condvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *READY.lock() = true;
///         CHANGED.notify_one();
///     });
///     let mut ready = READY.lock();
///     CHANGED.wait_while(&mut ready, |ready| !*ready);
///     assert!(*ready);
/// });
/// ```
///
/// # Order
///
/// [`notify_one`](Self::notify_one) notifies one waiter, if there is one. It prefers a thread that has just
/// begun to wait and has not fallen asleep, because that costs no system call. Every 256th notification is for
/// a thread that sleeps, as a rule the one that has slept longest. If the mutex is held, its unlock wakes the
/// sleeper. [`notify_all`](Self::notify_all) wakes one waiter at most. The others move to the mutex and sleep
/// there until it is their turn. So threads do not wake up only to find the mutex held.
///
/// # Spurious wake-ups
///
/// There are none: a wait ends only with a notification or at its deadline. Each wait that
/// [`notify_one`](Self::notify_one) ends has a notification of its own, which was not over when the wait began.
/// But another thread may take the mutex before a waiter that was notified, and change the condition again.
/// With [`wait_while`](Self::wait_while) you need not think of it.
///
/// There are two exceptions. Up to 8,191 threads can wait at one `Condvar`; if more do, a wait may end after
/// 10 ms. And a thread that forks in a signal handler, while it waits, may be notified in the child for no
/// reason.
///
/// # Memory ordering
///
/// A wait releases the mutex and acquires it again. A notification orders nothing by itself.
///
/// # Errors and panics
///
/// There are none. Waits on one `Condvar` may use different mutexes. Then `notify_all` wakes all waiters at
/// once.
///
/// # Size
///
/// 16 bytes. Zero is a condition variable on which no thread waits.
///
/// The type parameter `P` is for tests on other platforms. Programs leave it out.
pub struct Condvar<P: ParkPlatform = Native>(RawCondvar<P>);

impl Condvar {
    /// Creates a condition variable.
    #[must_use]
    pub const fn new() -> Self {
        Self(RawCondvar::INIT)
    }
}

impl<P: ParkPlatform + ConstCells> Condvar<P> {
    /// As `new`, but on any platform.
    #[doc(hidden)]
    pub fn new_on() -> Self {
        Self(RawCondvar::new())
    }
    /// Releases the mutex, waits for a notification, and takes the mutex again.
    pub fn wait<G: WaitGuard<P>>(&self, guard: &mut G) {
        self.wait_raw(guard, None);
    }
    /// Waits until `condition` returns `false`. It is checked before the first wait and after every wake-up.
    pub fn wait_while<G: WaitGuard<P>>(
        &self,
        guard: &mut G,
        mut condition: impl FnMut(&mut G::Value) -> bool,
    ) {
        while condition(guard.value()) {
            self.wait(guard);
        }
    }
    /// As [`wait`](Self::wait), but gives up after `timeout`.
    pub fn wait_for<G: WaitGuard<P>>(&self, guard: &mut G, timeout: Duration) -> WaitTimeoutResult {
        self.wait_raw(guard, Some(deadline_after::<P>(timeout)))
    }
    /// As [`wait`](Self::wait), but gives up at `deadline`.
    pub fn wait_until<G: WaitGuard<P>>(
        &self,
        guard: &mut G,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_raw(guard, Some(deadline_at::<P>(deadline)))
    }
    /// As [`wait_while`](Self::wait_while), but gives up after `timeout`.
    ///
    /// [`timed_out`](WaitTimeoutResult::timed_out) returns `true` if `condition` was still true at the end.
    pub fn wait_while_for<G: WaitGuard<P>>(
        &self,
        guard: &mut G,
        condition: impl FnMut(&mut G::Value) -> bool,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        self.wait_while_raw(guard, condition, deadline_after::<P>(timeout))
    }
    /// As [`wait_while`](Self::wait_while), but gives up at `deadline`.
    ///
    /// [`timed_out`](WaitTimeoutResult::timed_out) returns `true` if `condition` was still true at the end.
    pub fn wait_while_until<G: WaitGuard<P>>(
        &self,
        guard: &mut G,
        condition: impl FnMut(&mut G::Value) -> bool,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_while_raw(guard, condition, deadline_at::<P>(deadline))
    }
    /// Notifies a thread that waits. Returns `false` if no thread waits.
    #[inline]
    pub fn notify_one(&self) -> bool {
        self.0.notify_one()
    }
    /// Notifies all threads that wait. Returns their number.
    #[inline]
    pub fn notify_all(&self) -> usize {
        self.0.notify_all() as usize
    }

    fn wait_while_raw<G: WaitGuard<P>>(
        &self,
        guard: &mut G,
        mut condition: impl FnMut(&mut G::Value) -> bool,
        deadline_ns: u64,
    ) -> WaitTimeoutResult {
        while condition(guard.value()) {
            if self.wait_raw(guard, Some(deadline_ns)).timed_out() {
                return WaitTimeoutResult(condition(guard.value()));
            }
        }
        WaitTimeoutResult(false)
    }
    fn wait_raw<G: WaitGuard<P>>(
        &self,
        guard: &mut G,
        deadline_ns: Option<u64>,
    ) -> WaitTimeoutResult {
        // SAFETY: the guard holds the mutex. The value is not accessed until the guard holds the mutex again.
        WaitTimeoutResult(!unsafe { self.0.wait(guard.raw_mutex(), deadline_ns) })
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: ParkPlatform> core::fmt::Debug for Condvar<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Condvar { .. }")
    }
}
