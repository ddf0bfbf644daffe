//! What the mutex for programs offers beyond `lock_api::RawMutex`, and the condition variable.

use super::Sendable;
use super::deadline::{deadline_after, deadline_at};
use crate::mutex::RawMutex;
use crate::native::Native;
use crate::park::ParkPlatform;
use crate::platform::ConstCells;
use crate::qspinlock::Succession;
use std::time::{Duration, Instant};

/// What a mutex offers beyond `RawMutex`, for both versions of `lock_api`.
macro_rules! beyond {
    ($($lock:ty, $marker:ident;)+) => {$(
        #[cfg(feature = "lock_api")]
        // SAFETY: `unlock_fair` gives the lock back, or to a waiter that acquires what the owner released.
        unsafe impl<P: ParkPlatform + ConstCells, S: Succession<P>> lock_api::RawMutexFair for $lock {
            unsafe fn unlock_fair(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }

        #[cfg(feature = "lock_api")]
        // SAFETY: they return `true` exactly if the lock is taken.
        unsafe impl<P: ParkPlatform + ConstCells, S: Succession<P>> lock_api::RawMutexTimed for $lock {
            type Duration = Duration;
            type Instant = Instant;

            fn try_lock_for(&self, timeout: Duration) -> bool {
                self.lock_until(deadline_after::<P>(timeout))
            }
            fn try_lock_until(&self, timeout: Instant) -> bool {
                self.lock_until(deadline_at::<P>(timeout))
            }
        }

        #[cfg(feature = "lock_api_05")]
        // SAFETY: as above; the guard has no state.
        unsafe impl<P: ParkPlatform + ConstCells, S: Succession<P>> lock_api_05::RawMutexFair for $lock {
            unsafe fn unlock_fair(&self, _guard: Self::Guard) {
                // SAFETY: the caller holds the lock.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }

        #[cfg(feature = "lock_api_05")]
        // SAFETY: as above.
        unsafe impl<P: ParkPlatform + ConstCells, S: Succession<P>> lock_api_05::RawMutexTimed for $lock {
            type Duration = Duration;
            type Instant = Instant;

            fn try_lock_for(&self, timeout: Duration) -> Option<Self::Guard> {
                self.lock_until(deadline_after::<P>(timeout)).then(lock_api_05::$marker::new)
            }
            fn try_lock_until(&self, timeout: Instant) -> Option<Self::Guard> {
                self.lock_until(deadline_at::<P>(timeout)).then(lock_api_05::$marker::new)
            }
        }
    )+};
}
beyond! {
    RawMutex<P, S>, GuardNoSend;
    Sendable<RawMutex<P, S>>, GuardSend;
}

/// Tells if a wait for a [`Condvar`](crate::Condvar) with a time-out has timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the time-out passed before a notification came. For `wait_while_for`: if the condition was
    /// still true.
    #[must_use]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// The condition variable, for one version of `lock_api`.
macro_rules! condvar {
    ($lock_api:ident) => {
        type Guard<'a, P, T> = $lock_api::MutexGuard<'a, RawMutex<P>, T>;

        /// A condition variable: threads wait until another thread says that something has changed. Four bytes.
        ///
        /// It is used with a [`Mutex`](crate::Mutex) that guards what changes.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
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
        /// # }
        /// ```
        ///
        /// # Order
        ///
        /// Waiters are notified in order of arrival. [`notify_one`](Self::notify_one) notifies exactly one waiter, if
        /// there is one. A notified waiter does not wake up only to find the mutex held: it is moved to the mutex and
        /// sleeps there until it is its turn.
        ///
        /// # Spurious wake-ups
        ///
        /// A wait can return without a notification, but only if 65,532 threads of the process wait in queues at that
        /// moment. With [`wait_while`](Self::wait_while) you need not think of it.
        ///
        /// # Memory ordering
        ///
        /// A wait releases the mutex and acquires it again. A notification orders nothing by itself.
        ///
        /// # Errors and panics
        ///
        /// There are none. Waits on one `Condvar` may use different mutexes.
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
            /// As `new`, on any platform.
            #[doc(hidden)]
            pub fn new_on() -> Self {
                Self(RawCondvar::new())
            }
            /// Releases the mutex, waits for a notification, and takes the mutex again.
            pub fn wait<T: ?Sized>(&self, guard: &mut Guard<'_, P, T>) {
                self.wait_raw(guard, None);
            }
            /// Waits until `condition` returns `false`. It is checked before the first wait and after every wake-up.
            pub fn wait_while<T: ?Sized>(
                &self,
                guard: &mut Guard<'_, P, T>,
                mut condition: impl FnMut(&mut T) -> bool,
            ) {
                while condition(guard) {
                    self.wait(guard);
                }
            }
            /// Like [`wait`](Self::wait), but gives up after `timeout`.
            pub fn wait_for<T: ?Sized>(
                &self,
                guard: &mut Guard<'_, P, T>,
                timeout: Duration,
            ) -> WaitTimeoutResult {
                self.wait_raw(guard, Some(deadline_after::<P>(timeout)))
            }
            /// Like [`wait`](Self::wait), but gives up at `deadline`.
            pub fn wait_until<T: ?Sized>(
                &self,
                guard: &mut Guard<'_, P, T>,
                deadline: Instant,
            ) -> WaitTimeoutResult {
                self.wait_raw(guard, Some(deadline_at::<P>(deadline)))
            }
            /// Like [`wait_while`](Self::wait_while), but gives up after `timeout`.
            ///
            /// [`timed_out`](WaitTimeoutResult::timed_out) returns `true` if `condition` was still true at the end.
            pub fn wait_while_for<T: ?Sized>(
                &self,
                guard: &mut Guard<'_, P, T>,
                mut condition: impl FnMut(&mut T) -> bool,
                timeout: Duration,
            ) -> WaitTimeoutResult {
                let deadline_ns = deadline_after::<P>(timeout);
                while condition(guard) {
                    if self.wait_raw(guard, Some(deadline_ns)).timed_out() {
                        return WaitTimeoutResult(condition(guard));
                    }
                }
                WaitTimeoutResult(false)
            }
            /// Wakes the longest-waiting thread. Returns `true` if there was one.
            #[inline]
            pub fn notify_one(&self) -> bool {
                self.0.notify_one()
            }
            /// Wakes all waiting threads. Returns the number of them.
            #[inline]
            pub fn notify_all(&self) -> usize {
                self.0.notify_all() as usize
            }

            fn wait_raw<T: ?Sized>(
                &self,
                guard: &mut Guard<'_, P, T>,
                deadline_ns: Option<u64>,
            ) -> WaitTimeoutResult {
                // SAFETY: the guard holds the mutex; what it guards is not accessed until it does again.
                let mutex = unsafe { $lock_api::MutexGuard::mutex(guard).raw() };
                // SAFETY: as above.
                WaitTimeoutResult(!unsafe { self.0.wait(mutex, deadline_ns) })
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
    };
}

#[cfg(feature = "lock_api")]
pub(super) mod v04 {
    use super::*;
    use crate::condvar::RawCondvar;
    condvar!(lock_api);
}

#[cfg(feature = "lock_api_05")]
pub(super) mod v05 {
    use super::*;
    use crate::condvar::RawCondvar;
    condvar!(lock_api_05);
}
