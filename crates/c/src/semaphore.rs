//! The counting semaphore.

use crate::calls::{keep_errno, taken, taken_until};
use crate::tsan;
use core::ffi::{c_int, c_uint};
use libc::{EINVAL, EOVERFLOW, timespec};
use lockwright::semaphore::{PERMITS_MAX, RawSemaphore};
use lockwright_core::native::Native;

/// One that is all zero bytes has no permits, so the word of an initialiser is the number of permits.
type CountingSemaphore = RawSemaphore<Native, 0>;

const _: () = assert!(size_of::<CountingSemaphore>() == 4 && align_of::<CountingSemaphore>() <= 4);
const _: () = assert!(CountingSemaphore::word_of(7) == 7);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_semaphore_init(
    semaphore: *mut CountingSemaphore,
    permits: c_uint,
) -> c_int {
    if permits > PERMITS_MAX {
        return EINVAL;
    }
    // SAFETY: the caller's memory.
    unsafe { semaphore.write(CountingSemaphore::with_permits(permits)) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_semaphore_acquire(
    semaphore: *const CountingSemaphore,
    permits: c_uint,
) {
    // SAFETY: the caller's semaphore.
    let semaphore = unsafe { &*semaphore };
    if !semaphore.try_acquire(permits) {
        keep_errno(|| semaphore.acquire(permits));
    }
    tsan::owned(semaphore);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_semaphore_try_acquire(
    semaphore: *const CountingSemaphore,
    permits: c_uint,
) -> c_int {
    // SAFETY: the caller's semaphore.
    let result = taken(unsafe { &*semaphore }.try_acquire(permits));
    tsan::taken_by(result, semaphore, tsan::owned)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_semaphore_acquire_until(
    semaphore: *const CountingSemaphore,
    permits: c_uint,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: the caller's semaphore.
    let semaphore = unsafe { &*semaphore };
    let acquire = |deadline_ns| semaphore.acquire_until(permits, deadline_ns);
    // SAFETY: the caller's deadline.
    let result = unsafe { taken_until(clock, deadline, acquire) };
    tsan::taken_by(result, semaphore, tsan::owned)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_semaphore_release(
    semaphore: *const CountingSemaphore,
    permits: c_uint,
) -> c_int {
    tsan::disowned(semaphore);
    // SAFETY: the caller's semaphore.
    if unsafe { &*semaphore }.release(permits) { 0 } else { EOVERFLOW }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn lw_semaphore_available(semaphore: *const CountingSemaphore) -> c_uint {
    // SAFETY: the caller's semaphore.
    unsafe { &*semaphore }.available()
}
