//! Every choice is as likely as every other.

use super::pick::{SchedulePolicy, pick_where};
use super::rarely::Rarely;
use crate::explore::Limits;
use crate::explore::choice::Choice;
use crate::rng::Rng;

/// A random walk: each actor that can go on is as likely to.
pub struct RandomWalk {
    rarely: Rarely,
    rng: Rng,
}

impl RandomWalk {
    pub(crate) fn new(limits: Limits, mut rng: Rng) -> Self {
        Self { rarely: Rarely::new(limits, rng.fork()), rng }
    }
}

impl SchedulePolicy for RandomWalk {
    fn begin(&mut self) -> bool {
        self.rarely.begin();
        true
    }
    fn pick(&mut self, choices: &[Choice], _step: u64) -> Option<usize> {
        let outside = self.rarely.pick(choices);
        outside
            .or_else(|| pick_where(choices, &mut self.rng, |choice| choice.action().is_regular()))
    }
}
