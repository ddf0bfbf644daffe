//! The threads of this process that spin and wait for other threads. They are fewer than the CPUs that the process may
//! use, and none of them has a real-time policy.
//!
//! The process has one word, with the [`epoch`](super::fork::epoch) of the process life in its upper half. So places
//! that threads of a parent took do not count here. Only threads that have already waited for some time come here, so
//! the word is not a bottleneck. A thread that is ended while it spins keeps its place; then fewer threads spin.

use super::fork;
use super::per_process::per_process;
use super::per_thread::per_thread;
use super::syscall::{ClockId, scheduling_policy, time_ns};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of places that are taken, on a cache line of its own.
#[repr(align(128))]
pub(super) struct Spinners(AtomicU64);

per_process! {
    /// The places of this process.
    pub(super) static SPINNERS at "spinners": Spinners = Spinners(AtomicU64::new(0))
}

impl Spinners {
    /// Takes a place if fewer than `places_max` are taken. Returns `true` if it did.
    pub(super) fn begin(&self, places_max: u32) -> bool {
        let none = u64::from(fork::epoch()) << 32;
        let taken = |word: u64| if word & !u64::from(u32::MAX) == none { word } else { none };
        let one_more = |word| {
            let taken = taken(word);
            ((taken as u32) < places_max).then_some(taken + 1)
        };
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: nothing is read through it either.
        self.0.fetch_update(Relaxed, Relaxed, one_more).is_ok()
    }

    /// Returns the number of places that are taken.
    pub(super) fn taken(&self) -> u32 {
        // ordering: Relaxed; only a hint.
        let word = self.0.load(Relaxed);
        if word >> 32 == u64::from(fork::epoch()) { word as u32 } else { 0 }
    }

    /// Gives a place back.
    pub(super) fn end(&self) {
        // If a signal handler forked in between, the child may have nothing to give back.
        let one_less = |word: u64| (word as u32 > 0).then(|| word - 1);
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: nothing is read through it either.
        let _ = self.0.fetch_update(Relaxed, Relaxed, one_less);
    }
}

per_thread! {
    /// True if the thread has a real-time policy, and the time until which that is remembered. It has no initialiser
    /// and no destructor, so it is safe in signal handlers and exiting threads.
    POLICY at "lockwright_policy": (bool, u64) = (false, 0)
}

/// The time for which a policy is remembered, in nanoseconds.
const REMEMBERED_NS: u64 = 10_000_000;

/// A flag that the kernel adds to the policy it returns.
const RESET_ON_FORK: c_int = 0x4000_0000;
const SCHED_FIFO: c_int = 1;
const SCHED_RR: c_int = 2;
const SCHED_DEADLINE: c_int = 6;

/// Returns `true` if the calling thread has a real-time policy, or had one a moment ago.
pub(super) fn is_real_time() -> bool {
    let (known, until_ns) = POLICY.get();
    // This clock is read without a system call. The kernel sets it forward with its ticks.
    let now_ns = if cfg!(miri) { 0 } else { time_ns(ClockId::MonotonicCoarse) };
    if cfg!(miri) || now_ns < until_ns {
        return known;
    }
    let policy = scheduling_policy() & !RESET_ON_FORK;
    let is_real_time = matches!(policy, SCHED_FIFO | SCHED_RR | SCHED_DEADLINE);
    POLICY.set((is_real_time, now_ns + REMEMBERED_NS));
    is_real_time
}

/// Makes the calling thread ask for its policy again.
pub(super) fn forget_policy() {
    POLICY.set((false, 0));
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        fn sched_setscheduler(thread: c_int, policy: c_int, priority: *const c_int) -> c_int;
    }

    /// A thread asks again, so that an answer that was wrong for any reason is right after a while. Time stands still
    /// under Miri.
    #[cfg(not(miri))]
    #[test]
    fn a_policy_is_not_remembered_for_ever() {
        POLICY.set((true, time_ns(ClockId::MonotonicCoarse) + REMEMBERED_NS));
        let began = std::time::Instant::now();
        while is_real_time() {
            assert!(began.elapsed().as_secs() < 60, "the policy is never asked for again");
            std::thread::yield_now();
        }
    }

    #[test]
    fn there_are_as_many_places_as_asked_for_and_a_parents_are_none_of_them() {
        let spinners = Spinners(AtomicU64::new(0));
        let (begin, end) = (|places_max| spinners.begin(places_max), || spinners.end());
        assert!(!begin(0));
        assert!(begin(2) && begin(2) && !begin(2));
        assert_eq!(spinners.taken(), 2);
        end();
        assert!(begin(2) && !begin(2));
        // As a forked child would find them.
        spinners.0.store((u64::from(fork::epoch()) + 1) << 32 | 2, Relaxed);
        assert_eq!(spinners.taken(), 0);
        assert!(begin(1) && !begin(1));
        end();
        end();
        assert!(begin(1));
        end();
    }

    /// A process needs a right to have a real-time policy. Without it the test sees nothing.
    #[cfg(not(miri))]
    #[test]
    fn a_thread_with_a_real_time_policy_is_known_once_it_is_asked_again() {
        let is_known = std::thread::spawn(|| {
            assert!(!is_real_time());
            // SAFETY: reads the number.
            if unsafe { sched_setscheduler(0, SCHED_RR | RESET_ON_FORK, &1) } != 0 {
                return None;
            }
            forget_policy();
            Some(is_real_time())
        });
        assert_ne!(is_known.join().expect("no panic"), Some(false));
    }
}
