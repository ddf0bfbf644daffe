//! Two threads that take turns: each waits on a condition variable of its own until it is its turn, and then passes the
//! turn to the other one.

use super::facts::{Facts, Finding, Heap, Load, Needs, OwnLine, Setting, Tally, Worker};
use super::params::params;
use crate::record::CondvarWaits;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar};
use lockwright_core::platform::{Atomic, Cells, Zeroed};

params! {
    /// two threads that take turns, each with a condition variable of its own
    "pingpong": PingPongParams {}
}

impl Facts for PingPongParams {
    fn needs(&self) -> Option<Needs> {
        Some(Needs::Condvar)
    }
    fn threads(&self) -> Option<(usize, usize, &'static str)> {
        Some((2, 2, "`pingpong` is two threads that take turns: leave out"))
    }
    fn usual_threads(&self, _cpus: usize) -> Option<usize> {
        Some(2)
    }
}

impl<W: Heap, L: CondvarLock> Load<W, L> for PingPongParams {
    type State = W::One<PingPongState<W::P, L>>;
    type Tally = PingPongTally;

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        heap.one(Zeroed::zeroed())
    }
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) -> PingPongTally {
        run(worker, &**state)
    }
    fn found(&self, state: &Self::State, all: &PingPongTally, ops: u64) -> Finding {
        let turns = state.turns();
        let condvar_waits = Some(CondvarWaits::of(all.waits, all.futile, turns));
        Finding { fail: ops.abs_diff(turns), condvar_waits, ..Finding::default() }
    }
}

impl Tally for PingPongTally {
    fn merge(&mut self, other: Self) {
        self.waits += other.waits;
        self.futile += other.futile;
    }
}

/// What the threads share.
pub struct PingPongState<P: Cells, L: CondvarLock> {
    lock: OwnLine<L>,
    condvars: [OwnLine<L::Condvar>; 2],
    turns: OwnLine<P::U64>,
    is_closed: OwnLine<P::U32>,
}

impl<P: Cells, L: CondvarLock> Zeroed for PingPongState<P, L> {
    fn zeroed() -> Self {
        Self {
            lock: OwnLine::new(L::new()),
            condvars: [OwnLine::new(L::Condvar::new()), OwnLine::new(L::Condvar::new())],
            turns: Zeroed::zeroed(),
            is_closed: Zeroed::zeroed(),
        }
    }
}

impl<P: Cells, L: CondvarLock> PingPongState<P, L> {
    /// The turns that were taken, unless the lock is broken. Only when all threads are done.
    pub fn turns(&self) -> u64 {
        // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
        self.turns.load(Relaxed)
    }
}

/// What one thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PingPongTally {
    /// How often it waited.
    pub waits: u64,
    /// How often it was notified and found that it was not its turn.
    pub futile: u64,
}

/// What each of the two threads does.
pub fn run<W: Worker, L: CondvarLock>(
    worker: &mut W,
    state: &PingPongState<W::P, L>,
) -> PingPongTally {
    let mut tally = PingPongTally::default();
    let me = worker.index() as u64 % 2;
    let other = &state.condvars[1 - me as usize];
    let unlock = || {
        // SAFETY: called by the owner only.
        unsafe { state.lock.unlock() }
    };
    while worker.keep_going() {
        state.lock.lock();
        let mut is_notified = false;
        loop {
            // ordering: Relaxed; the lock orders all accesses.
            if state.is_closed.load(Relaxed) != 0 {
                unlock();
                return tally;
            }
            // ordering: Relaxed; as above.
            if state.turns.load(Relaxed) % 2 == me {
                break;
            }
            tally.futile += u64::from(is_notified);
            tally.waits += 1;
            // SAFETY: this thread owns the lock, the only one that is used with the condition variables.
            is_notified = unsafe { state.condvars[me as usize].wait(&state.lock, None) };
        }
        // ordering: Relaxed; as above.
        state.turns.store(state.turns.load(Relaxed) + 1, Relaxed);
        unlock();
        other.notify_one();
        worker.op_done();
    }
    state.lock.lock();
    // ordering: Relaxed; as above.
    state.is_closed.store(1, Relaxed);
    unlock();
    other.notify_one();
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform};
    use lockwright::mutex::RawMutex;

    #[test]
    fn two_threads_take_turns_and_the_first_to_stop_stops_the_other() {
        let state = PingPongState::<ScriptedPlatform, RawMutex<ScriptedPlatform>>::zeroed();
        let state = &state;
        let ops: Vec<u64> = std::thread::scope(|scope| {
            let one = |index, ops| {
                let mut worker = Scripted::new(ops).numbered(index);
                run(&mut worker, state);
                worker.ops
            };
            let threads = [(0, 200), (1, 1_000)].map(|(at, ops)| scope.spawn(move || one(at, ops)));
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(ops[0], 200);
        assert!((199..=200).contains(&ops[1]), "{ops:?}");
        assert_eq!(state.turns(), ops[0] + ops[1]);
    }
}
