//! Time-outs of locks with one owner, fair unlocks of mutexes, and the condition variable.

use super::Sendable;
use super::deadline::{deadline_after, deadline_at};
use crate::mutex::{RawFairMutex, RawMutex};
use crate::native::Native;
use crate::park::ParkPlatform;
use crate::platform::ConstCells;
use crate::qspinlock::{QSpinlock, Spin, Succession};
use crate::queue::QueuePlatform;
use std::time::{Duration, Instant};

/// Attempts with time-outs, for both versions of `lock_api`.
macro_rules! timed {
    ($([$($bounds:tt)*] $lock:ty, $marker:ident;)+) => {$(
        #[cfg(feature = "lock_api")]
        // SAFETY: they return `true` exactly if the lock is taken.
        unsafe impl<$($bounds)*> lock_api::RawMutexTimed for $lock {
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
        unsafe impl<$($bounds)*> lock_api_05::RawMutexTimed for $lock {
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
timed! {
    [P: ParkPlatform + ConstCells, S: Succession<P>] RawMutex<P, S>, GuardNoSend;
    [P: ParkPlatform + ConstCells, S: Succession<P>] Sendable<RawMutex<P, S>>, GuardSend;
    [P: ParkPlatform + ConstCells, S: Succession<P>] RawFairMutex<P, S>, GuardNoSend;
    [P: ParkPlatform + ConstCells, S: Succession<P>] Sendable<RawFairMutex<P, S>>, GuardSend;
    [P: QueuePlatform + ConstCells, S: Succession<P>] QSpinlock<P, S, Spin>, GuardSend;
}

/// Fair unlocks of a mutex, for both versions of `lock_api`.
macro_rules! fair {
    ($($lock:ty;)+) => {$(
        #[cfg(feature = "lock_api")]
        // SAFETY: `unlock_fair` gives the lock back, or to a waiter that acquires what the owner released.
        unsafe impl<P: ParkPlatform + ConstCells, S: Succession<P>> lock_api::RawMutexFair for $lock {
            unsafe fn unlock_fair(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }

        #[cfg(feature = "lock_api_05")]
        // SAFETY: as above.
        unsafe impl<P: ParkPlatform + ConstCells, S: Succession<P>> lock_api_05::RawMutexFair for $lock {
            unsafe fn unlock_fair(&self, _guard: Self::Guard) {
                // SAFETY: the caller holds the lock.
                unsafe { RawMutex::unlock_fair(self) };
            }
        }
    )+};
}
fair! {
    RawMutex<P, S>;
    Sendable<RawMutex<P, S>>;
    RawFairMutex<P, S>;
    Sendable<RawFairMutex<P, S>>;
}

/// Tells if a wait for a [`Condvar`](crate::Condvar) with a time-out has timed out.
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
}
use sealed::Waitable;

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

/// The condition variable, for one version of `lock_api`.
macro_rules! condvar {
    ($lock_api:ident) => {
        type Guard<'a, L, T> = $lock_api::MutexGuard<'a, L, T>;

        /// A condition variable: threads wait until another thread says that something has changed.
        ///
        /// It is used with a [`Mutex`](crate::Mutex), a [`CnaMutex`](crate::CnaMutex) or a
        /// [`SendMutex`](crate::SendMutex) that guards what changes.
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
            /// As `new`, on any platform.
            #[doc(hidden)]
            pub fn new_on() -> Self {
                Self(RawCondvar::new())
            }
            /// Releases the mutex, waits for a notification, and takes the mutex again.
            pub fn wait<L: Waitable<P> + $lock_api::RawMutex, T: ?Sized>(
                &self,
                guard: &mut Guard<'_, L, T>,
            ) {
                self.wait_raw(guard, None);
            }
            /// Waits until `condition` returns `false`. It is checked before the first wait and after every wake-up.
            pub fn wait_while<L: Waitable<P> + $lock_api::RawMutex, T: ?Sized>(
                &self,
                guard: &mut Guard<'_, L, T>,
                mut condition: impl FnMut(&mut T) -> bool,
            ) {
                while condition(guard) {
                    self.wait(guard);
                }
            }
            /// Like [`wait`](Self::wait), but gives up after `timeout`.
            pub fn wait_for<L: Waitable<P> + $lock_api::RawMutex, T: ?Sized>(
                &self,
                guard: &mut Guard<'_, L, T>,
                timeout: Duration,
            ) -> WaitTimeoutResult {
                self.wait_raw(guard, Some(deadline_after::<P>(timeout)))
            }
            /// Like [`wait`](Self::wait), but gives up at `deadline`.
            pub fn wait_until<L: Waitable<P> + $lock_api::RawMutex, T: ?Sized>(
                &self,
                guard: &mut Guard<'_, L, T>,
                deadline: Instant,
            ) -> WaitTimeoutResult {
                self.wait_raw(guard, Some(deadline_at::<P>(deadline)))
            }
            /// Like [`wait_while`](Self::wait_while), but gives up after `timeout`.
            ///
            /// [`timed_out`](WaitTimeoutResult::timed_out) returns `true` if `condition` was still true at the end.
            pub fn wait_while_for<L: Waitable<P> + $lock_api::RawMutex, T: ?Sized>(
                &self,
                guard: &mut Guard<'_, L, T>,
                condition: impl FnMut(&mut T) -> bool,
                timeout: Duration,
            ) -> WaitTimeoutResult {
                self.wait_while_raw(guard, condition, deadline_after::<P>(timeout))
            }
            /// Like [`wait_while`](Self::wait_while), but gives up at `deadline`.
            ///
            /// [`timed_out`](WaitTimeoutResult::timed_out) returns `true` if `condition` was still true at the end.
            pub fn wait_while_until<L: Waitable<P> + $lock_api::RawMutex, T: ?Sized>(
                &self,
                guard: &mut Guard<'_, L, T>,
                condition: impl FnMut(&mut T) -> bool,
                deadline: Instant,
            ) -> WaitTimeoutResult {
                self.wait_while_raw(guard, condition, deadline_at::<P>(deadline))
            }
            /// Notifies a thread that waits. Returns `false` if no thread waits.
            #[inline]
            pub fn notify_one(&self) -> bool {
                self.0.notify_one()
            }
            /// Notifies all threads that wait. Returns how many they are.
            #[inline]
            pub fn notify_all(&self) -> usize {
                self.0.notify_all() as usize
            }

            fn wait_while_raw<L: Waitable<P> + $lock_api::RawMutex, T: ?Sized>(
                &self,
                guard: &mut Guard<'_, L, T>,
                mut condition: impl FnMut(&mut T) -> bool,
                deadline_ns: u64,
            ) -> WaitTimeoutResult {
                while condition(guard) {
                    if self.wait_raw(guard, Some(deadline_ns)).timed_out() {
                        return WaitTimeoutResult(condition(guard));
                    }
                }
                WaitTimeoutResult(false)
            }
            fn wait_raw<L: Waitable<P> + $lock_api::RawMutex, T: ?Sized>(
                &self,
                guard: &mut Guard<'_, L, T>,
                deadline_ns: Option<u64>,
            ) -> WaitTimeoutResult {
                // SAFETY: the guard holds the mutex; what it guards is not accessed until it does again.
                let mutex = unsafe { $lock_api::MutexGuard::mutex(guard).raw() };
                // SAFETY: as above.
                WaitTimeoutResult(!unsafe { self.0.wait(mutex.raw_mutex(), deadline_ns) })
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
