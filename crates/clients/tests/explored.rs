//! Clients with signals, forks and priorities in explored schedules: a few thousand each.

mod machine;

use lockwright::mutex::RawMutex;
use lockwright_catalog::busted::BustedRwLock;
use lockwright_catalog::capabilities::TimedLock;
use lockwright_catalog::registry::LOCKS;
use lockwright_clients::due::is_due;
use lockwright_clients::fork::InChild;
use lockwright_clients::handler::{Attempts, InHandler};
use lockwright_clients::owners::MutualExclusion;
use lockwright_clients::slots::SLOTS;
use lockwright_clients::{
    Client, ClientVisitor, clients_of, disturbed_clients_of, is_of_guards, is_of_reused,
    visit_client_of, visit_disturbed,
};
use lockwright_core::raw::{Order, RawLock};
use lockwright_linux::qspinlock::QSpinlock;
use lockwright_sim::explore::{Explorer, Found, Limits, Plan, PolicyKind};
use lockwright_sim::{Config, Sim, Simulation, thread};

/// Schedules of each client, lock and number of threads.
const SCHEDULES: u64 = 2_000;

fn spawn<C: Client>(simulation: &mut Simulation<'_>, threads: usize, by_priority: bool) {
    let mut client = C::new(threads);
    // SAFETY: a client's threads own nothing that is not the client's.
    client.set_fork(|runs_handlers| unsafe { thread::fork_point(runs_handlers) });
    client.set_begin_in_child(thread::begin_in_child);
    let client = simulation.alloc(client);
    machine::spawn(simulation, client, threads, by_priority);
}

/// Explores a client; what was found.
struct Explored {
    threads: usize,
    reader_slots: usize,
    /// They share a CPU, and have real-time priorities.
    by_priority: bool,
}

impl Explored {
    const fn on(threads: usize) -> Self {
        Self { threads, reader_slots: usize::MAX, by_priority: false }
    }
}

impl ClientVisitor for Explored {
    type Output = Option<Found>;
    fn visit<C: Client>(self) -> Option<Found> {
        let Self { threads, reader_slots, by_priority } = self;
        let program =
            |simulation: &mut Simulation<'_>| spawn::<C>(simulation, threads, by_priority);
        let machine = machine::machine();
        let config = Config { reader_slots, ..Config::default() };
        let mut explorer = Explorer::new(&machine, 1, config, &program);
        let policies = vec![PolicyKind::Random, PolicyKind::Pct(3), PolicyKind::Pos];
        let plan = Plan {
            policies,
            schedules: SCHEDULES,
            limits: Limits { by_priority, ..Limits::default() },
        };
        explorer.explore(&plan, |_| true).failure
    }
}

/// Asserts that a client of the table has failed in no schedule.
fn is_none(found: Option<Option<Found>>) {
    if let Some(found) = found.expect("a client of the table") {
        panic!("schedule {}: {}", found.schedule, found.failure);
    }
}

#[test]
fn locks_hold_where_signals_interrupt_their_threads_and_in_forked_children() {
    for row in LOCKS.iter().filter(|row| is_due(row)) {
        let lock = row.name;
        for client in disturbed_clients_of::<Sim>(row) {
            let slots: &[usize] = if *client == SLOTS { &[usize::MAX, 1] } else { &[usize::MAX] };
            for (threads, &reader_slots) in
                [2, 3].into_iter().flat_map(|it| slots.iter().map(move |slots| (it, slots)))
            {
                println!("{client} on {lock}, {threads} threads");
                let explored = Explored { reader_slots, ..Explored::on(threads) };
                is_none(visit_disturbed::<Sim, _>(row, client, explored));
            }
        }
    }
}

/// The locks for programs whose waiters sleep. Not the kernel's semaphore: its waiters spin for its internal spinlock.
const SLEEPING: [&str; 9] = [
    "mutex",
    "cna-mutex",
    "fair-mutex",
    "rwlock",
    "rwlock-fair",
    "percpu-rwlock",
    "percpu-rwlock-in_slots",
    "semaphore",
    "once",
];

/// In them threads spin for each other, or time counts and a thread must not lose its only CPU.
const LEFT_OUT: [&str; 5] = [
    "rwlock-overlap",
    "rwlock-overlap-upgrade",
    "mutex-overlap",
    "semaphore-overlap",
    "condvar-unheld",
];

/// With real-time priorities no thread may spin for one that has no CPU because of it.
#[test]
fn locks_hold_where_a_thread_that_is_woken_runs_at_once() {
    for row in LOCKS.iter().filter(|row| is_due(row) && SLEEPING.contains(&row.name)) {
        let lock = row.name;
        let usual = clients_of::<Sim>(row).map(|client| (client, false));
        let disturbed = disturbed_clients_of::<Sim>(row).iter().map(|client| (*client, true));
        let is_asked = |(client, _): &(&str, bool)| {
            !is_of_reused(client) && !is_of_guards(client) && !LEFT_OUT.contains(client)
        };
        for (client, is_disturbed) in usual.chain(disturbed).filter(is_asked) {
            for threads in [3, 4] {
                println!("{client} on {lock}, {threads} threads by priority");
                let explored = Explored { by_priority: true, ..Explored::on(threads) };
                is_none(match is_disturbed {
                    true => visit_disturbed::<Sim, _>(row, client, explored),
                    false => visit_client_of::<Sim, _>(row, client, explored),
                });
            }
        }
    }
}

#[test]
fn a_thread_that_spins_for_one_without_a_cpu_is_found() {
    let explored = Explored { by_priority: true, ..Explored::on(2) };
    let found = explored.visit::<MutualExclusion<Sim, QSpinlock<Sim>>>().expect("a failure");
    assert!(found.failure.to_string().contains("stuck"), "{}", found.failure);
}

fn message<C: Client>() -> String {
    let found = Explored::on(3).visit::<C>().expect("a failure");
    found.failure.to_string()
}

#[test]
fn a_lock_that_takes_nothing_for_a_reader_is_found_by_handlers() {
    let message = message::<InHandler<Sim, BustedRwLock<Sim>, Attempts>>();
    assert!(message.contains("next to others"), "{message}");
}

/// A mutex whose attempts heed waiters that do not exist in a forked child.
struct Heeds(RawMutex<Sim>);

impl RawLock for Heeds {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(RawLock::new())
    }
    fn lock(&self) {
        self.0.lock();
    }
    fn try_lock(&self) -> bool {
        !thread::has_forked() && self.0.try_lock()
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() };
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

impl TimedLock for Heeds {
    fn lock_until(&self, deadline_ns: u64) -> bool {
        self.0.lock_until(deadline_ns)
    }
}

#[test]
fn a_child_that_cannot_get_a_free_lock_by_attempts_is_found() {
    let message = message::<InChild<Sim, Heeds>>();
    assert!(message.contains("nobody keeps the child out"), "{message}");
}
