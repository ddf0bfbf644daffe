//! Condition variables and deadlines of other libraries.

use crate::peers::mutexes::{OfTrait, ParkingLot013, PthreadMutex, StdMutex};
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar, TimedLock};
use lockwright_core::native::Native;
use lockwright_core::platform::Clock;
use lockwright_core::raw::RawLock;
use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, forget};
use std::sync::{Condvar, PoisonError};
use std::time::{Duration, Instant};

/// The time that is left, for libraries that have no deadlines on the clock of ours.
fn left(deadline_ns: u64) -> Duration {
    Duration::from_nanos(deadline_ns.saturating_sub(Native::now_ns()))
}

impl CondvarLock for StdMutex {
    type Condvar = Condvar;
}

impl LockCondvar<StdMutex> for Condvar {
    fn new() -> Self {
        Self::new()
    }
    #[inline]
    unsafe fn wait(&self, lock: &StdMutex, deadline_ns: Option<u64>) -> bool {
        // SAFETY: the caller owns the lock. The guard comes back, or another one, before anything else happens.
        let guard = unsafe { lock.take() };
        let Some(deadline_ns) = deadline_ns else {
            lock.keep(self.wait(guard).unwrap_or_else(PoisonError::into_inner));
            return true;
        };
        let (guard, result) =
            self.wait_timeout(guard, left(deadline_ns)).unwrap_or_else(PoisonError::into_inner);
        lock.keep(guard);
        !result.timed_out()
    }
    #[inline]
    fn notify_one(&self) -> bool {
        Self::notify_one(self);
        true
    }
    #[inline]
    fn notify_all(&self) {
        Self::notify_all(self);
    }
}

/// A library whose condition variable borrows the guard.
macro_rules! borrows_guard {
    ($lock:ty, $Condvar:ty) => {
        impl CondvarLock for $lock {
            type Condvar = $Condvar;
        }

        impl LockCondvar<$lock> for $Condvar {
            fn new() -> Self {
                Self::new()
            }
            #[inline]
            unsafe fn wait(&self, lock: &$lock, deadline_ns: Option<u64>) -> bool {
                // SAFETY: the caller owns the lock; no guard of it exists, and this one is forgotten.
                let mut guard = unsafe { lock.guard() };
                let is_notified = match deadline_ns {
                    None => {
                        self.wait(&mut guard);
                        true
                    }
                    Some(deadline_ns) => !self.wait_for(&mut guard, left(deadline_ns)).timed_out(),
                };
                // The caller owns the lock still.
                forget(guard);
                is_notified
            }
            #[inline]
            fn notify_one(&self) -> bool {
                Self::notify_one(self)
            }
            #[inline]
            fn notify_all(&self) {
                Self::notify_all(self);
            }
        }
    };
}

borrows_guard!(OfTrait<parking_lot::RawMutex>, parking_lot::Condvar);
borrows_guard!(ParkingLot013, parking_lot_013::Condvar);
borrows_guard!(OfTrait<usync::RawMutex>, usync::Condvar);

/// A library with deadlines on another clock.
macro_rules! timed {
    ($($lock:ty),+) => {
        $(impl TimedLock for $lock {
            #[inline]
            fn lock_until(&self, deadline_ns: u64) -> bool {
                // The clock is read only by a thread that waits, as in ours.
                self.try_lock() || {
                    let guard = self.0.try_lock_until(Instant::now() + left(deadline_ns));
                    guard.map(forget).is_some()
                }
            }
        })+
    };
}

timed!(OfTrait<parking_lot::RawMutex>, ParkingLot013);

/// A time of the clock that ours and the C library share, which is `CLOCK_MONOTONIC`.
fn timespec(deadline_ns: u64) -> libc::timespec {
    const NS_PER_S: u64 = 1_000_000_000;
    // SAFETY: the structure is plain numbers; all zero is a valid value.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    time.tv_sec = (deadline_ns / NS_PER_S) as _;
    time.tv_nsec = (deadline_ns % NS_PER_S) as _;
    time
}

unsafe extern "C" {
    /// In glibc since 2.30.
    fn pthread_mutex_clocklock(
        mutex: *mut libc::pthread_mutex_t,
        clock: libc::clockid_t,
        until: *const libc::timespec,
    ) -> libc::c_int;
}

impl<const ADAPTIVE: bool> TimedLock for PthreadMutex<ADAPTIVE> {
    #[inline]
    fn lock_until(&self, deadline_ns: u64) -> bool {
        let until = timespec(deadline_ns);
        // SAFETY: an initialised mutex that does not move while it is borrowed, and a live time.
        unsafe { pthread_mutex_clocklock(self.0.get(), libc::CLOCK_MONOTONIC, &until) == 0 }
    }
}

/// The C library's condition variable, with deadlines of `CLOCK_MONOTONIC`.
pub struct PthreadCondvar(UnsafeCell<libc::pthread_cond_t>);

// SAFETY: the C library synchronises its condition variables.
unsafe impl Send for PthreadCondvar {}
// SAFETY: as above.
unsafe impl Sync for PthreadCondvar {}

impl<const ADAPTIVE: bool> CondvarLock for PthreadMutex<ADAPTIVE> {
    type Condvar = PthreadCondvar;
}

impl<const ADAPTIVE: bool> LockCondvar<PthreadMutex<ADAPTIVE>> for PthreadCondvar {
    fn new() -> Self {
        let condvar = Self(UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER));
        let mut attributes = MaybeUninit::uninit();
        let at = attributes.as_mut_ptr();
        // SAFETY: the pointer is to attributes that this initialises.
        unsafe { libc::pthread_condattr_init(at) };
        // SAFETY: initialised on the line above.
        unsafe { libc::pthread_condattr_setclock(at, libc::CLOCK_MONOTONIC) };
        // SAFETY: both are live. The condition variable knows its clock and not its address, so it may move between
        // here and its first use.
        unsafe { libc::pthread_cond_init(condvar.0.get(), at) };
        // SAFETY: initialised above, and not used again.
        unsafe { libc::pthread_condattr_destroy(at) };
        condvar
    }
    #[inline]
    unsafe fn wait(&self, lock: &PthreadMutex<ADAPTIVE>, deadline_ns: Option<u64>) -> bool {
        let (condvar, mutex) = (self.0.get(), lock.0.get());
        match deadline_ns {
            // SAFETY: both are initialised and do not move while they are borrowed; the caller owns the mutex.
            None => unsafe { libc::pthread_cond_wait(condvar, mutex) == 0 },
            // SAFETY: as above, and the time is live.
            Some(deadline_ns) => unsafe {
                libc::pthread_cond_timedwait(condvar, mutex, &timespec(deadline_ns)) == 0
            },
        }
    }
    #[inline]
    fn notify_one(&self) -> bool {
        // SAFETY: an initialised condition variable that does not move while it is borrowed.
        unsafe { libc::pthread_cond_signal(self.0.get()) };
        true
    }
    #[inline]
    fn notify_all(&self) {
        // SAFETY: as in `notify_one`.
        unsafe { libc::pthread_cond_broadcast(self.0.get()) };
    }
}
