//! Simulated machines keep the laws of `PLATFORM.md`.

mod machine;

use lockwright_catalog::registry::{LOCKS, LockRow};
use lockwright_clients::due::is_due;
use lockwright_clients::{
    AnyClient, CLIENTS, Client, ClientVisitor, READER_CLIENTS, clients_of, is_of_guards,
    is_of_limits, is_of_reused, two_kinds, upgrade, visit_client_of,
};
use lockwright_conformance::{Threads, laws};
use lockwright_sim::explore::{Explorer, Limits, Plan, PolicyKind};
use lockwright_sim::machine::{Machine, Scheduler, Topology};
use lockwright_sim::{
    Arena, Config, NodesMode, ScheduledKind, Scheduling, Sim, Simulation, StartState,
};

/// One CPU of it, which threads take in turns after 1 us.
fn host() -> Machine {
    let mut host = machine::machine();
    host.topology = Topology {
        sockets: 1,
        cores_per_socket: 1,
        threads_per_core: 1,
        sockets_per_node: 1,
        distance: vec![vec![0]],
    };
    host.scheduler = Some(Scheduler {
        slice_ns: 1_000.0,
        context_switch_ns: 100.0,
        wake_granularity_ns: 500.0,
        halt_exit_ns: 100.0,
        kick_call_ns: 100.0,
        kick_latency_ns: 1_000.0,
        noise_ns: 100.0,
        pause_loop_window_ns: 500.0,
        pause_loop_gap_ns: 50.0,
        wake_local: 0.0,
        wake_local_call_ns: 0.0,
        steal_after_ns: 0.0,
        hides_preemption: 0.0,
    });
    host
}

/// Threads of one run: the seed decides about its noise.
struct SimThreads {
    seed: u64,
    nodes: NodesMode,
    scheduling: Option<Scheduling>,
}

impl SimThreads {
    fn pinned(seed: u64, nodes: NodesMode) -> Self {
        Self { seed, nodes, scheduling: None }
    }
}

impl Threads for SimThreads {
    fn run<S: Send + Sync + 'static>(&self, state: S, bodies: &[fn(&S)], finish: fn(&S)) {
        let mut arena = Arena::default();
        let Self { seed, nodes, scheduling } = *self;
        let config = Config { nodes, scheduling, ..Config::default() };
        let machine = if scheduling.is_some() { host() } else { machine::machine() };
        let mut simulation = Simulation::new(&machine, &mut arena, seed, config);
        let state = simulation.alloc(state);
        for (cpu, body) in (0..).zip(bodies) {
            match scheduling {
                Some(_) => simulation.spawn_scheduled(|| body(state)),
                None => simulation.spawn(cpu, || body(state)),
            };
        }
        let report = simulation.run();
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        finish(state);
    }
    fn node_limit(&self) -> Option<usize> {
        Some(4)
    }
}

#[test]
fn simulated_machines_keep_every_law() {
    // Four nodes for each CPU as in a kernel, or four for all as in a small program.
    for nodes in [NodesMode::PerCpu, NodesMode::Pool(4)] {
        for law in laws::<Sim, SimThreads>() {
            println!("{} {} with {nodes:?}", law.number, law.name);
            for seed in 0..20 {
                (law.check)(&SimThreads::pinned(seed, nodes));
            }
        }
    }
}

#[test]
fn simulated_guests_and_programs_that_share_a_cpu_keep_every_law() {
    let guest = ScheduledKind::Guest { virtual_numa: false };
    let kinds = [(guest, NodesMode::PerCpu), (ScheduledKind::Program, NodesMode::Pool(4))];
    for (kind, nodes) in kinds {
        for law in laws::<Sim, SimThreads>() {
            println!("{} {} as {kind:?}", law.number, law.name);
            for (seed, &start) in (0..21).zip(StartState::ALL.iter().cycle()) {
                let scheduling = Some(Scheduling { kind, start });
                (law.check)(&SimThreads { seed, nodes, scheduling });
            }
        }
    }
}

#[test]
#[should_panic(expected = "the law is broken")]
fn a_body_that_panics_fails_its_law() {
    let threads = SimThreads::pinned(1, NodesMode::PerCpu);
    threads.run((), &[|()| (), |()| panic!("the law is broken")], |()| ());
}

/// Places a client for a number of threads in a run.
type Alloc = for<'a> fn(&mut Simulation<'a>, usize) -> &'a dyn AnyClient;

struct AllocOf;

impl ClientVisitor for AllocOf {
    type Output = Alloc;
    fn visit<C: Client>(self) -> Alloc {
        |simulation, threads| {
            let mut client = C::new(threads);
            client.set_rounds(2);
            simulation.alloc(client)
        }
    }
}

/// Schedules of each client, lock and machine, usually.
const SCHEDULES: u64 = 300;

/// Runs schedules of each pair whose client `is_meant`; the client has to hold in all of them.
fn holds_in_schedules(
    row: &'static LockRow,
    is_meant: fn(&str) -> bool,
    threads: usize,
    config: &Config,
    schedules: u64,
) {
    let lock = row.name;
    let policies = vec![PolicyKind::Random, PolicyKind::Pct(3), PolicyKind::Pos];
    let plan = Plan { policies, schedules, limits: Limits::default() };
    let mut clients = clients_of::<Sim>(row).filter(|client| is_meant(client)).peekable();
    assert!(clients.peek().is_some(), "{lock} has no such client");
    for client in clients {
        let machine = machine::machine();
        let alloc = visit_client_of::<Sim, _>(row, client, AllocOf);
        let alloc = alloc.expect("both are in their tables");
        let spawn = |simulation: &mut Simulation<'_>| {
            let client = alloc(simulation, threads);
            machine::spawn(simulation, client, threads, false);
        };
        let mut explorer = Explorer::new(&machine, 1, config.clone(), &spawn);
        let findings = explorer.explore(&plan, |_| true);
        let found = findings.failure.map(|it| format!("{}, schedule {}", it.failure, it.number));
        assert_eq!(found, None, "{client} on {lock}");
        println!("{client} on {lock}: {} schedules", findings.distinct);
    }
}

/// The locks that are due and have a client that `is_meant`.
fn locks_with(is_meant: fn(&str) -> bool) -> Vec<&'static LockRow> {
    let has_one = |row: &&'static LockRow| clients_of::<Sim>(row).any(is_meant);
    let locks: Vec<_> = LOCKS.iter().filter(has_one).collect();
    assert!(!locks.is_empty(), "no lock has such a client");
    locks.into_iter().filter(|row| is_due(row)).collect()
}

#[test]
fn a_lock_holds_whoever_gives_it_back_and_in_whatever_order_or_never() {
    for lock in locks_with(is_of_guards) {
        holds_in_schedules(lock, is_of_guards, 4, &Config::default(), SCHEDULES);
    }
}

#[test]
fn a_lock_holds_at_its_limits() {
    let nodes = |count| Config { nodes: NodesMode::Pool(count), ..Config::default() };
    let few_slots = Config { reader_slots: 2, ..Config::default() };
    let no_slot = Config { reader_slots: 0, ..Config::default() };
    for config in [Config::default(), nodes(0), nodes(1), nodes(2), few_slots, no_slot] {
        let is_meant = |client: &str| {
            let is_of_any = CLIENTS.contains(&client) || READER_CLIENTS.contains(&client);
            let upgrades = client == upgrade::UPGRADE || client == upgrade::GIVES_UP;
            is_of_limits(client) || is_of_any || upgrades
        };
        for lock in locks_with(is_of_guards) {
            println!("{:?}, {} readers' slots", config.nodes, config.reader_slots);
            holds_in_schedules(lock, is_meant, 4, &config, SCHEDULES);
        }
    }
}

#[test]
fn a_lock_holds_whatever_was_at_its_address_before() {
    for lock in locks_with(is_of_reused) {
        holds_in_schedules(lock, is_of_reused, 4, &Config::default(), SCHEDULES);
    }
}

#[test]
fn a_late_wake_up_for_one_kind_of_lock_is_none_for_another_kind_with_the_same_node() {
    let is_meant = |client: &str| client == two_kinds::NAME;
    // The moment is short: with fewer threads or schedules it is seldom met.
    for nodes in [NodesMode::PerCpu, NodesMode::Pool(4)] {
        for lock in locks_with(is_meant) {
            let config = Config { nodes, ..Config::default() };
            holds_in_schedules(lock, is_meant, 4, &config, 100 * SCHEDULES);
        }
    }
}
