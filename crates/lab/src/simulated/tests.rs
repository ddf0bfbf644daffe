use super::*;
use lockwright::registry::{LOCKS, LockClass};

fn x5_4() -> Machine {
    Machine::builtin("x5-4").expect("it is built in")
}

fn software() -> Parameters {
    let parts = [("outside".into(), 36.0), ("inside".into(), 70.0)].into();
    Parameters { software: [("locktorture".into(), parts)].into(), ..Parameters::default() }
}

const TORTURE: Workload = Workload::Locktorture { long_hold: false };

fn cell<'a>(machine: &'a Machine, parameters: &'a Parameters, lock: &'a str) -> Cell<'a> {
    Cell {
        machine,
        parameters,
        lock,
        workload: TORTURE,
        threads: 8,
        placement: Placement::Random,
        seed: 1,
        warmup_ns: 50_000,
        window_ns: 200_000,
        tunables: &[],
        purpose: Purpose::Throughput,
    }
}

/// Whether torture watches the order in which a lock serves.
struct WatchesOrder<'a, 'b>(&'a Cell<'b>);

impl LockVisitor<Sim> for WatchesOrder<'_, '_> {
    type Output = bool;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> bool {
        self.0.config::<L>().checks.fifo
    }
}

#[test]
fn torture_watches_the_order_of_every_lock_that_promises_one() {
    let (machine, parameters) = (x5_4(), software());
    for (lock, promises) in
        [("qspinlock", true), ("ticket", true), ("mcs", true), ("cna", false), ("unfair", false)]
    {
        let cell = Cell { purpose: Purpose::Torture, ..cell(&machine, &parameters, lock) };
        assert_eq!(registry::visit(lock, WatchesOrder(&cell)), Some(promises), "{lock}");
    }
}

fn run(cell: &Cell<'_>) -> Outcome {
    match cell.run() {
        Ok(outcome) => outcome,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_lock_passes_torture_and_the_busted_one_fails() {
    let (machine, parameters) = (x5_4(), software());
    for row in LOCKS {
        let cell = Cell { purpose: Purpose::Torture, ..cell(&machine, &parameters, row.name) };
        let outcome = run(&cell);
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
        let outcomes = run_cells(&cells, workers).into_iter();
        outcomes.map(|o| o.map(|o| (o.per_thread_ops, o.events))).collect()
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
    for workload in
        [Workload::Uncontended, Workload::Counter { cs_load: 3, think_load: 10 }, TORTURE]
    {
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
    let base = cell(&machine, &parameters, "no-such-lock");
    assert_eq!(base.run().err(), Some(SimulatedError::UnknownLock("no-such-lock".into())));
    let crowd = Cell { lock: "mcs", threads: 145, ..base };
    assert_eq!(
        crowd.run().err(),
        Some(SimulatedError::Placement(PlacementError { threads: 145, cpus: 144 }))
    );
}

#[test]
fn a_run_that_gets_stuck_is_an_error_that_names_its_seed() {
    let (machine, parameters) = (x5_4(), software());
    // One long section per thread, so nobody comes back within the limit.
    let parts = [("inside".into(), 1e12)].into();
    let endless = Parameters { software: [("locktorture".into(), parts)].into(), ..parameters };
    let error = Cell { seed: 77, ..cell(&machine, &endless, "mcs") }.run().expect_err("no end");
    let sentence = error.to_string();
    assert!(
        sentence.starts_with("simulated `mcs` with 8 threads and seed 77 failed: "),
        "{sentence}"
    );
}
