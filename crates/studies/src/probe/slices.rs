//! How the kernel shares out a CPU: slices, what a thread that wakes up may do, and noise.

use super::pair::{alone, together, while_busy};
use super::samples::{each_ns, middle, quantile};
use super::sleep::{WakeUp, busy, wake, wake_ups};
use lockwright_core::native::Native;
use lockwright_core::platform::Clock;
use lockwright_measure::native::affinity::{put, stay_on, this_thread};
use lockwright_measure::random::SplitMix;
use lockwright_measure::stats::median;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A thread that looks at the clock all the time has lost its CPU if this much passes between two looks.
const GAP_NS: u64 = 1_000;

/// What a thread that looks at the clock all the time sees.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// How long it had the CPU before the last gap, in nanoseconds.
    pub had: f64,
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
                watch.had += (last - began) as f64;
                watch.gaps.push((now - last) as f64);
                began = now;
            }
            last = now;
        }
        watch
    }
    /// How long a thread has a CPU that another one wants: the middle of the long gaps that it sees.
    pub fn slice_ns(&self) -> f64 {
        let least = (quantile(&self.gaps, 0.9) / 4.0).max(100_000.0);
        let long: Vec<f64> = self.gaps.iter().copied().filter(|&gap| gap >= least).collect();
        median(&long)
    }
}

/// Threads that share a CPU, and never sleep: what one of them sees. What one loses that is alone is noise.
pub fn watch(cpu: usize, threads: usize, time: Duration) -> Watch {
    let all = together(&vec![cpu; threads], time, |_, is_over| Watch::until(is_over));
    all.into_iter().next().unwrap_or_default()
}

/// Wakes a thread on the second CPU, which another one keeps busy, from the first, at random moments.
pub fn arrivals(cpus: [usize; 2], rounds: usize, apart_ns: usize) -> Vec<WakeUp> {
    while_busy(cpus[1], || wake_ups(cpus, rounds, pauses(1, apart_ns)))
}

/// Passes up to this many nanoseconds each time.
fn pauses(stream: u64, apart_ns: usize) -> impl FnMut() {
    let mut random = SplitMix::new(1, stream);
    move || busy(Duration::from_nanos(random.below(apart_ns.max(1)) as u64))
}

/// Wakes a thread that ran last on the CPU of its waker, the first one, and may run on both.
pub fn visits(cpus: [usize; 2], rounds: usize, apart_ns: usize) -> Vec<WakeUp> {
    let settles = || {
        stay_on(cpus[0]);
        let _ = put(this_thread(), &cpus);
    };
    wake(rounds, (cpus[0], pauses(3, apart_ns)), (|| (), settles))
}

/// How many times as long work takes on the first CPU while the second, of the same core, works too.
pub fn sibling_factor(cpus: [usize; 2], rounds: usize) -> f64 {
    let work = || {
        let mut random = SplitMix::new(1, 2);
        each_ns(1, || (0..20_000).for_each(|_| _ = black_box(random.next_u64())))
    };
    let lonely = alone(cpus[0], || middle(rounds, work));
    let time = Duration::from_nanos((lonely * rounds as f64) as u64);
    let both = together(&cpus, time, |_, is_over| {
        let mut seen = Vec::new();
        // ordering: Relaxed; nothing is read through it.
        while !is_over.load(Ordering::Relaxed) {
            seen.push(work());
        }
        seen
    });
    let company = both.first().map_or(lonely, |times| median(times));
    (company / lonely.max(1.0)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_the_middle_of_the_long_gaps() {
        let watch = Watch { had: 1e7, gaps: vec![2_000.0, 3e6, 4e6, 5e6, 20_000.0] };
        assert_eq!(watch.slice_ns(), 4e6);
        assert_eq!(Watch::default().slice_ns(), 0.0);
    }

    #[test]
    fn two_threads_on_one_cpu_take_it_from_each_other() {
        let cpu = lockwright_measure::native::affinity::allowed_cpus()[0];
        let watch = watch(cpu, 2, Duration::from_millis(60));
        assert!(!watch.gaps.is_empty());
    }
}
