//! Running a part of the trials.

use crate::sweep::store::Store;
use crate::sweep::trials::Trials;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_parts::Part;
use lockwright_sheets::Progress;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

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

/// What the workers share.
struct Shared<'a> {
    store: &'a mut Store,
    ran: Ran,
    error: Option<Error>,
}

/// Runs the trials of a part whose results are not in the folder, on `workers` threads, until Ctrl-C. Each result is
/// written as soon as it exists.
///
/// # Errors
/// If a result cannot be written. Those before it are kept.
pub fn run(
    trials: &Trials,
    part: Part,
    store: &mut Store,
    workers: usize,
    progress: Progress,
) -> Result<Ran, Error> {
    let mut own = trials.of_part(part);
    let of_part = own.len();
    let done = store.done()?;
    own.retain(|(key, _)| !done.contains(key));
    progress.expect(own.len());
    let ran = Ran { trials: of_part, were_there: of_part - own.len(), ..Ran::default() };
    let shared = Mutex::new(Shared { store, ran, error: None });
    let (next, ends) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        // ordering: Relaxed; the numbers only hand out trials, and the flag only ends the loop.
        while !ends.load(Ordering::Relaxed)
            && !interrupt::is_requested()
            && let Some((key, trial)) = own.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let started = Instant::now();
            let result = trial.run();
            let seconds = started.elapsed().as_secs_f64();
            let object = trial.line(key, &result);
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            match shared.store.add(&object, key, seconds) {
                Ok(()) => {
                    shared.ran.ran += 1;
                    shared.ran.failed += usize::from(result.is_err());
                }
                Err(error) => {
                    shared.error.get_or_insert(error);
                    // ordering: Relaxed, as above.
                    ends.store(true, Ordering::Relaxed);
                }
            }
            drop(shared);
            progress.advance_within(1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers.min(own.len()).max(1) {
            scope.spawn(work);
        }
    });
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    match shared.error {
        Some(error) => Err(error),
        None => {
            let is_whole = shared.ran.ran == own.len();
            Ok(Ran { interrupted: interrupt::is_requested() && !is_whole, ..shared.ran })
        }
    }
}
