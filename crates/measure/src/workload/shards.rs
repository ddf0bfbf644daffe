//! Counters, each with a lock of its own: an operation increments a random one.

use super::facts::{Facts, Finding, Heap, Load, LockAndValue, Setting, Worker, locked};
use super::params::{Domain, params};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells};
use lockwright_core::raw::RawLock;

params! {
    /// counters, each with a lock of its own: an operation increments a random one
    "shards": ShardsParams {
        /// How many counters
        shards: u32 = 16, Domain::Whole(1, 1_000_000);
    }
}

impl Facts for ShardsParams {
    fn locks(&self) -> u32 {
        self.shards
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for ShardsParams {
    type State = W::Many<LockAndValue<W::P, L>>;
    type Tally = ();

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        heap.zeroed(self.shards as usize)
    }
    fn run<K: Worker<P = W::P>>(&self, shards: &Self::State, worker: &mut K) {
        run(worker, shards);
    }
    fn found(&self, shards: &Self::State, (): &(), ops: u64) -> Finding {
        Finding::fail(ops.abs_diff(total(shards)))
    }
}

/// The operations of all threads, unless a lock is broken: then fewer. Only when they are done.
pub fn total<P: Cells, L: RawLock>(shards: &[LockAndValue<P, L>]) -> u64 {
    shards.iter().map(LockAndValue::value).sum()
}

/// What one thread does.
#[inline]
pub fn run<W: Worker, L: RawLock>(worker: &mut W, shards: &[LockAndValue<W::P, L>]) {
    while worker.keep_going() {
        let at = (worker.random() >> 32) as usize % shards.len();
        increment(&shards[at]);
        worker.op_done();
    }
}

/// Increments one of them.
#[inline(always)]
pub fn increment<P: Cells, L: RawLock>(shard: &LockAndValue<P, L>) {
    locked(&*shard.lock, || {
        // ordering: Relaxed; the lock orders the accesses to the counter.
        let value = shard.value.load(Relaxed);
        // ordering: Relaxed; as above. Not one atomic operation on purpose: a lock that does not exclude loses
        // increments.
        shard.value.store(value + 1, Relaxed);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};
    use lockwright_core::platform::Zeroed;

    #[test]
    fn every_counter_has_its_share_and_all_of_them_count_the_operations() {
        let shards: Vec<LockAndValue<ScriptedPlatform, SpyLock>> =
            (0..16).map(|_| Zeroed::zeroed()).collect();
        let mut worker = Scripted::new(16_000);
        run(&mut worker, &shards);
        assert_eq!((worker.ops, total(&shards)), (16_000, 16_000));
        assert!(shards.iter().all(|shard| (800..1_200).contains(&shard.lock.pairs())));
    }
}
