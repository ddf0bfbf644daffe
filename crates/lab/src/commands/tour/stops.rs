//! The stops of the tour: what each measures, and what it shows.

use super::sentences;
use crate::commands::bench::{BenchDocument, Benchmark, Together};
use crate::machines;
use crate::matrix::Matrix;
use crate::options::{self, MachineArgs};
use crate::thread_counts::ThreadCounts;
use lockwright_measure::error::Error;
use lockwright_measure::trial::Settings;
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::counter::CounterParams;
use lockwright_measure::workload::uncontended::UncontendedParams;
use lockwright_sheets::Progress;

/// A benchmark and its picture.
pub struct Stop {
    /// Its key in the document.
    pub key: &'static str,
    /// What its picture is called.
    pub picture: &'static str,
    /// What is to be seen.
    pub about: &'static str,
    /// What the picture shows, in a sentence.
    pub tell: fn(&BenchDocument) -> Option<String>,
    /// The machine, as `bench` takes it.
    on: &'static str,
    workload: Workload,
    /// Names, separated by commas.
    locks: &'static str,
    /// How many threads, on a machine with that many CPUs.
    threads: fn(usize) -> Vec<usize>,
    /// Repetitions.
    runs: u32,
}

/// The guest: three quarters of a host's CPUs to three times as many, from one of the three start
/// states, because a picture has room for one.
const GUEST: &str = "--on haswell-2s --start-state random-queue --vcpus 36,54,72,108";

/// Of each repetition.
const WINDOW_NS: u64 = 50_000_000;

/// Each shows what programs use, on this machine, but the last.
pub const STOPS: [Stop; 6] = [
    Stop {
        key: "uncontended",
        picture: "uncontended.svg",
        about: "1. A lock/unlock pair of one thread",
        tell: sentences::alone,
        on: "",
        workload: Workload::Uncontended(UncontendedParams {}),
        locks: "floor,mutex,std,parking_lot,pthread,qspinlock",
        threads: |_| vec![1],
        runs: 5,
    },
    Stop {
        key: "counter",
        picture: "counter.svg",
        about: "2. A mutex that several threads want",
        tell: |document| sentences::against(document, &["mutex"]),
        on: "",
        workload: Workload::counter(1, 4),
        locks: "mutex,std,parking_lot,pthread",
        threads: |cpus| vec![1, cpus],
        runs: 5,
    },
    Stop {
        key: "readers",
        picture: "readers.svg",
        about: "3. A reader-writer lock, all operations read",
        ..reading(100)
    },
    Stop {
        key: "readers_90",
        picture: "readers_90.svg",
        about: "4. A reader-writer lock, 90 % of the operations read",
        ..reading(90)
    },
    Stop {
        key: "oversubscribed",
        picture: "oversubscribed.svg",
        about: "5. More threads than CPUs: why a spinlock is the wrong choice for a program.\n\
                Its waiters burn the CPU time that the owner needs; those of a mutex sleep.",
        tell: sentences::oversubscribed,
        on: "",
        workload: Workload::counter(20, 0),
        locks: "mutex,std,parking_lot,qspinlock",
        // Each handoff in a queue of spinners costs a time slice, and every waiter has to end its wait
        // when the time is over: with many CPUs a tour has time for twice as many threads only.
        threads: |cpus| vec![cpus, cpus * if cpus <= 4 { 8 } else { 2 }],
        runs: 3,
    },
    Stop {
        key: "guest",
        picture: "guest_haswell_2s.svg",
        about: "6. Simulated: a guest with more vCPUs than its host has CPUs",
        tell: sentences::oversubscribed,
        on: GUEST,
        workload: Workload::counter(1, 0),
        locks: "qspinlock,park,hybrid,unfair",
        threads: |_| Vec::new(),
        runs: 1,
    },
];

/// Readers and, below 100 percent, writers.
const fn reading(read_percent: u32) -> Stop {
    Stop {
        key: "",
        picture: "",
        about: "",
        tell: |document| sentences::against(document, &["rwlock", "percpu-rwlock"]),
        on: "",
        workload: Workload::Counter(CounterParams {
            think_load: 4,
            read_percent,
            ..CounterParams::USUAL
        }),
        locks: "rwlock,percpu-rwlock,std-rwlock,parking_lot-rwlock",
        threads: |cpus| vec![cpus],
        runs: 5,
    }
}

impl Stop {
    /// Runs the benchmark.
    pub fn measure(&self, seed: u64, progress: Progress) -> Result<BenchDocument, Error> {
        let asked: MachineArgs = options::read(self.on);
        let machine = machines::open(&asked)?;
        let machine = machine.as_ref();
        let threads = (self.threads)(machine.cpus());
        let thread_counts = ThreadCounts::asked(machine, self.workload, &asked, &threads, &[])?;
        let locks: Vec<String> = self.locks.split(',').map(String::from).collect();
        let schedule = Benchmark {
            matrix: Matrix::new(machine, self.workload, &locks, thread_counts)?,
            workloads: vec![self.workload],
            runs: self.runs,
            window_ns: WINDOW_NS,
            seed,
            together: Together::on(machine),
            part: lockwright_parts::Part::default(),
        };
        let mut document = BenchDocument::new(&schedule, machine, &Settings::default());
        let foreign = machines::watch(machine, progress);
        schedule.run(machine, progress, &mut |sample| {
            document.add(sample);
            Ok(())
        })?;
        document.add_foreign_load(foreign);
        document.verdict().map(|()| document)
    }
}
