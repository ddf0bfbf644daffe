//! What a lock/unlock pair costs: of one thread when no other thread wants the lock, or of threads that all read,
//! each on a CPU of its own.
//!
//! The locks take turns, batch by batch, so that a change of the clock frequency or a noisy neighbour
//! hits all of them. A batch has no clock inside; a lock's cost in a repetition is the median over its
//! batches, which ignores the few that were interrupted. Several threads begin a batch together. A thread that
//! is done goes on, untimed, until all are done: a batch is timed only while the other threads run theirs.

use super::affinity::stay_on;
use super::locks;
use crate::compiles_every_lock;
use crate::interrupt;
use crate::record::{TrialError, TrialRecord};
use crate::stats::median;
use crate::trial::Trial;
use crate::workload::Workload;
use crate::workload::counter::CounterParams;
use crate::workload::uncontended::{UncontendedState, run_batch, run_batch_of_readers};
use lockwright_catalog::registry::{LockRow, LockVisitor};
use lockwright_core::native::Native;
use lockwright_core::platform::Zeroed;
use lockwright_core::raw::RawLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A batch of one thread alone is about this long.
const BATCH: Duration = Duration::from_micros(50);
/// Fewer batches than this have no median worth the name.
const BATCHES_MIN: usize = 9;
/// What a thread does at a time while it waits for the end of another's batch.
const COMPANY: u64 = 32;

/// What a pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairForm {
    /// Taking the lock and giving it back.
    Own,
    /// Beginning and ending to read.
    Read,
}

impl PairForm {
    /// What the operations of a workload are that does nothing but pairs.
    pub const fn of(workload: Workload) -> Option<Self> {
        match workload {
            Workload::Uncontended(_) => Some(Self::Own),
            Workload::Counter(CounterParams {
                cs_load: 0,
                think_load: 0,
                read_percent: 100,
                empty_section: true,
                ..
            }) => Some(Self::Read),
            _ => None,
        }
    }
}

/// Runs a batch of one lock and times it.
type Batch = Box<dyn Fn(u64) -> Duration + Send + Sync>;

struct MakeBatch(PairForm);

impl LockVisitor<Native> for MakeBatch {
    type Output = Batch;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Batch {
        let state: Box<UncontendedState<L>> = Box::new(Zeroed::zeroed());
        match self.0 {
            PairForm::Own => Box::new(move |pairs| time_batch(&state, pairs)),
            PairForm::Read => Box::new(move |pairs| time_batch_of_readers(&state, pairs)),
        }
    }
}

#[inline(never)]
fn time_batch<L: RawLock>(state: &UncontendedState<L>, pairs: u64) -> Duration {
    let start = Instant::now();
    run_batch(state, pairs);
    start.elapsed()
}

#[inline(never)]
fn time_batch_of_readers<L: RawLock>(state: &UncontendedState<L>, pairs: u64) -> Duration {
    let start = Instant::now();
    run_batch_of_readers(state, pairs);
    start.elapsed()
}

/// A lock whose turn comes in every round.
struct Contestant {
    batch: Batch,
    pairs: u64,
}

impl Contestant {
    /// A lock whose batches have their length and whose code and data are in the caches.
    fn warmed_up(spec: &Trial) -> Self {
        compiles_every_lock();
        let batch = locks::visit(
            spec.lock,
            MakeBatch(PairForm::of(spec.workload).unwrap_or(PairForm::Own)),
        );
        let mut pairs = 64;
        while batch(pairs) < BATCH && pairs < 1 << 24 {
            pairs *= 2;
        }
        Self { batch, pairs }
    }
    /// What came of the batches of all threads.
    fn measured(&self, per_thread_ns: &[&[f64]]) -> TrialRecord {
        let threads = per_thread_ns.len() as f64;
        let all: Vec<f64> = per_thread_ns.iter().copied().flatten().copied().collect();
        let pair_ns = median(&all) / self.pairs as f64;
        let total_ns: f64 = all.iter().sum();
        TrialRecord {
            window_ns: (total_ns / threads) as u64,
            per_thread_ops: per_thread_ns.iter().map(|ns| ns.len() as u64 * self.pairs).collect(),
            ops_per_s: threads * 1e9 / pair_ns,
            cpu_s: total_ns * 1e-9,
            ..TrialRecord::default()
        }
    }
}

/// What the threads of a repetition share.
struct Stage {
    threads: u64,
    contestants: Vec<Contestant>,
    window: Duration,
    /// Threads that came to the start of a batch, of all batches.
    at_start: AtomicU64,
    /// Threads that are done with their part of a batch, of all batches.
    at_end: AtomicU64,
    is_over: AtomicBool,
    /// True if a thread panicked: the other threads stop waiting.
    has_failed: AtomicBool,
}

/// Runs the cells of one repetition, interleaved, with a thread on each of `cpus`.
pub fn run(specs: &[Trial], cpus: &[usize]) -> Vec<Result<TrialRecord, TrialError>> {
    let Some(threads) = specs.iter().map(|spec| spec.threads).max() else {
        return Vec::new();
    };
    // The caller lives on meanwhile: with one thread only, glibc's mutex does without atomic instructions.
    let warm_up = || specs.iter().map(Contestant::warmed_up).collect();
    let warmed_up = on_threads(1, cpus, |_| warm_up());
    let failed = || specs.iter().map(|_| Err(TrialError::Failed("a thread panicked".into())));
    let Some(contestants) = warmed_up.and_then(|mut of_one| of_one.pop()) else {
        return failed().collect();
    };
    let stage = Stage {
        threads: threads as u64,
        contestants,
        window: Duration::from_nanos(specs.iter().map(|spec| spec.window_ns).sum()),
        at_start: AtomicU64::new(0),
        at_end: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        has_failed: AtomicBool::new(false),
    };
    let Some(per_thread) = on_threads(threads, cpus, |thread| stage.take_turns(thread)) else {
        return failed().collect();
    };
    let measured = |(index, contestant): (usize, &Contestant)| {
        let batches: Vec<&[f64]> = per_thread.iter().map(|locks| &*locks[index]).collect();
        Ok(contestant.measured(&batches))
    };
    stage.contestants.iter().enumerate().map(measured).collect()
}

/// What each of `threads` threads returns, the first on the last CPU; `None` if one panicked.
fn on_threads<T: Send>(
    threads: usize,
    cpus: &[usize],
    body: impl Fn(usize) -> T + Sync,
) -> Option<Vec<T>> {
    let body = |thread: usize| {
        if let Some(&cpu) = cpus.iter().rev().nth(thread) {
            stay_on(cpu);
        }
        body(thread)
    };
    std::thread::scope(|scope| {
        let body = &body;
        let started: Vec<_> = (0..threads).map(|t| scope.spawn(move || body(t))).collect();
        // Joins all of them: the scope panics if a thread has panicked and was not joined.
        let ended: Vec<_> = started.into_iter().map(|thread| thread.join()).collect();
        ended.into_iter().map(Result::ok).collect()
    })
}

impl Stage {
    /// What one thread does: the times of its batches, lock by lock.
    fn take_turns(&self, thread: usize) -> Vec<Vec<f64>> {
        let _guard = FailsOnPanic(&self.has_failed);
        let count = self.contestants.len();
        let mut batch_ns = vec![Vec::new(); count];
        let start = Instant::now();
        let (mut rounds, mut batches) = (0, 0);
        loop {
            let goes_on = rounds < BATCHES_MIN
                || (start.elapsed() < self.window && !interrupt::is_requested());
            if thread == 0 && !goes_on {
                // ordering: Relaxed; the others read it behind the start of a batch, which orders it.
                self.is_over.store(true, Ordering::Relaxed);
            }
            for turn in 0..count {
                batches += 1;
                let is_over = self.wait_for_all(&self.at_start, batches);
                if is_over {
                    return batch_ns;
                }
                let at = (turn + rounds) % count;
                batch_ns[at].push(self.run_batch(&self.contestants[at], batches));
            }
            rounds += 1;
        }
    }
    /// Times a batch and goes on until the others are done with theirs.
    fn run_batch(&self, contestant: &Contestant, batches: u64) -> f64 {
        let elapsed = (contestant.batch)(contestant.pairs);
        // ordering: Relaxed; it orders nothing.
        let mut done = self.at_end.fetch_add(1, Ordering::Relaxed) + 1;
        while done < batches * self.threads && !self.has_failed() {
            (contestant.batch)(COMPANY);
            // ordering: Relaxed; as above.
            done = self.at_end.load(Ordering::Relaxed);
        }
        elapsed.as_nanos() as f64
    }
    /// Waits until all threads have come here `times` times. Returns true if the run is over.
    fn wait_for_all(&self, came: &AtomicU64, times: u64) -> bool {
        /// Longer than threads with a CPU each need; others give theirs away.
        const SPINS: u32 = 20_000;
        // ordering: AcqRel; with the load below it orders whether it is over.
        came.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0;
        // ordering: Acquire; as above.
        while came.load(Ordering::Acquire) < times * self.threads && !self.has_failed() {
            spins += 1;
            match spins < SPINS {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
        }
        // ordering: Relaxed; written before the first thread came here.
        self.is_over.load(Ordering::Relaxed) || self.has_failed()
    }
    fn has_failed(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.has_failed.load(Ordering::Relaxed)
    }
}

/// Tells the other threads if its own panics.
struct FailsOnPanic<'a>(&'a AtomicBool);

impl Drop for FailsOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // ordering: Relaxed; nothing is read through it.
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::uncontended::UncontendedParams;

    const READERS: CounterParams = CounterParams {
        cs_load: 0,
        read_percent: 100,
        empty_section: true,
        ..CounterParams::USUAL
    };

    #[test]
    fn only_what_does_nothing_else_is_pairs() {
        assert_eq!(PairForm::of(Workload::Uncontended(UncontendedParams {})), Some(PairForm::Own));
        assert_eq!(PairForm::of(READERS.into()), Some(PairForm::Read));
        assert_eq!(PairForm::of(CounterParams { cs_load: 1, ..READERS }.into()), None);
        assert_eq!(PairForm::of(Workload::counter(0, 0)), None);
    }

    #[test]
    fn a_thread_that_panics_is_an_error_and_not_a_hang() {
        let stage = Stage {
            threads: 2,
            contestants: vec![Contestant { batch: Box::new(|_| panic!("a test")), pairs: 1 }],
            window: Duration::from_millis(1),
            at_start: AtomicU64::new(0),
            at_end: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        };
        assert!(on_threads(2, &[], |thread| stage.take_turns(thread)).is_none());
    }
}
