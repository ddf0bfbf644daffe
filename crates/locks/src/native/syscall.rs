//! System calls that have no typed form without side conditions.

use core::ffi::{c_int, c_long};
use core::sync::atomic::AtomicU32;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
mod number {
    pub const FUTEX: core::ffi::c_long = 202;
    pub const SCHED_GETSCHEDULER: core::ffi::c_long = 145;
}
/// The generic table, which aarch64, riscv64 and loongarch64 use.
#[cfg(not(target_arch = "x86_64"))]
mod number {
    pub const FUTEX: core::ffi::c_long = 98;
    pub const SCHED_GETSCHEDULER: core::ffi::c_long = 120;
}

const FUTEX_WAKE_PRIVATE: c_int = 1 | 128;

/// Wakes up to `count` sleepers on the word at `address`, which may be gone: so no reference to it
/// is made, the kernel only takes its address.
pub(super) fn futex_wake(address: *const AtomicU32, count: u32) {
    let count = c_int::try_from(count).unwrap_or(c_int::MAX);
    // SAFETY: FUTEX_WAKE reads and writes no memory of ours.
    unsafe { syscall(number::FUTEX, address, FUTEX_WAKE_PRIVATE, count) };
}

/// The scheduling policy of the calling thread, with flags. The system call itself, because one C
/// library's wrapper always fails.
pub(super) fn scheduling_policy() -> c_int {
    // SAFETY: only returns a number; 0 is the calling thread.
    unsafe { syscall(number::SCHED_GETSCHEDULER, 0) as c_int }
}
