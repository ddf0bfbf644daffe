//! The workloads of the matrix of real use, with locks of every kind.

use lockwright_measure::native::churn::ChurnParams;
use lockwright_measure::native::{NativeMachine, locks};
use lockwright_measure::record::TrialRecord;
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, Settings, Trial};
use lockwright_measure::workload::attempts::AttemptsParams;
use lockwright_measure::workload::handoff::Section;
use lockwright_measure::workload::lru::LruParams;
use lockwright_measure::workload::map::MapParams;
use lockwright_measure::workload::pingpong::PingPongParams;
use lockwright_measure::workload::queue::{QueueNotify, QueueParams};
use lockwright_measure::workload::sections::SectionsParams;
use lockwright_measure::workload::shards::ShardsParams;
use lockwright_measure::workload::{Needs, Workload};

fn lock(name: &str) -> Subject {
    Subject::find(name).expect("a known name")
}

fn run(name: &str, workload: Workload, threads: usize, has_neighbours: bool) -> TrialRecord {
    let trial = Trial::new(lock(name), workload, threads, 20_000_000, 1);
    let trial = Trial { has_neighbours, ..trial };
    let machine = NativeMachine::new(&Settings::default());
    assert_eq!(machine.refuses(trial.lock, trial.workload), None);
    machine.run_trial(&trial).expect("the threads come back")
}

fn queue(capacity: u32, notify: QueueNotify, timeout_ns: u64) -> Workload {
    let params = QueueParams { producers: 2, capacity, notify, timeout_ns, ..QueueParams::USUAL };
    Workload::Queue(params)
}

fn shards(shards: u32) -> Workload {
    Workload::Shards(ShardsParams { shards })
}

fn map(write_percent: u32, shared: bool) -> Workload {
    Workload::Map(MapParams { write_percent, shared })
}

const SECTIONS: Workload =
    Workload::Sections(SectionsParams::alike(Section::Spin, 2_000, 2_000, 0));
const PINGPONG: Workload = Workload::PingPong(PingPongParams {});
const CHURN: Workload = Workload::Churn(ChurnParams::USUAL);
const ATTEMPTS: Workload =
    Workload::Attempts(AttemptsParams { patience_ns: 20_000, section_ns: 5_000, think_ns: 5_000 });

#[test]
fn every_workload_gets_on_and_its_work_is_right_alone_and_with_neighbours() {
    let readers = Workload::Sections(SectionsParams::alike(Section::Sleep, 100_000, 0, 80));
    let all = [
        (queue(1, QueueNotify::All, 0), 4),
        (queue(10, QueueNotify::One, 0), 4),
        (queue(2, QueueNotify::One, 100_000), 4),
        (PINGPONG, 2),
        (SECTIONS, 8),
        (readers, 8),
        (map(10, true), 4),
        (Workload::Lru(LruParams {}), 4),
        (shards(16), 4),
        (CHURN, 3),
        (ATTEMPTS, 4),
    ];
    for (workload, threads) in all {
        for name in ["mutex", "std", "parking_lot", "parking_lot-0.13", "pthread", "rwlock"] {
            if workload.needs().is_some_and(|needs| !locks::has(lock(name), needs)) {
                continue;
            }
            for has_neighbours in [false, true] {
                // On a busy computer none of the threads may get a CPU within one window.
                let mut windows = 100;
                let measured = loop {
                    let measured = run(name, workload, threads, has_neighbours);
                    assert!(measured.held(), "{name} {workload:?}: {measured:?}");
                    if measured.total_ops() > 0 {
                        break measured;
                    }
                    windows -= 1;
                    assert!(windows > 0, "{name} {workload:?}: {measured:?}");
                };
                let waits = measured.condvar_waits.is_some();
                assert_eq!(waits, workload.needs() == Some(Needs::Condvar), "{workload:?}");
            }
        }
    }
}

#[test]
fn a_lock_that_excludes_no_thread_fails() {
    let threads = 4;
    let short = map(100, false);
    let caught = [SECTIONS, short, shards(1)]
        .map(|workload| (0..20).any(|_| !run("busted", workload, threads, false).held()));
    assert_eq!(caught, [true; 3]);
}

#[test]
fn a_lock_without_a_condition_variable_or_without_deadlines_is_refused() {
    let machine = NativeMachine::new(&Settings::default());
    let refused = |name: &str, workload| machine.refuses(lock(name), workload).unwrap_or_default();
    assert!(refused("ticket", PINGPONG).contains("no condition variable"));
    assert!(refused("std", ATTEMPTS).contains("attempts with a deadline"));
    assert_eq!(refused("ticket", SECTIONS), "");
}

#[test]
fn threads_that_come_and_go_use_cpu_time_that_is_counted() {
    let measured = run("std", CHURN, 2, false);
    assert!(measured.cpu_s > 0.0 && measured.total_ops() > 0, "{measured:?}");
}

#[test]
fn the_same_loops_run_on_a_simulated_machine_and_their_work_is_right() {
    let machine = SimulatedMachine::builtin("x5-4", Settings::default());
    let machine = machine.expect("a built-in machine").expect("a sound one");
    let all = [
        queue(1, QueueNotify::All, 0),
        queue(10, QueueNotify::One, 0),
        queue(2, QueueNotify::One, 20_000),
        PINGPONG,
        SECTIONS,
        map(10, false),
        Workload::Lru(LruParams {}),
        shards(16),
        ATTEMPTS,
    ];
    for workload in all {
        let threads = if workload == PINGPONG { 2 } else { 4 };
        let spec = Trial::new(lock("mutex"), workload, threads, 200_000, 1);
        assert_eq!(machine.refuses(spec.lock, spec.workload), None);
        let measured = machine.run_trial(&spec).expect("it runs");
        assert!(measured.held() && measured.total_ops() > 0, "{workload:?}: {measured:?}");
        let again = machine.run_trial(&spec).expect("it runs");
        assert_eq!(measured.digest, again.digest, "{workload:?}");
    }
    assert!(machine.refuses(lock("mutex"), CHURN).is_some());
    let ticket = machine.refuses(lock("ticket"), PINGPONG);
    assert!(ticket.is_some_and(|why| why.contains("no condition variable")));
}
