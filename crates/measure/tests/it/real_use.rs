//! The workloads of the matrix of real use, with locks of every kind.

use lockwright_measure::cell::{
    CellSpec, LabMachine, Measurement, Needs, Purpose, QueueNotify, RealUse, Section, Settings,
    Workload,
};
use lockwright_measure::native::{NativeMachine, locks};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::subject::Subject;

fn lock(name: &str) -> Subject {
    Subject::find(name).expect("a known name")
}

fn run(name: &str, workload: RealUse, threads: usize, has_neighbours: bool) -> Measurement {
    let spec = CellSpec {
        lock: lock(name),
        workload: Workload::RealUse(workload),
        threads,
        scheduling: None,
        window_ns: 20_000_000,
        repetition: 0,
        seed: 1,
        purpose: Purpose::Throughput,
        has_neighbours,
    };
    let machine = NativeMachine::new(&Settings::default());
    assert_eq!(machine.refuses(spec.lock, spec.workload), None);
    machine.run_cell(&spec).expect("the threads come back")
}

fn queue(capacity: u32, notify: QueueNotify, timeout_ns: u64) -> RealUse {
    RealUse::Queue { producers: 2, capacity, notify, timeout_ns, job_ns: 0 }
}

const SECTIONS: RealUse = RealUse::sections_of(Section::Spin, 2_000, 2_000, 0);

#[test]
fn every_workload_gets_on_and_its_work_is_right_alone_and_with_neighbours() {
    let attempts = RealUse::Attempts { patience_ns: 20_000, section_ns: 5_000, think_ns: 5_000 };
    let readers = RealUse::sections_of(Section::Sleep, 100_000, 0, 80);
    let all = [
        (queue(1, QueueNotify::All, 0), 4),
        (queue(10, QueueNotify::One, 0), 4),
        (queue(2, QueueNotify::One, 100_000), 4),
        (RealUse::PingPong, 2),
        (SECTIONS, 8),
        (readers, 8),
        (RealUse::Map { write_percent: 10, is_shared: true }, 4),
        (RealUse::Lru, 4),
        (RealUse::Shards { count: 16 }, 4),
        (RealUse::Churn, 3),
        (attempts, 4),
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
    let short = RealUse::Map { write_percent: 100, is_shared: false };
    let caught = [SECTIONS, short, RealUse::Shards { count: 1 }]
        .map(|workload| (0..20).any(|_| !run("busted", workload, threads, false).held()));
    assert_eq!(caught, [true; 3]);
}

#[test]
fn a_lock_without_a_condition_variable_or_without_deadlines_is_refused() {
    let machine = NativeMachine::new(&Settings::default());
    let refused = |name: &str, workload| {
        machine.refuses(lock(name), Workload::RealUse(workload)).unwrap_or_default()
    };
    assert!(refused("ticket", RealUse::PingPong).contains("no condition variable"));
    let attempts = RealUse::Attempts { patience_ns: 1, section_ns: 1, think_ns: 1 };
    assert!(refused("std", attempts).contains("attempts with a deadline"));
    assert_eq!(refused("ticket", SECTIONS), "");
}

#[test]
fn threads_that_come_and_go_use_cpu_time_that_is_counted() {
    let measured = run("std", RealUse::Churn, 2, false);
    assert!(measured.cpu_s > 0.0 && measured.total_ops() > 0, "{measured:?}");
}

#[test]
fn the_same_loops_run_on_a_simulated_machine_and_their_work_is_right() {
    let machine = SimulatedMachine::builtin("x5-4", Settings::default());
    let machine = machine.expect("a built-in machine").expect("a sound one");
    let attempts = RealUse::Attempts { patience_ns: 20_000, section_ns: 5_000, think_ns: 5_000 };
    let all = [
        queue(1, QueueNotify::All, 0),
        queue(10, QueueNotify::One, 0),
        queue(2, QueueNotify::One, 20_000),
        RealUse::PingPong,
        SECTIONS,
        RealUse::Map { write_percent: 10, is_shared: false },
        RealUse::Lru,
        RealUse::Shards { count: 16 },
        attempts,
    ];
    for workload in all {
        let spec = CellSpec {
            lock: lock("mutex"),
            workload: Workload::RealUse(workload),
            threads: if workload == RealUse::PingPong { 2 } else { 4 },
            scheduling: None,
            window_ns: 200_000,
            repetition: 0,
            seed: 1,
            purpose: Purpose::Throughput,
            has_neighbours: false,
        };
        assert_eq!(machine.refuses(spec.lock, spec.workload), None);
        let measured = machine.run_cell(&spec).expect("it runs");
        assert!(measured.held() && measured.total_ops() > 0, "{workload:?}: {measured:?}");
        let again = machine.run_cell(&spec).expect("it runs");
        assert_eq!(measured.digest, again.digest, "{workload:?}");
    }
    assert!(machine.refuses(lock("mutex"), Workload::RealUse(RealUse::Churn)).is_some());
    let ticket = machine.refuses(lock("ticket"), Workload::RealUse(RealUse::PingPong));
    assert!(ticket.is_some_and(|why| why.contains("no condition variable")));
}
