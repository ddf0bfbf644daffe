//! One trial of a question.

use crate::records::{About, Described, Given};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::trial::{LabMachine, Trial};
use std::sync::Arc;

/// One run of one lock, simulated.
#[derive(Clone, Debug)]
pub struct SweptTrial {
    /// Which of the points that were drawn.
    pub(crate) point: usize,
    /// The machine with its numbers, which trials share.
    pub(crate) machine: Arc<TriedMachine>,
    /// The parameters of the workload that the question gives.
    pub(crate) given: Arc<Given>,
    pub(crate) trial: Trial,
}

/// A machine of a question, with the numbers that the question sets.
#[derive(Debug)]
pub(crate) struct TriedMachine {
    pub(crate) about: About,
    pub(crate) simulated: SimulatedMachine,
}

impl TriedMachine {
    pub(crate) fn new(
        name: &str,
        numbers: Vec<(String, f64)>,
        software: Vec<(String, f64)>,
        simulated: SimulatedMachine,
    ) -> Self {
        let about = About { numbers, software, ..About::new(name, &simulated.identity()) };
        Self { about, simulated }
    }
}

impl SweptTrial {
    pub(crate) fn described(&self) -> Described<'_> {
        Described::of(&self.machine.about, &self.given, &self.trial)
    }

    /// What it is, as a line of results begins.
    pub fn description(&self) -> String {
        self.described().json()
    }

    /// What digests everything that decides its result.
    pub fn key(&self) -> String {
        self.described().key(&self.machine.about, &self.trial)
    }
}
