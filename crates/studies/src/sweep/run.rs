//! Running a part of the trials.

use crate::records::{Folder, line_of};
use crate::sweep::trials::Trials;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::record::TrialError;
use lockwright_measure::runner::{Placed, run_each};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_parts::Part;
use lockwright_sheets::Progress;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What came of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Trials of the part.
    pub trials: usize,
    /// Those whose results were there.
    pub were_there: usize,
    /// Those that ran now.
    pub ran: usize,
    /// Those of them that failed; their lines say how.
    pub failed: usize,
    /// True if Ctrl-C ended it.
    pub interrupted: bool,
}

/// Runs the trials of a part whose results are not in the folder, on `workers` threads, until Ctrl-C. Each result is
/// written as soon as it exists.
///
/// # Errors
/// If a result cannot be written. Those before it are kept.
pub fn run(
    trials: &Trials,
    part: Part,
    folder: Folder,
    workers: usize,
    progress: Progress,
) -> Result<Ran, Error> {
    let mut own = trials.of_part(part);
    let of_part = own.len();
    own.retain(|(key, _)| !folder.has(key));
    // The long ones first: the runner takes the last of several first.
    own.reverse();
    progress.expect(own.len());
    let (ran, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let placed: Vec<Placed<'_, SimulatedMachine>> =
        own.iter().map(|(_, it)| (&it.machine.simulated, it.trial)).collect();
    run_each(&placed, workers, &|at, result, seconds| {
        if matches!(result, Err(TrialError::Interrupted)) {
            return ControlFlow::Break(());
        }
        let (key, trial) = &own[at];
        folder.keep(&line_of(trial.described(), key, &result, false), key, seconds);
        // ordering: Relaxed; the counters only count.
        ran.fetch_add(1, Relaxed);
        failed.fetch_add(usize::from(result.is_err()), Relaxed);
        progress.advance_within(1);
        if folder.has_failed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    folder.finish()?;
    let [ran, failed] = [ran, failed].map(AtomicUsize::into_inner);
    let interrupted = interrupt::is_requested() && ran < own.len();
    Ok(Ran { trials: of_part, were_there: of_part - own.len(), ran, failed, interrupted })
}
