//! A trial: a lock under a workload with a number of threads, run once; and the machines that can run it.
//!
//! A [`LabMachine`] runs trials: [`NativeMachine`](crate::native::NativeMachine) on this computer, the simulated
//! machines in simulated time. Commands see nothing but this interface.

mod on;

use crate::error::Error;
use crate::fairness::FairnessWindow;
use crate::record::{TrialError, TrialRecord};
use crate::runner::{Done, Placed, run_all};
use crate::stress::Stress;
use crate::subject::Subject;
use crate::workload::Workload;
use lockwright_core::tunables::Tunable;
use lockwright_sim::Scheduling;
use lockwright_sim::machine::ThreadPlacement;
pub use on::{On, Scheduled};
use std::path::PathBuf;

/// What a trial is run for.
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

/// One run of a lock: with its machine, everything that decides the result.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The lock.
    pub lock: Subject,
    /// What the threads do.
    pub workload: Workload,
    /// How many threads.
    pub threads: usize,
    /// Simulated: the scheduler of the threads, unless they have a CPU each.
    pub scheduling: Option<Scheduling>,
    /// Simulated: where they run, unless a scheduler decides; `None` is what is usual there for the workload.
    pub placement: Option<ThreadPlacement>,
    /// Simulated: how long it runs before operations count, in nanoseconds; `None` is what is usual.
    pub warmup_ns: Option<u64>,
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
    /// Run-time numbers of the locks, in addition to those of the machine.
    pub tunables: Tunables,
}

impl Trial {
    /// One of a lock under a workload, with as many threads, that lasts so long. All else is as usual.
    pub fn new(
        lock: Subject,
        workload: Workload,
        threads: usize,
        window_ns: u64,
        seed: u64,
    ) -> Self {
        Self {
            lock,
            workload,
            threads,
            scheduling: None,
            placement: None,
            warmup_ns: None,
            window_ns,
            repetition: 0,
            seed,
            purpose: Purpose::Throughput,
            has_neighbours: false,
            tunables: Tunables::default(),
        }
    }
    /// The seed of a simulated run.
    pub fn simulated_seed(&self) -> u64 {
        self.seed.wrapping_add(self.repetition.into())
    }
}

/// Run-time numbers of the locks that were set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunables([Option<u64>; Tunable::ALL.len()]);

impl Default for Tunables {
    fn default() -> Self {
        Self([None; Tunable::ALL.len()])
    }
}

impl FromIterator<(Tunable, u64)> for Tunables {
    fn from_iter<T: IntoIterator<Item = (Tunable, u64)>>(set: T) -> Self {
        let mut all = Self::default();
        set.into_iter().for_each(|(tunable, value)| all.0[tunable as usize] = Some(value));
        all
    }
}

impl Tunables {
    /// Those that were set, in their order.
    pub fn set(&self) -> impl Iterator<Item = (Tunable, u64)> {
        Tunable::ALL.iter().zip(self.0).filter_map(|(&tunable, value)| Some((tunable, value?)))
    }
}

/// What is the same for all trials of a command.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Numbers of the locks that were set; the others keep their defaults.
    pub tunables: Vec<(Tunable, u64)>,
    /// Placement of threads; `None` is the machine's own choice for the workload.
    pub placement: Option<ThreadPlacement>,
    /// Simulated: the file of the calibration; `None` is the machine's own.
    pub calibration: Option<PathBuf>,
}

/// A machine that runs trials.
pub trait LabMachine: Sync {
    /// What it is when it runs this workload.
    fn on(&self, workload: Workload) -> On;
    /// Returns true if its numbers come out of a simulation.
    fn is_simulated(&self) -> bool;
    /// Everything about it that decides a record, except its locks.
    fn identity(&self) -> String;
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
    /// How long a trial has to be before it says something about fairness.
    fn fairness_window(&self, _spec: &Trial) -> FairnessWindow {
        FairnessWindow::default()
    }
    /// Runs one trial.
    fn run_trial(&self, spec: &Trial) -> Result<TrialRecord, TrialError>;
    /// How many trials may run at the same time without disturbing each other.
    fn trials_at_once(&self) -> usize {
        1
    }
    /// Runs several trials; the results are in the order of `specs`. Those that measure the same
    /// thing for different locks may be interleaved. `done` hears how many are done, each time that
    /// one is, from the thread that ran it.
    fn run_batch(&self, specs: &[Trial], done: &Done<'_>) -> Vec<Result<TrialRecord, TrialError>> {
        let trials: Vec<Placed<'_, Self>> = specs.iter().map(|&trial| (self, trial)).collect();
        run_all(&trials, self.trials_at_once(), done)
    }
}
