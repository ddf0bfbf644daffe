//! What programs use, on this machine: the mutex and the reader-writer locks next to those of std and
//! parking_lot.

use super::guide::Guide;
use super::plan::StopPlan;
use crate::commands::bench::BenchDocument;
use crate::thread_counts::ThreadCounts;
use lockwright_measure::error::Error;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::counter::CounterParams;
use lockwright_measure::workload::uncontended::UncontendedParams;

const RUNS: u32 = 5;
const WINDOW_NS: u64 = 50_000_000;

/// What a lock/unlock pair costs when no other thread wants the lock.
pub fn alone(native: &dyn LabMachine, guide: &Guide) -> Result<BenchDocument, Error> {
    let locks = "floor,mutex,std,parking_lot,pthread,qspinlock";
    run(native, Workload::Uncontended(UncontendedParams {}), locks, &[1], guide)
}

/// A mutex that several threads want.
pub fn contended(native: &dyn LabMachine, guide: &Guide) -> Result<BenchDocument, Error> {
    run(native, Workload::counter(1, 4), "mutex,std,parking_lot,pthread", &counts(native), guide)
}

/// Readers only.
pub fn readers(native: &dyn LabMachine, guide: &Guide) -> Result<BenchDocument, Error> {
    reading(native, 100, guide)
}

/// Readers and, now and then, a writer.
pub fn mixed(native: &dyn LabMachine, guide: &Guide) -> Result<BenchDocument, Error> {
    reading(native, 90, guide)
}

fn reading(native: &dyn LabMachine, percent: u32, guide: &Guide) -> Result<BenchDocument, Error> {
    let workload = Workload::Counter(CounterParams {
        think_load: 4,
        read_percent: percent,
        ..CounterParams::USUAL
    });
    let locks = "rwlock,percpu-rwlock,std-rwlock,parking_lot-rwlock";
    run(native, workload, locks, &[native.cpus()], guide)
}

/// One thread, and one for each CPU.
fn counts(native: &dyn LabMachine) -> Vec<usize> {
    let mut counts = vec![1, native.cpus()];
    counts.dedup();
    counts
}

fn run(
    native: &dyn LabMachine,
    workload: Workload,
    locks: &str,
    threads: &[usize],
    guide: &Guide,
) -> Result<BenchDocument, Error> {
    let thread_counts = ThreadCounts::of_threads(native, workload, threads)?;
    let plan = StopPlan { workload, locks, runs: RUNS, window_ns: WINDOW_NS, seed: guide.seed };
    plan.run(native, thread_counts, guide)
}
