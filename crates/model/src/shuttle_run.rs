//! Running clients under shuttle.

use crate::settings::{self, MachineSettings};
use crate::shuttle_schedule::{ShuttleSchedule, ShuttleScheduler};
use crate::world::{self, Explored};
use crate::{Shuttle, ShuttleThreads};
use lockwright_clients::{Client, ClientType};
use shuttle::{Config, FailurePersistence, Runner};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A number of sampled executions.
#[derive(Clone, Debug)]
pub struct ShuttleRun {
    /// The machine.
    pub settings: MachineSettings,
    /// Threads of a client.
    pub threads: usize,
    /// Executions; a replay is one.
    pub executions: usize,
    /// How often each thread repeats its operation.
    pub rounds: u32,
    /// How the schedules are chosen.
    pub scheduler: ShuttleScheduler,
    /// Where the schedules come from: the same seed gives the same schedules.
    pub seed: u64,
}

/// Why a run did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShuttleFailure {
    /// An execution violated the property.
    Violated {
        /// How.
        complaint: String,
        /// The execution, for [`ShuttleScheduler::Replay`].
        schedule: ShuttleSchedule,
        /// Executions up to and including it.
        executions: u64,
    },
    /// The schedule to be replayed asks for a thread that cannot go on, or ends too early: it is of
    /// another lock, client, machine, number of threads or rounds, or version.
    OtherProgram,
}

impl fmt::Display for ShuttleFailure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Violated { complaint, schedule, executions } => {
                write!(f, "{complaint}; execution {executions}, --replay {schedule}")
            }
            Self::OtherProgram => write!(f, "the schedule to be replayed is of another program"),
        }
    }
}

impl ShuttleRun {
    /// `executions` random executions with `threads` threads on a flat machine with as many CPUs.
    pub fn new(threads: usize, executions: usize) -> Self {
        let settings = MachineSettings::flat(threads as u32);
        Self {
            settings,
            threads,
            executions,
            rounds: 2,
            scheduler: ShuttleScheduler::Random,
            seed: 1,
        }
    }
    /// The same on another machine.
    pub fn on(self, settings: MachineSettings) -> Self {
        Self { settings, ..self }
    }
    /// The same with schedules chosen in this way.
    pub fn by(self, scheduler: ShuttleScheduler) -> Self {
        Self { scheduler, ..self }
    }

    /// Runs executions of `C`.
    ///
    /// # Panics
    /// In the first execution that violates the property, in which two accesses overlap, in which all threads wait, or
    /// after which a queue node is still claimed or a thread still entered in the lock hash. The message ends with the
    /// schedule.
    pub fn client<C: Client>(&self) -> Explored {
        self.sample(ClientType::of::<C>()).unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// Runs executions of `client` up to the first one that [`client`](Self::client) would panic about.
    pub fn sample(&self, client: ClientType) -> Result<Explored, ShuttleFailure> {
        let size = (self.threads, self.rounds);
        self.sample_model(Box::new(move || Shuttle::run_client(client, size, ShuttleThreads::join)))
    }

    /// Runs executions of `body`, which starts on CPU 0.
    ///
    /// # Panics
    /// As [`client`](Self::client), in the first execution in which `body` panics.
    pub fn model(&self, body: impl Fn() + Send + Sync + 'static) -> Explored {
        self.sample_model(Box::new(body)).unwrap_or_else(|failure| panic!("{failure}"))
    }

    // Shuttle is generic over what it runs: with a box it is compiled once.
    fn sample_model(&self, body: Box<dyn Fn() + Send + Sync>) -> Result<Explored, ShuttleFailure> {
        settings::set(self.settings.clone());
        world::forget_seen();
        let mut config = Config::new();
        // Orderings are the business of loom; here they are known to be ignored.
        config.silence_warnings = true;
        // The caller gets the schedule, in one line.
        config.failure_persistence = FailurePersistence::None;
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let runner = Runner::new(self.scheduler.start(self.seed, self.executions), config);
        let run = || {
            runner.run(move || {
                Shuttle::begin_execution();
                Shuttle::forget_waiting();
                body();
                done.store(true, Relaxed);
            })
        };
        let result = catch_unwind(AssertUnwindSafe(run));
        let schedule = ShuttleSchedule::of_last_execution();
        match result {
            Err(panic) => {
                let complaint = crate::message_of(panic);
                Err(ShuttleFailure::Violated {
                    complaint,
                    schedule,
                    executions: world::seen().executions,
                })
            }
            Ok(_) if !is_done.load(Relaxed) || self.scheduler.has_left(&schedule) => {
                Err(ShuttleFailure::OtherProgram)
            }
            Ok(_) => Ok(world::seen()),
        }
    }
}
