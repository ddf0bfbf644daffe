//! The condition variable.

use crate::calls::{deadline_ns, keep_errno};
use crate::tsan;
use core::ffi::c_int;
use libc::{EINVAL, ETIMEDOUT, timespec};
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright_core::native::Native;

const _: () = assert!(size_of::<RawCondvar<Native>>() == 16);
const _: () = assert!(align_of::<RawCondvar<Native>>() <= 8);

/// Returns `false` if the deadline has passed.
///
/// # Safety
/// The caller's objects, of which it holds the mutex.
unsafe fn wait(
    condvar: *const RawCondvar<Native>,
    mutex: *const RawMutex<Native>,
    deadline_ns: Option<u64>,
) -> bool {
    // SAFETY: the caller's.
    let condvar = unsafe { &*condvar };
    // SAFETY: the caller's.
    let mutex = unsafe { &*mutex };
    tsan::disowned(mutex);
    // SAFETY: the caller's.
    let is_notified = keep_errno(|| unsafe { condvar.wait(mutex, deadline_ns) });
    tsan::owned(mutex);
    is_notified
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_cond_wait(
    condvar: *const RawCondvar<Native>,
    mutex: *const RawMutex<Native>,
) {
    // SAFETY: the caller's.
    unsafe { wait(condvar, mutex, None) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_cond_wait_until(
    condvar: *const RawCondvar<Native>,
    mutex: *const RawMutex<Native>,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: the caller's.
    let Some(deadline_ns) = (unsafe { deadline_ns(clock, deadline) }) else { return EINVAL };
    // SAFETY: the caller's.
    let is_notified = unsafe { wait(condvar, mutex, Some(deadline_ns)) };
    if is_notified { 0 } else { ETIMEDOUT }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_cond_signal(condvar: *const RawCondvar<Native>) {
    // SAFETY: the caller's.
    let condvar = unsafe { &*condvar };
    keep_errno(|| condvar.notify_one());
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_cond_broadcast(condvar: *const RawCondvar<Native>) {
    // SAFETY: the caller's.
    let condvar = unsafe { &*condvar };
    keep_errno(|| condvar.notify_all());
}
