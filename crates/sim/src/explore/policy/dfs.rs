//! Depth-first search with a bound on preemptions (Musuvathi and Qadeer, 2007).

use super::pick::SchedulePolicy;
use crate::explore::choice::{Action, Choice};

/// Every schedule with at most `bound` preemptions, one after the other.
///
/// An actor that could go on and does not is a preemption, whether it is a thread or a store
/// buffer; so are a wake-up for no reason, a signal, a fork and a timeout while the program can go on. Stores stay in
/// their buffers until their thread waits or is preempted. The search is stateless: each schedule
/// begins anew.
pub struct Dfs {
    bound: u32,
    /// The way of this schedule: at each step what was possible.
    path: Vec<Fork>,
    has_begun: bool,
    at: usize,
    spent: u32,
    last: Option<usize>,
}

struct Fork {
    /// Indices of choices and what each costs; the ones that were taken before come first.
    ways: Vec<(usize, u32)>,
    taken: usize,
}

impl Dfs {
    pub(crate) fn new(bound: u32) -> Self {
        Self { bound, path: Vec::new(), has_begun: false, at: 0, spent: 0, last: None }
    }
    fn cost(&self, choices: &[Choice], choice: &Choice) -> u32 {
        let goes_on = |other: &Choice| other.action().is_regular() && !other.is_yield;
        match choice.action() {
            Action::Step | Action::Commit => {
                let is_last = |other: &Choice| Some(other.actor()) == self.last && goes_on(other);
                (Some(choice.actor()) != self.last && choices.iter().any(is_last)).into()
            }
            Action::TimeOut | Action::Dispatch => choices.iter().any(goes_on).into(),
            Action::WakeUp | Action::Preempt | Action::Signal | Action::Fork => 1,
        }
    }
    fn fork(&self, choices: &[Choice]) -> Fork {
        let costs = choices.iter().map(|choice| self.cost(choices, choice));
        let left = self.bound - self.spent;
        let mut ways: Vec<_> = costs.enumerate().filter(|(_, cost)| *cost <= left).collect();
        // Going on comes first, except for a thread that yields.
        ways.sort_by_key(|&(index, cost)| {
            let choice = &choices[index];
            (cost, choice.is_yield, Some(choice.actor()) != self.last, index)
        });
        Fork { ways, taken: 0 }
    }
}

impl SchedulePolicy for Dfs {
    fn begin(&mut self) -> bool {
        (self.at, self.spent, self.last) = (0, 0, None);
        if !core::mem::replace(&mut self.has_begun, true) {
            return true;
        }
        while let Some(fork) = self.path.last_mut() {
            fork.taken += 1;
            if fork.taken < fork.ways.len() {
                return true;
            }
            self.path.pop();
        }
        false
    }
    fn pick(&mut self, choices: &[Choice], _step: u64) -> Option<usize> {
        if self.at == self.path.len() {
            let fork = self.fork(choices);
            self.path.push(fork);
        }
        let fork = &self.path[self.at];
        let &(chosen, cost) = fork.ways.get(fork.taken)?;
        self.at += 1;
        self.spent += cost;
        self.last = Some(choices[chosen].actor());
        Some(chosen)
    }
}
