//! A client on a lock, as a program that is explored.

use crate::compiles_every_lock;
use crate::erased::{self, CapableVisitor, ErasedType, erase};
use crate::simulated::Watched;
use lockwright_catalog::capabilities::{CondvarLock, TimedLock};
use lockwright_catalog::registry::{self, LockRow, LockVisitor, RwSemVisitor};
use lockwright_clients::slots;
use lockwright_clients::{
    AnyClient, Client, ClientVisitor, clients_on, is_of_limits, is_of_reused, visit_client,
    visit_client_of, visit_disturbed,
};
use lockwright_core::platform::Barriers;
use lockwright_core::raw::{Order, RawLock};
use lockwright_core::tunables::Tunable;
use lockwright_linux::rwsem::{Handoff, RwSemPolicy};
use lockwright_sim::explore::Explorer;
use lockwright_sim::machine::Machine;
use lockwright_sim::{Checks, Config, NodesMode, Sim, Simulation, thread, watch};
use std::cell::Cell;
use std::rc::Rc;

/// A lock and a client of it, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockAndClient {
    /// The lock.
    pub lock: &'static LockRow,
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
}

/// Settings in addition to the usual ones. Locks whose order needs queue nodes run on machines that run out of them,
/// which is when the queued spinlock knows no order. Locks that serve by NUMA node also run with thresholds that are
/// reached in a short schedule. The waiters of locks without an order have no patience. Clients that are about limits
/// run with few queue nodes or none, or with few reader slots.
fn variations(pair: LockAndClient, order: Order, usual: &Config) -> Vec<Config> {
    let LockAndClient { lock, client } = pair;
    let unordered = Checks { fifo: false, ..usual.checks };
    let few_nodes =
        |count| Config { nodes: NodesMode::Pool(count), checks: unordered, ..usual.clone() };
    let with = |tunables| Config { tunables, ..usual.clone() };
    let near = |handoffs_log2, ns| {
        let count = (Tunable::numa_spinlock_threshold, handoffs_log2);
        let time = (Tunable::numa_spinlock_threshold_ns, ns);
        let soon = (Tunable::hqlock_general_handoffs_turn_numa, 0);
        let by_node = (Tunable::hqlock_fairness_threshold, handoffs_log2);
        with(vec![count, time, soon, by_node])
    };
    if is_of_limits(client) {
        let few_slots = Config { reader_slots: 2, ..usual.clone() };
        return vec![few_nodes(0), few_nodes(1), few_slots];
    }
    if client == slots::SLOTS {
        return vec![Config { reader_slots: 1, ..usual.clone() }];
    }
    if is_of_reused(client) {
        // Without a queue node a wait on a condition variable may end early. These clients count that as an error.
        return vec![with(vec![(Tunable::spin_pauses, 0)])];
    }
    match order {
        Order::FifoAfterPending | Order::Queued => vec![few_nodes(1), few_nodes(2)],
        Order::Grouped => vec![near(0, 1), near(1, 10), near(2, 50), few_nodes(1), few_nodes(2)],
        Order::None if keeps_for_waiters(lock) => vec![with(vec![(Tunable::rwsem_handoff_ns, 0)])],
        Order::None => vec![with(vec![(Tunable::spin_pauses, 0)])],
        Order::Fifo | Order::Broken => Vec::new(),
    }
}

/// Returns true if `lock` is a semaphore that is kept for a waiter after some time.
fn keeps_for_waiters(lock: &'static LockRow) -> bool {
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
    pub fn explore<R>(&self, pair: LockAndClient, work: impl FnOnce(&mut Explorer<'_>) -> R) -> R {
        let Self { machine, cpus, rounds, seed } = self;
        let program = Program::of(pair);
        let checks = Checks {
            fifo: matches!(program.order, Order::Fifo | Order::FifoAfterPending),
            // The words of a lock of another kind come to lie where this one was.
            word_is_legal: (!is_of_reused(pair.client)).then_some(program.word_is_legal),
            ..Checks::default()
        };
        let config = Config { checks, ..Config::default() };
        let variations = variations(pair, program.order, &config);
        let spawn = |simulation: &mut Simulation<'_>| program.spawn(simulation, cpus, *rounds);
        let explorer = Explorer::new(machine, *seed, config, &spawn);
        work(&mut explorer.with_variations(variations))
    }
}

/// What exploring needs of the types of a pair.
struct Program {
    order: Order,
    word_is_legal: fn(u32) -> bool,
    lock: ErasedType,
    alloc: Alloc,
}

/// Places a client for a number of threads, each of which does a number of rounds.
type Alloc = for<'a> fn(&mut Simulation<'a>, usize, u32) -> &'a dyn AnyClient;

impl Program {
    /// That of a pair of the tables.
    fn of(pair: LockAndClient) -> Self {
        compiles_every_lock();
        let program = registry::visit::<Sim, _>(pair.lock, OfLock(pair.client)).flatten();
        program.unwrap_or_else(|| unreachable!("both names are from their tables"))
    }

    /// A thread on each of the CPUs; the last one to end looks at what is left.
    fn spawn(&self, simulation: &mut Simulation<'_>, cpus: &[u32], rounds: u32) {
        erased::choose(self.lock);
        let client = (self.alloc)(simulation, cpus.len(), rounds);
        let running = Rc::new(Cell::new(cpus.len()));
        for (number, &cpu) in cpus.iter().enumerate() {
            let running = Rc::clone(&running);
            simulation.spawn(cpu, move || {
                let body = || client.body(number);
                match client.has_handler() {
                    true => thread::handling(|| client.handle(number), body),
                    false => body(),
                }
                running.set(running.get() - 1);
                // In a forked child the others are not done but gone.
                if running.get() == 0 && !thread::has_forked() {
                    // A thread that waits for the end of another sees all its stores.
                    Sim::heavy_barrier();
                    watch::done();
                    client.finish();
                }
            });
        }
    }
}

/// A client, by name.
struct OfLock(&'static str);

impl LockVisitor<Sim> for OfLock {
    type Output = Option<Program>;

    fn visit<L: RawLock>(self, row: &'static LockRow) -> Option<Program> {
        let Self(client) = self;
        let alloc = match clients_on::<L>().any(|name| name == client) {
            true => erase::<L, _>(OnErased(client)),
            // It counts what it finds by itself.
            false => visit_client_of::<Sim, _>(row, client, AllocOf)
                .or_else(|| visit_disturbed::<Sim, _>(row, client, AllocOf)),
        };
        let (order, word_is_legal) = (L::ORDER, L::word_is_legal as _);
        let lock = ErasedType::of::<L>();
        alloc.map(|alloc| Program { order, word_is_legal, lock, alloc })
    }
}

/// A client that every lock has, by name, on a lock that tells the checkers what is done with it.
struct OnErased(&'static str);

impl CapableVisitor for OnErased {
    type Output = Option<Alloc>;

    fn visit<L: CondvarLock + TimedLock>(self) -> Option<Alloc> {
        visit_client::<Sim, Watched<L>, _>(self.0, AllocOf)
    }
}

struct AllocOf;

impl ClientVisitor for AllocOf {
    type Output = Alloc;

    fn visit<C: Client>(self) -> Alloc {
        alloc::<C>
    }
}

fn alloc<'a, C: Client>(
    simulation: &mut Simulation<'a>,
    threads: usize,
    rounds: u32,
) -> &'a dyn AnyClient {
    let mut client = C::new(threads);
    client.set_rounds(rounds);
    // SAFETY: a client's threads own nothing that is not the client's.
    client.set_fork(|runs_handlers| unsafe { thread::fork_point(runs_handlers) });
    client.set_begin_in_child(thread::begin_in_child);
    simulation.alloc(client)
}
