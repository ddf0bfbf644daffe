//! Every lock, every client, every schedule of two threads (of locks whose waiters write while they
//! spin: up to a bound) and of three threads up to a bound.
//!
//! `LOCKWRIGHT_CHECK=usual` explores one preemption more, `full` two more than that, and rows of class `History`, too.
//! `LOCKWRIGHT_ROWS` names the rows to explore.

use lockwright_catalog::registry::{LockRow, LockVisitor, find, is_left_out, visit};
use lockwright_clients::due::is_due;
use lockwright_clients::plain_rw::PlainRwLock;
use lockwright_clients::{
    CLIENTS, ClientOutcome, READER_CLIENTS, client_types_on, clients_of, is_of_guards,
    is_of_limits, is_of_reused,
};
use lockwright_core::raw::{RawLock, Schedules};
use lockwright_model::checks::{Bounds, Check, checks_of, client_type};
use lockwright_model::{CheckDepth, Explored, Loom, LoomRun, MachineSettings, outcome};

fn explore(lock: &'static LockRow, client: &str, run: &LoomRun) -> Explored {
    run.client_type(client_type(lock, client).expect("a client of the lock"))
}

fn row(lock: &str) -> &'static LockRow {
    find(lock).expect("a registered lock")
}

/// The rows of a lock whose cost is bounded there.
fn rows_hold(lock: &'static LockRow) {
    checks_of(lock).iter().for_each(row_holds);
}

fn row_holds(check: &Check) {
    let seen = check.explore(Bounds::of(CheckDepth::asked()));
    let Check { lock, client, on, .. } = check;
    println!("{} {client}, {on}: {} executions", lock.name, seen.executions);
    assert!(seen.executions > 1, "nothing was explored");
}

struct SchedulesOf;

impl LockVisitor<Loom> for SchedulesOf {
    type Output = Schedules;
    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Schedules {
        L::SCHEDULES
    }
}

fn holds(lock: &'static LockRow) {
    let (of_endless, of_three) = match CheckDepth::asked() {
        CheckDepth::Brief => (4, 2),
        CheckDepth::Usual => (5, 3),
        CheckDepth::Full => (5, 5),
    };
    let two = match visit::<Loom, _>(lock, SchedulesOf).expect("a registered lock") {
        Schedules::OfRows => return rows_hold(lock),
        Schedules::Endless => LoomRun::bounded(2, of_endless),
        Schedules::Finite => LoomRun::all(2),
    };
    let three = LoomRun::bounded(3, of_three);
    let three = three.on(MachineSettings::flat(3).with_numa(&[0, 1, 0]));
    for run in [two, three] {
        let is_of_any = |client: &&str| CLIENTS.contains(client) || READER_CLIENTS.contains(client);
        for client in clients_of::<Loom>(lock).filter(is_of_any) {
            let seen = explore(lock, client, &run);
            let threads = run.threads;
            println!("{} {client}: {} executions of {threads} threads", lock.name, seen.executions);
            assert!(seen.executions > 1, "nothing was explored");
        }
    }
}

/// A test for each lock that is not wrong on purpose, from the registry.
macro_rules! locks_hold {
    ($($test:ident: $lock:literal, $class:ident;)+) => {
        mod every_lock_holds {
            $(locks_hold! { $class $test $lock })+
        }
    };
    (Busted $test:ident $lock:literal) => {};
    ($class:ident $test:ident $lock:literal) => {
        #[test]
        fn $test() {
            // A build that has some locks only does not explore the others.
            if !super::is_left_out($lock) && super::is_due(super::row($lock)) {
                super::holds(super::row($lock));
            }
        }
    };
}

lockwright_catalog::for_each_lock!(locks_hold);

#[test]
fn a_mutex_holds_whatever_was_at_its_address_whoever_gives_it_back_and_at_its_limits() {
    let is_meant = |client| is_of_reused(client) || is_of_guards(client) || is_of_limits(client);
    for check in checks_of(row("mutex")).iter().filter(|check| is_meant(check.client)) {
        row_holds(check);
    }
}

/// The rest of their rows takes longer: `check` explores all.
#[test]
fn two_waiters_of_hq_and_of_the_resilient_spinlocks_hold_with_the_clients_of_these_locks() {
    let locks = ["hq", "resilient", "resilient-v6_19", "resilient-in_programs"];
    for check in locks.iter().flat_map(|lock| checks_of(row(lock))) {
        let is_own = !CLIENTS.contains(&check.client);
        if is_own && check.threads == 2 && check.preemptions_max == usize::MAX {
            row_holds(&check);
        }
    }
}

fn fails(lock: &str, client: &str, complaint: &str) {
    match outcome(|| explore(row(lock), client, &LoomRun::all(2))) {
        ClientOutcome::Violated(message) if message.contains(complaint) => {}
        other => panic!("{client} on {lock}: {other:?}"),
    }
}

#[test]
fn a_lock_that_takes_nothing_fails_every_client() {
    fails("busted", "exclusion", "Causality violation");
    fails("busted", "try-lock", "Causality violation");
    fails("busted", "is-locked", "two owners each found the other's lock free");
}

#[test]
fn readers_that_take_nothing_fail_every_client_with_readers_and_no_other() {
    for client in READER_CLIENTS {
        fails("busted-rw", client, "Causality violation");
    }
    for client in CLIENTS {
        let seen = explore(row("busted-rw"), client, &LoomRun::all(2));
        assert!(seen.executions > 1, "nothing was explored");
    }
}

#[test]
fn a_plain_reader_writer_lock_holds() {
    type Plain = PlainRwLock<Loom>;
    for run in [LoomRun::all(2), LoomRun::bounded(3, 2)] {
        for client in client_types_on::<Loom, Plain>() {
            let seen = run.client_type(client);
            let (executions, threads, client) = (seen.executions, run.threads, client.name);
            println!("plain {client}: {executions} executions of {threads} threads");
            assert!(executions > 1, "nothing was explored");
        }
    }
}

#[test]
fn a_lock_whose_release_orders_nothing_fails_every_client() {
    for client in ["exclusion", "try-lock"] {
        fails("busted-relaxed", client, "Causality violation");
    }
    fails("busted-relaxed", "is-locked", "two owners each found the other's lock free");
}
