//! The studies.

use lockwright::tunables::{NUMA_ON, Tunable};
use lockwright_cells::cell::Workload;
use lockwright_sim::machine::ThreadPlacement;
use lockwright_sim::{ScheduledKind, Scheduling, StartState};

/// A question, and the cells that answer it.
#[derive(Debug)]
pub struct Study {
    /// Its name.
    pub name: &'static str,
    /// The question.
    pub asks: &'static str,
    /// The simulated machine.
    pub machine: &'static str,
    /// Numbers of it that replace those of its file, as `--set` takes them.
    pub numbers: &'static [(&'static str, f64)],
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
    /// What is simulated.
    pub points: fn() -> Vec<StudyPoint>,
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
    /// Run-time numbers of the locks.
    pub tunables: Vec<(Tunable, u64)>,
}

impl Study {
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
        machine: "x5-4",
        numbers: &[],
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
        machine: "x5-4",
        numbers: &[],
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
        machine: "x5-4",
        numbers: &[],
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
];

/// Windows in which every socket has several turns, with the greatest thresholds two or three.
fn thresholds() -> Vec<StudyPoint> {
    let point = |power: u64| StudyPoint {
        x: 1 << power,
        threads: 142,
        window_ns: 20_000_000 + (8 << power) * 330,
        tunables: vec![(Tunable::numa_spinlock_threshold, power)],
    };
    [0, 2, 4, 6, 8, 10, 12, 14, 16].map(point).to_vec()
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
    let point =
        |&threads: &u32| StudyPoint { x: threads.into(), threads, window_ns, tunables: Vec::new() };
    counts.iter().map(point).collect()
}
