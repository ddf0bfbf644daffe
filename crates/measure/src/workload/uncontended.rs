//! Lock and unlock, nothing else: what a lock costs when no thread wants it.

use super::facts::{Facts, Heap, Load, OwnLine, Setting, Worker, locked, locked_shared};
use super::params::params;
use lockwright_core::platform::Zeroed;
use lockwright_core::raw::RawLock;

params! {
    /// lock and unlock on one thread; floors run here
    "uncontended": UncontendedParams {}
}

impl Facts for UncontendedParams {
    fn threads(&self) -> Option<(usize, usize, &'static str)> {
        Some((1, 1, "`uncontended` is one thread alone: leave out"))
    }
    fn usual_threads(&self, _cpus: usize) -> Option<usize> {
        Some(1)
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for UncontendedParams {
    type State = W::One<UncontendedState<L>>;
    type Tally = ();

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        heap.one(Zeroed::zeroed())
    }
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) {
        run(worker, &**state);
    }
}

/// What the threads share: the lock.
pub struct UncontendedState<L> {
    lock: OwnLine<L>,
}

impl<L: RawLock> Zeroed for UncontendedState<L> {
    fn zeroed() -> Self {
        Self { lock: OwnLine::new(L::new()) }
    }
}

impl<L> UncontendedState<L> {
    /// The lock.
    pub fn lock(&self) -> &L {
        &self.lock
    }
}

/// What one thread does.
#[inline]
pub fn run<W: Worker, L: RawLock>(worker: &mut W, state: &UncontendedState<L>) {
    while worker.keep_going() {
        pair(&*state.lock);
        worker.op_done();
    }
}

/// `count` operations of one thread, without anything in between: for those who time them from
/// outside.
#[inline]
pub fn run_batch<L: RawLock>(state: &UncontendedState<L>, count: u64) {
    for _ in 0..count {
        pair(&*state.lock);
    }
}

/// As [`run_batch`], of a thread that only reads.
#[inline]
pub fn run_batch_of_readers<L: RawLock>(state: &UncontendedState<L>, count: u64) {
    for _ in 0..count {
        locked_shared(&*state.lock, || ());
    }
}

#[inline(always)]
fn pair<L: RawLock>(lock: &L) {
    locked(lock, || ());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, SpyLock};

    #[test]
    fn an_operation_is_one_pair() {
        let state = UncontendedState::<SpyLock>::zeroed();
        let mut worker = Scripted::new(5);
        run(&mut worker, &state);
        run_batch(&state, 7);
        assert_eq!(worker.ops, 5);
        assert_eq!(state.lock().pairs(), 12);
    }

    #[test]
    fn an_operation_of_a_reader_is_one_pair_of_its_own_kind() {
        let state = UncontendedState::<SpyLock>::zeroed();
        run_batch_of_readers(&state, 7);
        assert_eq!((state.lock().pairs(), state.lock().shared_pairs()), (0, 7));
    }
}
