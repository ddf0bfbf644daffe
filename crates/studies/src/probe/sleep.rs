//! What it costs to sleep, to wake, and to interrupt the others.

use super::pair::{Padded, alone};
use super::samples::each_ns;
use lockwright_core::hardware::HardwareU32;
use lockwright_core::native::Native;
use lockwright_core::platform::{Barriers, Clock, Sleeping, Zeroed};
use lockwright_measure::native::affinity::stay_on;
use std::hint::spin_loop;
use std::iter::repeat_with;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A wake-up of one thread by another, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WakeUp {
    /// The waker's call.
    pub call: f64,
    /// From the end of the call until the sleeper ran.
    pub latency: f64,
    /// From the begin of the call until then.
    pub delay: f64,
    /// True if the sleeper ran on the CPU of the waker.
    pub stayed: bool,
}

/// Nanoseconds of a call that does not sleep, because the word has changed already.
pub fn refused_sleep(cpu: usize, rounds: usize) -> Vec<f64> {
    alone(cpu, || {
        let word = HardwareU32::<Native>::zeroed();
        let round = || each_ns(100, || Native::futex_wait(&word, 1, None));
        repeat_with(round).take(rounds).collect()
    })
}

/// Nanoseconds from one thread to another and back on one CPU, each waking the other and sleeping.
pub fn round_trips(cpu: usize, rounds: usize) -> Vec<f64> {
    const TRIPS: u32 = 50;
    let Padded(word) = &Padded(HardwareU32::<Native>::zeroed());
    let play = |mine: u32| {
        stay_on(cpu);
        let trip = || {
            // ordering: Acquire; with the release below.
            while word.core().load(Ordering::Acquire) != mine {
                Native::futex_wait(word, 1 - mine, None);
            }
            // ordering: Release; with the acquire above.
            word.core().store(1 - mine, Ordering::Release);
            Native::futex_wake(word, 1);
        };
        repeat_with(|| each_ns(TRIPS, trip)).take(rounds).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let second = scope.spawn(|| play(1));
        scope.spawn(|| play(0));
        second.join().unwrap_or_default()
    })
}

/// Wakes a thread on the second CPU from the first, `rounds` times, each time after `before`.
pub fn wake_ups(
    [waker, sleeper]: [usize; 2],
    rounds: usize,
    before: impl FnMut() + Send,
) -> Vec<WakeUp> {
    wake(rounds, (waker, before), (|| stay_on(sleeper), || ()))
}

/// Wakes a thread from another one, `rounds` times. Of the waker: its CPU, and what it does before each round; of the
/// sleeper: what it does at first, and before each round.
pub fn wake(
    rounds: usize,
    (cpu, mut before): (usize, impl FnMut() + Send),
    (sleeper_at_first, sleeper_before): (impl Fn() + Send, impl Fn() + Send),
) -> Vec<WakeUp> {
    let (word, ran_at, ran_on) = (HardwareU32::zeroed(), AtomicU64::new(0), AtomicUsize::new(0));
    let (word, ran_at, ran_on) = (&word, &ran_at, &ran_on);
    let sleeper = move || {
        sleeper_at_first();
        for round in 0..rounds as u32 {
            sleeper_before();
            // ordering: Acquire; with the release of the waker.
            while word.core().load(Ordering::Acquire) == round {
                Native::futex_wait(word, round, None);
            }
            let ran = Native::now_ns();
            // ordering: Relaxed; published below.
            ran_on.store(this_cpu(), Ordering::Relaxed);
            // ordering: Release; the waker reads it when it sees it.
            ran_at.store(ran, Ordering::Release);
        }
    };
    let waker = move || {
        stay_on(cpu);
        let round = |round: u32| {
            before();
            // ordering: Relaxed; the sleeper waits.
            ran_at.store(0, Ordering::Relaxed);
            let called = Native::now_ns();
            // ordering: Release; with the acquire of the sleeper.
            word.core().store(round + 1, Ordering::Release);
            Native::futex_wake(word, 1);
            let back = Native::now_ns();
            let ran = until_set(ran_at);
            WakeUp {
                call: (back - called) as f64,
                latency: ran.saturating_sub(back) as f64,
                delay: ran.saturating_sub(called) as f64,
                // ordering: Relaxed; published with `ran_at`.
                stayed: ran_on.load(Ordering::Relaxed) == cpu,
            }
        };
        (0..rounds as u32).map(round).collect()
    };
    std::thread::scope(|scope| {
        scope.spawn(sleeper);
        scope.spawn(waker).join().unwrap_or_default()
    })
}

/// The CPU that the calling thread runs on.
fn this_cpu() -> usize {
    // SAFETY: has no preconditions; -1, if the kernel does not say, is not the number of a CPU.
    unsafe { libc::sched_getcpu() as usize }
}

/// What `word` holds once it is not 0.
fn until_set(word: &AtomicU64) -> u64 {
    loop {
        // ordering: Acquire; with the release of the writer.
        match word.load(Ordering::Acquire) {
            0 => spin_loop(),
            value => return value,
        }
    }
}

/// Passes time.
pub fn busy(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        spin_loop();
    }
}

/// Nanoseconds of heavy barriers.
pub fn barriers(cpu: usize, rounds: usize) -> Vec<f64> {
    alone(cpu, || repeat_with(|| each_ns(1, Native::heavy_barrier)).take(rounds).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_measure::native::affinity::allowed_cpus;

    #[test]
    fn calls_and_switches_take_time() {
        let cpu = allowed_cpus()[0];
        assert!(refused_sleep(cpu, 2).iter().all(|&ns| ns > 0.0));
        assert!(round_trips(cpu, 2).iter().all(|&ns| ns > 0.0));
    }
}
