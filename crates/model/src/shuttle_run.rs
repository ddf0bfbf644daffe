//! Running clients under shuttle.

use crate::settings::{self, Settings};
use crate::world::{self, Seen};
use crate::{Shuttle, ShuttleThreads};
use lockwright_clients::Client;
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, Runner};
use std::sync::Arc;

/// A number of random executions.
#[derive(Clone, Debug)]
pub struct ShuttleRun {
    /// The machine.
    pub settings: Settings,
    /// Threads of a client.
    pub threads: usize,
    /// Executions.
    pub executions: usize,
    /// How often each thread repeats its operation.
    pub rounds: u32,
    /// Where the schedules come from: the same seed gives the same schedules.
    pub seed: u64,
}

impl ShuttleRun {
    /// `executions` executions with `threads` threads on a flat machine with as many CPUs.
    pub fn new(threads: usize, executions: usize) -> Self {
        let settings = Settings::flat(threads as u32);
        Self { settings, threads, executions, rounds: 2, seed: 1 }
    }
    /// The same on another machine.
    pub fn on(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// Runs executions of `C`.
    ///
    /// # Panics
    /// In the first execution that violates the property, in which two accesses overlap, in which
    /// all threads wait, or after which a queue node is still claimed. Shuttle prints the schedule.
    pub fn client<C: Client>(&self) -> Seen {
        let (threads, rounds) = (self.threads, self.rounds);
        self.model(move || {
            let mut client = C::new(threads);
            client.set_rounds(rounds);
            let client = Arc::new(client);
            let body = |cpu: usize| {
                let client = Arc::clone(&client);
                move || client.body(cpu)
            };
            ShuttleThreads::join((0..threads).map(|cpu| Box::new(body(cpu)) as _).collect());
            client.finish();
            assert!(Shuttle::has_released_all_nodes(), "a queue node was not released");
        })
    }

    /// Runs executions of `body`, which starts on CPU 0.
    ///
    /// # Panics
    /// As [`client`](Self::client), in the first execution in which `body` panics.
    pub fn model(&self, body: impl Fn() + Send + Sync + 'static) -> Seen {
        settings::set(self.settings.clone());
        world::forget_seen();
        let scheduler = RandomScheduler::new_from_seed(self.seed, self.executions);
        let mut config = Config::new();
        // Orderings are the business of loom; here they are known to be ignored.
        config.silence_warnings = true;
        Runner::new(scheduler, config).run(move || {
            Shuttle::begin_execution();
            body();
        });
        world::seen()
    }
}
