//! Holds the NUMA-aware locks and the mutex to their fairness bounds on a simulated machine, and prints one line
//! of JSON for each check.
//!
//! `fairness LOCK`. The bounds are those that the lock's documentation promises; the tests in
//! `tests/it/cna.rs` argue for those of the NUMA-aware locks. Exit code 0 whatever is found, 2 for arguments that name
//! no such lock.

use lockwright::mutex::RawMutex;
use lockwright_core::events::Event;
use lockwright_core::tunables::Tunable;
use lockwright_linux::qspinlock::CnaSpinlock;
use lockwright_linux::qspinlock::cna::V10Limited;
use lockwright_sim::any_lock::{AnyLock, DynLock};
use lockwright_sim::machine::Machine;
use lockwright_sim::{Arena, Checks, Config, RunReport, Sim, Simulation, thread, watch};
use std::any::TypeId;
use std::process::ExitCode;
use std::time::Instant;

/// One seed, one history.
const SEED: u64 = 1;
/// How long each owner holds the lock: longer than a head needs to find it busy.
const HOLD_NS: u64 = 500;
/// Threads on each of two sockets.
const PER_SOCKET: u64 = 8;
/// The threshold, as a power of two of handoffs and in nanoseconds.
const THRESHOLD: (u64, u64) = (8, 100_000);
/// How long two threads compete for the mutex: more than two times as long as one may be overtaken.
const MUTEX_WINDOW_NS: u64 = 10_000_000;
/// How long each holds it: less than it takes to fall asleep.
const MUTEX_HOLD_NS: u64 = 100;
/// Waiters of another socket behind a head that finds the lock free: one more than the limited scan looks at on four
/// NUMA nodes.
const REMOTE: u32 = 17;

/// What a check found wrong.
type Finding = Option<String>;
/// A check of a lock.
type Check = fn(&AnyLock) -> Finding;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(|it| it.to_string_lossy()).collect();
    let [lock] = &arguments[..] else {
        eprintln!("fairness: say `fairness LOCK`");
        return ExitCode::from(2);
    };
    let Some(any) = AnyLock::find(lock) else {
        eprintln!("fairness: no lock is called {lock}; `lockwright locks` lists them");
        return ExitCode::from(2);
    };
    let of_queues: &[(&str, Check)] = &[("overtaking", overtaking), ("scan", scan)];
    let is_mutex = any.type_id == TypeId::of::<RawMutex<Sim>>();
    let checks = if is_mutex { &[("starving", starving as Check)] } else { of_queues };
    for &(client, check) in checks {
        let start = Instant::now();
        let complaint = check(&any);
        print(lock, client, complaint, start.elapsed().as_secs_f64());
    }
    ExitCode::SUCCESS
}

fn print(lock: &str, client: &str, complaint: Finding, seconds: f64) {
    let line = serde_json::json!({
        "lock": lock, "client": client, "on": "two sockets, simulated", "checker": "fairness",
        "violated": complaint.is_some(), "complaint": complaint,
        "executions": 1, "seed": SEED, "seconds": seconds,
    });
    println!("{line}");
}

/// Waiters that were set aside are passed for at most one threshold.
fn overtaking(lock: &AnyLock) -> Finding {
    let (log2, ns) = THRESHOLD;
    // The larger of the bounds of the two kinds of threshold; the way to the queue adds at most one
    // overtaking by each other thread.
    let of_threshold = (1 << log2).max(ns / HOLD_NS + 2);
    let max = of_threshold + 2 * PER_SOCKET - 1;
    let checks = Checks { overtaking_max: u32::try_from(max).ok(), ..Checks::default() };
    let tunables = vec![
        (Tunable::numa_spinlock_threshold, log2),
        (Tunable::numa_spinlock_threshold_ns, ns),
        (Tunable::hqlock_fairness_threshold, 1 << log2),
    ];
    let config = Config { checks, tunables, ..Config::window(0, 5_000_000) };
    let report = storm(lock, config);
    report.failures.first().map(ToString::to_string)
}

/// Each of two threads with short sections gets the lock. A waiter can hardly fall asleep there, because the word
/// changes before it does.
fn starving(lock: &AnyLock) -> Finding {
    let machine = machine();
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&machine, &mut arena, SEED, Config::window(0, MUTEX_WINDOW_NS));
    let lock = (lock.alloc)(&mut simulation);
    spawn_takers(&mut simulation, lock, 0..2, MUTEX_HOLD_NS);
    let ops = simulation.run().ops;
    let is_starving = ops.iter().any(|&ops| ops <= 1);
    is_starving.then(|| format!("in 10 ms the threads got the lock {ops:?} times (simulated)"))
}

/// A head that finds the lock free looks at a bounded number of waiters. The one of its own node is behind more.
fn scan(lock: &AnyLock) -> Finding {
    if lock.type_id != TypeId::of::<CnaSpinlock<Sim, V10Limited>>() {
        return None;
    }
    let report = granted_a_free_lock(lock);
    if let Some(failure) = report.failures.first() {
        return Some(failure.to_string());
    }
    let moved = report.count_of(Event::cna_set_aside);
    let found = format!("heads moved {moved} waiters, and looked at too many for that (simulated)");
    (moved > 0).then_some(found)
}

/// The machine of the published tables; the checks use two of its sockets.
fn machine() -> Machine {
    let name = Machine::builtin_names().next().expect("there is a built-in machine");
    Machine::builtin(name).expect("it was just named")
}

/// Threads that take a lock again and again.
fn storm(lock: &AnyLock, config: Config) -> RunReport {
    let machine = machine();
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(&machine, &mut arena, SEED, config);
    let lock = (lock.alloc)(&mut simulation);
    let first_of = |socket| socket * machine.topology.cores_per_socket;
    let of_socket = |socket| first_of(socket)..first_of(socket) + PER_SOCKET as u32;
    spawn_takers(&mut simulation, lock, of_socket(0).chain(of_socket(1)), HOLD_NS);
    simulation.run()
}

/// On each of these CPUs a thread that takes the lock again and again.
fn spawn_takers<'a>(
    simulation: &mut Simulation<'a>,
    lock: &'a dyn DynLock,
    cpus: impl Iterator<Item = u32>,
    hold_ns: u64,
) {
    for cpu in cpus {
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                watch::requested(lock);
                lock.lock();
                watch::entered(lock);
                thread::hold_ps(hold_ns * 1000);
                watch::left(lock);
                // SAFETY: taken above.
                unsafe { lock.unlock() };
                thread::op_done();
            }
        });
    }
}

/// A head that finds the lock free when it is granted: the head before has it for an instant.
fn granted_a_free_lock(lock: &AnyLock) -> RunReport {
    behind(lock, &[500_000_000, HOLD_NS * 1000, 0, HOLD_NS * 1000])
}

/// Threads that hold the lock for these times, one after the other; behind them many of another socket and then one of
/// their own.
fn behind(lock: &AnyLock, hold_ps: &[u64]) -> RunReport {
    let machine = machine();
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(&machine, &mut arena, SEED, Config::default());
    let lock = (lock.alloc)(&mut simulation);
    let remote = machine.topology.cores_per_socket;
    let first = 0..hold_ps.len() as u32;
    let last = first.end;
    let cpus = first.chain((0..REMOTE).map(|core| remote + core)).chain([last]);
    for (number, cpu) in cpus.enumerate() {
        let hold_ps = hold_ps.get(number).copied().unwrap_or(HOLD_NS * 1000);
        simulation.spawn(cpu, move || {
            thread::hold_ps(number as u64 * 5_000_000);
            lock.lock();
            thread::hold_ps(hold_ps);
            // SAFETY: taken above.
            unsafe { lock.unlock() };
        });
    }
    simulation.run()
}
