//! Partial order sampling (Yuan, Yang and Gu, 2018).

use super::pick::SchedulePolicy;
use super::rarely::Rarely;
use crate::explore::Limits;
use crate::explore::choice::Choice;
use crate::rng::Rng;

/// A random priority for every pending move; the highest happens.
///
/// It then draws again, and so does every pending move that conflicts with what happened, so that
/// orders which make a difference are sampled more evenly than by a random walk.
pub struct Pos {
    rarely: Rarely,
    rng: Rng,
    /// By actor: the priority of its pending move. 0 is not drawn yet.
    priorities: Vec<u64>,
}

impl Pos {
    pub(crate) fn new(limits: Limits, mut rng: Rng) -> Self {
        Self { rarely: Rarely::new(limits, rng.fork()), rng, priorities: Vec::new() }
    }
    fn priority(&mut self, actor: usize) -> u64 {
        if actor >= self.priorities.len() {
            self.priorities.resize(actor + 1, 0);
        }
        if self.priorities[actor] == 0 {
            self.priorities[actor] = self.rng.next() | 1;
        }
        self.priorities[actor]
    }
}

impl SchedulePolicy for Pos {
    fn begin(&mut self) -> bool {
        self.rarely.begin();
        self.priorities.clear();
        true
    }
    fn pick(&mut self, choices: &[Choice], _step: u64) -> Option<usize> {
        if let Some(outside) = self.rarely.pick(choices) {
            return Some(outside);
        }
        let regular = choices.iter().enumerate().filter(|(_, choice)| choice.action().is_regular());
        let (_, chosen) = regular.map(|(at, choice)| (self.priority(choice.actor()), at)).max()?;
        let happens = choices[chosen];
        for choice in choices.iter().filter(|choice| choice.action().is_regular()) {
            let conflicts =
                happens.touch.zip(choice.touch).is_some_and(|(a, b)| a.conflicts_with(b));
            if conflicts || choice.actor() == happens.actor() {
                self.priorities[choice.actor()] = 0;
            }
        }
        Some(chosen)
    }
}
