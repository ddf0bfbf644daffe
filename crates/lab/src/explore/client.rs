//! A client on a lock, as a program that is explored.

use crate::simulated::Watched;
use lockwright::platform::Barriers;
use lockwright::raw::{Order, RawLock};
use lockwright::registry::{self, LockRow, LockVisitor, RwSemVisitor};
use lockwright::rwsem::{Handoff, RwSemPolicy};
use lockwright::tunables::Tunable;
use lockwright::zoo::Bug;
use lockwright_clients::{Client, ClientVisitor, clients_on, visit_client, visit_client_of};
use lockwright_sim::explore::Explorer;
use lockwright_sim::machine::Machine;
use lockwright_sim::{Checks, Config, NodesMode, Sim, Simulation, watch};
use std::cell::Cell;
use std::rc::Rc;

/// A lock and a client, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The lock.
    pub lock: &'static str,
    /// What its threads do.
    pub client: &'static str,
}

/// Where and how pairs run.
#[derive(Clone, Debug)]
pub struct Target {
    /// The machine.
    pub machine: Machine,
    /// The CPU of each thread.
    pub cpus: Vec<u32>,
    /// How often each thread does what its client does.
    pub rounds: u32,
    /// Decides everything random.
    pub seed: u64,
    /// The bug that the locks are seeded with.
    pub bug: Option<Bug>,
}

/// Settings beside the usual ones: machines that run out of queue nodes, which is when the queued
/// spinlock knows no order, for locks that serve by NUMA node thresholds that are reached in a
/// short schedule, and for semaphores waiters without patience.
fn variations(lock: &str, order: Order, usual: &Config) -> Vec<Config> {
    let unordered = Checks { fifo: false, ..usual.checks };
    let few_nodes =
        |count| Config { nodes: NodesMode::Pool(count), checks: unordered, ..usual.clone() };
    let with = |tunables| Config { tunables, ..usual.clone() };
    let near = |handoffs_log2, ns| {
        let count = (Tunable::numa_spinlock_threshold, handoffs_log2);
        let time = (Tunable::numa_spinlock_threshold_ns, ns);
        with(vec![count, time])
    };
    match order {
        Order::FifoAfterPending => vec![few_nodes(1), few_nodes(2)],
        Order::Grouped => vec![near(0, 1), near(1, 10), near(2, 50), few_nodes(1), few_nodes(2)],
        Order::None if keeps_for_waiters(lock) => vec![with(vec![(Tunable::rwsem_handoff_ns, 0)])],
        Order::Fifo | Order::None | Order::Broken => Vec::new(),
    }
}

/// Whether it is a semaphore that is kept for a waiter after some time.
fn keeps_for_waiters(lock: &str) -> bool {
    struct Keeps;
    impl RwSemVisitor for Keeps {
        type Output = bool;
        fn visit<C: RwSemPolicy>(self) -> bool {
            C::POLICY.handoff != Handoff::Never
        }
    }
    registry::visit_rwsem(lock, Keeps) == Some(true)
}

impl Target {
    /// Lets `work` explore a pair of the tables.
    pub fn explore<R>(&self, pair: Pair, work: impl FnOnce(&mut Explorer<'_>) -> R) -> R {
        let visitor = OfLock { target: self, client: pair.client, work };
        let explored = registry::visit::<Sim, _>(pair.lock, visitor).flatten();
        explored.unwrap_or_else(|| unreachable!("both names are from their tables"))
    }
}

struct OfLock<'a, W> {
    target: &'a Target,
    client: &'static str,
    work: W,
}

impl<R, W: FnOnce(&mut Explorer<'_>) -> R> LockVisitor<Sim> for OfLock<'_, W> {
    type Output = Option<R>;

    fn visit<L: RawLock>(self, row: &'static LockRow) -> Option<R> {
        let checks = Checks {
            fifo: matches!(L::ORDER, Order::Fifo | Order::FifoAfterPending),
            word_is_legal: Some(L::word_is_legal),
            ..Checks::default()
        };
        let config = Config { checks, bug: self.target.bug, ..Config::default() };
        let variations = variations(row.name, L::ORDER, &config);
        let visitor = OfClient { target: self.target, config, variations, work: self.work };
        if clients_on::<L>().any(|client| client == self.client) {
            return visit_client::<Sim, Watched<L>, _>(self.client, visitor);
        }
        // It counts what it finds by itself.
        visit_client_of::<Sim, _>(row.name, self.client, visitor)
    }
}

struct OfClient<'a, W> {
    target: &'a Target,
    config: Config,
    variations: Vec<Config>,
    work: W,
}

impl<R, W: FnOnce(&mut Explorer<'_>) -> R> ClientVisitor for OfClient<'_, W> {
    type Output = R;

    fn visit<C: Client>(self) -> R {
        let Target { machine, cpus, rounds, seed, .. } = self.target;
        let program = |simulation: &mut Simulation<'_>| spawn::<C>(simulation, cpus, *rounds);
        let explorer = Explorer::new(machine, *seed, self.config, &program);
        (self.work)(&mut explorer.with_variations(self.variations))
    }
}

/// A thread for each body; the last one to end looks at what is left.
fn spawn<C: Client>(simulation: &mut Simulation<'_>, cpus: &[u32], rounds: u32) {
    let mut client = C::new(cpus.len());
    client.set_rounds(rounds);
    let client = simulation.alloc(client);
    let running = Rc::new(Cell::new(cpus.len()));
    for (thread, &cpu) in cpus.iter().enumerate() {
        let running = Rc::clone(&running);
        simulation.spawn(cpu, move || {
            client.body(thread);
            running.set(running.get() - 1);
            if running.get() == 0 {
                // Who waits for the end of a thread sees all its stores.
                Sim::heavy_barrier();
                watch::done();
                client.finish();
            }
        });
    }
}
