//! Running threads for a time: pinned, started together, stopped by a flag.

use super::affinity::stay_on;
use super::checked::take_intrusions;
use super::usage::Usage;
use super::worker::NativeWorker;
use crate::cell::{CellError, EventCounts, Measurement};
use crate::interrupt;
use crate::latency::take_waits;
use crate::stats::Histogram;
use lockwright::native::{count_events, event_count, reset_events};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// What threads do together: the state of a workload and its loop.
pub trait Load: Send + Sync + Sized + 'static {
    /// The loop of one thread; ends soon after the worker says so.
    fn run(&self, worker: &mut NativeWorker<'_>);
    /// How often the workload itself saw two owners at once, when `ops` operations were done.
    fn fail(&self, ops: u64) -> u64 {
        let _ = ops;
        0
    }
}

/// How long threads may take to come back after the stop flag is up: the last of a crowd of
/// spinners gets the lock after many scheduling slices of all the others.
fn return_timeout(threads: usize) -> Duration {
    Duration::from_secs(20) + Duration::from_millis(250) * threads as u32
}

/// A run that was cut shorter than this by Ctrl-C says nothing.
const SHORTEST: Duration = Duration::from_millis(5);
/// How often the thread that waits for the end looks whether Ctrl-C was pressed.
const NAP: Duration = Duration::from_millis(20);

/// Who runs, where, and for how long.
pub struct Plan<'a> {
    /// Number of threads.
    pub threads: usize,
    /// The CPUs to use, one thread each as long as there are enough; otherwise the scheduler
    /// decides.
    pub cpus: &'a [usize],
    /// How long.
    pub window: Duration,
    /// Seed of the threads' random numbers.
    pub seed: u64,
    /// Whether the locks count their events; counting costs a little.
    pub counts_events: bool,
}

/// What one thread reports.
struct Report {
    index: usize,
    ops: u64,
    usage: Usage,
    waits: Histogram,
    intrusions: u64,
}

/// What all threads share.
struct Stage<S> {
    load: S,
    start: Barrier,
    stop: Flag,
}

/// A flag on a cache line of its own.
#[repr(align(128))]
struct Flag(AtomicBool);

/// Runs `load` and measures it.
///
/// The threads own what they touch together with this function, so that a lock that never lets its
/// thread go ends in an error and not in a wait.
pub fn run_threads<S: Load>(plan: &Plan<'_>, load: S) -> Result<Measurement, CellError> {
    let stop = Flag(AtomicBool::new(false));
    let stage = Arc::new(Stage { load, start: Barrier::new(plan.threads + 1), stop });
    let (sender, reports) = channel();
    for index in 0..plan.threads {
        let (stage, sender) = (Arc::clone(&stage), sender.clone());
        let cpu = (plan.threads <= plan.cpus.len()).then(|| plan.cpus[index]);
        let seed = plan.seed;
        let body = move || {
            // Nobody waits for the report any more if the receiver is gone.
            let _ = sender.send(run_one(&stage, index, cpu, seed));
        };
        let spawned = std::thread::Builder::new().name(format!("worker {index}")).spawn(body);
        // The threads that exist wait at the barrier and end with the process.
        spawned.map_err(|error| CellError::Failed(format!("cannot start a thread: {error}")))?;
    }
    drop(sender);
    reset_events();
    count_events(plan.counts_events);
    stage.start.wait();
    let window = wait_for_the_end(plan.window);
    // ordering: Relaxed; the flag orders nothing.
    stage.stop.0.store(true, Ordering::Relaxed);
    let reports = collect(plan.threads, &reports);
    count_events(false);
    if window < plan.window && window < SHORTEST {
        return Err(CellError::Interrupted);
    }
    Ok(summarize(&reports?, window, &stage.load))
}

/// What thread `index` does.
fn run_one<S: Load>(stage: &Stage<S>, index: usize, cpu: Option<usize>, seed: u64) -> Report {
    if let Some(cpu) = cpu {
        stay_on(cpu);
    }
    let mut worker = NativeWorker::new(index, seed, &stage.stop.0);
    stage.start.wait();
    let before = Usage::of_this_thread();
    stage.load.run(&mut worker);
    let usage = Usage::of_this_thread().since(before);
    Report { index, ops: worker.ops(), usage, waits: take_waits(), intrusions: take_intrusions() }
}

/// Sleeps until `window` is over or Ctrl-C was pressed; returns how long it was.
fn wait_for_the_end(window: Duration) -> Duration {
    let start = Instant::now();
    loop {
        let passed = start.elapsed();
        if passed >= window || interrupt::is_requested() {
            return passed;
        }
        std::thread::sleep(NAP.min(window - passed));
    }
}

/// Waits for the reports of all threads.
fn collect(threads: usize, reports: &Receiver<Report>) -> Result<Vec<Report>, CellError> {
    let timeout = return_timeout(threads);
    let deadline = Instant::now() + timeout;
    let mut collected: Vec<Report> = Vec::new();
    while collected.len() < threads {
        match reports.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(report) => collected.push(report),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(CellError::Failed("a thread panicked".into()));
            }
            Err(RecvTimeoutError::Timeout) => {
                let missing = (0..threads).filter(|i| collected.iter().all(|r| r.index != *i));
                let missing: Vec<String> = missing.map(|i| i.to_string()).collect();
                return Err(CellError::Failed(format!(
                    "threads {} did not come back within {} s: they wait for a lock that is free \
                     or were never woken",
                    missing.join(", "),
                    timeout.as_secs()
                )));
            }
        }
    }
    collected.sort_by_key(|report| report.index);
    Ok(collected)
}

fn summarize<S: Load>(reports: &[Report], window: Duration, load: &S) -> Measurement {
    let mut waits = Histogram::default();
    reports.iter().for_each(|report| waits.merge(&report.waits));
    let total: u64 = reports.iter().map(|report| report.ops).sum();
    Measurement {
        window_ns: window.as_nanos() as u64,
        per_thread_ops: reports.iter().map(|report| report.ops).collect(),
        ops_per_s: total as f64 / window.as_secs_f64(),
        waits: (waits.count() > 0).then_some(waits),
        cpu_s: reports.iter().map(|report| report.usage.cpu_s).sum(),
        voluntary_switches: reports.iter().map(|report| report.usage.voluntary_switches).sum(),
        involuntary_switches: reports.iter().map(|report| report.usage.involuntary_switches).sum(),
        events: EventCounts::from_fn(event_count),
        fail: load.fail(total) + reports.iter().map(|report| report.intrusions).sum::<u64>(),
        ..Measurement::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_clients::workload::Worker;

    struct Spin;
    impl Load for Spin {
        fn run(&self, worker: &mut NativeWorker<'_>) {
            while worker.keep_going() {
                worker.op_done();
            }
        }
    }

    fn plan(cpus: &[usize]) -> Plan<'_> {
        Plan { threads: 2, cpus, window: Duration::from_millis(30), seed: 1, counts_events: false }
    }

    #[test]
    fn threads_work_for_the_window_and_every_thread_is_counted() {
        let measured = run_threads(&plan(&[]), Spin).expect("nothing can fail here");
        assert!(measured.window_ns >= 30_000_000);
        assert_eq!(measured.per_thread_ops.len(), 2);
        assert!(measured.per_thread_ops.iter().all(|&ops| ops > 0));
        assert!(measured.held());
    }

    struct Panics;
    impl Load for Panics {
        fn run(&self, worker: &mut NativeWorker<'_>) {
            assert!(worker.index() != 1, "one thread of the test panics");
        }
    }

    #[test]
    fn a_thread_that_panics_is_an_error_and_not_a_hang() {
        let error = run_threads(&plan(&[]), Panics).expect_err("one thread panicked");
        assert_eq!(error, CellError::Failed("a thread panicked".into()));
    }
}
