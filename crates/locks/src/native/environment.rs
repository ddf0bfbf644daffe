//! The environment of the process, read without allocating.

use core::ffi::{CStr, c_char, c_int};

unsafe extern "C" {
    fn secure_getenv(name: *const c_char) -> *const c_char;
    fn strcmp(one: *const c_char, other: *const c_char) -> c_int;
}

/// Whether the variable `name` is `value`. Never in a program with other rights than its user's.
pub(super) fn has(name: &CStr, value: &CStr) -> bool {
    if cfg!(miri) {
        return false;
    }
    // SAFETY: reads the environment, as every C library does in calls like `localtime`; a program that
    // changes it at the same time has that problem already.
    let found = unsafe { secure_getenv(name.as_ptr()) };
    // SAFETY: two strings that end with zero.
    !found.is_null() && unsafe { strcmp(found, value.as_ptr()) } == 0
}
