//! Sleeps and wake-ups by address, and the clock.

use super::syscall::{ClockId, futex_wait, time_ns};
use super::{Native, slept_in};
use crate::hardware::{HardwareU32, HardwareU64};
use crate::platform::{Clock, Sleeping, low_half};
use core::sync::atomic::AtomicU32;

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
        kinds: u32,
        word: &HardwareU64<Self>,
        expected: u32,
        _: Option<&HardwareU32<Self>>,
        deadline_ns: Option<u64>,
    ) -> bool {
        if cfg!(miri) {
            return slept_in::wait(kinds, word, expected, deadline_ns);
        }
        let half = low_half::<Self>(word).cast::<AtomicU32>();
        // SAFETY: the lower half of a 64-bit cell is aligned, and outlives the reference to the cell. Only the kernel
        // reads it.
        wait(kinds, unsafe { &*half }, expected, deadline_ns)
    }
    fn futex_wake_only(kinds: u32, address: *const HardwareU32<Self>, count: u32) -> u32 {
        let woken = if cfg!(miri) { slept_in::wake(kinds, address.addr(), count) } else { 0 };
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

/// A bit of a deadline: it is a deadline of the clock that tells the date. The date may be set meanwhile.
const OF_DATE: u64 = 1 << 63;

/// Returns the deadline `ns` nanoseconds after the beginning of 1970. It comes earlier or later if the date is set
/// meanwhile.
pub fn deadline_of_date(ns: u64) -> u64 {
    OF_DATE | ns.min(OF_DATE - 1)
}

fn wait(kinds: u32, word: &AtomicU32, expected: u32, deadline_ns: Option<u64>) -> bool {
    let is_date = deadline_ns.is_some_and(|ns| ns & OF_DATE != 0);
    futex_wait(kinds, word, expected, is_date, deadline_ns.map(|ns| ns & !OF_DATE))
}

impl Clock for Native {
    fn now_ns() -> u64 {
        time_ns(ClockId::Monotonic)
    }
    fn is_over(deadline_ns: u64) -> bool {
        let clock = if deadline_ns & OF_DATE == 0 { ClockId::Monotonic } else { ClockId::Realtime };
        time_ns(clock) >= deadline_ns & !OF_DATE
    }
    fn ns_until(deadline_ns: u64) -> u64 {
        let clock = if deadline_ns & OF_DATE == 0 { ClockId::Monotonic } else { ClockId::Realtime };
        (deadline_ns & !OF_DATE).saturating_sub(time_ns(clock))
    }
    #[inline(always)]
    fn has_event_stream() -> bool {
        super::environment::has_event_stream()
    }
}
