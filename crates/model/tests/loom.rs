//! Every lock, every client, every schedule of two threads (of locks whose waiters write while they
//! spin: up to a bound) and of three threads up to a bound.
//!
//! `LOCKWRIGHT_CHECK=full` explores two preemptions more.

use lockwright::registry::{LOCKS, LockClass};
use lockwright_clients::plain_rw::PlainRwLock;
use lockwright_clients::{
    CLIENTS, Client, ClientVisitor, Outcome, READER_CLIENTS, clients_of, clients_on, is_of_guards,
    is_of_limits, is_of_reused, visit_client, visit_client_of,
};
use lockwright_model::checks::{Bounds, Check, checks_of};
use lockwright_model::{Loom, LoomRun, Seen, Settings, outcome};

struct Explore<'a>(&'a LoomRun);

impl ClientVisitor for Explore<'_> {
    type Output = Seen;
    fn visit<C: Client>(self) -> Seen {
        self.0.client::<C>()
    }
}

fn explore(lock: &str, client: &str, run: &LoomRun) -> Seen {
    visit_client_of::<Loom, _>(lock, client, Explore(run)).expect("both are in their tables")
}

fn is_full() -> bool {
    std::env::var("LOCKWRIGHT_CHECK").is_ok_and(|value| value == "full")
}

/// The rows of a lock whose cost is bounded there.
fn rows_hold(lock: &'static str) {
    checks_of(lock).iter().for_each(row_holds);
}

fn row_holds(check: &Check) {
    let bounds = if is_full() { Bounds::FULL } else { Bounds::QUICK };
    let seen = check.explore(bounds);
    let Check { lock, client, on, .. } = check;
    println!("{lock} {client}, {on}: {} executions", seen.executions);
    assert!(seen.executions > 1, "nothing was explored");
}

fn holds(lock: &'static str) {
    const OF_ROWS: [&str; 4] = ["rwsem", "rwlock", "percpu-rwlock", "semaphore"];
    if OF_ROWS.iter().any(|kind| lock.starts_with(kind)) {
        return rows_hold(lock);
    }
    // The head of a hybrid queue sets and clears its pending bit as long as it spins. Each write is
    // news to the others, so there is no end of schedules.
    let is_endless = lock.contains("hybrid");
    let two = if is_endless { LoomRun::bounded(2, 5) } else { LoomRun::all(2) };
    let three = LoomRun::bounded(3, if is_full() { 5 } else { 3 });
    let three = three.on(Settings::flat(3).with_numa(&[0, 1, 0]));
    for run in [two, three] {
        let is_of_any = |client: &&str| CLIENTS.contains(client) || READER_CLIENTS.contains(client);
        for client in clients_of::<Loom>(lock).filter(is_of_any) {
            let seen = explore(lock, client, &run);
            let threads = run.threads;
            println!("{lock} {client}: {} executions of {threads} threads", seen.executions);
            assert!(seen.executions > 1, "nothing was explored");
        }
    }
}

macro_rules! locks_hold {
    ($($test:ident: $lock:literal;)+) => {
        $(#[test]
        fn $test() {
            holds($lock);
        })+

        #[test]
        fn every_lock_of_the_registry_is_in_this_table() {
            let tested = [$($lock),+];
            for row in LOCKS.iter().filter(|row| row.class != LockClass::Busted) {
                assert!(tested.contains(&row.name), "{} is not explored", row.name);
            }
        }
    };
}

locks_hold! {
    qspinlock_holds: "qspinlock";
    cna_holds: "cna";
    cna_v10_time_holds: "cna-v10_time";
    cna_v10_limited_holds: "cna-v10_limited";
    cna_v11_holds: "cna-v11";
    cna_v15_holds: "cna-v15";
    park_holds: "park";
    hybrid_holds: "hybrid";
    hybrid_bounded_holds: "hybrid-bounded";
    cna_park_holds: "cna-park";
    cna_hybrid_holds: "cna-hybrid";
    cna_hybrid_bounded_holds: "cna-hybrid-bounded";
    mutex_holds: "mutex";
    rwlock_holds: "rwlock";
    rwlock_fair_holds: "rwlock-fair";
    percpu_rwlock_holds: "percpu-rwlock";
    percpu_rwlock_in_slots_holds: "percpu-rwlock-in_slots";
    rwsem_current_holds: "rwsem-current";
    rwsem_current_in_programs_holds: "rwsem-current_in_programs";
    rwsem_v5_10_no_rspin_holds: "rwsem-v5_10_no_rspin";
    rwsem_v5_10_limit_rspin_holds: "rwsem-v5_10_limit_rspin";
    rwsem_v5_10_before_holds: "rwsem-v5_10_before";
    rwsem_v5_10_holds: "rwsem-v5_10";
    rwsem_v4_14_handoff_holds: "rwsem-v4_14_handoff";
    rwsem_v4_14_holds: "rwsem-v4_14";
    rwsem_v3_12_wake_flag_holds: "rwsem-v3_12_wake_flag";
    rwsem_v3_12_series_holds: "rwsem-v3_12_series";
    rwsem_v3_12_holds: "rwsem-v3_12";
    unfair_holds: "unfair";
    unfair_with_backoff_holds: "unfair-backoff";
    ticket_holds: "ticket";
    mcs_holds: "mcs";
    clh_holds: "clh";
    osq_holds: "osq";
    qrwlock_holds: "qrwlock";
    semaphore_holds: "semaphore";
    seqlock_holds: "seqlock";
}

#[test]
fn a_mutex_holds_whatever_was_at_its_address_whoever_gives_it_back_and_at_its_limits() {
    let is_meant = |client| is_of_reused(client) || is_of_guards(client) || is_of_limits(client);
    for check in checks_of("mutex").iter().filter(|check| is_meant(check.client)) {
        row_holds(check);
    }
}

fn fails(lock: &str, client: &str, complaint: &str) {
    match outcome(|| explore(lock, client, &LoomRun::all(2))) {
        Outcome::Violated(message) if message.contains(complaint) => {}
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
        let seen = explore("busted-rw", client, &LoomRun::all(2));
        assert!(seen.executions > 1, "nothing was explored");
    }
}

#[test]
fn a_plain_reader_writer_lock_holds() {
    type Plain = PlainRwLock<Loom>;
    for run in [LoomRun::all(2), LoomRun::bounded(3, 2)] {
        for client in clients_on::<Plain>() {
            let seen = visit_client::<Loom, Plain, _>(client, Explore(&run)).expect("a client");
            let (executions, threads) = (seen.executions, run.threads);
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
