//! What trials cost, before they run.

use crate::sweep::trial::SweptTrial;
use crate::sweep::trials::Trials;

/// Simulated events in a microsecond of simulated time, roughly: counters with 2 to 384 threads on a simulated EPYC
/// 9654 have 50 to 340, and the number of threads makes little difference.
const EVENTS_PER_US: u64 = 120;
/// What it takes to start a thread, in events.
const EVENTS_OF_THREAD: u64 = 300;
/// Events that one CPU simulates in a second, roughly: 4.5 to 12.6 million on a busy AMD EPYC guest (Zen 3) of 2 CPUs.
const EVENTS_PER_S: f64 = 8e6;

/// What trials cost, roughly.
#[derive(Clone, Copy, Debug)]
pub struct SweepCost {
    /// How many there are.
    pub trials: u64,
    /// Seconds on one CPU.
    pub cpu_s: f64,
    /// The longest of them, in seconds.
    pub longest_s: f64,
    /// Bytes of results.
    pub result_bytes: u64,
    /// Bytes of memory that a process needs for them.
    pub memory_bytes: u64,
}

/// What a line of results takes, roughly.
const LINE_BYTES: u64 = 900;
/// What a trial, its key and the key of its result take in memory, roughly, and what a process takes without any.
const TRIAL_BYTES: u64 = 400;
const PROCESS_BYTES: u64 = 50_000_000;

impl SweptTrial {
    /// What it costs, in simulated events: a formula, which every computer computes alike.
    pub(crate) fn cost(&self) -> u64 {
        let us = (self.trial.warmup_ns.unwrap_or(0) + self.trial.window_ns) / 1_000;
        us * EVENTS_PER_US + EVENTS_OF_THREAD * self.trial.threads as u64
    }
}

impl SweepCost {
    /// Of all trials.
    pub fn of(trials: &Trials) -> Self {
        let costs = || trials.iter().map(|trial| trial.cost());
        let seconds = |events: u64| events as f64 / EVENTS_PER_S;
        Self {
            trials: trials.len(),
            cpu_s: seconds(costs().sum()),
            longest_s: seconds(costs().max().unwrap_or(0)),
            result_bytes: trials.len() * LINE_BYTES,
            memory_bytes: trials.len() * TRIAL_BYTES + PROCESS_BYTES,
        }
    }
}
