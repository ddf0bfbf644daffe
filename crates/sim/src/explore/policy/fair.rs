//! Fairness for schedules that get long.

use super::pick::{SchedulePolicy, pick_where};
use crate::explore::choice::Choice;
use crate::rng::{RandomStream, Rng};

/// A policy until a schedule gets long, then a fair one. A thread that still does not come to an end is stuck in a
/// loop.
pub struct FairAfter {
    inner: Box<dyn SchedulePolicy>,
    fair_after: u64,
    seed: u64,
    rng: Rng,
    /// In some schedule its own choice replaced the policy's.
    has_taken_over: bool,
}

impl FairAfter {
    pub fn new(inner: Box<dyn SchedulePolicy>, fair_after: u64, mut rng: Rng) -> Self {
        Self { inner, fair_after, seed: rng.next(), rng, has_taken_over: false }
    }
}

impl SchedulePolicy for FairAfter {
    fn begin(&mut self) -> bool {
        // The same for every schedule, because a search takes the same way several times.
        self.rng = Rng::split(self.seed, 0, RandomStream::Schedule);
        self.inner.begin()
    }
    fn pick(&mut self, choices: &[Choice], step: u64) -> Option<usize> {
        if step < self.fair_after {
            return self.inner.pick(choices, step);
        }
        self.has_taken_over = true;
        pick_where(choices, &mut self.rng, |choice| !choice.action().is_fault())
    }
    fn has_decided_all(&self) -> bool {
        !self.has_taken_over && self.inner.has_decided_all()
    }
}
