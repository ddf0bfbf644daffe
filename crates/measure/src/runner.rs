//! Running many trials.

use crate::interrupt;
use crate::record::{TrialError, TrialRecord};
use crate::trial::{LabMachine, Trial};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Hears how many trials of several are done.
pub type Done<'a> = dyn Fn(usize) + Sync + 'a;

/// A trial and its machine.
pub type Placed<'a, M> = (&'a M, Trial);

/// Hears what came of the trial of this number, and how many seconds that took; says whether others are to follow.
pub type Ended<'a> =
    dyn Fn(usize, Result<TrialRecord, TrialError>, f64) -> ControlFlow<()> + Sync + 'a;

/// Runs trials on `workers` threads; the records are in the order of the trials. `done` hears how many are done, each
/// time that one is, from the thread that ran it. The order of the runs is that of [`run_each`].
pub fn run_all<M: LabMachine + ?Sized>(
    trials: &[Placed<'_, M>],
    workers: usize,
    done: &Done<'_>,
) -> Vec<Result<TrialRecord, TrialError>> {
    let slots: Vec<_> = trials.iter().map(|_| Mutex::new(None)).collect();
    let count = AtomicUsize::new(0);
    run_each(trials, workers, &|at, result, _| {
        if let Ok(mut slot) = slots[at].lock() {
            *slot = Some(result);
        }
        // ordering: Relaxed; the counter only counts.
        done(count.fetch_add(1, Ordering::Relaxed) + 1);
        ControlFlow::Continue(())
    });
    let lost = || Err(TrialError::Failed("the trial's thread ended without a result".into()));
    let take = |slot: Mutex<_>| slot.into_inner().ok().flatten().unwrap_or_else(lost);
    slots.into_iter().map(take).collect()
}

/// Runs trials on `workers` threads; `ended` gets what came of each, from the thread that ran it. One worker takes them
/// in their order, which matters on this computer. Several take the last ones first: in a table those have the most
/// threads and take longest.
pub fn run_each<M: LabMachine + ?Sized>(
    trials: &[Placed<'_, M>],
    workers: usize,
    ended: &Ended<'_>,
) {
    let (taken, ends) = (AtomicUsize::new(0), AtomicBool::new(false));
    let workers = workers.min(trials.len());
    let work = || {
        // ordering: Relaxed; the counter only hands out numbers, and the flag only ends the loop.
        while !ends.load(Ordering::Relaxed)
            && let Some(turn) = Some(taken.fetch_add(1, Ordering::Relaxed))
            && turn < trials.len()
        {
            let at = if workers > 1 { trials.len() - 1 - turn } else { turn };
            let (machine, trial) = &trials[at];
            let started = Instant::now();
            let result = match interrupt::is_requested() {
                true => Err(TrialError::Interrupted),
                false => machine.run_trial(trial),
            };
            if ended(at, result, started.elapsed().as_secs_f64()).is_break() {
                // ordering: Relaxed, as above.
                ends.store(true, Ordering::Relaxed);
            }
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
}
