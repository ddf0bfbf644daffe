//! Simulated machines as the commands see them.

use lockwright_core::raw::FairnessThreshold;
use lockwright_core::tunables::{NUMA_OFF, Tunable};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, On, Settings, Trial};
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::locktorture::LocktortureParams;
use lockwright_measure::workload::uncontended::UncontendedParams;
use lockwright_sim::machine::{Calibration, Machine};
use lockwright_sim::{ScheduledKind, Scheduling, StartState};

fn open(settings: Settings) -> SimulatedMachine {
    match SimulatedMachine::builtin("x5-4", settings) {
        Some(Ok(machine)) => machine,
        other => panic!("{other:?}"),
    }
}

const UNCONTENDED: Workload = Workload::Uncontended(UncontendedParams {});

fn spec(lock: &str, repetition: u32) -> Trial {
    let lock = Subject::find(lock).expect("it is a lock");
    let workload = Workload::Locktorture(LocktortureParams::USUAL);
    Trial { repetition, ..Trial::new(lock, workload, 16, 200_000, 1) }
}

#[test]
fn the_builtin_machine_runs_with_its_calibration_and_says_so() {
    let machine = open(Settings::default());
    let calibration = Calibration::builtin("x5-4").expect("the X5-4 is calibrated");
    let told = |workload| match machine.on(workload) {
        On::Simulated { cpus, numa_nodes, placement, calibration, .. } => {
            assert_eq!((cpus, numa_nodes), (144, 4));
            let placement = placement.expect("its threads are not vCPUs");
            (placement, calibration.expect("costs of the hardware were fitted"))
        }
        on => panic!("it is simulated: {on:?}"),
    };
    let (placement, fitted) = told(Workload::Locktorture(LocktortureParams::USUAL));
    assert_eq!((&*placement, &fitted.hash), ("scheduler-5.6", &calibration.hash));
    assert!(fitted.parameters.contains_key("locktorture.inside_ns"), "{fitted}");
    let (placement, fitted) = told(UNCONTENDED);
    assert_eq!((&*placement, &fitted.hash), ("compact", &calibration.hash));
    assert!(fitted.parameters.keys().all(|key| !key.contains("locktorture")), "{fitted}");

    let bare = Machine::builtin("x5-4").expect("it is built in");
    let bare = SimulatedMachine::new(bare, None, Settings::default()).expect("it is valid");
    let On::Simulated { placement, calibration: None, .. } = bare.on(UNCONTENDED) else {
        panic!("nothing was fitted")
    };
    assert_eq!(placement.as_deref(), Some("compact"));
    let rate = |machine: &SimulatedMachine| {
        machine.run_trial(&spec("qspinlock", 0)).expect("it runs").ops_per_s
    };
    assert!(rate(&machine) < rate(&bare), "software takes time");
}

#[test]
fn a_lock_says_itself_how_long_it_is_unfair_and_the_machine_who_waits_for_that() {
    let window = |settings: &[(Tunable, u64)], spec: Trial| {
        let settings = Settings { tunables: settings.to_vec(), ..Settings::default() };
        open(settings).fairness_window(&spec)
    };
    let threshold = |lock| window(&[], spec(lock, 0)).threshold;
    let none = FairnessThreshold::default();
    let by_count = FairnessThreshold { handoffs_per_node: 1 << 16, ..none };
    let ns = |ns| FairnessThreshold { ns, ..none };
    for (lock, expected) in [
        ("mcs", none),
        ("unfair", none),
        ("cna", by_count),
        // More than three jiffies of 4 ms.
        ("cna-v11", FairnessThreshold { ns_per_node: 16_000_000, ..none }),
        ("cna-v15", FairnessThreshold { ns_per_node: 1_000_000, ..none }),
        ("cna-hybrid-bounded", FairnessThreshold { ns_per_waiter: 500_000, ..by_count }),
        ("mutex", ns(4_000_000)),
        ("rwlock", ns(4_000_000)),
        ("rwlock-fair", none),
        ("percpu-rwlock", ns(4_000_000)),
        ("rwsem-v3_12", none),
        ("rwsem-current", ns(4_000_000)),
    ] {
        assert_eq!(threshold(lock), expected, "{lock}");
    }
    let cna = spec("cna", 0);
    assert_eq!(window(&[], cna).nodes, 4, "16 threads at random");
    let compact = Trial { workload: UNCONTENDED, ..cna };
    assert_eq!(window(&[], compact).nodes, 1, "16 threads on a socket");
    let set = |tunable, value| window(&[(tunable, value)], cna).threshold;
    assert_eq!(set(Tunable::numa_spinlock, NUMA_OFF), none);
    let reached = FairnessThreshold { handoffs_per_node: 8, ..none };
    assert_eq!(set(Tunable::numa_spinlock_threshold, 3), reached);
    let rwsem = window(&[(Tunable::rwsem_handoff_ns, 7)], spec("rwsem-current", 0));
    assert_eq!(rwsem.threshold, ns(7));
    let kind = ScheduledKind::Guest { virtual_numa: false };
    let scheduling = Some(Scheduling { kind, start: StartState::Queued });
    let guest = window(&[], Trial { scheduling, ..cna });
    assert_eq!((guest.threshold, guest.nodes), (none, 1), "a guest without NUMA");
}

#[test]
fn repetitions_differ_and_each_is_repeatable() {
    let machine = open(Settings::default());
    let ops =
        |repetition| machine.run_trial(&spec("cna", repetition)).expect("it runs").per_thread_ops;
    assert_eq!(ops(0), ops(0));
    assert_ne!(ops(0), ops(1));
}

#[test]
fn every_thread_gets_a_mutex_with_short_sections() {
    // Its waiters can hardly fall asleep: the word changes before they do.
    let machine = open(Settings::default());
    let workload = Workload::counter(20, 0);
    for (lock, threads) in [("mutex", 2), ("mutex", 8), ("cna-mutex", 2)] {
        let spec = Trial { workload, threads, window_ns: 10_000_000, ..spec(lock, 0) };
        let ops = machine.run_trial(&spec).expect("it runs").per_thread_ops;
        assert!(ops.iter().all(|&ops| ops > 100), "{lock}: {ops:?}");
    }
}
