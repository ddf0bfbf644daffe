//! Workloads as loads of native threads.

use super::checked::Checked;
use super::heap::NativeHeap;
use super::locks;
use super::usage::Usage;
use super::worker::NativeWorker;
use crate::erased::{self, AskCondvar, AskLockUntil, CapableVisitor, ErasedType, erase_in_larger};
use crate::latency::Timed;
use crate::peers::upgrade_of;
use crate::stress::Stress;
use crate::trial::{Purpose, Trial};
use crate::workload::facts::{Finding, Load, Setting, Tally};
use crate::workload::{Workload, with_any, with_short};
use lockwright_catalog::capabilities::{CondvarLock, TimedLock};
use lockwright_catalog::registry::{LockRow, LockVisitor};
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;
use std::sync::{Mutex, PoisonError};

/// What threads do together, whatever the workload and the type of the lock.
pub trait NativeLoad: Send + Sync + 'static {
    /// The loop of one thread; ends soon after the worker says so.
    fn run(&self, worker: &mut NativeWorker<'_>);
    /// What the workload found out, when `ops` operations were done. Only when all threads are done.
    fn found(&self, ops: u64) -> Finding {
        let _ = ops;
        Finding::default()
    }
    /// How long a fixed amount of work took, in nanoseconds, once all of it is done.
    fn wall_ns(&self) -> Option<u64> {
        None
    }
    /// What the threads that it started itself have used so far.
    fn usage_of_others(&self) -> Usage {
        Usage::default()
    }
}

struct Placed<X: Load<NativeHeap, L>, L> {
    params: X,
    state: X::State,
    all: Mutex<X::Tally>,
    /// The lock, if it is an erased one, which each thread has to choose.
    lock: Option<ErasedType>,
}

impl<X: Load<NativeHeap, L>, L: 'static> NativeLoad for Placed<X, L>
where
    X::State: Send + Sync + 'static,
{
    fn run(&self, worker: &mut NativeWorker<'_>) {
        self.lock.into_iter().for_each(erased::choose);
        let tally = self.params.run(&self.state, worker);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).merge(tally);
    }
    fn found(&self, ops: u64) -> Finding {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        self.params.found(&self.state, &all, ops)
    }
    fn wall_ns(&self) -> Option<u64> {
        self.params.done_ns(&self.state).map(|(began, ended)| (ended - began).max(1))
    }
    fn usage_of_others(&self) -> Usage {
        self.params.usage_of_others(&self.state)
    }
}

fn placed<X: Load<NativeHeap, L>, L: 'static>(
    params: X,
    trial: &Trial,
    lock: Option<ErasedType>,
) -> Box<dyn NativeLoad>
where
    X::State: Send + Sync + 'static,
{
    let setting = Setting { threads: trial.threads, stress: trial.purpose.stress() };
    let state = params.place(setting, &mut NativeHeap);
    Box::new(Placed::<X, L> { params, state, all: Mutex::default(), lock })
}

/// What the threads of the trial do, with the lock that is visited.
pub struct LoadOf<'a>(pub &'a Trial);

impl LockVisitor<Native> for LoadOf<'_> {
    type Output = Box<dyn NativeLoad>;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Self::Output {
        let Self(trial) = self;
        let for_lock = match trial.purpose {
            Purpose::Throughput => {
                with_short!(trial.workload, params => placed::<_, L>(params, trial, None))
            }
            Purpose::Latency | Purpose::Torture(_) => None,
        };
        for_lock.unwrap_or_else(|| {
            let lock = ErasedType::of::<L>()
                .with_condvar(locks::visit_condvar(trial.lock, AskCondvar))
                .with_lock_until(locks::visit_timed(trial.lock, AskLockUntil))
                .with_upgrade(upgrade_of(trial.lock.name()));
            erased::choose(lock);
            erase_in_larger::<L, _>(ErasedLoad(trial, lock))
        })
    }
}

/// A load in which a call through a pointer is little: next to two looks at the clock, or to operations that are not
/// short.
struct ErasedLoad<'a>(&'a Trial, ErasedType);

impl CapableVisitor for ErasedLoad<'_> {
    type Output = Box<dyn NativeLoad>;

    fn visit<L: CondvarLock + TimedLock>(self) -> Self::Output {
        let Self(trial, lock) = self;
        let lock = Some(lock);
        match (trial.purpose, trial.workload) {
            (Purpose::Throughput, workload) => {
                with_any!(workload, params => placed::<_, L>(params, trial, lock))
            }
            // A torture watches its owners.
            (Purpose::Torture(Stress { .. }), Workload::Locktorture(params)) => {
                placed::<_, Checked<Timed<Native, L>>>(params, trial, lock)
            }
            (Purpose::Latency | Purpose::Torture(_), workload) => {
                with_any!(workload, params => placed::<_, Timed<Native, L>>(params, trial, lock))
            }
        }
    }
}
