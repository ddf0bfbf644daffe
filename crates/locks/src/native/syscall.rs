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
    pub const RT_SIGPROCMASK: core::ffi::c_long = 14;
}
/// The generic table, which aarch64, riscv64 and loongarch64 use.
#[cfg(not(target_arch = "x86_64"))]
mod number {
    pub const FUTEX: core::ffi::c_long = 98;
    pub const SCHED_GETSCHEDULER: core::ffi::c_long = 120;
    pub const RT_SIGPROCMASK: core::ffi::c_long = 135;
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

/// The signals that a thread lets wait, as the kernel keeps them: 64 on all architectures here.
pub(super) struct Signals(u64);

const SIG_SETMASK: c_int = 2;

/// Lets all signals wait that can; returns those that did before.
pub(super) fn block_signals() -> Signals {
    let mut before = Signals(0);
    set_signals(u64::MAX, &raw mut before.0);
    before
}

/// Undoes [`block_signals`].
pub(super) fn restore_signals(before: Signals) {
    set_signals(before.0, core::ptr::null_mut());
}

fn set_signals(blocked: u64, before: *mut u64) {
    if cfg!(miri) {
        return;
    }
    let size = size_of::<u64>();
    // SAFETY: reads one set and writes one, or none if `before` is null.
    unsafe { syscall(number::RT_SIGPROCMASK, SIG_SETMASK, &raw const blocked, before, size) };
}
