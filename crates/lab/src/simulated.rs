//! Running cells on simulated machines.
//!
//! A [`Cell`] names everything that decides its result, and the result is the same on every
//! computer. Cells share nothing, so [`run_cells`] spreads them over host threads without changing
//! what comes out.

mod fitted;
mod machine;

pub use fitted::Fitted;
pub use machine::SimulatedMachine;

use crate::cell::{EventCounts, Purpose, Workload};
use crate::latency::{Timed, take_waits};
use crate::stats::Histogram;
use lockwright::platform::Zeroed;
use lockwright::raw::{Order, RawLock};
use lockwright::registry::{self, LockRow, LockVisitor};
use lockwright::tunables::Tunable;
use lockwright_clients::workload::{Worker, counter, locktorture, uncontended};
use lockwright_sim::machine::{Machine, MachineError, Parameters, Placement, PlacementError};
use lockwright_sim::{Arena, Checks, Config, Digest, RunReport, Sim, Simulation, thread, watch};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One cell on a simulated machine: everything that decides its result.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// The machine, with its calibration applied.
    pub machine: &'a Machine,
    /// The calibration, for the time that software takes.
    pub parameters: &'a Parameters,
    /// The lock, by its name in the registry.
    pub lock: &'a str,
    /// What the threads do.
    pub workload: Workload,
    /// How many threads.
    pub threads: u32,
    /// Where they run.
    pub placement: Placement,
    /// Decides the placement, if it is random, and all random numbers.
    pub seed: u64,
    /// Simulated nanoseconds before counting.
    pub warmup_ns: u64,
    /// Simulated nanoseconds counted.
    pub window_ns: u64,
    /// Run-time numbers of the locks.
    pub tunables: &'a [(Tunable, u64)],
    /// What it is run for.
    pub purpose: Purpose,
}

/// What came out of a cell. All times are simulated.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Operations of each thread within the window.
    pub per_thread_ops: Vec<u64>,
    /// How long they were counted.
    pub window_ns: u64,
    /// Operations per second of all threads. For locktorture with long holds these are included by
    /// formula, because they do not fit into the window.
    pub ops_per_s: f64,
    /// How often the workload saw two owners at once.
    pub fail: u64,
    /// What the checkers have to say, for [`Purpose::Torture`].
    pub violations: Vec<String>,
    /// Waiting times, for [`Purpose::Latency`].
    pub waits: Option<Histogram>,
    /// What the lock counted.
    pub events: EventCounts,
    /// Events of the simulation, which is what it costs to run.
    pub simulated_events: u64,
    /// Fingerprint of the history.
    pub digest: Digest,
}

/// Why a simulated cell has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulatedError {
    /// No lock of that name is in the registry.
    UnknownLock(String),
    /// Too many threads.
    Placement(PlacementError),
    /// The machine does not make sense.
    Machine(MachineError),
    /// A calibration was asked for that may not simulate anything.
    NothingTried,
    /// The run failed: the lock, the threads, the seed and how.
    Failed {
        /// The lock.
        lock: String,
        /// How many threads.
        threads: u32,
        /// The seed.
        seed: u64,
        /// How.
        how: String,
    },
}

impl fmt::Display for SimulatedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownLock(name) => write!(f, "there is no lock `{name}`"),
            Self::Placement(error) => error.fmt(f),
            Self::Machine(error) => error.fmt(f),
            Self::NothingTried => f.write_str("a calibration needs at least one evaluation"),
            Self::Failed { lock, threads, seed, how } => {
                write!(f, "simulated `{lock}` with {threads} threads and seed {seed} failed: {how}")
            }
        }
    }
}

impl std::error::Error for SimulatedError {}

impl From<MachineError> for SimulatedError {
    fn from(error: MachineError) -> Self {
        Self::Machine(error)
    }
}

/// Runs independent cells on `workers` host threads; the outcomes are in the order of the cells and
/// do not depend on `workers`.
pub fn run_cells(cells: &[Cell<'_>], workers: usize) -> Vec<Result<Outcome, SimulatedError>> {
    let slots: Vec<_> = cells.iter().map(|_| Mutex::new(None)).collect();
    let taken = AtomicUsize::new(0);
    let work = || {
        loop {
            // ordering: Relaxed; only hands out numbers. The last cells first: in a table they have
            // the most threads and take longest.
            let at = taken.fetch_add(1, Ordering::Relaxed);
            let Some(at) = cells.len().checked_sub(at + 1) else { return };
            let outcome = cells[at].run();
            if let Ok(mut slot) = slots[at].lock() {
                *slot = Some(outcome);
            }
        }
    };
    match workers.min(cells.len()) {
        0 | 1 => work(),
        workers => std::thread::scope(|scope| {
            (0..workers).for_each(|_| {
                scope.spawn(work);
            });
        }),
    }
    let outcomes = slots.into_iter().map(|slot| slot.into_inner().ok().flatten());
    // A worker that panics makes the scope panic, so no slot is empty here.
    outcomes.flatten().collect()
}

impl Cell<'_> {
    /// Runs the cell on the calling thread.
    pub fn run(&self) -> Result<Outcome, SimulatedError> {
        registry::visit(self.lock, Run(self))
            .unwrap_or_else(|| Err(SimulatedError::UnknownLock(self.lock.into())))
    }

    /// The settings of the run of a lock of type `L`.
    fn config<L: RawLock>(&self) -> Config {
        let checks = match self.purpose {
            Purpose::Torture => Checks {
                fifo: matches!(L::ORDER, Order::Fifo | Order::FifoAfterPending),
                word_is_legal: Some(L::word_is_legal),
                ..Checks::default()
            },
            Purpose::Throughput | Purpose::Latency => Checks::default(),
        };
        let tunables = self.tunables.to_vec();
        Config { checks, tunables, ..Config::window(self.warmup_ns, self.window_ns) }
    }

    fn run_typed<L: RawLock>(&self) -> Result<Outcome, SimulatedError> {
        let placed = self.placement.place(&self.machine.topology, self.threads, self.seed);
        let cpus = placed.map_err(SimulatedError::Placement)?;
        let parts = self.software_ps();
        let fail = std::cell::Cell::new(0);
        let mut arena = Arena::default();
        let config = self.config::<L>();
        let mut simulation = Simulation::new(self.machine, &mut arena, self.seed, config);
        take_waits();
        let report = match self.workload {
            Workload::Uncontended => {
                let state = simulation.alloc(uncontended::State::<L>::zeroed());
                for &cpu in &cpus {
                    let mut worker = SimWorker { parts: &parts };
                    simulation.spawn(cpu, move || uncontended::run(&mut worker, state));
                }
                simulation.run()
            }
            Workload::Counter { cs_load, think_load } => {
                let state = simulation.alloc(counter::State::<Sim, L>::zeroed());
                let knobs = counter::Knobs { cs_load, think_load };
                for &cpu in &cpus {
                    let mut worker = SimWorker { parts: &parts };
                    simulation.spawn(cpu, move || counter::run(&mut worker, state, knobs));
                }
                simulation.run()
            }
            Workload::Locktorture { .. } => {
                let state = simulation.alloc(locktorture::State::<Sim, L>::zeroed());
                let lines = locktorture::stats_lines(cpus.len());
                let stats =
                    simulation.alloc_slice_at(0, lines, |_| locktorture::StatsLine::zeroed());
                let knobs = locktorture::Knobs { threads: self.threads, long_hold: false };
                let fail = &fail;
                for (index, &cpu) in cpus.iter().enumerate() {
                    let stats = &stats[index / locktorture::STATS_PER_LINE];
                    let mut worker = SimWorker { parts: &parts };
                    simulation.spawn(cpu, move || {
                        let tally = locktorture::run(&mut worker, state, stats, knobs);
                        fail.set(fail.get() + tally.failed);
                    });
                }
                simulation.run()
            }
        };
        self.outcome(report, fail.get())
    }

    /// What the parts of the workload's software take.
    fn software_ps(&self) -> Vec<(&'static str, u64)> {
        let workload = self.workload.name();
        let part = |&part| {
            let ns = self.parameters.software_ns(workload, part);
            (part, (ns * 1000.0).round() as u64)
        };
        match self.workload {
            Workload::Locktorture { .. } => locktorture::part::ALL.iter().map(part).collect(),
            Workload::Uncontended | Workload::Counter { .. } => Vec::new(),
        }
    }

    fn outcome(&self, report: RunReport, fail: u64) -> Result<Outcome, SimulatedError> {
        let mut violations: Vec<String> =
            report.failures.iter().map(|failure| failure.to_string()).collect();
        let untold = report.failures_total - violations.len() as u64;
        if untold > 0 {
            violations.push(format!("and {untold} more"));
        }
        if self.purpose != Purpose::Torture
            && let Some(how) = violations.first()
        {
            return Err(SimulatedError::Failed {
                lock: self.lock.into(),
                threads: self.threads,
                seed: self.seed,
                how: how.clone(),
            });
        }
        let ops_per_s = match self.workload {
            Workload::Locktorture { long_hold: true } => {
                locktorture::with_long_holds(report.ops_per_s(), self.threads)
            }
            _ => report.ops_per_s(),
        };
        Ok(Outcome {
            ops_per_s,
            fail,
            violations,
            window_ns: report.window_ps / 1_000,
            waits: (self.purpose == Purpose::Latency).then(take_waits),
            events: EventCounts::from_fn(|event| report.count_of(event)),
            simulated_events: report.events,
            digest: report.digest,
            per_thread_ops: report.ops,
        })
    }
}

/// Runs a cell with the lock that its name stands for.
struct Run<'a, 'b>(&'a Cell<'b>);

impl LockVisitor<Sim> for Run<'_, '_> {
    type Output = Result<Outcome, SimulatedError>;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Self::Output {
        match self.0.purpose {
            Purpose::Throughput => self.0.run_typed::<L>(),
            Purpose::Latency => self.0.run_typed::<Timed<Sim, L>>(),
            Purpose::Torture => self.0.run_typed::<Watched<L>>(),
        }
    }
}

/// A simulated thread, as a workload sees it.
struct SimWorker<'a> {
    /// Picoseconds of each part of the software.
    parts: &'a [(&'static str, u64)],
}

impl Worker for SimWorker<'_> {
    type P = Sim;

    fn keep_going(&mut self) -> bool {
        !thread::is_over()
    }
    fn op_done(&mut self) {
        thread::op_done();
    }
    fn random(&mut self) -> u64 {
        thread::random()
    }
    fn index(&self) -> usize {
        thread::index()
    }
    fn software(&mut self, part: &'static str) {
        let known = self.parts.iter().find(|(name, _)| *name == part);
        if let Some(&(_, ps)) = known.filter(|(_, ps)| *ps > 0) {
            thread::work_ps(ps);
        }
    }
    fn hold_ns(&mut self, ns: u64) {
        thread::hold_ps(ns.saturating_mul(1_000));
    }
    fn overlap(&mut self, words: &[*const ()]) {
        thread::prefetch_for_write(words);
    }
}

/// A lock that tells the checkers what is done with it.
#[repr(transparent)]
struct Watched<L>(L);

impl<L: RawLock> RawLock for Watched<L> {
    const ORDER: Order = L::ORDER;

    fn new() -> Self {
        Self(L::new())
    }
    fn lock(&self) {
        watch::requested(self);
        self.0.lock();
        watch::entered(self);
    }
    fn try_lock(&self) -> bool {
        watch::requested(self);
        let taken = self.0.try_lock();
        if taken {
            watch::entered(self)
        } else {
            watch::withdrew(self)
        }
        taken
    }
    unsafe fn unlock(&self) {
        watch::left(self);
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        L::word_is_legal(word)
    }
}

#[cfg(test)]
mod tests;
