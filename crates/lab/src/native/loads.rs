//! The workloads as loads of native threads, for any lock.

use super::checked::Checked;
use super::run::{Load, Plan, run_threads};
use super::worker::NativeWorker;
use crate::cell::{CellError, CellSpec, Measurement, Purpose, Workload};
use crate::latency::Timed;
use lockwright::native::Native;
use lockwright::platform::Zeroed;
use lockwright::raw::RawLock;
use lockwright::registry::{LockRow, LockVisitor};
use lockwright_clients::workload::{counter, locktorture, uncontended};
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs the cell `spec` for the lock that is visited.
pub struct RunCell<'a> {
    /// The cell.
    pub spec: &'a CellSpec,
    /// Threads, CPUs and time.
    pub plan: Plan<'a>,
}

impl LockVisitor<Native> for RunCell<'_> {
    type Output = Result<Measurement, CellError>;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Self::Output {
        match self.spec.purpose {
            Purpose::Throughput => self.run::<L>(),
            Purpose::Latency => self.run::<Timed<Native, L>>(),
            Purpose::Torture => self.run::<Checked<L>>(),
        }
    }
}

impl RunCell<'_> {
    fn run<L: RawLock>(&self) -> Result<Measurement, CellError> {
        match self.spec.workload {
            Workload::Uncontended => run_threads(&self.plan, Pairs::<L>(Zeroed::zeroed())),
            Workload::Counter { cs_load, think_load } => {
                let knobs = counter::Knobs { cs_load, think_load };
                run_threads(&self.plan, Counter::<L> { state: Zeroed::zeroed(), knobs })
            }
            Workload::Locktorture { long_hold } => {
                let threads = self.plan.threads;
                let knobs = locktorture::Knobs { threads: threads as u32, long_hold };
                let lines = locktorture::stats_lines(threads);
                let stats = (0..lines).map(|_| Zeroed::zeroed()).collect();
                let fail = AtomicU64::new(0);
                run_threads(
                    &self.plan,
                    Torture::<L> { state: Zeroed::zeroed(), stats, knobs, fail },
                )
            }
        }
    }
}

struct Pairs<L>(uncontended::State<L>);

impl<L: RawLock> Load for Pairs<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        uncontended::run(worker, &self.0);
    }
}

struct Counter<L> {
    state: counter::State<Native, L>,
    knobs: counter::Knobs,
}

impl<L: RawLock> Load for Counter<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        counter::run(worker, &self.state, self.knobs);
    }
    fn fail(&self, ops: u64) -> u64 {
        ops.saturating_sub(self.state.value())
    }
}

struct Torture<L> {
    state: locktorture::State<Native, L>,
    stats: Vec<locktorture::StatsLine<Native>>,
    knobs: locktorture::Knobs,
    fail: AtomicU64,
}

impl<L: RawLock> Load for Torture<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        let line = worker.number() / locktorture::STATS_PER_LINE;
        let tally = locktorture::run(worker, &self.state, &self.stats[line], self.knobs);
        // ordering: Relaxed; read after the threads have reported.
        self.fail.fetch_add(tally.failed, Ordering::Relaxed);
    }
    fn fail(&self, _ops: u64) -> u64 {
        // ordering: Relaxed; as above.
        self.fail.load(Ordering::Relaxed)
    }
}
