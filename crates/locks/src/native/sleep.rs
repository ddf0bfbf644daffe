//! Sleeping and waking by address, and the clock.

use super::{Native, slept_in};
use crate::hardware::{HardwareU32, HardwareU64};
use crate::platform::{Clock, EVERY_KIND, Sleeping, low_half};
use core::num::NonZeroU32;
use core::sync::atomic::AtomicU32;
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

impl Sleeping for Native {
    fn futex_wait_as(
        kinds: u32,
        word: &HardwareU32<Self>,
        expected: u32,
        deadline_ns: Option<u64>,
    ) -> bool {
        wait(kinds, word.core(), expected, deadline_ns)
    }
    fn futex_wait_low(
        word: &HardwareU64<Self>,
        expected: u32,
        _: Option<&HardwareU32<Self>>,
        deadline_ns: Option<u64>,
    ) -> bool {
        if cfg!(miri) {
            return slept_in::wait(word, expected, deadline_ns);
        }
        let half = low_half::<Self>(word).cast::<AtomicU32>();
        // SAFETY: the lower half of a 64-bit cell is aligned, and outlives the reference to the cell. Only the kernel
        // reads it.
        wait(EVERY_KIND, unsafe { &*half }, expected, deadline_ns)
    }
    fn futex_wake_only(kinds: u32, address: *const HardwareU32<Self>, count: u32) -> u32 {
        let woken = if cfg!(miri) { slept_in::wake(address.addr(), count) } else { 0 };
        woken + super::syscall::futex_wake(kinds, address.cast(), count - woken)
    }
    fn futex_holds(
        then: *const HardwareU32<Self>,
        value: u32,
        _: *const HardwareU32<Self>,
    ) -> bool {
        super::syscall::futex_holds(then.cast(), value)
    }
    fn futex_requeue(
        count: u32,
        from: &HardwareU64<Self>,
        expected: u32,
        to: *const HardwareU32<Self>,
    ) -> Option<u32> {
        let from = low_half::<Self>(from).cast();
        super::syscall::futex_requeue(count, from, expected, to.cast())
    }
}

fn wait(kinds: u32, word: &AtomicU32, expected: u32, deadline_ns: Option<u64>) -> bool {
    let timespec = |ns| Timespec { tv_sec: (ns / NS_PER_S) as i64, tv_nsec: (ns % NS_PER_S) as _ };
    let deadline = deadline_ns.map(timespec);
    let Some(kinds) = NonZeroU32::new(kinds) else { return false };
    // The bitset form takes an absolute deadline on the monotonic clock. An error means that the value has changed,
    // that a signal has come, or that it is too late.
    futex::wait_bitset(word, futex::Flags::PRIVATE, expected, deadline.as_ref(), kinds).is_ok()
}

impl Clock for Native {
    fn now_ns() -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
    }
    #[inline(always)]
    fn has_event_stream() -> bool {
        super::environment::has_event_stream()
    }
}
