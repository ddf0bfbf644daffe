//! What functions for C have in common: deadlines, results, errno.

use core::ffi::c_int;
use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME, EAGAIN, EBUSY, EINVAL, ETIMEDOUT, timespec};
use lockwright::mutex::RawMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::rwlock::RawRwLock;
use lockwright_core::native::{Native, deadline_of_date};
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::{CnaSpinlock, QSpinlock};
use lockwright_linux::rwsem::{RwSem, Until};

const NS_PER_S: i64 = 1_000_000_000;

/// A lock that a thread need not wait for as long as it takes.
pub(crate) trait LockUntil: RawLock {
    /// The first step of a thread that waits then: takes the lock if it is free and not reserved for a waiter. Returns
    /// `true` if it did.
    #[inline(always)]
    fn take_at_once(&self) -> bool {
        self.try_lock()
    }
    /// Takes the lock before the deadline. Returns `true` if it did.
    fn take_until(&self, deadline_ns: u64) -> bool;
}

/// The same of locks with readers.
pub(crate) trait LockSharedUntil: LockUntil {
    /// As `take_at_once`, as a reader.
    #[inline(always)]
    fn take_shared_at_once(&self) -> bool {
        self.try_lock_shared()
    }
    /// Takes the lock together with other readers. Returns `false` if one more cannot be counted.
    fn take_shared(&self) -> bool;
    /// Returns `true` if one more reader cannot be counted.
    fn is_full(&self) -> bool;
    /// Takes the lock together with other readers before the deadline. Returns `true` if it did.
    fn take_shared_until(&self, deadline_ns: u64) -> bool;
}

/// The [`LockUntil`] of locks with an inherent `lock_until`, and their first steps if these are not attempts.
macro_rules! lock_until {
    ($($Lock:ty $(, |$this:ident| $at_once:expr)?;)+) => {$(
        impl LockUntil for $Lock {
            $(#[inline(always)]
            fn take_at_once(&self) -> bool {
                let $this = self;
                $at_once
            })?
            fn take_until(&self, deadline_ns: u64) -> bool {
                self.lock_until(deadline_ns)
            }
        }
    )+};
}
lock_until! {
    RawMutex<Native>, |lock| lock.take_free();
    QSpinlock<Native>;
    CnaSpinlock<Native>;
    RawRwLock<Native>, |lock| lock.take_unreserved();
    // A writer may interrupt all CPUs: to keep errno costs nothing compared with that.
    RawPercpuRwLock<Native>, |_lock| false;
}
impl LockUntil for RwSem<Native> {
    fn take_until(&self, deadline_ns: u64) -> bool {
        self.lock_within(Until::deadline(deadline_ns))
    }
}

/// The [`LockSharedUntil`] of locks that may be full, each with what takes it together with other readers.
macro_rules! lock_shared_until {
    ($($Lock:ident, |$this:ident| $take_shared:expr;)+) => {$(
        impl LockSharedUntil for $Lock<Native> {
            #[inline(always)]
            fn take_shared_at_once(&self) -> bool {
                self.take_shared_unreserved()
            }
            fn take_shared(&self) -> bool {
                let $this = self;
                $take_shared
            }
            fn is_full(&self) -> bool {
                $Lock::is_full(self)
            }
            fn take_shared_until(&self, deadline_ns: u64) -> bool {
                self.lock_shared_until(deadline_ns)
            }
        }
    )+};
}
lock_shared_until! {
    RawRwLock, |lock| lock.lock_shared_unless_full();
    RawPercpuRwLock, |lock| lock.lock_shared_in_unless_full().is_some();
}
impl LockSharedUntil for RwSem<Native> {
    fn take_shared(&self) -> bool {
        self.lock_shared();
        true
    }
    fn is_full(&self) -> bool {
        // It can count more than any process can make.
        false
    }
    fn take_shared_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_within(Until::deadline(deadline_ns))
    }
}

/// The deadline as the locks know it; `None` if there is no such clock or time. One before the clock's zero is its
/// zero.
///
/// # Safety
/// `deadline` points to a time.
pub(crate) unsafe fn deadline_ns(clock: c_int, deadline: *const timespec) -> Option<u64> {
    // SAFETY: the caller's.
    let &timespec { tv_sec, tv_nsec } = unsafe { &*deadline };
    if !(0..NS_PER_S).contains(&tv_nsec) {
        return None;
    }
    let ns = tv_sec.max(0).saturating_mul(NS_PER_S).saturating_add(tv_nsec);
    let ns = if tv_sec < 0 { 0 } else { ns.unsigned_abs() };
    match clock {
        CLOCK_MONOTONIC => Some(ns),
        CLOCK_REALTIME => Some(deadline_of_date(ns)),
        _ => None,
    }
}

/// What a function returns that takes a lock without waiting.
#[inline(always)]
pub(crate) fn taken(is_taken: bool) -> c_int {
    if is_taken { 0 } else { EBUSY }
}

/// What a function returns that takes a lock with readers, without waiting or with a deadline.
pub(crate) fn unless_full(result: c_int, lock: &impl LockSharedUntil) -> c_int {
    match result {
        EBUSY | ETIMEDOUT if lock.is_full() => EAGAIN,
        result => result,
    }
}

/// A reader cannot be counted, and its function returns nothing: says so and ends the process.
#[cold]
pub(crate) fn too_many_readers() -> ! {
    const SAID: &str =
        "lockwright: 8,388,608 readers hold the lock, and one more cannot be counted\n";
    // SAFETY: reads the text.
    unsafe { libc::write(2, SAID.as_ptr().cast(), SAID.len()) };
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// Runs `take` with a deadline: what a function returns that has one.
///
/// # Safety
/// `deadline` points to a time.
pub(crate) unsafe fn taken_until(
    clock: c_int,
    deadline: *const timespec,
    take: impl FnOnce(u64) -> bool,
) -> c_int {
    // SAFETY: the caller's.
    match unsafe { deadline_ns(clock, deadline) } {
        None => EINVAL,
        Some(deadline_ns) if keep_errno(|| take(deadline_ns)) => 0,
        Some(_) => ETIMEDOUT,
    }
}

/// Runs `section` and leaves errno as it was: a failed system call in it is no error of the caller's.
#[cold]
#[inline(never)]
pub(crate) fn keep_errno<R>(section: impl FnOnce() -> R) -> R {
    // SAFETY: the address of the caller's own errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { errno.read() };
    let result = section();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}
