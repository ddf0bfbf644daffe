//! Timed attempts: a thread tries to get the lock for a while. If it does not, it counts that and waits as long as it
//! takes.

use super::facts::{Facts, Finding, Heap, Load, LockAndValue, Needs, Setting, Worker, bound};
use super::params::{TIME, params};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::capabilities::TimedLock;
use lockwright_core::platform::{Atomic, Clock, Zeroed};

params! {
    /// attempts with a deadline: a thread tries to get the lock for a while, and then waits for as long as it takes
    "attempts": AttemptsParams {
        /// How long an attempt lasts at most
        patience_ns: u64 = 200_000, TIME;
        /// How long a thread computes with the lock
        section_ns: u64 = 50_000, TIME;
        /// How long it computes between two sections
        think_ns: u64 = 50_000, TIME;
    }
}

impl Facts for AttemptsParams {
    fn needs(&self) -> Option<Needs> {
        Some(Needs::Deadline)
    }
    fn longest_section_ns(&self) -> u64 {
        self.section_ns
    }
    fn bound(&self, cpus: f64) -> Option<f64> {
        bound(self.section_ns as f64, (self.section_ns + self.think_ns) as f64, cpus)
    }
}

impl<W: Heap, L: TimedLock> Load<W, L> for AttemptsParams {
    type State = W::One<LockAndValue<W::P, L>>;
    type Tally = ();

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        heap.one(Zeroed::zeroed())
    }
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) {
        run(worker, &**state, *self);
    }
    fn found(&self, state: &Self::State, (): &(), ops: u64) -> Finding {
        Finding::fail(ops.abs_diff(state.value()))
    }
}

/// What one thread does. Returns how many attempts failed. The value is the number of sections, unless the lock is
/// broken.
pub fn run<W: Worker, L: TimedLock>(
    worker: &mut W,
    state: &LockAndValue<W::P, L>,
    knobs: AttemptsParams,
) -> u64 {
    let mut failed = 0;
    while worker.keep_going() {
        if !state.lock.lock_until(W::P::now_ns() + knobs.patience_ns) {
            failed += 1;
            state.lock.lock();
        }
        // ordering: Relaxed; the lock orders the accesses to the counter.
        let value = state.value.load(Relaxed);
        worker.compute_ns(knobs.section_ns);
        // ordering: Relaxed; as above. Not one atomic operation on purpose: a lock that does not exclude loses
        // increments.
        state.value.store(value + 1, Relaxed);
        // SAFETY: taken above.
        unsafe { state.lock.unlock() };
        worker.op_done();
        worker.user_ns(knobs.think_ns);
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};
    use lockwright_core::platform::Zeroed;

    #[test]
    fn an_attempt_that_fails_is_counted_and_followed_by_a_wait() {
        let state = LockAndValue::<ScriptedPlatform, SpyLock>::zeroed();
        let knobs = AttemptsParams { patience_ns: 10, section_ns: 100, think_ns: 300 };
        let mut worker = Scripted::new(6);
        state.lock.fail_every_other_attempt();
        assert_eq!(run(&mut worker, &state, knobs), 3);
        assert_eq!((worker.ops, state.value(), state.lock.pairs()), (6, 6, 6));
        assert_eq!(worker.computed_ns, 2_400);
    }
}
