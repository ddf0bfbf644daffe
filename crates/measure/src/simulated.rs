//! Running cells on simulated machines.
//!
//! A [`Cell`] names everything that decides its result, and the result is the same on every
//! computer. Cells share nothing, so [`run_cells`] spreads them over host threads without changing
//! what comes out.

mod fitted;
mod machine;
mod real_use;
mod run;
mod stage;
mod watched;
mod worker;

pub use fitted::{Fitted, ResidualOf};
pub use machine::SimulatedMachine;
pub use watched::Watched;

use crate::cell::{Done, EventCounts, Purpose, Workload};
use crate::compiles_every_lock;
use crate::latency::Waited;
use crate::stats::Histogram;
use crate::stress::Exercised;
use lockwright_catalog::registry::{self, LockRow};
use lockwright_core::tunables::Tunable;
use lockwright_sim::machine::{Machine, MachineError, Parameters, PlacementError, ThreadPlacement};
use lockwright_sim::{Digest, ScheduleReport, Scheduling};
use run::ProgramOf;
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
    /// The lock, as its row in the registry.
    pub lock: &'static LockRow,
    /// What the threads do.
    pub workload: Workload,
    /// How many threads.
    pub threads: u32,
    /// True if the second threads of cores are used.
    pub has_siblings: bool,
    /// Where they run, unless a scheduler decides.
    pub placement: ThreadPlacement,
    /// The scheduler, if they do not have a CPU each.
    pub scheduling: Option<Scheduling>,
    /// Decides the placement, if it is random, and all random numbers.
    pub seed: u64,
    /// In locktorture all threads run this long and pause this long in turn, as its parameter `stutter` says; 0 is
    /// never.
    pub stutter_ns: u64,
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
    /// How long a fixed amount of work took, if all of it was done.
    pub wall_ns: Option<u64>,
    /// What the scheduler did, if there was one.
    pub schedule: Option<ScheduleReport>,
    /// Operations per second of all threads. For locktorture with long holds these are included by
    /// formula, because they do not fit into the window.
    pub ops_per_s: f64,
    /// How often the workload saw two owners at once.
    pub fail: u64,
    /// What the checkers have to say, for [`Purpose::Torture`].
    pub violations: Vec<String>,
    /// How often each disturbance of a torture happened.
    pub exercised: Exercised,
    /// The most others that queued later and were served earlier than one waiter, for
    /// [`Purpose::Torture`].
    pub most_overtakes: Option<u32>,
    /// Waiting times, unless it was for [`Purpose::Throughput`].
    pub waits: Option<Histogram>,
    /// The same by kind, if anybody has read.
    pub waited: Option<Waited>,
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
    /// The lock is not in the registry of this build.
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

/// The lock of that name in the registry.
pub fn registered(name: &str) -> Result<&'static LockRow, SimulatedError> {
    registry::find(name).ok_or_else(|| SimulatedError::UnknownLock(name.into()))
}

/// Runs independent cells on `workers` host threads; the outcomes are in the order of the cells and
/// do not depend on `workers`. `done` hears how many cells are done, each time that one is, from the
/// thread that ran it.
pub fn run_cells(
    cells: &[Cell<'_>],
    workers: usize,
    done: &Done<'_>,
) -> Vec<Result<Outcome, SimulatedError>> {
    let slots: Vec<_> = cells.iter().map(|_| Mutex::new(None)).collect();
    let (taken, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
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
            // ordering: Relaxed; the counter only counts.
            done(ended.fetch_add(1, Ordering::Relaxed) + 1);
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
        if !self.has_siblings {
            let machine = self.machine.without_siblings();
            return Cell { machine: &machine, has_siblings: true, ..*self }.run();
        }
        compiles_every_lock();
        match registry::visit(self.lock, ProgramOf(self)) {
            Some(program) => self.run_program(&program),
            None => Err(SimulatedError::UnknownLock(self.lock.name.into())),
        }
    }
}
