//! The workloads of the matrix of real use as loads of native threads.

use super::run::Load;
use super::usage::Usage;
use super::worker::NativeWorker;
use crate::cell::{CondvarWaits, RealUse};
use lockwright_catalog::capabilities::{CondvarLock, TimedLock};
use lockwright_core::native::Native;
use lockwright_core::platform::Zeroed;
use lockwright_core::raw::RawLock;
use crate::workload::{
    LockAndValue, Worker, attempts, lru, map, pingpong, queue, sections, shards,
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The load of `workload` if its operations are short: compiled for the lock itself.
pub fn short_load<L: RawLock>(workload: RealUse) -> Box<dyn Load> {
    match workload {
        RealUse::Map { write_percent, .. } => Box::new(Map::<L>::new(write_percent)),
        RealUse::Lru => Box::new(Lru::<L>::new()),
        RealUse::Shards { count } => Box::new(Shards::<L>(zeroed(count as usize))),
        _ => unreachable!("`{}` is a load for an erased lock", workload.name()),
    }
}

/// The load of `workload` with a lock behind a pointer.
pub fn load<L: CondvarLock + TimedLock>(workload: RealUse, threads: usize) -> Box<dyn Load> {
    match workload {
        RealUse::Queue { .. } => Box::new(Queue::<L>::new(queue_of(workload))),
        RealUse::PingPong => {
            debug_assert!(threads == 2, "two threads take turns");
            Box::new(PingPong::<L> { state: Zeroed::zeroed(), tally: Mutex::default() })
        }
        RealUse::Sections { .. } => {
            let knobs = workload.sections();
            let state = Zeroed::zeroed();
            let knobs = knobs.unwrap_or_else(|| unreachable!("these are sections"));
            Box::new(Sections::<L> { state, knobs, tally: Mutex::default() })
        }
        RealUse::Attempts { .. } => {
            let knobs = workload.attempts();
            let knobs = knobs.unwrap_or_else(|| unreachable!("these are attempts"));
            Box::new(Attempts::<L> { state: Zeroed::zeroed(), knobs })
        }
        RealUse::Churn => {
            Box::new(Churn::<L> { state: Zeroed::zeroed(), others: Mutex::default() })
        }
        RealUse::Map { .. } | RealUse::Lru | RealUse::Shards { .. } => short_load::<L>(workload),
    }
}

fn queue_of(workload: RealUse) -> queue::QueueParams {
    workload.queue().unwrap_or_else(|| unreachable!("it is a queue"))
}

/// A number of things that are zero at the start.
fn zeroed<T: Zeroed>(count: usize) -> Vec<T> {
    (0..count).map(|_| T::zeroed()).collect()
}

/// Changes what the threads add to at their end.
fn add<T>(all: &Mutex<T>, change: impl FnOnce(&mut T)) {
    change(&mut all.lock().unwrap_or_else(PoisonError::into_inner));
}

fn read<T: Copy>(all: &Mutex<T>) -> T {
    *all.lock().unwrap_or_else(PoisonError::into_inner)
}

fn waits(waits: u64, futile: u64, ops: u64) -> CondvarWaits {
    let ops = ops.max(1) as f64;
    CondvarWaits { per_op: waits as f64 / ops, futile_per_op: futile as f64 / ops }
}

struct Queue<L: CondvarLock> {
    state: queue::BoundedQueueState<Native, L>,
    slots: Vec<queue::QueueSlot<Native>>,
    knobs: queue::QueueParams,
    tally: Mutex<queue::QueueTally>,
}

impl<L: CondvarLock> Queue<L> {
    fn new(knobs: queue::QueueParams) -> Self {
        let slots = zeroed(knobs.capacity as usize);
        Self { state: Zeroed::zeroed(), slots, knobs, tally: Mutex::default() }
    }
}

impl<L: CondvarLock> Load for Queue<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        let tally = queue::run(worker, &self.state, &self.slots, self.knobs);
        add(&self.tally, |all| all.merge(tally));
    }
    fn fail(&self, ops: u64) -> u64 {
        let all = read(&self.tally);
        ops.abs_diff(all.taken) + self.state.errors(&self.slots, &all)
    }
    fn condvar_waits(&self) -> Option<CondvarWaits> {
        let all = read(&self.tally);
        Some(waits(all.waits, all.futile, all.taken))
    }
}

struct PingPong<L: CondvarLock> {
    state: pingpong::PingPongState<Native, L>,
    tally: Mutex<pingpong::PingPongTally>,
}

impl<L: CondvarLock> Load for PingPong<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        let tally = pingpong::run(worker, &self.state);
        add(&self.tally, |all| {
            all.waits += tally.waits;
            all.futile += tally.futile;
        });
    }
    fn fail(&self, ops: u64) -> u64 {
        ops.abs_diff(self.state.turns())
    }
    fn condvar_waits(&self) -> Option<CondvarWaits> {
        let all = read(&self.tally);
        Some(waits(all.waits, all.futile, self.state.turns()))
    }
}

struct Sections<L> {
    state: sections::SectionsState<Native, L>,
    knobs: sections::SectionsParams,
    tally: Mutex<sections::SectionsTally>,
}

impl<L: RawLock> Load for Sections<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        let tally = sections::run(worker, &self.state, self.knobs);
        add(&self.tally, |all| {
            all.written += tally.written;
            all.disturbed += tally.disturbed;
        });
    }
    fn fail(&self, _ops: u64) -> u64 {
        let all = read(&self.tally);
        self.state.lost(all.written) + all.disturbed
    }
}

struct Attempts<L> {
    state: LockAndValue<Native, L>,
    knobs: attempts::AttemptsParams,
}

impl<L: TimedLock> Load for Attempts<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        attempts::run(worker, &self.state, self.knobs);
    }
    fn fail(&self, ops: u64) -> u64 {
        ops.abs_diff(self.state.value())
    }
}

struct Map<L> {
    state: map::MapState<L>,
    table: Vec<map::MapEntry<Native>>,
    write_percent: u32,
    written: AtomicU64,
    torn: AtomicU64,
}

impl<L: RawLock> Map<L> {
    fn new(write_percent: u32) -> Self {
        let table = zeroed(map::MAP_PLACES);
        map::fill(&table);
        let (written, torn) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { state: Zeroed::zeroed(), table, write_percent, written, torn }
    }
}

impl<L: RawLock> Load for Map<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        let tally = map::run(worker, &self.state, &self.table, self.write_percent);
        // ordering: Relaxed; read after the threads have reported.
        self.written.fetch_add(tally.written, Relaxed);
        // ordering: Relaxed; as above.
        self.torn.fetch_add(tally.torn, Relaxed);
    }
    fn fail(&self, _ops: u64) -> u64 {
        // ordering: Relaxed; as above.
        let (written, torn) = (self.written.load(Relaxed), self.torn.load(Relaxed));
        written.abs_diff(map::written(&self.table)) + torn
    }
}

struct Lru<L> {
    state: lru::LruState<Native, L>,
    entries: Vec<lru::LruEntry<Native>>,
    index: Vec<lru::LruIndex<Native>>,
}

impl<L: RawLock> Lru<L> {
    fn new() -> Self {
        let cache = Self {
            state: Zeroed::zeroed(),
            entries: zeroed(lru::LRU_ENTRIES),
            index: zeroed(lru::LRU_KEYS),
        };
        cache.state.fill(&cache.entries, &cache.index);
        cache
    }
}

impl<L: RawLock> Load for Lru<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        lru::run(worker, &self.state, &self.entries, &self.index);
    }
    fn fail(&self, ops: u64) -> u64 {
        self.state.errors(&self.entries, &self.index, ops)
    }
}

struct Shards<L>(Vec<LockAndValue<Native, L>>);

impl<L: RawLock> Load for Shards<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        shards::run(worker, &self.0);
    }
    fn fail(&self, ops: u64) -> u64 {
        ops.abs_diff(shards::total(&self.0))
    }
}

/// Threads that come and go: each thread of the run starts one, waits for its end, and starts the next.
struct Churn<L> {
    state: LockAndValue<Native, L>,
    /// What the threads that have ended used.
    others: Mutex<Usage>,
}

/// How often a thread takes the lock before it ends.
const CHURN_SECTIONS: u64 = 16;

impl<L: RawLock> Load for Churn<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        while worker.keep_going() {
            let life = crate::erased::in_thread(|| {
                (0..CHURN_SECTIONS).for_each(|_| shards::increment(&self.state));
                let usage = Usage::of_this_thread();
                add(&self.others, |all| *all = all.plus(usage));
            });
            std::thread::scope(|scope| {
                scope.spawn(life);
            });
            worker.op_done();
        }
    }
    fn fail(&self, ops: u64) -> u64 {
        (ops * CHURN_SECTIONS).abs_diff(self.state.value())
    }
    fn usage_of_others(&self) -> Usage {
        read(&self.others)
    }
}
