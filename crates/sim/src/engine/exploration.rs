//! An explored run: what can happen, what threads intend to do, and what was picked.

use crate::explore::{Action, Choice, Limits, Move, SchedulePolicy, Touch, Traced};
use crate::report::Ending;
use core::ops::Range;

/// Which stores have to be visible before a thread's next step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum After {
    Nothing,
    OwnStores,
    /// Each buffer that is in [`Exploration::undrained`] has been empty at a moment of its own.
    Drained,
}

/// What a thread is about to do.
#[derive(Clone, Copy)]
pub struct Intent {
    pub(super) touch: Option<Touch>,
    pub(super) after: After,
    /// No other thread can see it, so no other thread needs to come in between.
    pub(super) is_private: bool,
    /// The thread lets others go first.
    pub(super) is_yield: bool,
    /// The thread forks, if that is picked.
    pub(super) is_fork: bool,
    /// The thread has done nothing yet and begins in a child.
    pub(super) is_for_child: bool,
}

impl Intent {
    pub const NONE: Self = Self {
        touch: None,
        after: After::Nothing,
        is_private: false,
        is_yield: false,
        is_fork: false,
        is_for_child: false,
    };
    /// Something that only the thread itself can see, such as a store into its own buffer.
    pub const PRIVATE: Self = Self { is_private: true, ..Self::NONE };
    /// To go on once its stores are visible.
    pub const AFTER_OWN_STORES: Self = Self { after: After::OwnStores, ..Self::NONE };
    /// To go on once every thread has had no pending store since the barrier began.
    pub const AFTER_DRAIN: Self = Self { after: After::Drained, ..Self::NONE };
    /// To fork, if that is picked, or to go on.
    pub const FORK: Self = Self { is_fork: true, ..Self::AFTER_OWN_STORES };
    /// To begin in the child, or to go on when there is nothing left that could fork.
    pub const FOR_CHILD: Self = Self { is_for_child: true, ..Self::NONE };
    /// To let others go first.
    pub const YIELD: Self = Self { is_yield: true, ..Self::NONE };
}

/// A run that is explored: its policy, and what was picked so far.
pub struct Exploration {
    pub(super) policy: Box<dyn SchedulePolicy>,
    pub(super) taken: Vec<Move>,
    pub(super) limits: Limits,
    /// What is possible now; kept to reuse its memory.
    pub(super) choices: Vec<Choice>,
    /// By thread.
    pub(super) intents: Vec<Intent>,
    /// By thread: has made a step.
    pub(super) has_begun: Vec<bool>,
    /// By thread: has no CPU.
    pub(super) is_preempted: Vec<bool>,
    /// By thread: whose store buffers its heavy barrier still waits for.
    pub(super) undrained: Vec<Vec<usize>>,
    /// The moves in words, if that is asked for.
    pub(super) trace: Option<Vec<Traced>>,
    /// Where the locks of the client lie, as far as it has said that, for the trace.
    pub(super) locks: Vec<Range<usize>>,
}

impl Exploration {
    /// A run of `threads` threads.
    pub fn new(policy: Box<dyn SchedulePolicy>, limits: Limits, threads: usize) -> Self {
        Self {
            policy,
            taken: Vec::new(),
            limits,
            choices: Vec::new(),
            intents: vec![Intent::NONE; threads],
            has_begun: vec![false; threads],
            is_preempted: vec![false; threads],
            undrained: vec![Vec::new(); threads],
            trace: None,
            locks: Vec::new(),
        }
    }
    /// Puts what happens into words.
    pub fn traced(self) -> Self {
        Self { trace: Some(Vec::new()), ..self }
    }
    /// The policy, what it has picked, and that in words.
    pub fn into_parts(self) -> (Box<dyn SchedulePolicy>, Vec<Move>, Vec<Traced>) {
        (self.policy, self.taken, self.trace.unwrap_or_default())
    }
    pub(super) fn is_tracing(&self) -> bool {
        self.trace.is_some()
    }
    /// Adds what the move with this number did.
    pub(super) fn add(&mut self, line: impl FnOnce(u64) -> Traced) {
        let number = self.taken.len() as u64;
        self.trace.get_or_insert_default().push(line(number));
    }

    /// Asks the policy.
    pub(super) fn pick(&mut self) -> Result<Choice, Ending> {
        let can_go_on = |choice: &Choice| !choice.action().is_fault();
        if !self.choices.iter().any(can_go_on) {
            return Err(Ending::Stuck);
        }
        let step = self.taken.len() as u64;
        if step >= self.limits.steps_max {
            return Err(Ending::EventLimit);
        }
        let (policy, choices) = (&mut self.policy, &self.choices[..]);
        let picked = policy.pick(choices, step).ok_or(Ending::Diverged { step })?;
        let choice = choices[picked];
        match choice.action() {
            Action::Preempt => self.limits.preemptions -= 1,
            Action::WakeUp => self.limits.wake_ups -= 1,
            Action::Signal => self.limits.signals -= 1,
            Action::Fork => self.limits.forks -= 1,
            Action::Step | Action::Commit | Action::TimeOut | Action::Dispatch => {}
        }
        self.taken.push(choice.what);
        Ok(choice)
    }
}
