use super::*;
use crate::broken::{ForgetsInside, LosesPatience};
use crate::native::locks::order_of;
use crate::stress::Stress;
use crate::subject::Subject;
use crate::subject::SubjectOrigin;
use crate::workload::locktorture::LocktortureParams;
use lockwright_catalog::busted::BustedRwLock;
use lockwright_catalog::registry::LockClass;
use lockwright_clients::plain_rw::PlainRwLock;
use lockwright_sim::machine::{Machine, Parameters, ThreadPlacement};

fn x5_4() -> SimulatedMachine {
    let machine = Machine::builtin("x5-4").expect("it is built in");
    let parts = [("outside".into(), 36.0), ("inside".into(), 70.0)].into();
    let software = [("locktorture".into(), parts)].into();
    let parameters = Parameters { software, ..Parameters::default() };
    SimulatedMachine::fitted_with(&machine, &parameters).expect("it is sound")
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
fn trial(stress: Stress) -> Trial {
    let lock = Subject { row: &NOT_REGISTERED, origin: SubjectOrigin::Registry };
    let workload = Workload::Locktorture(LocktortureParams { long_hold: false, stutter_ns: 0 });
    Trial {
        placement: Some(ThreadPlacement::Compact),
        warmup_ns: Some(50_000),
        purpose: Purpose::Torture(stress),
        ..Trial::new(lock, workload, 2, 2_000_000, 1)
    }
}

#[test]
fn torture_watches_the_order_of_every_lock_that_promises_one() {
    let (machine, trial) = (x5_4(), trial(NO_STRESS));
    for (lock, promises) in
        [("qspinlock", true), ("ticket", true), ("mcs", true), ("cna", false), ("unfair", false)]
    {
        let order = order_of(Subject::find(lock).expect("a lock of the registry"));
        let lock_type = ErasedType::of::<lockwright_linux::ticket::TicketLock<Sim>>();
        let program = LockProgram {
            order,
            word_is_legal: |_| true,
            lock: lock_type,
            spawn: |_, _, _, _| Box::new(|| (Finding::default(), None)),
        };
        let config = SimulatedRun { machine: &machine, trial: &trial }.config(&program);
        assert_eq!(config.checks.fifo, promises, "{lock}");
    }
}

/// What comes out for the lock `L`.
fn torture<L: RawLock>(stress: Stress) -> TrialRecord {
    let (machine, trial) = (x5_4(), trial(stress));
    let run = SimulatedRun { machine: &machine, trial: &trial };
    match run.run_program(&LockProgram::of::<L>(&trial)) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{error}"),
    }
}

fn holds(outcome: &TrialRecord) -> bool {
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
