//! Threads that come and go: each thread of the run starts one, waits for its end, and starts the next.

use super::heap::NativeHeap;
use super::usage::Usage;
use crate::workload::facts::{Facts, Finding, Heap, Load, LockAndValue, Setting, Worker};
use crate::workload::params::{COUNT, params};
use crate::workload::shards::increment;
use lockwright_core::native::Native;
use lockwright_core::platform::Zeroed;
use lockwright_core::raw::RawLock;
use std::sync::{Mutex, PoisonError};

params! {
    /// threads that come, take the lock a few times, and go; on this computer
    "churn": ChurnParams {
        /// How often a thread takes the lock before it ends
        sections: u64 = 16, COUNT;
    }
}

impl Facts for ChurnParams {
    fn runs_here_only(&self) -> Option<&'static str> {
        Some("threads that come and go run on this computer only: leave out --on")
    }
}

/// What the threads share.
pub struct Churn<L> {
    state: Box<LockAndValue<Native, L>>,
    /// What the threads that have ended used.
    others: Mutex<Usage>,
}

impl<L: RawLock> Load<NativeHeap, L> for ChurnParams {
    type State = Churn<L>;
    type Tally = ();

    fn place(&self, _setting: Setting, heap: &mut NativeHeap) -> Self::State {
        Churn { state: heap.one(Zeroed::zeroed()), others: Mutex::default() }
    }
    fn run<K: Worker<P = Native>>(&self, churn: &Self::State, worker: &mut K) {
        let state: &LockAndValue<Native, L> = &churn.state;
        while worker.keep_going() {
            let life = crate::erased::in_thread(|| {
                (0..self.sections).for_each(|_| increment(state));
                let usage = Usage::of_this_thread();
                let mut others = churn.others.lock().unwrap_or_else(PoisonError::into_inner);
                *others = others.plus(usage);
            });
            std::thread::scope(|scope| {
                scope.spawn(life);
            });
            worker.op_done();
        }
    }
    fn found(&self, churn: &Self::State, (): &(), ops: u64) -> Finding {
        Finding::fail((ops * self.sections).abs_diff(churn.state.value()))
    }
    fn usage_of_others(&self, churn: &Self::State) -> Usage {
        *churn.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
