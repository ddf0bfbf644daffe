//! The functions that glibc has behind ours, on the same objects. `src/c/glibc.c` finds them.

use core::ffi::{c_int, c_void};
use libc::{clockid_t, timespec};

unsafe extern "C" {
    // Those of `src/c/exports.c`: of every mutex, unless all functions are glibc's.
    pub(crate) fn lw_pthread_mutex_lock(mutex: *mut c_void) -> c_int;
    pub(crate) fn lw_pthread_mutex_unlock(mutex: *mut c_void) -> c_int;

    pub(crate) fn lw_glibc_mutex_destroy(mutex: *mut c_void) -> c_int;
    pub(crate) fn lw_glibc_mutex_lock(mutex: *mut c_void) -> c_int;
    pub(crate) fn lw_glibc_mutex_trylock(mutex: *mut c_void) -> c_int;
    pub(crate) fn lw_glibc_mutex_clocklock(
        mutex: *mut c_void,
        clock: clockid_t,
        deadline: *const timespec,
    ) -> c_int;
    pub(crate) fn lw_glibc_mutex_unlock(mutex: *mut c_void) -> c_int;
    pub(crate) fn lw_glibc_rwlock_rdlock(lock: *mut c_void) -> c_int;
    pub(crate) fn lw_glibc_rwlock_wrlock(lock: *mut c_void) -> c_int;
    pub(crate) fn lw_glibc_rwlock_tryrdlock(lock: *mut c_void) -> c_int;
    pub(crate) fn lw_glibc_rwlock_trywrlock(lock: *mut c_void) -> c_int;
    pub(crate) fn lw_glibc_rwlock_clockrdlock(
        lock: *mut c_void,
        clock: clockid_t,
        deadline: *const timespec,
    ) -> c_int;
    pub(crate) fn lw_glibc_rwlock_clockwrlock(
        lock: *mut c_void,
        clock: clockid_t,
        deadline: *const timespec,
    ) -> c_int;
    pub(crate) fn lw_glibc_rwlock_unlock(lock: *mut c_void) -> c_int;
}
