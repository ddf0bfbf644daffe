//! The threads of the workloads of real use, on a simulated machine.
//!
//! When the simulation has ended, each checks its work.

use super::stage::{Parts, SimStage};
use super::worker::SimWorker;
use crate::cell::RealUse;
use crate::erased::{AskCondvar, AskLockUntil, CapableVisitor, ErasedType};
use lockwright_catalog::capabilities::{CondvarLock, TimedLock};
use lockwright_catalog::registry::{self, LockRow};
use lockwright_core::platform::Zeroed;
use lockwright_core::raw::RawLock;
use lockwright_sim::Sim;
use crate::workload::{
    LockAndValue, Worker, attempts, lru, map, pingpong, queue, sections, shards,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Adds the threads of a workload.
pub type SpawnUse = for<'a> fn(RealUse, &mut SimStage<'a, '_>, Parts<'a>);

/// What the lock of `row` can do, with the type of all that it can.
pub fn type_of<L: RawLock>(row: &LockRow) -> ErasedType {
    ErasedType::of::<L>()
        .with_condvar(registry::visit_condvar::<Sim, _>(row, AskCondvar))
        .with_lock_until(registry::visit_timed::<Sim, _>(row, AskLockUntil))
}

/// How to add the threads.
pub struct SpawnUseOf;

impl CapableVisitor for SpawnUseOf {
    type Output = SpawnUse;

    fn visit<L: CondvarLock + TimedLock>(self) -> SpawnUse {
        spawn::<L>
    }
}

/// What the threads did, all together.
type Shared<T> = Rc<RefCell<T>>;

fn spawn<'a, L: CondvarLock + TimedLock>(
    workload: RealUse,
    stage: &mut SimStage<'a, '_>,
    parts: Parts<'a>,
) {
    match workload {
        RealUse::Queue { .. } => {
            let knobs = workload.queue().unwrap_or_else(|| unreachable!("it is a queue"));
            spawn_queue::<L>(knobs, stage, parts);
        }
        RealUse::PingPong => {
            let state = stage.simulation.alloc(pingpong::PingPongState::<Sim, L>::zeroed());
            let all = counted(
                stage,
                move |worker| {
                    pingpong::run(worker, state);
                },
                parts,
            );
            stage.check(move || all.borrow().abs_diff(state.turns()));
        }
        RealUse::Sections { .. } => {
            let knobs = workload.sections().unwrap_or_else(|| unreachable!("these are sections"));
            spawn_sections::<L>(knobs, stage, parts);
        }
        RealUse::Attempts { .. } => {
            let knobs = workload.attempts().unwrap_or_else(|| unreachable!("these are attempts"));
            let state = stage.simulation.alloc(LockAndValue::<Sim, L>::zeroed());
            let all = counted(
                stage,
                move |worker| {
                    attempts::run(worker, state, knobs);
                },
                parts,
            );
            stage.check(move || all.borrow().abs_diff(state.value()));
        }
        RealUse::Map { write_percent, .. } => spawn_map::<L>(write_percent, stage, parts),
        RealUse::Lru => spawn_lru::<L>(stage, parts),
        RealUse::Shards { count } => {
            let locks: &[LockAndValue<Sim, L>] = zeroed(stage, count as usize);
            let all = counted(stage, move |worker| shards::run(worker, locks), parts);
            stage.check(move || all.borrow().abs_diff(shards::total(locks)));
        }
        RealUse::Churn => unreachable!("a simulated machine refuses `churn`"),
    }
}

/// A number of things that are zero at the start.
fn zeroed<'a, T: Zeroed + 'static>(stage: &mut SimStage<'a, '_>, count: usize) -> &'a [T] {
    stage.simulation.alloc_slice_at(0, count, |_| T::zeroed())
}

/// Adds threads whose operations are counted, all of them: also those before and after the window.
fn counted<'a>(
    stage: &mut SimStage<'a, '_>,
    body: impl Fn(&mut Counting<'a>) + Copy + 'a,
    parts: Parts<'a>,
) -> Shared<u64> {
    let all = Shared::<u64>::default();
    stage.spawn(|_| {
        let all = Rc::clone(&all);
        move || {
            let mut worker = Counting { worker: SimWorker::new(parts), ops: 0 };
            body(&mut worker);
            *all.borrow_mut() += worker.ops;
        }
    });
    all
}

/// A worker that counts its operations.
struct Counting<'a> {
    worker: SimWorker<'a>,
    ops: u64,
}

impl Worker for Counting<'_> {
    type P = Sim;

    fn keep_going(&mut self) -> bool {
        self.worker.keep_going()
    }
    fn op_done(&mut self) {
        self.ops += 1;
        self.worker.op_done();
    }
    fn random(&mut self) -> u64 {
        self.worker.random()
    }
    fn index(&self) -> usize {
        self.worker.index()
    }
    fn software(&mut self, part: &'static str) {
        self.worker.software(part);
    }
    fn hold_ns(&mut self, ns: u64) {
        self.worker.hold_ns(ns);
    }
    fn compute_ns(&mut self, ns: u64) {
        self.worker.compute_ns(ns);
    }
    fn user_ns(&mut self, ns: u64) {
        self.worker.user_ns(ns);
    }
    fn overlap(&mut self, words: &[*const ()]) {
        self.worker.overlap(words);
    }
}

fn spawn_queue<'a, L: CondvarLock>(
    knobs: queue::QueueParams,
    stage: &mut SimStage<'a, '_>,
    parts: Parts<'a>,
) {
    let state = stage.simulation.alloc(queue::BoundedQueueState::<Sim, L>::zeroed());
    let slots: &[queue::QueueSlot<Sim>] = zeroed(stage, knobs.capacity as usize);
    let all = Shared::<queue::QueueTally>::default();
    stage.spawn(|_| {
        let all = Rc::clone(&all);
        move || {
            let tally = queue::run(&mut SimWorker::new(parts), state, slots, knobs);
            all.borrow_mut().merge(tally);
        }
    });
    stage.check(move || state.errors(slots, &all.borrow()));
}

fn spawn_sections<'a, L: RawLock>(
    knobs: sections::SectionsParams,
    stage: &mut SimStage<'a, '_>,
    parts: Parts<'a>,
) {
    let state = stage.simulation.alloc(sections::SectionsState::<Sim, L>::zeroed());
    let all = Shared::<sections::SectionsTally>::default();
    stage.spawn(|_| {
        let all = Rc::clone(&all);
        move || {
            let tally = sections::run(&mut SimWorker::new(parts), state, knobs);
            let mut all = all.borrow_mut();
            all.written += tally.written;
            all.disturbed += tally.disturbed;
        }
    });
    stage.check(move || state.lost(all.borrow().written) + all.borrow().disturbed);
}

fn spawn_map<'a, L: RawLock>(write_percent: u32, stage: &mut SimStage<'a, '_>, parts: Parts<'a>) {
    let state = stage.simulation.alloc(map::MapState::<L>::zeroed());
    let table: &[map::MapEntry<Sim>] = zeroed(stage, map::MAP_PLACES);
    map::fill(table);
    let all = Shared::<map::MapTally>::default();
    stage.spawn(|_| {
        let all = Rc::clone(&all);
        move || {
            let tally = map::run(&mut SimWorker::new(parts), state, table, write_percent);
            let mut all = all.borrow_mut();
            all.written += tally.written;
            all.torn += tally.torn;
        }
    });
    stage.check(move || all.borrow().written.abs_diff(map::written(table)) + all.borrow().torn);
}

fn spawn_lru<'a, L: RawLock>(stage: &mut SimStage<'a, '_>, parts: Parts<'a>) {
    let state = stage.simulation.alloc(lru::LruState::<Sim, L>::zeroed());
    let entries: &[lru::LruEntry<Sim>] = zeroed(stage, lru::LRU_ENTRIES);
    let index: &[lru::LruIndex<Sim>] = zeroed(stage, lru::LRU_KEYS);
    state.fill(entries, index);
    let all = counted(stage, move |worker| lru::run(worker, state, entries, index), parts);
    stage.check(move || state.errors(entries, index, *all.borrow()));
}
