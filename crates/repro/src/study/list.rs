//! The studies.

use lockwright::tunables::{NUMA_ON, Tunable};
use lockwright_cells::cell::Workload;
use lockwright_sim::machine::ThreadPlacement;
use lockwright_sim::{ScheduledKind, Scheduling, StartState};
use lockwright_workloads::locktorture;

/// A question, and the cells that answer it.
#[derive(Debug)]
pub struct Study {
    /// Its name.
    pub name: &'static str,
    /// The question.
    pub asks: &'static str,
    /// The simulated machines, one after the other.
    pub machines: &'static [StudyMachine],
    /// What the threads do.
    pub workload: Workload,
    /// What is varied.
    pub x: &'static str,
    /// Where threads run that have a CPU each.
    pub placement: ThreadPlacement,
    /// True if the threads are vCPUs of a guest that sees the sockets.
    pub is_guest: bool,
    /// True if the fairness factor of the first lock is drawn, too.
    pub shows_fairness: bool,
    /// The locks.
    pub locks: &'static [&'static str],
    /// Runs of each cell; in a guest with each start state.
    pub seeds: u64,
    /// What is simulated. A point that needs more CPUs than a machine has is left out there.
    pub points: fn() -> Vec<StudyPoint>,
}

/// A machine of a study.
#[derive(Debug)]
pub struct StudyMachine {
    /// What the results call it.
    pub label: &'static str,
    /// The built-in machine.
    pub builtin: &'static str,
    /// Numbers of it that replace those of its file, as `--set` takes them.
    pub numbers: &'static [(&'static str, f64)],
    /// What the parts of the workload's software take, in nanoseconds, where nothing was fitted.
    pub software: &'static [(&'static str, f64)],
}

impl StudyMachine {
    const fn of(name: &'static str) -> Self {
        Self { label: name, builtin: name, numbers: &[], software: &[] }
    }
}

/// A place on the axis.
#[derive(Clone, Debug)]
pub struct StudyPoint {
    /// Where.
    pub x: u64,
    /// Threads, or vCPUs.
    pub threads: u32,
    /// How long is counted, in simulated nanoseconds.
    pub window_ns: u64,
    /// True if the threads ran and paused before that, for somewhat longer than they are counted.
    pub is_after_pause: bool,
    /// Run-time numbers of the locks.
    pub tunables: Vec<(Tunable, u64)>,
}

impl StudyPoint {
    /// How long the threads run, and then pause, if they do.
    pub fn phase_ns(&self) -> u64 {
        self.window_ns / 4 * 5
    }
    /// What is not counted, before the window. After a pause the window begins when the threads run again.
    pub fn warmup_ns(&self) -> u64 {
        self.window_ns / 5 + if self.is_after_pause { 2 * self.phase_ns() } else { 0 }
    }
}

impl Study {
    /// Returns true if its results have a column for the machine.
    pub fn compares_machines(&self) -> bool {
        self.machines.len() > 1
    }
    /// The names of its machines.
    pub fn machine_labels(&self) -> String {
        self.machines.iter().map(|machine| machine.label).collect::<Vec<_>>().join(", ")
    }
    /// The scheduler of each run of a cell.
    pub fn schedulings(&self) -> Vec<Option<Scheduling>> {
        let kind = ScheduledKind::Guest { virtual_numa: true };
        match self.is_guest {
            false => vec![None],
            true => StartState::ALL.iter().map(|&start| Some(Scheduling { kind, start })).collect(),
        }
    }
}

const LOCKTORTURE: Workload = Workload::Locktorture { long_hold: false };

/// Every study.
pub static STUDIES: &[Study] = &[
    Study {
        name: "cna-threshold",
        asks: "how much fairness between sockets does the threshold of CNA trade for throughput?",
        machines: &[StudyMachine::of("x5-4")],
        workload: LOCKTORTURE,
        x: "threshold (handoffs)",
        placement: ThreadPlacement::Random,
        is_guest: false,
        shows_fairness: true,
        locks: &["cna", "qspinlock"],
        seeds: 2,
        points: thresholds,
    },
    Study {
        name: "cna-variants",
        asks: "how much does each version of CNA that was discussed for the kernel gain, at every \
               number of threads?",
        machines: &[StudyMachine::of("x5-4")],
        workload: LOCKTORTURE,
        x: "threads",
        placement: ThreadPlacement::Scheduler56,
        is_guest: false,
        shows_fairness: false,
        locks: &["qspinlock", "cna", "cna-v10_time", "cna-v10_limited", "cna-v11"],
        seeds: 4,
        points: thread_counts,
    },
    Study {
        name: "hybrid-cna-overcommit",
        asks: "does NUMA-aware succession still help a hybrid lock when a 4-socket host is \
               overcommitted?",
        machines: &[StudyMachine::of("x5-4")],
        workload: LOCKTORTURE,
        x: "vcpus",
        placement: ThreadPlacement::Compact,
        is_guest: true,
        shows_fairness: false,
        locks: &[
            "unfair",
            "park",
            "cna-park",
            "hybrid",
            "cna-hybrid",
            "hybrid-bounded",
            "cna-hybrid-bounded",
        ],
        seeds: 1,
        points: vcpu_counts,
    },
    Study {
        name: "numa-succession",
        asks: "how much do CNA and HQ gain over the plain queue on machines with two to 24 NUMA nodes?",
        machines: &[
            StudyMachine::of("x5-4"),
            StudyMachine::of("x5-8"),
            epyc("epyc-9654-nps1", &[("sockets_per_node", 12.0)]),
            epyc("epyc-9654-nps2", &[("sockets_per_node", 6.0)]),
            epyc("epyc-9654-nps4", &[("sockets_per_node", 3.0)]),
            epyc("epyc-9654-nps12", &[("sockets_per_node", 1.0)]),
            StudyMachine { software: NEWER_SOFTWARE, ..StudyMachine::of("kunpeng-920") },
        ],
        workload: Workload::Locktorture { long_hold: true },
        x: "threads",
        placement: ThreadPlacement::Scheduler56,
        is_guest: false,
        shows_fairness: false,
        locks: &["qspinlock", "cna-v15", "hq-bounded", "hq"],
        seeds: 2,
        points: all_thread_counts,
    },
];

/// A guess of what the software of locktorture takes on processors newer than the X5-4's, where it was fitted: three
/// divisions and two indirect calls inside.
const NEWER_SOFTWARE: &[(&str, f64)] =
    &[(locktorture::part::INSIDE, 20.0), (locktorture::part::OUTSIDE, 15.0)];

const fn epyc(label: &'static str, numbers: &'static [(&'static str, f64)]) -> StudyMachine {
    StudyMachine { label, builtin: "epyc-9654", numbers, software: NEWER_SOFTWARE }
}

/// Windows in which every socket has several turns, with the greatest thresholds two or three.
fn thresholds() -> Vec<StudyPoint> {
    let point = |power: u64| StudyPoint {
        x: 1 << power,
        threads: 142,
        window_ns: 20_000_000 + (8 << power) * 330,
        is_after_pause: false,
        tunables: vec![(Tunable::numa_spinlock_threshold, power)],
    };
    [0, 2, 4, 6, 8, 10, 12, 14, 16].map(point).to_vec()
}

/// Up to all CPUs of each machine of `numa-succession`, in a window of some turns of every NUMA node. The threads of
/// locktorture pause every 5 s, which is when HQ leaves queued mode.
fn all_thread_counts() -> Vec<StudyPoint> {
    let mut points = by_threads(&[2, 4, 8, 16, 32, 64, 96, 144, 192, 288, 384], 40_000_000);
    points.iter_mut().for_each(|point| point.is_after_pause = true);
    points
}

fn thread_counts() -> Vec<StudyPoint> {
    // Three thresholds of the versions that count.
    by_threads(&[1, 2, 4, 8, 16, 32, 36, 72, 108, 142], 80_000_000)
}

/// From half to twice as many vCPUs as CPUs.
fn vcpu_counts() -> Vec<StudyPoint> {
    let mut points = by_threads(&[72, 144, 180, 216, 288], 400_000_000);
    // In a guest it is off by default.
    points.iter_mut().for_each(|point| point.tunables.push((Tunable::numa_spinlock, NUMA_ON)));
    points
}

fn by_threads(counts: &[u32], window_ns: u64) -> Vec<StudyPoint> {
    let point = |&threads: &u32| StudyPoint {
        x: threads.into(),
        threads,
        window_ns,
        is_after_pause: false,
        tunables: Vec::new(),
    };
    counts.iter().map(point).collect()
}
