//! What a pair of lock and unlock costs when nobody else wants the lock.
//!
//! The locks take turns on one thread, batch by batch, so that a change of the clock frequency or a
//! noisy neighbour hits all of them. A batch has no clock inside; a lock's cost in a repetition is
//! the median over its batches, which ignores the few that were interrupted.

use super::affinity::stay_on;
use super::peers;
use crate::cell::{CellError, CellSpec, Measurement};
use crate::compiles_every_lock;
use crate::interrupt;
use crate::stats::median;
use lockwright::native::Native;
use lockwright::platform::Zeroed;
use lockwright::raw::RawLock;
use lockwright::registry::{LockRow, LockVisitor};
use lockwright_clients::workload::uncontended::{State, run_batch};
use std::time::{Duration, Instant};

/// A batch is about this long.
const BATCH: Duration = Duration::from_micros(50);
/// Fewer batches than this have no median worth the name.
const BATCHES_MIN: usize = 9;

/// Times batches of one lock.
type Batch = Box<dyn Fn(u64) -> Duration>;

struct MakeBatch;

impl LockVisitor<Native> for MakeBatch {
    type Output = Batch;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Batch {
        let state: Box<State<L>> = Box::new(Zeroed::zeroed());
        Box::new(move |pairs| time_batch(&state, pairs))
    }
}

#[inline(never)]
fn time_batch<L: RawLock>(state: &State<L>, pairs: u64) -> Duration {
    let start = Instant::now();
    run_batch(state, pairs);
    start.elapsed()
}

/// A lock whose turn comes in every round.
struct Contestant {
    batch: Batch,
    pairs: u64,
    batch_ns: Vec<f64>,
    ops: u64,
}

/// Runs the cells of one repetition, interleaved, on `cpu`.
pub fn run(specs: &[CellSpec], cpu: Option<usize>) -> Vec<Result<Measurement, CellError>> {
    let body = || {
        if let Some(cpu) = cpu {
            stay_on(cpu);
        }
        take_turns(specs)
    };
    // The caller lives on meanwhile: with one thread only, glibc's mutex does without atomic instructions.
    let measured = std::thread::scope(|scope| scope.spawn(body).join());
    match measured {
        Ok(measurements) => measurements.into_iter().map(Ok).collect(),
        Err(_) => {
            let failed = || Err(CellError::Failed("the thread panicked".into()));
            specs.iter().map(|_| failed()).collect()
        }
    }
}

fn take_turns(specs: &[CellSpec]) -> Vec<Measurement> {
    let mut contestants: Vec<_> = specs.iter().map(Contestant::warmed_up).collect();
    let window = Duration::from_nanos(specs.iter().map(|spec| spec.window_ns).sum());
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < BATCHES_MIN || (start.elapsed() < window && !interrupt::is_requested()) {
        let count = contestants.len();
        for turn in 0..count {
            contestants[(turn + rounds) % count].take_turn();
        }
        rounds += 1;
    }
    contestants.into_iter().map(Contestant::measured).collect()
}

impl Contestant {
    /// A lock whose batches have their length and whose code and data are in the caches.
    fn warmed_up(spec: &CellSpec) -> Self {
        compiles_every_lock();
        let batch = peers::visit(spec.lock, MakeBatch);
        let mut pairs = 64;
        while batch(pairs) < BATCH && pairs < 1 << 24 {
            pairs *= 2;
        }
        Self { batch, pairs, batch_ns: Vec::new(), ops: 0 }
    }
    fn take_turn(&mut self) {
        let elapsed = (self.batch)(self.pairs);
        self.batch_ns.push(elapsed.as_nanos() as f64);
        self.ops += self.pairs;
    }
    fn measured(self) -> Measurement {
        let pair_ns = median(&self.batch_ns) / self.pairs as f64;
        let total_ns: f64 = self.batch_ns.iter().sum();
        Measurement {
            window_ns: total_ns as u64,
            per_thread_ops: vec![self.ops],
            ops_per_s: 1e9 / pair_ns,
            cpu_s: total_ns * 1e-9,
            ..Measurement::default()
        }
    }
}
