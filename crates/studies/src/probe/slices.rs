//! How the kernel shares out a CPU: slices, what a thread that wakes up may do, and noise.

use super::pair::{alone, together};
use super::sleep::{Woken, busy, wake};
use lockwright_core::native::Native;
use lockwright_core::platform::Clock;
use lockwright_measure::native::affinity::{put, stay_on, this_thread};
use lockwright_measure::random::SplitMix;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A thread that looks at the clock all the time has lost its CPU if this much passes between two looks.
const GAP_NS: u64 = 1_000;

/// What a thread that looks at the clock all the time sees.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Stretches between two gaps, in nanoseconds.
    pub runs: Vec<f64>,
    /// Gaps, in nanoseconds.
    pub gaps: Vec<f64>,
}

impl Watch {
    /// Watches until the flag is up.
    fn until(is_over: &AtomicBool) -> Self {
        let mut watch = Self::default();
        let mut began = Native::now_ns();
        let mut last = began;
        // ordering: Relaxed; nothing is read through it.
        while !is_over.load(Ordering::Relaxed) {
            let now = Native::now_ns();
            if now - last > GAP_NS {
                watch.runs.push((last - began) as f64);
                watch.gaps.push((now - last) as f64);
                began = now;
            }
            last = now;
        }
        watch
    }
    /// The same with the gaps of at least this length only; a shorter gap belongs to the stretch around it.
    pub fn without_gaps_below(&self, least_ns: f64) -> Self {
        let mut merged = Self::default();
        let mut run = 0.0;
        for (&before, &gap) in self.runs.iter().zip(&self.gaps) {
            run += before;
            if gap < least_ns {
                run += gap;
                continue;
            }
            merged.runs.push(std::mem::take(&mut run));
            merged.gaps.push(gap);
        }
        merged
    }
}

/// One thread alone on a CPU: what it loses is noise.
pub fn noise(cpu: usize, time: Duration) -> Watch {
    together(&[cpu], time, |_, is_over| Watch::until(is_over)).pop().unwrap_or_default()
}

/// Threads that share a CPU, and never sleep: what one of them sees.
pub fn shared(cpu: usize, threads: usize, time: Duration) -> Watch {
    let all = together(&vec![cpu; threads], time, |_, is_over| Watch::until(is_over));
    all.into_iter().next().unwrap_or_default()
}

/// A thread that was woken on a CPU on which another one computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// How long the other one had had the CPU since it last lost it, in nanoseconds.
    pub had_run: f64,
    /// How long it took until the woken one ran, in nanoseconds.
    pub delay: f64,
}

/// Wakes a thread on the second CPU, which another one keeps busy, from the first, at random moments.
pub fn arrivals(cpus: [usize; 2], rounds: usize, apart_ns: usize) -> Vec<Arrival> {
    let is_over = AtomicBool::new(false);
    let mut last_ran = Native::now_ns();
    let woken = std::thread::scope(|scope| {
        scope.spawn(|| {
            stay_on(cpus[1]);
            // ordering: Relaxed; nothing is read through it.
            while !is_over.load(Ordering::Relaxed) {
                spin_loop();
            }
        });
        let [waker, sleeper] = cpus.map(|cpu| move || stay_on(cpu));
        let woken = wake(rounds, (waker, pauses(1, apart_ns)), (sleeper, || ()));
        // ordering: Relaxed; nothing is read through it.
        is_over.store(true, Ordering::Relaxed);
        woken
    });
    let arrival = |Woken { called, ran, .. }| {
        let had_run = called.saturating_sub(std::mem::replace(&mut last_ran, ran)) as f64;
        Arrival { had_run, delay: ran.saturating_sub(called) as f64 }
    };
    woken.into_iter().map(arrival).collect()
}

/// Passes up to this many nanoseconds each time.
fn pauses(stream: u64, apart_ns: usize) -> impl FnMut() {
    let mut random = SplitMix::new(1, stream);
    move || busy(Duration::from_nanos(random.below(apart_ns.max(1)) as u64))
}

/// A thread that was woken by the one that has its last CPU, while another CPU was idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// True if it ran on the CPU of its waker.
    pub stayed: bool,
    /// The waker's call, in nanoseconds.
    pub call: f64,
    /// How long it took until the woken one ran, in nanoseconds.
    pub delay: f64,
}

/// Wakes a thread that ran last on the CPU of its waker, the first one, and may run on both.
pub fn visits(cpus: [usize; 2], rounds: usize, apart_ns: usize) -> Vec<Visit> {
    let settles = || {
        stay_on(cpus[0]);
        let _ = put(this_thread(), &cpus);
    };
    let woken = wake(rounds, (|| stay_on(cpus[0]), pauses(3, apart_ns)), (|| (), settles));
    let visit = |Woken { called, back, ran, ran_on }| Visit {
        stayed: ran_on == cpus[0],
        call: (back - called) as f64,
        delay: ran.saturating_sub(called) as f64,
    };
    woken.into_iter().map(visit).collect()
}

/// How many times as long work takes on the first CPU while the second, of the same core, works too.
pub fn sibling_factor(cpus: [usize; 2], rounds: usize) -> f64 {
    let work = || {
        let start = Native::now_ns();
        let mut random = SplitMix::new(1, 2);
        for _ in 0..20_000 {
            std::hint::black_box(random.next_u64());
        }
        (Native::now_ns() - start) as f64
    };
    let times = || (0..rounds).map(|_| work()).collect::<Vec<_>>();
    let lonely = lockwright_measure::stats::median(&alone(cpus[0], times));
    let time = Duration::from_nanos((lonely * rounds as f64) as u64);
    let both = together(&cpus, time, |_, is_over| {
        let mut seen = Vec::new();
        // ordering: Relaxed; nothing is read through it.
        while !is_over.load(Ordering::Relaxed) {
            seen.push(work());
        }
        seen
    });
    let company = both.first().map_or(lonely, |times| lockwright_measure::stats::median(times));
    (company / lonely.max(1.0)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_gaps_belong_to_the_stretch_around_them() {
        let watch = Watch { runs: vec![10.0, 20.0, 30.0], gaps: vec![1.0, 50.0, 2.0] };
        let merged = watch.without_gaps_below(5.0);
        assert_eq!((merged.runs, merged.gaps), (vec![31.0], vec![50.0]));
    }

    #[test]
    fn two_threads_on_one_cpu_take_it_from_each_other() {
        let cpu = lockwright_measure::native::affinity::allowed_cpus()[0];
        let watch = shared(cpu, 2, Duration::from_millis(60));
        assert!(!watch.gaps.is_empty());
    }
}
