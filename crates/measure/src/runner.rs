//! Running many trials.

use crate::interrupt;
use crate::record::{TrialError, TrialRecord};
use crate::trial::{LabMachine, Trial};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Hears how many trials of several are done.
pub type Done<'a> = dyn Fn(usize) + Sync + 'a;

/// A trial and its machine.
pub type Placed<'a, M> = (&'a M, Trial);

/// Runs trials on `workers` threads; the records are in the order of the trials. One worker takes them in their order,
/// which matters on this computer. Several take the last ones first: in a table those have the most threads and take
/// longest. `done` hears how many are done, each time that one is, from the thread that ran it.
pub fn run_all<M: LabMachine + ?Sized>(
    trials: &[Placed<'_, M>],
    workers: usize,
    done: &Done<'_>,
) -> Vec<Result<TrialRecord, TrialError>> {
    let slots: Vec<_> = trials.iter().map(|_| Mutex::new(None)).collect();
    let (taken, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let workers = workers.min(trials.len());
    let work = || {
        // ordering: Relaxed; the counter only hands out numbers.
        while let Some(turn) = Some(taken.fetch_add(1, Ordering::Relaxed))
            && turn < trials.len()
        {
            let at = if workers > 1 { trials.len() - 1 - turn } else { turn };
            let (machine, trial) = &trials[at];
            let result = match interrupt::is_requested() {
                true => Err(TrialError::Interrupted),
                false => machine.run_trial(trial),
            };
            if let Ok(mut slot) = slots[at].lock() {
                *slot = Some(result);
            }
            // ordering: Relaxed; the counter only counts.
            done(ended.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    match workers {
        0 | 1 => work(),
        workers => std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work);
            }
        }),
    }
    let lost = || Err(TrialError::Failed("the trial's thread ended without a result".into()));
    let take = |slot: Mutex<_>| slot.into_inner().ok().flatten().unwrap_or_else(lost);
    slots.into_iter().map(take).collect()
}
