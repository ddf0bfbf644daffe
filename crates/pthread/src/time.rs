//! Deadlines.

use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME, clockid_t, timespec};
use lockwright_core::native::deadline_of_date;

const NS_PER_S: i64 = 1_000_000_000;

/// Returns `true` for the clocks that a deadline may be of.
pub(crate) fn is_clock(clock: clockid_t) -> bool {
    clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC
}

/// Returns `true` if the nanoseconds of `deadline` are less than a second.
pub(crate) unsafe fn is_time(deadline: *const timespec) -> bool {
    // SAFETY: the caller's.
    let deadline = unsafe { &*deadline };
    (0..NS_PER_S).contains(&deadline.tv_nsec)
}

/// The deadline as the locks know it. One before the clock's zero is its zero.
pub(crate) unsafe fn deadline_ns(clock: clockid_t, deadline: *const timespec) -> u64 {
    // SAFETY: the caller's.
    let deadline = unsafe { &*deadline };
    let ns = match deadline.tv_sec {
        ..0 => 0,
        seconds => seconds.saturating_mul(NS_PER_S).saturating_add(deadline.tv_nsec) as u64,
    };
    if clock == CLOCK_REALTIME { deadline_of_date(ns) } else { ns }
}
