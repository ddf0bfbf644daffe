//! Sleeping and waking by address, and the clock.

use super::Native;
use crate::platform::{Clock, Sleeping};
use core::ffi::{c_int, c_long};
use core::num::NonZeroU32;
use core::sync::atomic::AtomicU32;
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
const SYS_FUTEX: c_long = 202;
#[cfg(not(target_arch = "x86_64"))]
const SYS_FUTEX: c_long = 98;
const FUTEX_WAKE_PRIVATE: c_int = 1 | 128;

impl Sleeping for Native {
    fn futex_wait(word: &AtomicU32, expected: u32, deadline_ns: Option<u64>) {
        let deadline = deadline_ns
            .map(|ns| Timespec { tv_sec: (ns / NS_PER_S) as i64, tv_nsec: (ns % NS_PER_S) as _ });
        // The bitset form takes an absolute deadline on the monotonic clock. Every result means
        // "look again": woken, value changed, interrupted, too late.
        let _ = futex::wait_bitset(
            word,
            futex::Flags::PRIVATE,
            expected,
            deadline.as_ref(),
            NonZeroU32::MAX,
        );
    }
    #[expect(clippy::not_unsafe_ptr_arg_deref, reason = "the kernel takes the address only")]
    fn futex_wake(address: *const AtomicU32, count: u32) {
        let count = c_int::try_from(count).unwrap_or(c_int::MAX);
        // The word may be gone, so no reference to it is made: the kernel only takes its address.
        // SAFETY: FUTEX_WAKE reads and writes no memory of ours.
        unsafe { syscall(SYS_FUTEX, address, FUTEX_WAKE_PRIVATE, count) };
    }
}

impl Clock for Native {
    fn now_ns() -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
    }
}
