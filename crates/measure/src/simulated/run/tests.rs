use super::*;
use crate::broken::{ForgetsInside, LosesPatience};
use crate::native::locks::order_of;
use crate::stress::Stress;
use crate::subject::Subject;
use lockwright_catalog::busted::BustedRwLock;
use lockwright_catalog::registry::LockClass;
use lockwright_clients::plain_rw::PlainRwLock;
use lockwright_sim::machine::{Machine, Parameters, ThreadPlacement};

fn x5_4() -> Machine {
    Machine::builtin("x5-4").expect("it is built in")
}

fn software() -> Parameters {
    let parts = [("outside".into(), 36.0), ("inside".into(), 70.0)].into();
    Parameters { software: [("locktorture".into(), parts)].into(), ..Parameters::default() }
}

const NO_STRESS: Stress = Stress {
    long_hold_ns: 0,
    stutter_ns: 0,
    shuffle_ns: 0,
    nested: 0,
    preemption: None,
    readers: 0,
};

static NOT_REGISTERED: LockRow =
    LockRow { name: "not in the registry", aliases: &[], class: LockClass::Reference, models: "" };

/// A torture of a lock that is in no registry, with two threads.
fn cell<'a>(machine: &'a Machine, parameters: &'a Parameters, stress: Stress) -> Cell<'a> {
    Cell {
        machine,
        parameters,
        lock: &NOT_REGISTERED,
        workload: Workload::Locktorture { long_hold: false },
        threads: 2,
        has_siblings: true,
        placement: ThreadPlacement::Compact,
        scheduling: None,
        seed: 1,
        stutter_ns: 0,
        warmup_ns: 50_000,
        window_ns: 2_000_000,
        tunables: &[],
        purpose: Purpose::Torture(stress),
    }
}

#[test]
fn torture_watches_the_order_of_every_lock_that_promises_one() {
    let (machine, parameters) = (x5_4(), software());
    for (lock, promises) in
        [("qspinlock", true), ("ticket", true), ("mcs", true), ("cna", false), ("unfair", false)]
    {
        let order = order_of(Subject::find(lock).expect("a lock of the registry"));
        let lock_type = ErasedType::of::<lockwright_linux::ticket::TicketLock<Sim>>();
        let program = LockProgram {
            order,
            word_is_legal: |_| true,
            lock: lock_type,
            spawn: |_, _, _, _| (),
            spawn_use: None,
        };
        let config = cell(&machine, &parameters, NO_STRESS).config(&program);
        assert_eq!(config.checks.fifo, promises, "{lock}");
    }
}

/// What comes out for the lock `L`.
fn torture<L: RawLock>(stress: Stress) -> Outcome {
    let (machine, parameters) = (x5_4(), software());
    let cell = cell(&machine, &parameters, stress);
    match cell.run_program(&LockProgram::of::<L>(&cell)) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{error}"),
    }
}

fn holds(outcome: &Outcome) -> bool {
    outcome.fail == 0 && outcome.violations.is_empty()
}

#[test]
fn a_lock_that_is_broken_only_inside_another_one_is_caught_by_nesting_alone() {
    let run = |nested| torture::<ForgetsInside<Sim>>(Stress { nested, ..NO_STRESS });
    let (alone, nested) = (run(0), run(2));
    assert!(holds(&alone) && alone.exercised.nested == 0);
    // The workload's flags and the checkers see it independently.
    assert!(nested.fail > 0 && !nested.violations.is_empty() && nested.exercised.nested > 0);
}

#[test]
fn a_lock_that_is_broken_only_by_a_long_hold_is_caught_by_long_holds_alone() {
    let run = |long_hold_ns| torture::<LosesPatience<Sim>>(Stress { long_hold_ns, ..NO_STRESS });
    let (short, long) = (run(0), run(200_000));
    assert!(holds(&short), "{:?}", short.violations);
    assert!(!holds(&long) && long.exercised.long_holds > 0, "{:?}", long.exercised);
}

#[test]
fn a_reader_writer_lock_passes_with_readers_and_one_whose_readers_take_nothing_fails() {
    let with = |readers| Stress { readers, long_hold_ns: 20_000, ..NO_STRESS };
    let plain = torture::<PlainRwLock<Sim>>(with(1));
    assert!(holds(&plain), "{:?}", plain.violations);
    assert!(plain.per_thread_ops.iter().all(|&ops| ops > 10), "{:?}", plain.per_thread_ops);
    let waited = plain.waited.expect("somebody reads");
    assert!(waited.readers.count() > 10 && waited.writers.count() > 10);
    // The workload's flags and the checkers see it independently.
    let busted = torture::<BustedRwLock<Sim>>(with(1));
    assert!(busted.fail > 0 && !busted.violations.is_empty());
    assert!(holds(&torture::<BustedRwLock<Sim>>(with(0))), "its writers exclude each other");
}
