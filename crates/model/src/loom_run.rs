//! Running clients under loom.

use crate::settings::{self, MachineSettings};
use crate::world::{self, Explored};
use crate::{Loom, LoomThreads};
use lockwright_clients::{Client, ClientType};
use loom::model::Builder;

/// One exploration: a machine and its bounds.
#[derive(Clone, Debug)]
pub struct LoomRun {
    /// The machine.
    pub settings: MachineSettings,
    /// Threads of a client; at most 4, since loom has 5 and the conformance suite needs one.
    pub threads: usize,
    /// Preemptions of one execution that are explored; `None` explores them all.
    pub preemptions: Option<usize>,
    /// How often each thread repeats its operation.
    pub rounds: u32,
}

/// Scheduling points in one execution: more means a loop that loom cannot end.
const BRANCHES_MAX: usize = 10_000;

impl LoomRun {
    /// All executions of `threads` threads on a flat machine with as many CPUs.
    pub fn all(threads: usize) -> Self {
        Self {
            settings: MachineSettings::flat(threads as u32),
            threads,
            preemptions: None,
            rounds: 1,
        }
    }
    /// The same, as far as they have at most this many preemptions.
    pub fn bounded(threads: usize, preemptions: usize) -> Self {
        Self { preemptions: Some(preemptions), ..Self::all(threads) }
    }
    /// The same on another machine.
    pub fn on(self, settings: MachineSettings) -> Self {
        Self { settings, ..self }
    }

    /// Explores every execution of `C`.
    ///
    /// # Panics
    /// In the first execution that violates the property, in which two accesses race, in which all threads wait, or
    /// after which a queue node is still claimed or a thread still entered in the lock hash.
    pub fn client<C: Client>(&self) -> Explored {
        self.client_type(ClientType::of::<C>())
    }
    /// As [`client`](Self::client), for a type chosen by name.
    pub fn client_type(&self, client: ClientType) -> Explored {
        let size = (self.threads, self.rounds);
        self.model(move || Loom::run_client(client, size, LoomThreads::join))
    }

    /// Explores every execution of `body`, which starts on CPU 0.
    ///
    /// # Panics
    /// As [`client`](Self::client), in the first execution in which `body` panics.
    pub fn model(&self, body: impl Fn() + Send + Sync + 'static) -> Explored {
        self.explore(Box::new(body))
    }

    // Loom is generic over what it runs: with a box it is compiled once.
    fn explore(&self, body: Box<dyn Fn() + Send + Sync>) -> Explored {
        settings::set(self.settings.clone());
        world::forget_seen();
        let mut builder = Builder::new();
        builder.max_branches = BRANCHES_MAX;
        builder.preemption_bound = self.preemptions;
        builder.check(move || {
            Loom::begin_execution();
            body();
        });
        world::seen()
    }
}
