//! One cell of a matrix, and the machines that can run it.
//!
//! A cell is a lock under a workload with a number of threads, run once. A [`LabMachine`] runs
//! cells: [`NativeMachine`](crate::native::NativeMachine) on this computer, the simulated machines
//! in simulated time. Benchmarks and tortures see nothing but this interface.

use crate::interrupt;
use crate::simulated::Fitted;
use crate::stats::Histogram;
use crate::stress::{Exercised, Stress};
use crate::subject::Subject;
use lockwright::events::Event;
use lockwright::tunables::Tunable;
use serde::Serialize;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the threads of a cell do. The loops are in `lockwright_clients::workload`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Workload {
    /// Lock and unlock, alone.
    Uncontended,
    /// A shared counter, with loads inside and outside the critical section.
    Counter {
        /// Pause instructions inside the critical section.
        cs_load: u32,
        /// Pause instructions between two critical sections.
        think_load: u32,
    },
    /// The kernel's locktorture.
    Locktorture {
        /// Whether the rare hold of 100 ms happens.
        long_hold: bool,
    },
}

impl Workload {
    /// The name and the knobs, for people.
    pub fn described(self) -> String {
        match self {
            Self::Counter { cs_load, think_load } => {
                format!("counter (--cs-load {cs_load} --think-load {think_load})")
            }
            _ => self.name().into(),
        }
    }
    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uncontended => "uncontended",
            Self::Counter { .. } => "counter",
            Self::Locktorture { .. } => "locktorture",
        }
    }
}

/// What a cell is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Operations per second. Nothing else happens in the loop.
    Throughput,
    /// Waiting times. Reading the clock slows the loop down, so throughput is not taken from it.
    Latency,
    /// Violations. Every check the machine has is on, waits are timed, and the workload is made
    /// harder.
    Torture(Stress),
}

impl Purpose {
    /// What a torture adds; nothing if it is none.
    pub fn stress(self) -> Stress {
        match self {
            Self::Torture(stress) => stress,
            Self::Throughput | Self::Latency => Stress::default(),
        }
    }
    /// Whether every acquisition is timed.
    pub fn times_waits(self) -> bool {
        self != Self::Throughput
    }
}

/// One cell, to be run once.
#[derive(Clone, Copy, Debug)]
pub struct CellSpec {
    /// The lock.
    pub lock: Subject,
    /// What the threads do.
    pub workload: Workload,
    /// How many threads.
    pub threads: usize,
    /// How long, in nanoseconds of the machine's time.
    pub window_ns: u64,
    /// Which repetition this is, from 0. With `seed` it decides placement and random numbers.
    pub repetition: u32,
    /// The seed of the whole command.
    pub seed: u64,
    /// What it is run for.
    pub purpose: Purpose,
}

/// What came out of one cell.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// How long it ran, in nanoseconds of the machine's time.
    pub window_ns: u64,
    /// Operations of each thread.
    pub per_thread_ops: Vec<u64>,
    /// Operations per second of all threads together, corrected for what does not fit into the
    /// window (see the workload's documentation).
    pub ops_per_s: f64,
    /// Waiting times, unless it was for [`Purpose::Throughput`].
    pub waits: Option<Histogram>,
    /// CPU seconds of all threads, in the machine's time.
    pub cpu_s: f64,
    /// Voluntary context switches of all threads.
    pub voluntary_switches: u64,
    /// Involuntary context switches of all threads.
    pub involuntary_switches: u64,
    /// What the lock counted.
    pub events: EventCounts,
    /// How often a thread saw that it was not alone.
    pub fail: u64,
    /// What the checkers have to say, a sentence each. Empty if everything held.
    pub violations: Vec<String>,
    /// What a torture did beside.
    pub exercised: Exercised,
    /// Simulated torture: the most others that queued later and were served earlier than one waiter.
    pub most_overtakes: Option<u32>,
    /// Simulated: events of the simulation, which is what it costs to run.
    pub simulated_events: u64,
    /// Simulated: fingerprint of the history. Equal histories have equal ones.
    pub digest: Option<String>,
}

impl Measurement {
    /// Operations of all threads.
    pub fn total_ops(&self) -> u64 {
        self.per_thread_ops.iter().sum()
    }
    /// Least and greatest number of operations of a thread.
    pub fn min_max_ops(&self) -> (u64, u64) {
        let min = self.per_thread_ops.iter().min().copied().unwrap_or(0);
        let max = self.per_thread_ops.iter().max().copied().unwrap_or(0);
        (min, max)
    }
    /// Whether exclusion and everything else that was checked held.
    pub fn held(&self) -> bool {
        self.fail == 0 && self.violations.is_empty()
    }
}

/// How often each lock event happened, in the order of [`Event::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventCounts(Vec<u64>);

impl Default for EventCounts {
    fn default() -> Self {
        Self(vec![0; Event::ALL.len()])
    }
}

impl EventCounts {
    /// Counts from something that knows them.
    pub fn from_fn(count: impl Fn(Event) -> u64) -> Self {
        Self(Event::ALL.iter().map(|&event| count(event)).collect())
    }
    /// The events that happened, by name.
    pub fn happened(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = Event::ALL.iter().zip(&self.0);
        all.filter(|&(_, &count)| count > 0).map(|(event, &count)| (event.name(), count))
    }
}

/// Why a cell has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellError {
    /// Somebody pressed Ctrl-C.
    Interrupted,
    /// The run failed; the sentence says how, and how to repeat it.
    Failed(String),
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::Failed(how) => f.write_str(how),
        }
    }
}

/// How threads are put on the CPUs of a simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlacementPolicy {
    /// Socket by socket.
    Compact,
    /// Round robin over the sockets.
    Spread,
    /// A random core for each thread, second hardware threads last.
    Random,
    /// As random, but two threads share a socket: what the scheduler of Linux 5.6 did.
    #[value(name = "scheduler-5.6")]
    #[serde(rename = "scheduler-5.6")]
    Scheduler56,
}

/// What is the same for all cells of a command.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Numbers of the locks that were set; the others keep their defaults.
    pub tunables: Vec<(Tunable, u64)>,
    /// Placement of threads; `None` is the machine's own choice for the workload.
    pub placement: Option<PlacementPolicy>,
}

/// The machine of a document: the `on` of the JSON schema.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum On {
    /// This computer.
    Native {
        /// Its processor.
        machine: String,
        /// CPUs this process may use.
        cpus: usize,
        /// NUMA nodes.
        numa_nodes: u32,
        /// Operating system and version.
        kernel: String,
    },
    /// A described machine. Nothing here may depend on the computer that simulates it.
    Simulated {
        /// Its short name.
        machine: String,
        /// One line about it.
        description: String,
        /// CPUs (hardware threads).
        cpus: usize,
        /// Sockets, each a NUMA node.
        numa_nodes: u32,
        /// Where the threads of the workload run.
        placement: String,
        /// What was fitted for the workload, and on what; `None` if nothing was.
        calibration: Option<Fitted>,
    },
}

impl On {
    /// The machine's name.
    pub fn machine(&self) -> &str {
        match self {
            Self::Native { machine, .. } | Self::Simulated { machine, .. } => machine,
        }
    }
    /// Native or simulated.
    pub fn kind(&self) -> &'static str {
        if self.is_simulated() { "simulated" } else { "native" }
    }
    /// Whether numbers come out of a simulation.
    pub fn is_simulated(&self) -> bool {
        matches!(self, Self::Simulated { .. })
    }
}

/// A machine that runs cells.
pub trait LabMachine: Sync {
    /// What it is when it runs this workload.
    fn on(&self, workload: Workload) -> On;
    /// Whether its numbers come out of a simulation.
    fn is_simulated(&self) -> bool;
    /// How many threads can run at the same time.
    fn cpus(&self) -> usize;
    /// Why it cannot run this lock under this workload, if it cannot: a sentence.
    fn refuses(&self, lock: Subject, workload: Workload) -> Option<String>;
    /// Runs one cell.
    fn run_cell(&self, spec: &CellSpec) -> Result<Measurement, CellError>;
    /// How many cells may run at the same time without disturbing each other.
    fn cells_at_once(&self) -> usize {
        1
    }
    /// Runs several cells; the results are in the order of `specs`. Cells that measure the same
    /// thing for different locks may be interleaved.
    fn run_batch(&self, specs: &[CellSpec]) -> Vec<Result<Measurement, CellError>> {
        let next = AtomicUsize::new(0);
        let results: Vec<_> = specs.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            // ordering: Relaxed; the counter only hands out numbers.
            while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
                && let Some(spec) = specs.get(at)
            {
                let result = match interrupt::is_requested() {
                    true => Err(CellError::Interrupted),
                    false => self.run_cell(spec),
                };
                if let Ok(mut slot) = results[at].lock() {
                    *slot = Some(result);
                }
            }
        };
        match self.cells_at_once().min(specs.len()) {
            0 | 1 => work(),
            workers => std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(work);
                }
            }),
        }
        let lost = || Err(CellError::Failed("the cell's thread ended without a result".into()));
        let take = |slot: Mutex<_>| slot.into_inner().ok().flatten().unwrap_or_else(lost);
        results.into_iter().map(take).collect()
    }
}

/// A machine that exists for the tests of everything above it.
#[cfg(test)]
pub mod mock {
    use super::*;
    use lockwright::registry::LockClass;

    /// Two CPUs, every lock, results made up, and a list of what ran.
    #[derive(Default)]
    pub struct MockMachine {
        ran: Mutex<Vec<(&'static str, Purpose)>>,
    }

    impl MockMachine {
        /// The cells that ran so far, in order.
        pub fn ran(&self) -> Vec<(&'static str, Purpose)> {
            self.ran.lock().expect("no test panics while it holds this").clone()
        }
    }

    impl LabMachine for MockMachine {
        fn on(&self, _workload: Workload) -> On {
            let (machine, kernel) = ("mock".into(), "none".into());
            On::Native { machine, cpus: 2, numa_nodes: 1, kernel }
        }
        fn is_simulated(&self) -> bool {
            false
        }
        fn cpus(&self) -> usize {
            2
        }
        fn refuses(&self, _lock: Subject, _workload: Workload) -> Option<String> {
            None
        }
        fn run_cell(&self, spec: &CellSpec) -> Result<Measurement, CellError> {
            let mut ran = self.ran.lock().expect("no test panics while it holds this");
            ran.push((spec.lock.name(), spec.purpose));
            let mut waits = Histogram::default();
            waits.record(spec.window_ns);
            Ok(Measurement {
                window_ns: spec.window_ns,
                per_thread_ops: vec![10; spec.threads],
                ops_per_s: 10.0 * spec.threads as f64 / (spec.window_ns as f64 * 1e-9),
                waits: spec.purpose.times_waits().then_some(waits),
                fail: u64::from(spec.lock.row.class == LockClass::Busted),
                ..Measurement::default()
            })
        }
    }
}
