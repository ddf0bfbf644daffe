//! The mutex and the condition variable for programs: what they offer beyond `lock_api::RawMutex`.

use super::Sendable;
use crate::mutex::RawMutex;
use crate::platform::{Clock, ConstCells, Platform};
use crate::qspinlock::Succession;
use std::time::{Duration, Instant};

/// When the platform's clock shows that `timeout` has passed.
pub(super) fn deadline_after<P: Clock>(timeout: Duration) -> u64 {
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    P::now_ns().saturating_add(timeout_ns)
}

/// What the platform's clock shows at `instant`, or now if that has passed.
pub(super) fn deadline_at<P: Clock>(instant: Instant) -> u64 {
    deadline_after::<P>(instant.saturating_duration_since(Instant::now()))
}

/// What a mutex offers beyond `RawMutex`, for both versions of `lock_api`.
macro_rules! beyond {
    ($($lock:ty, $marker:ident;)+) => {$(
        #[cfg(feature = "lock_api")]
        // SAFETY: `unlock_fair` gives the lock back, or to a waiter that acquires what the owner released.
        unsafe impl<P: Platform + ConstCells, S: Succession<P>> lock_api::RawMutexFair for $lock {
            unsafe fn unlock_fair(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }

        #[cfg(feature = "lock_api")]
        // SAFETY: they return `true` exactly if the lock is taken.
        unsafe impl<P: Platform + ConstCells, S: Succession<P>> lock_api::RawMutexTimed for $lock {
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
        unsafe impl<P: Platform + ConstCells, S: Succession<P>> lock_api_05::RawMutexFair for $lock {
            unsafe fn unlock_fair(&self, _guard: Self::Guard) {
                // SAFETY: the caller holds the lock.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }

        #[cfg(feature = "lock_api_05")]
        // SAFETY: as above.
        unsafe impl<P: Platform + ConstCells, S: Succession<P>> lock_api_05::RawMutexTimed for $lock {
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

/// Why a timed wait for a [`Condvar`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was over before anybody notified.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// The condition variable, for one version of `lock_api`.
macro_rules! condvar {
    ($lock_api:ident) => {
        type Guard<'a, P, T> = $lock_api::MutexGuard<'a, RawMutex<P>, T>;

        /// [`lockwright::Condvar`](crate::Condvar) on any platform.
        pub struct Condvar<P: Platform>(RawCondvar<P>);

        impl<P: Platform + ConstCells> Condvar<P> {
            /// One on which nobody waits.
            pub const fn new() -> Self {
                Self(RawCondvar::INIT)
            }
            /// Releases the mutex, waits for a notification, and takes the mutex again.
            pub fn wait<T: ?Sized>(&self, guard: &mut Guard<'_, P, T>) {
                self.wait_raw(guard, None);
            }
            /// Waits as long as `condition` holds; looks at it first, and after each notification.
            pub fn wait_while<T: ?Sized>(
                &self,
                guard: &mut Guard<'_, P, T>,
                mut condition: impl FnMut(&mut T) -> bool,
            ) {
                while condition(guard) {
                    self.wait(guard);
                }
            }
            /// As [`wait`](Self::wait), for at most `timeout`.
            pub fn wait_for<T: ?Sized>(
                &self,
                guard: &mut Guard<'_, P, T>,
                timeout: Duration,
            ) -> WaitTimeoutResult {
                self.wait_raw(guard, Some(deadline_after::<P>(timeout)))
            }
            /// As [`wait`](Self::wait), until `deadline` at the latest.
            pub fn wait_until<T: ?Sized>(
                &self,
                guard: &mut Guard<'_, P, T>,
                deadline: Instant,
            ) -> WaitTimeoutResult {
                self.wait_raw(guard, Some(deadline_at::<P>(deadline)))
            }
            /// As [`wait_while`](Self::wait_while), for at most `timeout`; whether `condition` still held then.
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
            /// Notifies the thread that has waited longest; whether there was one.
            #[inline]
            pub fn notify_one(&self) -> bool {
                self.0.notify_one()
            }
            /// Notifies all threads that wait; returns how many.
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

        impl<P: Platform + ConstCells> Default for Condvar<P> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<P: Platform> core::fmt::Debug for Condvar<P> {
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
