//! Running threads for a time: pinned, started together, stopped together.

use super::affinity::{stay_on, this_thread};
use super::checked::take_intrusions;
use super::conduct::{Conducted, conduct};
use super::gate::Gate;
use super::load::NativeLoad;
use super::neighbours::BusyNeighbours;
use super::usage::{Usage, cpu_s_of};
use super::worker::NativeWorker;
use crate::interrupt;
use crate::latency::{Waited, take_waits};
use crate::record::{EventCounts, TrialError, TrialRecord};
use crate::stress::{Exercised, Stress};
use crate::workload::facts::Finding;
use lockwright_core::native::{count_events, event_count, reset_events};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// How long threads may take to come back after the stop flag is up: the last of many
/// spinners gets the lock after many scheduling slices of all the others, and each may hold it long.
fn return_timeout(plan: &ThreadPlan<'_>) -> Duration {
    let each = Duration::from_millis(250) + Duration::from_nanos(plan.stress.longest_hold_ns()) * 2;
    Duration::from_secs(20) + each * plan.threads as u32
}

/// A run that was cut shorter than this by Ctrl-C says nothing.
const SHORTEST: Duration = Duration::from_millis(5);

/// Which threads run, where, and for how long.
pub struct ThreadPlan<'a> {
    /// Number of threads.
    pub threads: usize,
    /// The CPUs to use, one thread each as long as there are enough; otherwise the scheduler
    /// decides.
    pub cpus: &'a [usize],
    /// The CPUs that threads may be moved to.
    pub all_cpus: &'a [usize],
    /// How long, or the longest that a fixed amount of work may take.
    pub window: Duration,
    /// True if the amount of work is fixed.
    pub is_fixed_work: bool,
    /// Seed of the threads' random numbers.
    pub seed: u64,
    /// True if the locks count their events; counting costs a little.
    pub counts_events: bool,
    /// When the threads pause and move.
    pub stress: Stress,
    /// True if another thread computes on every CPU meanwhile.
    pub has_neighbours: bool,
}

/// What one thread reports.
struct Report {
    index: usize,
    /// All of them.
    ops: u64,
    /// Those of the window.
    ops_that_count: u64,
    usage: Usage,
    waited: Waited,
    intrusions: u64,
    pauses: u64,
}

/// What all threads share.
struct Stage {
    load: Box<dyn NativeLoad>,
    start: Barrier,
    gate: Gate,
    /// The identifiers of the threads, once they have started.
    threads: Vec<AtomicI32>,
}

/// Runs `load` and measures it.
///
/// The threads own what they touch together with this function, so that a lock that never lets its
/// thread go ends in an error and not in a wait. Only the loop of a thread knows the type of its lock.
pub fn run_threads(
    plan: &ThreadPlan<'_>,
    load: Box<dyn NativeLoad>,
) -> Result<TrialRecord, TrialError> {
    let start = Barrier::new(plan.threads + 1);
    let threads = (0..plan.threads).map(|_| AtomicI32::new(0)).collect();
    let stage = Arc::new(Stage { load, start, gate: Gate::default(), threads });
    let reports = spawn(plan, &stage)?;
    let neighbours = if plan.has_neighbours { plan.all_cpus } else { &[] };
    let neighbours = BusyNeighbours::on(neighbours)?;
    reset_events();
    // A fixed amount of work is all of the work.
    let warms_up = !plan.is_fixed_work;
    if warms_up {
        stage.gate.warm_up();
    }
    count_events(plan.counts_events);
    stage.start.wait();
    if warms_up {
        wait_until_warm(plan, &stage.gate);
        reset_events();
    }
    // ordering: Relaxed; the barrier orders it.
    let threads: Vec<_> = stage.threads.iter().map(|t| t.load(Ordering::Relaxed)).collect();
    let is_done = || stage.load.wall_ns().is_some();
    let others_before = stage.load.usage_of_others();
    let cpu_before_s = cpu_s_of(&threads);
    let Conducted { window, shuffles } = conduct(plan, &stage.gate, &threads, is_done);
    let cpu_after_s = cpu_s_of(&threads);
    let others = stage.load.usage_of_others().since(others_before);
    stage.gate.stop();
    drop(neighbours);
    let reports = collect(plan.threads, return_timeout(plan), &reports);
    count_events(false);
    let wall_ns = stage.load.wall_ns();
    let is_useless = if plan.is_fixed_work { wall_ns.is_none() } else { window < SHORTEST };
    if window < plan.window && is_useless {
        return Err(TrialError::Interrupted);
    }
    let window = wall_ns.map_or(window, Duration::from_nanos);
    let mut measured = summarize(&reports?, window, &*stage.load);
    measured.exercised.shuffles = shuffles;
    // Threads that have warmed up work on until the others have, and the last of many threads ends long after the
    // window: neither is a part of it.
    if let (true, Some(before_s), Some(after_s)) = (warms_up, cpu_before_s, cpu_after_s) {
        measured.cpu_s = after_s - before_s;
    }
    measured.cpu_s += others.cpu_s;
    measured.voluntary_switches += others.voluntary_switches;
    measured.involuntary_switches += others.involuntary_switches;
    Ok(measured)
}

/// Starts the threads, which wait for the start; what they will report.
fn spawn(plan: &ThreadPlan<'_>, stage: &Arc<Stage>) -> Result<Receiver<Report>, TrialError> {
    let (sender, reports) = channel();
    for index in 0..plan.threads {
        let (stage, sender) = (Arc::clone(stage), sender.clone());
        let cpu = (plan.threads <= plan.cpus.len()).then(|| plan.cpus[index]);
        let seed = plan.seed;
        let body = move || {
            // If the receiver is gone, no thread waits for the report.
            let _ = sender.send(run_one(&stage, index, cpu, seed));
        };
        let spawned = std::thread::Builder::new().name(format!("worker {index}")).spawn(body);
        // The threads that exist wait at the barrier and end with the process.
        spawned.map_err(|error| TrialError::Failed(format!("cannot start a thread: {error}")))?;
    }
    Ok(reports)
}

/// Lets the threads work until each has done something, and opens the gate then.
///
/// Threads that are started together do not start together: with more of them than CPUs the first has the
/// lock to itself until the others have had a CPU. In a run of half a second it would have most of the
/// operations of a lock that is slow in contention, and as the others have as many as each other,
/// what looks like unfairness would be the start.
fn wait_until_warm(plan: &ThreadPlan<'_>, gate: &Gate) {
    let start = Instant::now();
    let is_warm = || gate.warm_threads() as usize >= plan.threads;
    while !is_warm() && start.elapsed() < plan.window / 4 && !interrupt::is_requested() {
        std::thread::sleep(Duration::from_millis(1));
    }
    gate.open();
}

/// What thread `index` does.
fn run_one(stage: &Stage, index: usize, cpu: Option<usize>, seed: u64) -> Report {
    if let Some(cpu) = cpu {
        stay_on(cpu);
    }
    // ordering: Relaxed; the barrier orders it.
    stage.threads[index].store(this_thread(), Ordering::Relaxed);
    let mut worker = NativeWorker::new(index, seed, &stage.gate);
    stage.start.wait();
    let before = Usage::of_this_thread();
    stage.load.run(&mut worker);
    let usage = Usage::of_this_thread().since(worker.usage_when_warm().unwrap_or(before));
    Report {
        index,
        ops: worker.ops(),
        ops_that_count: worker.ops_that_count(),
        usage,
        waited: take_waits(),
        intrusions: take_intrusions(),
        pauses: worker.pauses(),
    }
}

/// Waits for the reports of all threads.
fn collect(
    threads: usize,
    timeout: Duration,
    reports: &Receiver<Report>,
) -> Result<Vec<Report>, TrialError> {
    let deadline = Instant::now() + timeout;
    let mut collected: Vec<Report> = Vec::new();
    while collected.len() < threads {
        match reports.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(report) => collected.push(report),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(TrialError::Failed("a thread panicked".into()));
            }
            Err(RecvTimeoutError::Timeout) => {
                let missing = (0..threads).filter(|i| collected.iter().all(|r| r.index != *i));
                let missing: Vec<String> = missing.map(|i| i.to_string()).collect();
                return Err(TrialError::Failed(format!(
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

fn summarize(reports: &[Report], window: Duration, load: &dyn NativeLoad) -> TrialRecord {
    let mut waited = Waited::default();
    reports.iter().for_each(|report| waited.merge(&report.waited));
    let waits = waited.all();
    let total: u64 = reports.iter().map(|report| report.ops_that_count).sum();
    let all_ops = reports.iter().map(|report| report.ops).sum();
    let stutters = reports.iter().map(|report| report.pauses).min().unwrap_or(0);
    let Finding { fail, condvar_waits, exercised, starved } = load.found(all_ops);
    TrialRecord {
        window_ns: window.as_nanos() as u64,
        wall_ns: load.wall_ns(),
        per_thread_ops: reports.iter().map(|report| report.ops_that_count).collect(),
        ops_per_s: total as f64 / window.as_secs_f64(),
        waits: (waits.count() > 0).then_some(waits),
        waited: waited.if_roles(),
        starved,
        cpu_s: reports.iter().map(|report| report.usage.cpu_s).sum(),
        voluntary_switches: reports.iter().map(|report| report.usage.voluntary_switches).sum(),
        involuntary_switches: reports.iter().map(|report| report.usage.involuntary_switches).sum(),
        condvar_waits,
        events: EventCounts::from_fn(event_count),
        fail: fail + reports.iter().map(|report| report.intrusions).sum::<u64>(),
        exercised: Exercised { stutters, ..exercised },
        ..TrialRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::affinity::allowed_cpus;
    use crate::workload::facts::Worker;

    struct Spin;
    impl NativeLoad for Spin {
        fn run(&self, worker: &mut NativeWorker<'_>) {
            while worker.keep_going() {
                worker.op_done();
            }
        }
    }

    fn plan(cpus: &[usize]) -> ThreadPlan<'_> {
        ThreadPlan {
            threads: 2,
            cpus,
            all_cpus: cpus,
            window: Duration::from_millis(30),
            is_fixed_work: false,
            seed: 1,
            counts_events: false,
            stress: Stress::default(),
            has_neighbours: false,
        }
    }

    #[test]
    fn threads_work_for_the_window_and_every_thread_is_counted() {
        let measured = run_threads(&plan(&[]), Box::new(Spin)).expect("nothing can fail here");
        assert!(measured.window_ns >= 30_000_000);
        assert_eq!(measured.per_thread_ops.len(), 2);
        assert!(measured.per_thread_ops.iter().all(|&ops| ops > 0));
        assert!(measured.held());
        assert_eq!(measured.exercised, Exercised::default());
    }

    #[test]
    fn threads_run_next_to_neighbours_and_alone() {
        let cpus = allowed_cpus();
        let threads = cpus.len();
        let window = Duration::from_millis(200);
        let alone = ThreadPlan { threads, window, ..plan(&cpus) };
        let busy = ThreadPlan { has_neighbours: true, ..plan(&cpus) };
        let busy = ThreadPlan { threads, window, ..busy };
        for plan in [busy, alone] {
            let measured = run_threads(&plan, Box::new(Spin)).expect("nothing can fail here");
            assert!(measured.per_thread_ops.iter().all(|&ops| ops > 0), "{measured:?}");
        }
    }

    #[test]
    fn threads_pause_together_and_are_moved() {
        let cpus = allowed_cpus();
        let stress = Stress { stutter_ns: 20_000_000, shuffle_ns: 15_000_000, ..Stress::default() };
        let stress_plan = ThreadPlan { stress, window: Duration::from_millis(300), ..plan(&cpus) };
        let measured = run_threads(&stress_plan, Box::new(Spin)).expect("nothing can fail here");
        let exercised = measured.exercised;
        // On a busy computer a thread may sleep through some of the seven pauses.
        assert!((1..=8).contains(&exercised.stutters), "{exercised:?}");
        assert_eq!(exercised.shuffles > 0, cpus.len() > 1, "{exercised:?}");
    }

    struct Panics;
    impl NativeLoad for Panics {
        fn run(&self, worker: &mut NativeWorker<'_>) {
            assert!(worker.index() != 1, "one thread of the test panics");
        }
    }

    #[test]
    fn a_thread_that_panics_is_an_error_and_not_a_hang() {
        let error = run_threads(&plan(&[]), Box::new(Panics)).expect_err("one thread panicked");
        assert_eq!(error, TrialError::Failed("a thread panicked".into()));
    }
}
