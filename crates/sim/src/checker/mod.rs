//! Watchers of a run, one property a file. They watch and do not drive: nothing they do takes
//! simulated time or changes what a thread does next.

mod exclusion;
mod fifo;
mod freed;
mod legality;
mod overtaking;
mod place;
mod stuck;

pub use stuck::stuck_threads;

use crate::arena::LINE_BYTES;
use crate::config::Checks;
use crate::report::{Failure, FailureKind};
use core::ops::Range;
use exclusion::Exclusion;
use freed::Freed;
use place::QueuePlace;

/// Failures that are described; more are only counted.
const DESCRIBED_MAX: usize = 32;

/// The thread that calls, when it calls and about which lock (as an offset into the arena).
#[derive(Clone, Copy)]
pub struct Call {
    pub at_ps: u64,
    pub thread: usize,
    pub offset: usize,
}

struct WatchedLock {
    offset: usize,
    exclusion: Exclusion,
}

/// All watchers of a run.
pub struct Checkers {
    checks: Checks,
    locks: Vec<WatchedLock>,
    /// By offset / 4: the number of a lock plus one, or 0.
    lock_at: Vec<u32>,
    /// Where each thread is in the queue of the lock it waits for.
    places: Vec<QueuePlace>,
    turns: u64,
    /// What no thread may touch, because it was freed.
    freed: Freed,
    /// The most overtakes of a wait that is over.
    most_overtakes: u32,
    /// What threads tell no longer counts.
    pub are_done: bool,
    pub failures: Vec<Failure>,
    pub failures_total: u64,
}

impl Checkers {
    pub fn new(checks: Checks) -> Self {
        Self {
            checks,
            locks: Vec::new(),
            lock_at: Vec::new(),
            places: Vec::new(),
            turns: 0,
            freed: Freed::default(),
            most_overtakes: 0,
            are_done: false,
            failures: Vec::new(),
            failures_total: 0,
        }
    }
    /// Prepares for this many threads.
    pub fn expect_threads(&mut self, threads: usize) {
        self.places.resize_with(threads, QueuePlace::default);
    }
    /// Notes a failure.
    pub fn failed(&mut self, at_ps: u64, thread: usize, kind: FailureKind) {
        self.failures_total += 1;
        if self.failures.len() < DESCRIBED_MAX {
            self.failures.push(Failure { at_ps, thread: Some(thread), kind });
        }
    }
    fn lock(&mut self, offset: usize) -> usize {
        let slot = offset / 4;
        if slot >= self.lock_at.len() {
            self.lock_at.resize(slot + 1, 0);
        }
        if self.lock_at[slot] == 0 {
            self.locks.push(WatchedLock { offset, exclusion: Exclusion::default() });
            self.lock_at[slot] = self.locks.len() as u32;
        }
        self.lock_at[slot] as usize - 1
    }
    fn line_of_lock(&self, lock: usize) -> usize {
        self.locks[lock].offset / LINE_BYTES
    }
    fn orders(&self) -> bool {
        self.checks.fifo || self.checks.overtaking_max.is_some()
    }

    pub fn requested(&mut self, call: Call) {
        let lock = self.lock(call.offset);
        if self.orders() {
            self.queue_up(call.thread, lock);
        }
    }
    pub fn attempted(&mut self, call: Call) {
        self.requested(call);
        self.places[call.thread].may_withdraw = true;
    }
    pub fn withdrew(&mut self, call: Call) {
        self.places[call.thread] = QueuePlace::default();
    }
    pub fn entered(&mut self, call: Call) {
        let lock = self.lock(call.offset);
        if let Err(fault) = self.locks[lock].exclusion.enter(call.thread) {
            self.failed(call.at_ps, call.thread, fault);
        }
        if self.orders() {
            self.check_fifo(call, lock);
            self.served(call, lock);
        }
    }
    /// The thread that asked for the lock has got it.
    fn served(&mut self, call: Call, lock: usize) {
        self.check_overtaking(call, lock);
        self.note_overtakes(call.thread, lock);
        self.places[call.thread] = QueuePlace::default();
    }
    pub fn left(&mut self, call: Call) {
        let lock = self.lock(call.offset);
        if let Err(fault) = self.locks[lock].exclusion.leave(call.thread) {
            self.failed(call.at_ps, call.thread, fault);
        }
    }
    pub fn entered_shared(&mut self, call: Call) {
        let lock = self.lock(call.offset);
        if let Err(fault) = self.locks[lock].exclusion.enter_shared() {
            self.failed(call.at_ps, call.thread, fault);
        }
        // Readers that are let in together come in any order.
        if self.orders() {
            self.served(call, lock);
        }
    }
    pub fn downgraded(&mut self, call: Call) {
        let lock = self.lock(call.offset);
        if let Err(fault) = self.locks[lock].exclusion.downgrade(call.thread) {
            self.failed(call.at_ps, call.thread, fault);
        }
    }
    pub fn left_shared(&mut self, call: Call) {
        let lock = self.lock(call.offset);
        if let Err(fault) = self.locks[lock].exclusion.leave_shared() {
            self.failed(call.at_ps, call.thread, fault);
        }
    }

    /// `thread` frees the bytes at these offsets into the arena.
    pub fn freed(&mut self, thread: usize, bytes: Range<usize>) {
        if !self.are_done {
            self.freed.add(thread, bytes);
        }
    }
    /// `thread` reads or exchanges the cell at `offset`.
    #[inline]
    pub fn touched(&mut self, at_ps: u64, thread: usize, offset: usize) {
        if !self.freed.is_empty() {
            self.check_freed(at_ps, thread, offset, false);
        }
    }
    /// A store of `thread` to the cell at `offset` becomes visible.
    #[inline]
    pub fn committed(&mut self, at_ps: u64, thread: usize, offset: usize) {
        if !self.freed.is_empty() {
            self.check_freed(at_ps, thread, offset, true);
        }
    }
    #[cold]
    fn check_freed(&mut self, at_ps: u64, thread: usize, offset: usize, is_store: bool) {
        if self.freed.has(thread, offset, is_store) {
            self.failed(at_ps, thread, FailureKind::Freed { line: offset / LINE_BYTES });
        }
    }
}
