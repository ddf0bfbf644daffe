//! Where the schedules of a shuttle run come from, and the form in which a person keeps one.

use ::shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Task, TaskId};
use shuttle_engine::runtime::execution::CurrentSchedule;
use shuttle_engine::scheduler::serialization::{deserialize_schedule, serialize_schedule};
use std::fmt;
use std::str::FromStr;

/// How the next thread is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShuttleScheduler {
    /// At random, at every step.
    Random,
    /// By random priorities that change at `depth - 1` random steps (Burckhardt et al., 2010): finds
    /// bugs that need few, but particular, changes of thread.
    Pct {
        /// How many ordering constraints a bug may need.
        depth: usize,
    },
    /// As this schedule says, once.
    Replay(ShuttleSchedule),
}

/// One execution's choices, in shuttle's own encoding; printed as one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShuttleSchedule(::shuttle::scheduler::Schedule);

impl ShuttleSchedule {
    /// The choices of the execution that this thread ran last.
    pub(crate) fn of_last_execution() -> Self {
        Self(CurrentSchedule::get_schedule())
    }
    /// Steps of all threads.
    pub fn steps(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for ShuttleSchedule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let lines = serialize_schedule(&self.0);
        lines.lines().try_for_each(|line| f.write_str(line))
    }
}

impl FromStr for ShuttleSchedule {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        // The decoder panics on a text that was cut off.
        let decoded = std::panic::catch_unwind(|| deserialize_schedule(text)).ok().flatten();
        decoded.map(Self).ok_or_else(|| {
            "a schedule is the word that a violation prints after --replay, all of it".to_string()
        })
    }
}

/// Runs the threads that can go on. By itself shuttle also lets a parked thread look around, to no
/// effect: a thread parks here until the cell it waits for is written.
struct Awake<S>(S);

impl<S: ::shuttle::scheduler::Scheduler> ::shuttle::scheduler::Scheduler for Awake<S> {
    fn new_execution(&mut self) -> Option<::shuttle::scheduler::Schedule> {
        self.0.new_execution()
    }
    fn next_task(
        &mut self,
        tasks: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let awake: Vec<_> = tasks.iter().copied().filter(|task| task.runnable()).collect();
        self.0.next_task(&awake, current, is_yielding)
    }
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

impl ShuttleScheduler {
    /// True if an execution that ended without a complaint, after these choices, is not the one that was to be
    /// replayed.
    pub(crate) fn has_left(&self, taken: &ShuttleSchedule) -> bool {
        matches!(self, Self::Replay(given) if given.0.steps != taken.0.steps)
    }
    /// Shuttle's form of it, for this many executions: the same seed gives the same schedules.
    pub(crate) fn start(
        &self,
        seed: u64,
        executions: usize,
    ) -> Box<dyn ::shuttle::scheduler::Scheduler + Send> {
        match self {
            Self::Random => Box::new(Awake(RandomScheduler::new_from_seed(seed, executions))),
            Self::Pct { depth } => {
                Box::new(Awake(PctScheduler::new_from_seed(seed, *depth, executions)))
            }
            Self::Replay(schedule) => {
                let mut replay = ReplayScheduler::new_from_schedule(schedule.0.clone());
                // A schedule of another program stops where it no longer fits.
                replay.set_allow_incomplete();
                Box::new(Awake(replay))
            }
        }
    }
}
