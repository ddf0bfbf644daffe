//! Timed attempts: a thread tries to get the lock for a while. If it does not, it counts that and waits as long as it
//! takes.

use super::{LockAndValue, Worker};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::capabilities::TimedLock;
use lockwright_core::platform::{Atomic, Clock};

/// What the threads do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptsParams {
    /// How long an attempt lasts at most.
    pub patience_ns: u64,
    /// How long a thread computes with the lock.
    pub section_ns: u64,
    /// How long it computes between two sections.
    pub think_ns: u64,
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
