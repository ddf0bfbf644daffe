//! Which cells are compared, and for how long.

use lockwright_measure::error::Error;
use lockwright_measure::native::locks::stalls_if_oversubscribed;
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::subject::{Asked, Selection, Subject, SubjectOrigin};
use lockwright_measure::trial::{LabMachine, Trial};
use lockwright_measure::workload::Workload;
use lockwright_sim::{ScheduledKind, Scheduling, StartState};
use serde::Serialize;

/// Pauses inside and outside of the critical section: nothing to speak of, and a section that is a sixth
/// of a thread's time.
pub const LOADS: [(u32, u32); 2] = [(1, 0), (20, 100)];
/// Threads, unless others are asked for.
pub const THREADS: [usize; 6] = [1, 2, 8, 16, 32, 64];
/// A native repetition with a CPU for each thread, and one in which all threads have their slices.
const WINDOW_NS: u64 = 20_000_000;
const OVERSUBSCRIBED_WINDOW_NS: u64 = 250_000_000;
/// A simulated repetition with a CPU for each thread: nothing disturbs it.
const SIMULATED_WINDOW_NS: u64 = 5_000_000;
/// Native repetitions.
const RUNS: u32 = 5;
/// Simulated repetitions, each with another seed.
pub const SIMULATED_RUNS: u32 = 2;

/// Threads that do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CheckCell {
    /// How many threads.
    pub threads: usize,
    /// Pauses inside.
    pub cs_load: u32,
    /// Pauses outside.
    pub think_load: u32,
}

/// What is compared.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    /// The locks.
    pub locks: Vec<Asked>,
    /// The cells, in order.
    pub cells: Vec<CheckCell>,
    /// Native repetitions.
    pub runs: u32,
    cpus: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl CheckPlan {
    /// These locks with each of these numbers of threads; `simulated` has as many CPUs as this computer.
    pub fn new(
        locks: &[String],
        threads: &[usize],
        runs: Option<u32>,
        seed: u64,
        simulated: &SimulatedMachine,
    ) -> Result<Self, Error> {
        let cell = |&threads: &usize| {
            LOADS.map(|(cs_load, think_load)| CheckCell { cs_load, think_load, threads })
        };
        let locks = Selection::of(locks)?.subjects;
        if let Some(named) = locks
            .iter()
            .find(|lock| lock.explicitly && lock.subject.origin != SubjectOrigin::Registry)
            && let Some(why) = simulated.refuses(named.subject, Workload::counter(1, 0))
        {
            return Err(Error::usage(why));
        }
        let locks: Vec<_> = locks
            .into_iter()
            .filter(|lock| lock.subject.origin == SubjectOrigin::Registry)
            .collect();
        if locks.is_empty() {
            return Err(Error::usage("no lock to compare: name one with --lock"));
        }
        Ok(Self {
            locks,
            cells: threads.iter().flat_map(cell).collect(),
            runs: runs.unwrap_or(RUNS),
            cpus: simulated.cpus(),
            seed,
        })
    }
    /// The locks of a cell: with more threads than CPUs no queue of spinners, unless it was named.
    pub fn locks_in(&self, cell: CheckCell) -> Vec<Subject> {
        let takes_part = |lock: &&Asked| {
            cell.threads <= self.cpus || lock.explicitly || !stalls_if_oversubscribed(lock.subject)
        };
        self.locks.iter().filter(takes_part).map(|lock| lock.subject).collect()
    }
    /// A repetition of a lock in a cell.
    pub fn trial(&self, cell: CheckCell, lock: Subject, run: u32, is_simulated: bool) -> Trial {
        let CheckCell { cs_load, think_load, threads } = cell;
        let is_oversubscribed = threads > self.cpus;
        let window_ns = match is_oversubscribed {
            true => OVERSUBSCRIBED_WINDOW_NS,
            false if is_simulated => SIMULATED_WINDOW_NS,
            false => WINDOW_NS,
        };
        // Native threads have run for different times when they are measured.
        let queued = Scheduling { kind: ScheduledKind::Program, start: StartState::Queued };
        let workload = Workload::counter(cs_load, think_load);
        Trial {
            scheduling: (is_simulated && is_oversubscribed).then_some(queued),
            repetition: run,
            ..Trial::new(lock, workload, threads, window_ns, self.seed)
        }
    }
}
