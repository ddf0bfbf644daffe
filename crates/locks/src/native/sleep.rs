//! Sleeping and waking by address, and the clock.

use super::Native;
use crate::hardware::HardwareU32;
use crate::platform::{Clock, Sleeping};
use core::num::NonZeroU32;
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

impl Sleeping for Native {
    fn futex_wait(word: &HardwareU32<Self>, expected: u32, deadline_ns: Option<u64>) {
        let deadline = deadline_ns
            .map(|ns| Timespec { tv_sec: (ns / NS_PER_S) as i64, tv_nsec: (ns % NS_PER_S) as _ });
        // The bitset form takes an absolute deadline on the monotonic clock. Every result means
        // "look again": woken, value changed, interrupted, too late.
        let _ = futex::wait_bitset(
            word.core(),
            futex::Flags::PRIVATE,
            expected,
            deadline.as_ref(),
            NonZeroU32::MAX,
        );
    }
    fn futex_wake(address: *const HardwareU32<Self>, count: u32) {
        super::syscall::futex_wake(address.cast(), count);
    }
}

impl Clock for Native {
    fn now_ns() -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
    }
}
