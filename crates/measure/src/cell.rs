//! One cell of a matrix, and the machines that can run it.
//!
//! A cell is a lock under a workload with a number of threads, run once. A [`LabMachine`] runs
//! cells: [`NativeMachine`](crate::native::NativeMachine) on this computer, the simulated machines
//! in simulated time. Benchmarks and tortures see nothing but this interface.

mod kbuild;
mod on;
mod real_use;
mod section;
mod sleepers;
mod starve;
mod workload;

use crate::error::Error;
use crate::fairness::FairnessWindow;
use crate::interrupt;
use crate::latency::Waited;
use crate::starved::Starved;
use crate::stats::Histogram;
use crate::stress::{Exercised, Stress};
use crate::subject::Subject;
use lockwright_core::events::Event;
use lockwright_core::raw::FairnessThreshold;
use lockwright_core::tunables::Tunable;
use lockwright_sim::machine::ThreadPlacement;
use lockwright_sim::{ScheduleReport, Scheduling};
pub use crate::workload::counter::ReaderOrder;
pub use crate::workload::queue::QueueNotify;
pub use on::{On, Scheduled};
pub use real_use::{Needs, RealUse};
pub use section::Section;
use serde::Serialize;
pub use starve::{StarveParams, StarveRole, ThreadPriority};
use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
pub use workload::Workload;

/// What a cell is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Operations per second. Nothing else happens in the loop.
    Throughput,
    /// Waiting times. Reading the clock slows the loop down, so throughput is not taken from it.
    Latency,
    /// Violations. Every check the machine has is on, waits are timed, and the workload is made
    /// harder.
    Torture(Stress),
}

impl Purpose {
    /// What a torture adds; nothing if it is none.
    pub fn stress(self) -> Stress {
        match self {
            Self::Torture(stress) => stress,
            Self::Throughput | Self::Latency => Stress::default(),
        }
    }
    /// Returns true if every acquisition is timed.
    pub fn times_waits(self) -> bool {
        self != Self::Throughput
    }
}

/// One cell, to be run once.
#[derive(Clone, Copy, Debug)]
pub struct CellSpec {
    /// The lock.
    pub lock: Subject,
    /// What the threads do.
    pub workload: Workload,
    /// How many threads.
    pub threads: usize,
    /// Simulated: the scheduler of the threads, unless they have a CPU each.
    pub scheduling: Option<Scheduling>,
    /// How long, or the longest that a fixed amount of work may take, in nanoseconds of the machine's
    /// time.
    pub window_ns: u64,
    /// Which repetition this is, from 0. With `seed` it decides placement and random numbers.
    pub repetition: u32,
    /// The seed of the whole command.
    pub seed: u64,
    /// What it is run for.
    pub purpose: Purpose,
    /// Native: true if another thread computes on every CPU meanwhile.
    pub has_neighbours: bool,
}

impl CellSpec {
    /// Decides how long the cell has to be to say something about fairness, if its lock lets waiters be overtaken up to
    /// `threshold` and its threads run on `nodes` NUMA nodes. A fixed amount of work is as long as it is.
    pub fn fairness_window(&self, threshold: FairnessThreshold, nodes: u32) -> FairnessWindow {
        let is_fixed_work = self.workload.is_fixed_work();
        // What a starved thread shows, it shows in any time.
        let has_no_need = is_fixed_work || matches!(self.workload, Workload::Starve(_));
        let waiters = if has_no_need { 0 } else { self.threads.saturating_sub(1) };
        let waiters = waiters.try_into().unwrap_or(u32::MAX);
        FairnessWindow { threshold, nodes, waiters, locks: self.workload.locks() }
    }
}

/// What came out of one cell.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// How long it ran, in nanoseconds of the machine's time.
    pub window_ns: u64,
    /// How long a fixed amount of work took, in nanoseconds; `None` if there was none, or not all of
    /// it was done.
    pub wall_ns: Option<u64>,
    /// Operations of each thread.
    pub per_thread_ops: Vec<u64>,
    /// Operations per second of all threads together, corrected for what does not fit into the
    /// window (see the workload's documentation).
    pub ops_per_s: f64,
    /// Waiting times, unless it was for [`Purpose::Throughput`].
    pub waits: Option<Histogram>,
    /// The same by role, if a thread did anything but own.
    pub waited: Option<Waited>,
    /// The waits of the thread of `starve` that waits.
    pub starved: Option<Starved>,
    /// CPU seconds of all threads, in the machine's time.
    pub cpu_s: f64,
    /// Voluntary context switches of all threads.
    pub voluntary_switches: u64,
    /// Involuntary context switches of all threads.
    pub involuntary_switches: u64,
    /// How its threads waited on condition variables, if the workload has any.
    pub condvar_waits: Option<CondvarWaits>,
    /// What the lock counted.
    pub events: EventCounts,
    /// How often a thread saw that it was not alone.
    pub fail: u64,
    /// What the checkers have to say, a sentence each. Empty if everything held.
    pub violations: Vec<String>,
    /// How often each disturbance of a torture happened.
    pub exercised: Exercised,
    /// Simulated, if the threads share the CPUs: what their host did.
    pub host: Option<ScheduleCounts>,
    /// Simulated torture: the most others that queued later and were served earlier than one waiter.
    pub most_overtakes: Option<u32>,
    /// Simulated: events of the simulation, which is what it costs to run.
    pub simulated_events: u64,
    /// Simulated: fingerprint of the history. Equal histories have equal ones.
    pub digest: Option<String>,
}

impl Measurement {
    /// Operations of all threads.
    pub fn total_ops(&self) -> u64 {
        self.per_thread_ops.iter().sum()
    }
    /// Least and greatest number of operations of a thread.
    pub fn min_max_ops(&self) -> (u64, u64) {
        let min = self.per_thread_ops.iter().min().copied().unwrap_or(0);
        let max = self.per_thread_ops.iter().max().copied().unwrap_or(0);
        (min, max)
    }
    /// How many threads did at most one operation.
    pub fn threads_with_at_most_one_op(&self) -> u64 {
        self.per_thread_ops.iter().filter(|&&ops| ops <= 1).count() as u64
    }
    /// Returns true if exclusion and everything else that was checked held.
    pub fn held(&self) -> bool {
        self.fail == 0 && self.violations.is_empty()
    }
}

/// How threads waited on condition variables, for each operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CondvarWaits {
    /// Waits.
    pub per_op: f64,
    /// Those that were notified and found nothing to do.
    pub futile_per_op: f64,
}

/// What the host of simulated threads did that share its CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScheduleCounts {
    /// How often a sleeping thread was woken by another one.
    pub kicks: u64,
    /// How often an idle CPU took a thread from the run queue of another.
    pub steals: u64,
    /// How often a thread lost its CPU because it spun for too long in one go.
    pub pause_loop_exits: u64,
}

impl ScheduleCounts {
    /// The mean of several repetitions, rounded; `None` of none.
    pub fn mean(repetitions: impl Iterator<Item = Self>) -> Option<Self> {
        let all: Vec<Self> = repetitions.collect();
        let runs = all.len() as u64;
        let mean = |get: fn(&Self) -> u64| (all.iter().map(get).sum::<u64>() + runs / 2) / runs;
        (runs > 0).then(|| Self {
            kicks: mean(|host| host.kicks),
            steals: mean(|host| host.steals),
            pause_loop_exits: mean(|host| host.pause_loop_exits),
        })
    }
}

impl From<ScheduleReport> for ScheduleCounts {
    fn from(report: ScheduleReport) -> Self {
        let ScheduleReport { kicks, steals, pause_loop_exits, .. } = report;
        Self { kicks, steals, pause_loop_exits }
    }
}

/// How often each lock event happened, in the order of [`Event::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventCounts(Vec<u64>);

impl Default for EventCounts {
    fn default() -> Self {
        Self(vec![0; Event::ALL.len()])
    }
}

impl EventCounts {
    /// Counts from something that knows them.
    pub fn from_fn(count: impl Fn(Event) -> u64) -> Self {
        Self(Event::ALL.iter().map(|&event| count(event)).collect())
    }
    /// The mean of several counts, rounded.
    pub fn mean(counts: &[&Self]) -> Self {
        let runs = counts.len().max(1) as u64;
        let sum = |event: usize| counts.iter().map(|counts| counts.0[event]).sum::<u64>();
        Self((0..Event::ALL.len()).map(|event| (sum(event) + runs / 2) / runs).collect())
    }
    /// How often `event` happened.
    pub fn of(&self, event: Event) -> u64 {
        self.0[event as usize]
    }
    /// The events that happened, by name.
    pub fn happened(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = Event::ALL.iter().zip(&self.0);
        all.filter(|&(_, &count)| count > 0).map(|(event, &count)| (event.name(), count))
    }
}

/// Why a cell has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellError {
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The run failed; the sentence says how, and how to repeat it.
    Failed(String),
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::Failed(how) => f.write_str(how),
        }
    }
}

/// What is the same for all cells of a command.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Numbers of the locks that were set; the others keep their defaults.
    pub tunables: Vec<(Tunable, u64)>,
    /// Placement of threads; `None` is the machine's own choice for the workload.
    pub placement: Option<ThreadPlacement>,
    /// Simulated: the file of the calibration; `None` is the machine's own.
    pub calibration: Option<PathBuf>,
}

/// Hears how many cells of several are done.
pub type Done<'a> = dyn Fn(usize) + Sync + 'a;

/// A machine that runs cells.
pub trait LabMachine: Sync {
    /// What it is when it runs this workload.
    fn on(&self, workload: Workload) -> On;
    /// Returns true if its numbers come out of a simulation.
    fn is_simulated(&self) -> bool;
    /// How many threads can run at the same time.
    fn cpus(&self) -> usize;
    /// Succeeds if more threads than that can share them; if not, the error says why.
    fn has_scheduler(&self) -> Result<(), Error> {
        Ok(())
    }
    /// How long this part of a workload is, in nanoseconds, as fitted to what was published of this machine.
    fn fitted_ns(&self, _workload: &str, _part: &str) -> Option<u64> {
        None
    }
    /// What its user should know before believing its numbers under this workload, a sentence each.
    fn warnings(&self, _workload: Workload) -> Vec<String> {
        Vec::new()
    }
    /// Why it cannot run this lock under this workload, if it cannot: a sentence.
    fn refuses(&self, lock: Subject, workload: Workload) -> Option<String>;
    /// How long a cell has to be before it says something about fairness.
    fn fairness_window(&self, _spec: &CellSpec) -> FairnessWindow {
        FairnessWindow::default()
    }
    /// Runs one cell.
    fn run_cell(&self, spec: &CellSpec) -> Result<Measurement, CellError>;
    /// How many cells may run at the same time without disturbing each other.
    fn cells_at_once(&self) -> usize {
        1
    }
    /// Runs several cells; the results are in the order of `specs`. Cells that measure the same
    /// thing for different locks may be interleaved. `done` hears how many cells are done, each time that
    /// one is, from the thread that ran it.
    fn run_batch(
        &self,
        specs: &[CellSpec],
        done: &Done<'_>,
    ) -> Vec<Result<Measurement, CellError>> {
        let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results: Vec<_> = specs.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            // ordering: Relaxed; the counter only hands out numbers.
            while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
                && let Some(spec) = specs.get(at)
            {
                let result = match interrupt::is_requested() {
                    true => Err(CellError::Interrupted),
                    false => self.run_cell(spec),
                };
                if let Ok(mut slot) = results[at].lock() {
                    *slot = Some(result);
                }
                // ordering: Relaxed; the counter only counts.
                done(ended.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        match self.cells_at_once().min(specs.len()) {
            0 | 1 => work(),
            workers => std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(work);
                }
            }),
        }
        let lost = || Err(CellError::Failed("the cell's thread ended without a result".into()));
        let take = |slot: Mutex<_>| slot.into_inner().ok().flatten().unwrap_or_else(lost);
        results.into_iter().map(take).collect()
    }
}
