//! Cells on simulated machines.

use lockwright_catalog::registry::{LOCKS, LockClass};
use lockwright_measure::cell::{Purpose, Section, Workload};
use lockwright_measure::simulated::{Cell, Outcome, SimulatedError, registered, run_cells};
use lockwright_measure::stress::{Exercised, Stress};
use lockwright_clients::due::is_due;
use lockwright_core::events::Event;
use lockwright_sim::machine::{Machine, Parameters, PlacementError, ThreadPlacement};
use lockwright_sim::{Preemption, ScheduledKind, Scheduling, StartState};
use std::sync::Mutex;

fn x5_4() -> Machine {
    Machine::builtin("x5-4").expect("it is built in")
}

fn software() -> Parameters {
    let parts = [("outside".into(), 36.0), ("inside".into(), 70.0)].into();
    Parameters { software: [("locktorture".into(), parts)].into(), ..Parameters::default() }
}

const TORTURE: Workload = Workload::Locktorture { long_hold: false };
const TORTURE_ONLY: Purpose = Purpose::Torture(NO_STRESS);
const NO_STRESS: Stress = Stress {
    long_hold_ns: 0,
    stutter_ns: 0,
    shuffle_ns: 0,
    nested: 0,
    preemption: None,
    readers: 0,
};

fn cell<'a>(machine: &'a Machine, parameters: &'a Parameters, lock: &str) -> Cell<'a> {
    Cell {
        machine,
        parameters,
        lock: registered(lock).expect("a lock of the registry"),
        workload: TORTURE,
        threads: 8,
        has_siblings: true,
        placement: ThreadPlacement::Random,
        scheduling: None,
        seed: 1,
        stutter_ns: 0,
        warmup_ns: 50_000,
        window_ns: 200_000,
        tunables: &[],
        purpose: Purpose::Throughput,
    }
}

fn run(cell: &Cell<'_>) -> Outcome {
    match cell.run() {
        Ok(outcome) => outcome,
        Err(error) => panic!("{error}"),
    }
}

/// How many times as long as the others it takes this lock to get somewhere.
fn times_as_long(lock: &str) -> u64 {
    match lock {
        // First come, first served, and asleep: each turn is a wake-up.
        "rwlock-fair" | "semaphore" => 20,
        // Each write interrupts every CPU.
        "percpu-rwlock-in_slots" => 20,
        _ => 1,
    }
}

#[test]
fn every_lock_passes_torture_and_the_busted_one_fails() {
    let (machine, parameters) = (x5_4(), software());
    for row in LOCKS.iter().filter(|row| is_due(row)) {
        let usual = cell(&machine, &parameters, row.name);
        let window_ns = usual.window_ns * times_as_long(row.name);
        let outcome = run(&Cell { purpose: TORTURE_ONLY, window_ns, ..usual });
        if row.name == "busted" {
            assert!(outcome.fail > 0 && !outcome.violations.is_empty());
        } else if row.class != LockClass::Busted {
            assert_eq!((outcome.fail, &outcome.violations), (0, &Vec::new()), "{}", row.name);
            assert!(outcome.per_thread_ops.iter().sum::<u64>() > 100, "{}", row.name);
        }
    }
}

#[test]
fn a_cell_has_one_result_whatever_runs_beside_it() {
    let (machine, parameters) = (x5_4(), software());
    let cells: Vec<_> = [("qspinlock", 1), ("cna", 2), ("ticket", 3), ("qspinlock", 2)]
        .map(|(lock, seed)| Cell { seed, ..cell(&machine, &parameters, lock) })
        .into();
    let results = |workers| -> Vec<_> {
        let told = Mutex::new(Vec::new());
        let done = |count| told.lock().expect("nothing panics here").push(count);
        let outcomes = run_cells(&cells, workers, &done).into_iter();
        let results = outcomes.map(|o| o.map(|o| (o.per_thread_ops, o.events))).collect();
        let mut told = told.into_inner().expect("as above");
        told.sort_unstable();
        assert_eq!(told, [1, 2, 3, 4], "each cell is told once when it is done");
        results
    };
    let alone = results(1);
    assert!(alone.iter().all(Result::is_ok));
    assert_eq!(results(2), alone);
    assert_eq!(results(4), alone);
    assert_ne!(alone[0], alone[3], "another seed, another history");
}

#[test]
fn every_workload_counts_operations_and_waits() {
    let (machine, parameters) = (x5_4(), software());
    for workload in [Workload::Uncontended, Workload::counter(3, 10), TORTURE] {
        let base = Cell { workload, ..cell(&machine, &parameters, "qspinlock") };
        let outcome = run(&base);
        assert_eq!(outcome.per_thread_ops.len(), 8);
        let ops: u64 = outcome.per_thread_ops.iter().sum();
        let rate = ops as f64 * 1e9 / outcome.window_ns as f64;
        assert!((outcome.ops_per_s / rate - 1.0).abs() < 1e-3, "{workload:?}");
        assert!(outcome.waits.is_none());
        let timed = run(&Cell { purpose: Purpose::Latency, ..base });
        assert!(timed.waits.is_some_and(|waits| waits.count() >= ops / 2), "{workload:?}");
    }
}

#[test]
fn timing_waits_takes_no_simulated_time() {
    let machine = Machine::builtin("haswell-2s").expect("it is built in");
    let parameters = Parameters::default();
    let kind = ScheduledKind::Guest { virtual_numa: false };
    for scheduling in [None, Some(Scheduling { kind, start: StartState::Queued })] {
        let plain = Cell { scheduling, ..cell(&machine, &parameters, "hybrid") };
        let timed = Cell { purpose: Purpose::Latency, ..plain };
        assert_eq!(run(&plain).digest, run(&timed).digest);
    }
}

#[test]
fn long_holds_are_added_by_formula() {
    let (machine, parameters) = (x5_4(), software());
    let without = Cell { threads: 1, ..cell(&machine, &parameters, "qspinlock") };
    let with = Cell { workload: Workload::Locktorture { long_hold: true }, ..without };
    let (without, with) = (run(&without), run(&with));
    assert_eq!(with.per_thread_ops, without.per_thread_ops, "the simulation is the same");
    let added_ns = 1e9 / with.ops_per_s - 1e9 / without.ops_per_s;
    assert!((added_ns - 500.0).abs() < 1e-6, "{added_ns}");
}

#[test]
fn software_of_the_calibration_takes_time() {
    let (machine, quick, slow) = (x5_4(), Parameters::default(), software());
    let ops_per_s =
        |parameters| run(&Cell { threads: 1, ..cell(&machine, parameters, "qspinlock") }).ops_per_s;
    let added_ns = 1e9 / ops_per_s(&slow) - 1e9 / ops_per_s(&quick);
    // 36 twice and 70 once.
    assert!((added_ns - 142.0).abs() < 30.0, "{added_ns}");
}

#[test]
fn what_cannot_run_says_why() {
    let (machine, parameters) = (x5_4(), software());
    let unknown = SimulatedError::UnknownLock("no-such-lock".into());
    assert_eq!(registered("no-such-lock").err(), Some(unknown));
    let oversubscribed = Cell { threads: 145, ..cell(&machine, &parameters, "mcs") };
    assert_eq!(
        oversubscribed.run().err(),
        Some(SimulatedError::Placement(PlacementError { threads: 145, cpus: 144 }))
    );
}

#[test]
fn a_run_that_gets_stuck_is_an_error_that_names_its_seed() {
    let (machine, parameters) = (x5_4(), software());
    // One long critical section per thread, so no thread comes back within the limit.
    let parts = [("inside".into(), 1e12)].into();
    let endless = Parameters { software: [("locktorture".into(), parts)].into(), ..parameters };
    let error = Cell { seed: 77, ..cell(&machine, &endless, "mcs") }.run().expect_err("no end");
    let sentence = error.to_string();
    assert!(
        sentence.starts_with("simulated `mcs` with 8 threads and seed 77 failed: "),
        "{sentence}"
    );
}

fn holds(outcome: &Outcome) -> bool {
    outcome.fail == 0 && outcome.violations.is_empty()
}

#[test]
fn every_lock_passes_with_everything_mixed_in_and_all_of_it_happens() {
    let (machine, parameters) = (x5_4(), software());
    let preemption = Some(Preemption { every_ns: 20_000, for_ns: 5_000 });
    let stress = Stress {
        long_hold_ns: 5_000,
        stutter_ns: 100_000,
        shuffle_ns: 0,
        nested: 8,
        preemption,
        readers: 0,
    };
    for row in LOCKS.iter().filter(|row| is_due(row)) {
        let cell = Cell {
            purpose: Purpose::Torture(stress),
            window_ns: 1_000_000 * times_as_long(row.name),
            ..cell(&machine, &parameters, row.name)
        };
        let outcome = run(&cell);
        let Exercised { long_holds, nested, stutters, preemptions, .. } = outcome.exercised;
        let rarest = long_holds.min(nested).min(stutters).min(preemptions);
        assert!(rarest > 0, "{}: {:?}", row.name, outcome.exercised);
        assert_eq!(holds(&outcome), row.name != "busted", "{}: {:?}", row.name, outcome.violations);
        assert!(outcome.most_overtakes.is_some() && outcome.waits.is_some());
    }
}

#[test]
fn a_torture_pauses_for_half_of_the_time() {
    let (machine, parameters) = (x5_4(), software());
    let ops = |stutter_ns| {
        let purpose = Purpose::Torture(Stress { stutter_ns, ..NO_STRESS });
        let base = cell(&machine, &parameters, "ticket");
        let outcome = run(&Cell { purpose, warmup_ns: 0, window_ns: 2_000_000, ..base });
        (outcome.per_thread_ops.iter().sum::<u64>() as f64, outcome.exercised.stutters)
    };
    let ((all, never), (half, stutters)) = (ops(0), ops(100_000));
    assert_eq!((never, stutters), (0, 10));
    assert!((half / all - 0.5).abs() < 0.05, "{half} of {all}");
}

#[test]
fn preempted_waiters_show_in_the_longest_wait() {
    let (machine, parameters) = (x5_4(), software());
    let longest_ns = |preemption| {
        let purpose = Purpose::Torture(Stress { preemption, ..NO_STRESS });
        let outcome = run(&Cell { purpose, ..cell(&machine, &parameters, "mcs") });
        outcome.waits.map(|waits| waits.max())
    };
    let calm_ns = longest_ns(None).expect("a torture times its waits");
    let half = Preemption { every_ns: 20_000, for_ns: 20_000 };
    let stalled_ns = longest_ns(Some(half)).expect("a torture times its waits");
    assert!(stalled_ns > 20_000 && stalled_ns > calm_ns * 2, "{stalled_ns} and {calm_ns} ns");
}

#[test]
fn the_sections_of_a_handoff_exclude_each_other_and_who_sleeps_in_one_is_not_spun_on() {
    let machine = Machine::builtin("broadwell-2s-80t").expect("it is built in");
    let parameters = Parameters::default();
    let run = |section| {
        let workload = Workload::Handoff { section, section_ns: 3_000 };
        let base = cell(&machine, &parameters, "mutex");
        run(&Cell { workload, threads: 20, warmup_ns: 0, window_ns: 2_000_000, ..base })
    };
    let (spin, sleep) = (run(Section::Spin), run(Section::Sleep));
    for outcome in [&spin, &sleep] {
        let ops: u64 = outcome.per_thread_ops.iter().sum();
        assert!((300..=700).contains(&ops), "{ops} sections of 3 us in 2 ms");
    }
    assert!(sleep.events.of(Event::mutex_sleep) > 0);
}

#[test]
fn the_tasks_of_a_kernel_share_its_cpus_and_their_time_on_them_is_told() {
    let machine = Machine::builtin("dl980").expect("it is built in");
    let parameters = Parameters::default();
    let (lock_count, compute_ns) = (2, 20_000);
    let workload =
        Workload::Aim7 { lock_count, unit_ops: 1, compute_ns, section_ns: 300, read_percent: 10 };
    let scheduling = Some(Scheduling { kind: ScheduledKind::Kernel, start: StartState::Running });
    let base = cell(&machine, &parameters, "mutex");
    let outcome = run(&Cell { workload, scheduling, threads: 320, window_ns: 2_000_000, ..base });
    let ops: u64 = outcome.per_thread_ops.iter().sum();
    let schedule = outcome.schedule.expect("tasks have a scheduler");
    let busy_ps: u64 = schedule.run_ps.iter().sum();
    // Each operation computes for 20 us on average.
    assert!(busy_ps > ops * 15_000_000 && busy_ps <= 160 * outcome.window_ns * 1_000, "{busy_ps}");
    assert!(ops > 100 && schedule.voluntary_switches.iter().sum::<u64>() > 100, "{ops}");
}
