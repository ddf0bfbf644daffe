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

    /// What a line says of a trial, and its key.
    fn keyed(&self, trial: &Trial) -> (Described<'_>, String) {
        let described = Described::of(&self.about, &all_given(trial.workload), trial);
        let key = described.key(&self.about, trial);
        (described, key)
    }
    /// The record of a trial that is in the folder.
    fn known(&self, trial: &Trial) -> Option<TrialRecord> {
        self.folder?.record(&self.keyed(trial).1)
    }
    /// Puts what came of a trial into the folder, unless it failed.
    fn keep(&self, trial: &Trial, result: &Result<TrialRecord, TrialError>, seconds: f64) {
        if let (Some(folder), Ok(_)) = (self.folder, result) {
            let (described, key) = self.keyed(trial);
            folder.keep(&line_of(described, &key, result, true), &key, seconds);
        }
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
        if let Some(record) = self.known(trial) {
            return Ok(record);
        }
        let started = Instant::now();
        let result = self.machine.run_trial(trial);
        self.keep(trial, &result, started.elapsed().as_secs_f64());
        result
    }
    fn run_batch(&self, trials: &[Trial], done: &Done<'_>) -> Vec<Result<TrialRecord, TrialError>> {
        if self.is_simulated() {
            let trials: Vec<Placed<'_, Self>> = trials.iter().map(|&it| (self, it)).collect();
            return run_all(&trials, self.trials_at_once(), done);
        }
        // On this computer, trials of a batch may take turns.
        let known: Vec<_> = trials.iter().map(|trial| self.known(trial)).collect();
        let lacking = trials.iter().zip(&known).filter(|(_, known)| known.is_none());
        let missing: Vec<Trial> = lacking.map(|(trial, _)| *trial).collect();
        let there = trials.len() - missing.len();
        (1..=there).for_each(done);
        let started = Instant::now();
        let ran = self.machine.run_batch(&missing, &|count| done(there + count));
        let seconds = started.elapsed().as_secs_f64() / missing.len().max(1) as f64;
        missing.iter().zip(&ran).for_each(|(trial, result)| self.keep(trial, result, seconds));
        let mut ran = ran.into_iter();
        let mut next = || ran.next().unwrap_or(Err(TrialError::Interrupted));
        known.into_iter().map(|known| known.map_or_else(&mut next, Ok)).collect()
    }
}
