//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, 2010).

use super::pick::SchedulePolicy;
use super::rarely::Rarely;
use crate::explore::Limits;
use crate::explore::choice::Choice;
use crate::rng::Rng;

/// Random priorities, which change at `depth - 1` random steps.
///
/// The actor with the highest priority goes on; at a step of change it gets the lowest. A bug that needs `depth`
/// ordering constraints is found with a probability that is known, and not small.
pub struct Pct {
    depth: u32,
    rarely: Rarely,
    rng: Rng,
    /// By actor; higher goes first. 0 is not drawn yet.
    priorities: Vec<u64>,
    /// Steps of change that are to come.
    changes: Vec<u64>,
    /// Lower than every priority so far.
    lowest: u64,
    /// Steps of this schedule, and of the longest one so far.
    steps: u64,
    longest: u64,
}

/// Drawn priorities are above this, those after a change below.
const DRAWN: u64 = 1 << 32;
/// How long schedules are believed to be before there was one.
const GUESSED_STEPS: u64 = 100;

impl Pct {
    pub(crate) fn new(depth: u32, limits: Limits, mut rng: Rng) -> Self {
        Self {
            depth,
            rarely: Rarely::new(limits, rng.fork()),
            rng,
            priorities: Vec::new(),
            changes: Vec::new(),
            lowest: DRAWN,
            steps: 0,
            longest: GUESSED_STEPS,
        }
    }
    fn priority(&mut self, actor: usize) -> u64 {
        if actor >= self.priorities.len() {
            self.priorities.resize(actor + 1, 0);
        }
        if self.priorities[actor] == 0 {
            self.priorities[actor] = self.rng.next() | DRAWN;
        }
        self.priorities[actor]
    }
    fn first(&mut self, choices: &[Choice]) -> Option<usize> {
        let regular = choices.iter().enumerate().filter(|(_, choice)| choice.action().is_regular());
        let (_, index) = regular.map(|(at, choice)| (self.priority(choice.actor()), at)).max()?;
        Some(index)
    }
    fn demote(&mut self, actor: usize) {
        self.lowest -= 1;
        self.priorities[actor] = self.lowest;
    }
}

impl SchedulePolicy for Pct {
    fn begin(&mut self) -> bool {
        self.rarely.begin();
        self.longest = self.longest.max(self.steps);
        self.steps = 0;
        self.priorities.clear();
        self.lowest = DRAWN;
        let changes = 1..self.depth;
        self.changes = changes.map(|_| self.rng.below(self.longest as usize) as u64).collect();
        true
    }
    fn pick(&mut self, choices: &[Choice], _step: u64) -> Option<usize> {
        if let Some(outside) = self.rarely.pick(choices) {
            return Some(outside);
        }
        let first = self.first(choices)?;
        let changes = self.changes.iter().filter(|&&change| change == self.steps).count();
        self.steps += 1;
        let chosen = if changes > 0 {
            self.demote(choices[first].actor());
            self.first(choices)?
        } else {
            first
        };
        if choices[chosen].is_yield {
            self.demote(choices[chosen].actor());
        }
        Some(chosen)
    }
}
