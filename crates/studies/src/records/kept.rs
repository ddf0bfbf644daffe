//! A machine whose records are kept.

use super::described::{About, Described, all_given, line_of};
use super::folder::Folder;
use lockwright_measure::error::Error;
use lockwright_measure::fairness::FairnessWindow;
use lockwright_measure::record::{TrialError, TrialRecord};
use lockwright_measure::runner::{Done, Placed, run_all};
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, On, Trial};
use lockwright_measure::workload::Workload;
use std::time::Instant;

/// A machine that runs a trial only if its record is not in a folder, and puts it there. Without a folder it is the
/// machine itself.
pub struct KeptMachine<'a> {
    machine: &'a dyn LabMachine,
    about: About,
    folder: Option<&'a Folder>,
}

impl<'a> KeptMachine<'a> {
    /// `machine`, which the user calls `name`.
    pub fn new(name: &str, machine: &'a dyn LabMachine, folder: Option<&'a Folder>) -> Self {
        // Only a folder needs the digest, and numbers are many.
        let identity = folder.map_or_else(String::new, |_| machine.identity());
        Self { machine, about: About::new(name, &identity), folder }
    }

    /// The record of a trial that is in the folder, or else what `run` returns, which is put there.
    fn of(
        &self,
        trial: &Trial,
        run: impl FnOnce() -> Result<TrialRecord, TrialError>,
    ) -> Result<TrialRecord, TrialError> {
        let Some(folder) = self.folder else { return run() };
        let given = all_given(trial.workload);
        let described = Described::of(&self.about, &given, trial);
        let key = described.key(&self.about, trial);
        if let Some(record) = folder.record(&key) {
            return Ok(record);
        }
        if folder.has_failed() {
            return Err(TrialError::Interrupted);
        }
        let started = Instant::now();
        let result = run();
        if result.is_ok() {
            let seconds = started.elapsed().as_secs_f64();
            folder.keep(&line_of(described, &key, &result, true), &key, seconds);
        }
        result
    }

    /// True if the record of a trial is in the folder.
    fn has(&self, trial: &Trial) -> bool {
        let given = all_given(trial.workload);
        let key = Described::of(&self.about, &given, trial).key(&self.about, trial);
        self.folder.is_some_and(|folder| folder.record(&key).is_some())
    }
}

impl LabMachine for KeptMachine<'_> {
    fn on(&self, workload: Workload) -> On {
        self.machine.on(workload)
    }
    fn is_simulated(&self) -> bool {
        self.machine.is_simulated()
    }
    fn identity(&self) -> String {
        self.machine.identity()
    }
    fn cpus(&self) -> usize {
        self.machine.cpus()
    }
    fn has_scheduler(&self) -> Result<(), Error> {
        self.machine.has_scheduler()
    }
    fn fitted_ns(&self, workload: &str, part: &str) -> Option<u64> {
        self.machine.fitted_ns(workload, part)
    }
    fn warnings(&self, workload: Workload) -> Vec<String> {
        self.machine.warnings(workload)
    }
    fn refuses(&self, lock: Subject, workload: Workload) -> Option<String> {
        self.machine.refuses(lock, workload)
    }
    fn fairness_window(&self, trial: &Trial) -> FairnessWindow {
        self.machine.fairness_window(trial)
    }
    fn trials_at_once(&self) -> usize {
        self.machine.trials_at_once()
    }
    fn run_trial(&self, trial: &Trial) -> Result<TrialRecord, TrialError> {
        self.of(trial, || self.machine.run_trial(trial))
    }
    fn run_batch(&self, trials: &[Trial], done: &Done<'_>) -> Vec<Result<TrialRecord, TrialError>> {
        if self.is_simulated() {
            let trials: Vec<Placed<'_, Self>> = trials.iter().map(|&it| (self, it)).collect();
            return run_all(&trials, self.trials_at_once(), done);
        }
        // On this computer, trials of a batch may take turns.
        let missing: Vec<Trial> = trials.iter().filter(|it| !self.has(it)).copied().collect();
        let mut ran = self.machine.run_batch(&missing, done).into_iter();
        let mut next = || ran.next().unwrap_or(Err(TrialError::Interrupted));
        trials.iter().map(|trial| self.of(trial, &mut next)).collect()
    }
}
