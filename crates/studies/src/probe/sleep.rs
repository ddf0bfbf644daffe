//! What it costs to sleep, to wake, and to interrupt the others.

use super::pair::{alone, together};
use lockwright_core::hardware::HardwareU32;
use lockwright_core::native::Native;
use lockwright_core::platform::{Barriers, Clock, Sleeping, Zeroed};
use lockwright_measure::native::affinity::stay_on;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A word to sleep on, with the cache lines around it to itself.
#[repr(align(256))]
struct Futex(HardwareU32<Native>);

/// A wake-up: nanoseconds of the waker's call, and from its end until the sleeper runs.
#[derive(Clone, Copy, Debug)]
pub struct WakeUp {
    /// The call.
    pub call: f64,
    /// What comes after it.
    pub latency: f64,
}

/// Nanoseconds of a call that does not sleep, because the word has changed already.
pub fn refused_sleep(cpu: usize, rounds: usize) -> Vec<f64> {
    const CALLS: u32 = 100;
    alone(cpu, || {
        let Futex(word) = &Futex(HardwareU32::zeroed());
        let round = |_| {
            let start = Instant::now();
            (0..CALLS).for_each(|_| Native::futex_wait(word, 1, None));
            start.elapsed().as_nanos() as f64 / f64::from(CALLS)
        };
        (0..rounds).map(round).collect()
    })
}

/// Nanoseconds from one thread to another and back on one CPU, each waking the other and sleeping.
pub fn round_trips(cpu: usize, rounds: usize) -> Vec<f64> {
    const TRIPS: u32 = 50;
    let Futex(word) = &Futex(HardwareU32::zeroed());
    let play = |mine: u32| {
        stay_on(cpu);
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            for _ in 0..TRIPS {
                // ordering: Acquire; with the release below.
                while word.core().load(Ordering::Acquire) != mine {
                    Native::futex_wait(word, 1 - mine, None);
                }
                // ordering: Release; with the acquire above.
                word.core().store(1 - mine, Ordering::Release);
                Native::futex_wake(word, 1);
            }
            times.push(start.elapsed().as_nanos() as f64 / f64::from(TRIPS));
        }
        times
    };
    std::thread::scope(|scope| {
        let second = scope.spawn(|| play(1));
        scope.spawn(|| play(0));
        second.join().unwrap_or_default()
    })
}

/// Wakes a thread on the second CPU, which sleeps and leaves that idle, from the first, `rounds` times,
/// each time `idle` after it ran.
pub fn wake_ups(cpus: [usize; 2], rounds: usize, idle: Duration) -> Vec<WakeUp> {
    let [waker, sleeper] = cpus.map(|cpu| move || stay_on(cpu));
    let woken = wake(rounds, (waker, || busy(idle)), (sleeper, || ()));
    let wake_up = |it: Woken| WakeUp {
        call: (it.back - it.called) as f64,
        latency: it.ran.saturating_sub(it.back) as f64,
    };
    woken.into_iter().map(wake_up).collect()
}

/// A wake-up, by the clock.
#[derive(Clone, Copy, Debug)]
pub struct Woken {
    /// When the waker called.
    pub called: u64,
    /// When the call was over.
    pub back: u64,
    /// When the sleeper ran.
    pub ran: u64,
    /// The CPU that it ran on.
    pub ran_on: usize,
}

/// Wakes a thread from another one, `rounds` times. Of each thread: what it does at first, and before each round.
pub fn wake(
    rounds: usize,
    (at_first, mut before): (impl Fn() + Send, impl FnMut() + Send),
    (sleeper_at_first, sleeper_before): (impl Fn() + Send, impl Fn() + Send),
) -> Vec<Woken> {
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
        at_first();
        let mut seen = Vec::new();
        for round in 0..rounds as u32 {
            before();
            // ordering: Relaxed; the sleeper waits.
            ran_at.store(0, Ordering::Relaxed);
            let called = Native::now_ns();
            // ordering: Release; with the acquire of the sleeper.
            word.core().store(round + 1, Ordering::Release);
            Native::futex_wake(word, 1);
            let back = Native::now_ns();
            let ran = until_set(ran_at);
            // ordering: Relaxed; published with `ran_at`.
            seen.push(Woken { called, back, ran, ran_on: ran_on.load(Ordering::Relaxed) });
        }
        seen
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

/// Nanoseconds of a heavy barrier while no other thread of this process runs.
pub fn lonely_barriers(cpu: usize, rounds: usize) -> Vec<f64> {
    alone(cpu, || barriers(rounds))
}

/// Nanoseconds of a heavy barrier while a thread of this process spins on the second CPU.
pub fn barriers_in_company(cpus: [usize; 2], rounds: usize) -> Vec<f64> {
    // ordering: Relaxed; nothing is read through it.
    let results = together(&cpus, Duration::from_millis(rounds.max(1) as u64), |index, is_over| {
        if index == 0 {
            return barriers(rounds);
        }
        while !is_over.load(Ordering::Relaxed) {
            spin_loop();
        }
        Vec::new()
    });
    results.into_iter().next().unwrap_or_default()
}

fn barriers(rounds: usize) -> Vec<f64> {
    let barrier = |_| {
        let start = Instant::now();
        Native::heavy_barrier();
        start.elapsed().as_nanos() as f64
    };
    (0..rounds).map(barrier).collect()
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
