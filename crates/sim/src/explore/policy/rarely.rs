//! The world outside of the program, for the random policies.

use super::pick::pick_where;
use crate::explore::Limits;
use crate::explore::choice::{Action, Choice};
use crate::rng::Rng;

/// What the random policies have in common: the world outside of the program acts rarely.
///
/// A schedule has a limited number of faults. The steps at which they are due are drawn when it begins, over the length
/// of the longest schedule so far. So whatever can be disturbed is disturbed, early and late. Signals and forks make
/// some schedules much longer or shorter than others; they are due earlier rather than later. Times run out and CPUs
/// come back once in a while, and when the program cannot go on without.
pub struct Rarely {
    limits: Limits,
    rng: Rng,
    /// Steps from which on faults are due, the next one last.
    preemptions: Vec<u64>,
    wake_ups: Vec<u64>,
    signals: Vec<u64>,
    forks: Vec<u64>,
    /// What programs with handlers or forks draw from, so that the others draw what they always drew.
    own: Rng,
    /// Steps of this schedule, and of the longest one so far.
    steps: u64,
    longest: u64,
}

/// A time runs out, or a CPU comes back, at one of this number of steps.
const ONE_IN: usize = 16;
/// A wake-up, a signal or a fork that is due happens at one of this number of steps at which it can happen. Otherwise
/// it would always happen at the first of them.
const DUE_ONE_IN: usize = 4;
/// Steps that each fault leaves for the program, on average.
const STEPS_FOR_EACH: u64 = 4;
/// How long schedules are believed to be before there was one.
const GUESSED_STEPS: u64 = 100;

impl Rarely {
    pub fn new(limits: Limits, rng: Rng) -> Self {
        Self {
            limits,
            own: rng.clone().fork(),
            rng,
            preemptions: Vec::new(),
            wake_ups: Vec::new(),
            signals: Vec::new(),
            forks: Vec::new(),
            steps: 0,
            longest: 0,
        }
    }
    /// The next schedule begins.
    pub fn begin(&mut self) {
        self.longest = self.longest.max(self.steps);
        self.steps = 0;
        let length = if self.longest == 0 { GUESSED_STEPS } else { self.longest };
        let most = (length / STEPS_FOR_EACH).max(2) as u32;
        let Limits { preemptions, wake_ups, signals, forks, .. } = self.limits;
        self.preemptions = Self::draw(&mut self.rng, preemptions.min(most), |_| length);
        self.wake_ups = Self::draw(&mut self.rng, wake_ups.min(most), |_| length);
        // Each power of two is as likely.
        let up_to = |rng: &mut Rng| 2 << rng.below(length.ilog2() as usize + 1);
        self.signals = Self::draw(&mut self.own, signals.min(most), up_to);
        self.forks = Self::draw(&mut self.own, forks.min(1), up_to);
    }
    fn draw(rng: &mut Rng, count: u32, below: impl Fn(&mut Rng) -> u64) -> Vec<u64> {
        let due = (0..count).map(|_| {
            let below = below(rng);
            rng.below(below as usize) as u64
        });
        let mut due: Vec<_> = due.collect();
        due.sort_unstable_by(|one, other| other.cmp(one));
        due
    }
    /// What the world does now, if it does something.
    pub fn pick(&mut self, choices: &[Choice]) -> Option<usize> {
        let step = self.steps;
        self.steps += 1;
        if let Some(fault) = self.fault(choices, step) {
            return Some(fault);
        }
        let goes_on =
            |choice: &Choice| matches!(choice.action(), Action::TimeOut | Action::Dispatch);
        let has_program = choices.iter().any(|choice| choice.action().is_regular());
        let is_rare = !has_program || choices.iter().any(goes_on) && self.rng.below(ONE_IN) == 0;
        is_rare.then(|| pick_where(choices, &mut self.rng, goes_on)).flatten()
    }
    /// A fault that is due and possible.
    fn fault(&mut self, choices: &[Choice], step: u64) -> Option<usize> {
        let is_due = |due: &[u64]| due.last().is_some_and(|&due| due <= step);
        let is = |action| move |choice: &Choice| choice.action() == action;
        if is_due(&self.preemptions)
            && let Some(chosen) = pick_where(choices, &mut self.rng, is(Action::Preempt))
        {
            self.preemptions.pop();
            return Some(chosen);
        }
        let may_wake = is_due(&self.wake_ups) && choices.iter().any(is(Action::WakeUp));
        if may_wake && self.rng.below(DUE_ONE_IN) == 0 {
            self.wake_ups.pop();
            return pick_where(choices, &mut self.rng, is(Action::WakeUp));
        }
        for (due, action) in [(&mut self.signals, Action::Signal), (&mut self.forks, Action::Fork)]
        {
            let may_happen = is_due(due) && choices.iter().any(is(action));
            if may_happen && self.own.below(DUE_ONE_IN) == 0 {
                due.pop();
                return pick_where(choices, &mut self.own, is(action));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::PolicyKind;
    use super::*;
    use crate::explore::Move;

    const LENGTH: u64 = 500;
    const SCHEDULES: usize = 400;

    /// What there is to choose: two threads, one of which may be away, and a third that sleeps until
    /// a deadline.
    fn offered(away: Option<u16>, left: Limits) -> Vec<Choice> {
        let mut choices = Vec::new();
        let mut offer = |thread, action| {
            let what = Move { thread, action };
            choices.push(Choice { what, touch: None, is_awaited: false, is_yield: false });
        };
        for thread in 0..2 {
            let is_away = away == Some(thread);
            offer(thread, if is_away { Action::Dispatch } else { Action::Step });
            if !is_away && left.preemptions > 0 {
                offer(thread, Action::Preempt);
            }
        }
        offer(2, Action::TimeOut);
        if left.wake_ups > 0 {
            offer(2, Action::WakeUp);
        }
        if left.signals > 0 {
            offer(2, Action::Signal);
        }
        choices
    }

    /// The actions of some schedules, all of the same length.
    fn schedules(kind: PolicyKind) -> Vec<Vec<Action>> {
        let limits = Limits { preemptions: 1, wake_ups: 2, ..Limits::default() };
        let mut policy = kind.build(1, 0, limits);
        let schedule = |_| {
            assert!(policy.begin());
            let (mut away, mut left) = (None, limits);
            let moves = (0..LENGTH).map(|step| {
                let choices = offered(away, left);
                let Move { thread, action } = choices[policy.pick(&choices, step)?].what;
                match action {
                    Action::Preempt => (away, left.preemptions) = (Some(thread), 0),
                    Action::Dispatch => away = None,
                    Action::WakeUp => left.wake_ups -= 1,
                    Action::Signal => left.signals -= 1,
                    Action::Fork => left.forks -= 1,
                    Action::Step | Action::Commit | Action::TimeOut => {}
                }
                Some(action)
            });
            moves.collect::<Option<Vec<_>>>().expect("there is a choice at every step")
        };
        (0..SCHEDULES).map(schedule).collect()
    }

    #[test]
    fn the_last_fault_of_a_schedule_may_come_anywhere_and_nobody_is_away_for_ever() {
        for kind in [PolicyKind::Random, PolicyKind::Pct(3), PolicyKind::Pos] {
            let schedules = schedules(kind);
            let faults = [Action::Preempt, Action::WakeUp, Action::Signal];
            for (fault, of_all) in faults.into_iter().zip([[15, 15], [3, 30], [30, 1]]) {
                let last = schedules
                    .iter()
                    .filter_map(|actions| actions.iter().rposition(|action| *action == fault));
                let places: Vec<_> = last.map(|place| place as u64 * 4 / LENGTH).collect();
                let percent = |quarter| {
                    let there = places.iter().filter(|place| **place == quarter).count();
                    there * 100 / SCHEDULES
                };
                let seen = [percent(0), percent(3)];
                assert!(seen[0] > of_all[0] && seen[1] > of_all[1], "{kind:?} {fault:?}: {seen:?}");
            }
            let count = |action| schedules.iter().flatten().filter(|one| **one == action).count();
            assert!(count(Action::Dispatch) * 10 > count(Action::Preempt) * 9, "{kind:?}");
            assert!(count(Action::TimeOut) > SCHEDULES * LENGTH as usize / ONE_IN / 2, "{kind:?}");
        }
    }
}
