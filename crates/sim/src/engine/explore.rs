//! The other event loop: what happens next is not what is due, but what a policy picks.
//!
//! Time-ordered runs know nothing of this: an exploration makes every wait take the slow way by a
//! limit of 0 events. Accesses cost nothing and move no lines; each step, whatever it is, takes one
//! nanosecond (in a forked child one microsecond), so that clocks move and a report can say when a wait began.

use super::exploration::{After, Exploration, Intent};
use super::thread::{Activity, STORES_MAX};
use super::{CellRef, Engine, Step};
use crate::explore::{Action, Choice, Move, Touch};
use crate::memory::Kind;
use crate::report::Ending;
use crate::switch::Here;

/// What one step takes, in picoseconds.
const STEP_PS: u64 = 1000;
/// The same in a forked child: only the clock can end a spin there.
const STEP_IN_CHILD_PS: u64 = 1_000_000;

impl Engine {
    /// From now on a policy decides.
    pub fn explore_with(&mut self, exploration: Exploration) {
        self.exploration = Some(Box::new(exploration));
        self.time.stop();
    }
    /// The exploration of a run that is over.
    pub fn take_exploration(&mut self) -> Option<Exploration> {
        self.exploration.take().map(|exploration| *exploration)
    }
    #[inline]
    pub fn is_exploring(&self) -> bool {
        self.exploration.is_some()
    }
    /// Returns true if an explored thread has been descheduled.
    pub fn is_preempted(&self, thread: usize) -> bool {
        self.exploration.as_ref().is_some_and(|exploration| exploration.is_preempted[thread])
    }
    /// Returns true if some thread has no CPU.
    pub fn is_oversubscribed(&self) -> bool {
        let preempted = self.exploration.as_ref().map(|exploration| &exploration.is_preempted);
        preempted.is_some_and(|threads| threads.contains(&true))
    }
    /// Notes what the current thread is about to do, if that is asked for.
    #[inline]
    pub fn intend(&mut self, intent: Intent) {
        if let Some(exploration) = &mut self.exploration {
            exploration.intents[self.current] = intent;
        }
    }
    /// The thread has a CPU, if it wants one.
    pub(super) fn dispatch(&mut self, thread: usize) {
        if let Some(exploration) = &mut self.exploration {
            exploration.is_preempted[thread] = false;
        }
    }
    /// What the current thread was about to do when it was interrupted.
    pub(super) fn intent(&self) -> Option<Intent> {
        self.exploration.as_ref().map(|exploration| exploration.intents[self.current])
    }
    /// Notes an access; it happens when the thread is picked.
    pub(super) fn intend_access(&mut self, address: usize, kind: Kind) -> u64 {
        let touch = Touch { offset: self.region.offset_of(address), is_write: kind != Kind::Read };
        let after = if kind == Kind::Rmw { After::OwnStores } else { After::Nothing };
        self.intend(Intent { touch: Some(touch), after, ..Intent::NONE });
        self.time.now
    }

    /// Lets the policy pick until a thread goes on or has to be asked, or the run is over. Without
    /// a policy the run has reached its limit of events.
    #[cold]
    #[inline(never)]
    pub(super) fn explore(&mut self) -> Step {
        loop {
            let Some(mut exploration) = self.exploration.take() else {
                self.ending = Some(Ending::EventLimit);
                return Step::Over;
            };
            if self.checkers.failures_total > 0 {
                self.ending.get_or_insert(Ending::Violated);
            }
            let picked = match self.ending.take() {
                Some(ending) => Err(ending),
                None => {
                    exploration.choices.clear();
                    self.offer(&mut exploration);
                    exploration.pick()
                }
            };
            self.exploration = Some(exploration);
            match picked.map(|choice| self.perform(choice)) {
                Ok(None) => {}
                Ok(Some(step)) => return step,
                Err(ending) => {
                    self.ending = Some(ending);
                    return Step::Over;
                }
            }
        }
    }

    /// Everything that can happen now.
    fn offer(&self, exploration: &mut Exploration) {
        for number in 0..self.threads.len() {
            self.offer_thread(exploration, number);
            self.offer_commit(exploration, number);
        }
    }
    fn offer_thread(&self, exploration: &mut Exploration, number: usize) {
        let thread = &self.threads[number];
        if self.is_unborn(exploration, number) && !self.has_unborn_only(exploration) {
            return;
        }
        let must_wait = self.must_wait(exploration, number);
        let is_outranked = exploration.limits.by_priority && self.is_outranked(exploration, number);
        let mut offer = |action, touch, is_yield| {
            let what = Move { thread: number as u16, action };
            exploration.choices.push(Choice { what, touch, is_awaited: false, is_yield });
        };
        let limits = exploration.limits;
        if exploration.is_preempted[number] {
            return offer(Action::Dispatch, None, false);
        }
        let intent = exploration.intents[number];
        if is_outranked {
            if thread.activity == Activity::Sleeping && thread.wait.deadline_ps < u64::MAX {
                offer(Action::TimeOut, None, false);
            }
            return;
        }
        match thread.activity {
            Activity::Finished => return,
            Activity::Busy if must_wait => {}
            Activity::Busy => {
                offer(Action::Step, intent.touch, intent.is_yield);
                if intent.is_fork && limits.forks > 0 {
                    offer(Action::Fork, None, false);
                }
            }
            Activity::Parked | Activity::Sleeping | Activity::Woken | Activity::Reading => {
                if let Some(touch) = self.sees_news(number) {
                    offer(Action::Step, Some(touch), false);
                }
                if thread.wait.deadline_ps < u64::MAX {
                    offer(Action::TimeOut, None, false);
                }
            }
        }
        // A heavy barrier is a system call that nothing interrupts.
        if limits.signals > 0 && thread.signals.may_come() && intent.after != After::Drained {
            offer(Action::Signal, None, false);
        }
        if thread.activity == Activity::Sleeping {
            if limits.wake_ups > 0 {
                offer(Action::WakeUp, None, false);
            }
        } else if limits.preemptions > 0 {
            offer(Action::Preempt, None, false);
        }
    }
    /// Returns true if a thread with a higher priority has the only CPU.
    fn is_outranked(&self, exploration: &Exploration, number: usize) -> bool {
        let has_it = |other: usize| {
            let is_off =
                matches!(self.threads[other].activity, Activity::Sleeping | Activity::Finished);
            exploration.has_begun[other]
                && !(is_off
                    || exploration.is_preempted[other]
                    || self.is_unborn(exploration, other))
        };
        (number + 1..self.threads.len()).any(has_it)
    }
    fn offer_commit(&self, exploration: &mut Exploration, number: usize) {
        let thread = &self.threads[number];
        let Some(store) = thread.stores.front() else { return };
        let is_live = thread.activity != Activity::Finished;
        let is_awaited = thread.activity == Activity::Busy
            && !exploration.is_preempted[number]
            && self.must_wait(exploration, number);
        let has_audience = self.live > usize::from(is_live);
        if is_awaited || has_audience {
            let what = Move { thread: number as u16, action: Action::Commit };
            let touch =
                Touch { offset: self.region.offset_of(store.cell.address()), is_write: true };
            let choice = Choice { what, touch: Some(touch), is_awaited, is_yield: false };
            exploration.choices.push(choice);
        }
    }
    /// Returns true if stores have to become visible before the thread can go on.
    fn must_wait(&self, exploration: &Exploration, number: usize) -> bool {
        let own = self.threads[number].stores.len();
        match exploration.intents[number].after {
            After::Nothing => own >= STORES_MAX,
            After::OwnStores => own > 0,
            After::Drained => !exploration.undrained[number].is_empty(),
        }
    }
    /// The heavy barrier of the current thread begins: as membarrier does, it interrupts each other
    /// thread at a moment of its own, and a thread whose stores are all visible then is done.
    pub(super) fn intend_drain(&mut self) {
        self.intend(Intent::AFTER_DRAIN);
        let Some(exploration) = &mut self.exploration else { return };
        let pending = self.threads.iter().enumerate().filter(|(_, other)| !other.stores.is_empty());
        exploration.undrained[self.current] = pending.map(|(number, _)| number).collect();
    }
    /// A store of `thread` has become visible: barriers that waited for the last one may go on.
    pub(super) fn committed(&mut self, thread: usize) {
        let Some(exploration) = &mut self.exploration else { return };
        if self.threads[thread].stores.is_empty() {
            exploration.undrained.iter_mut().for_each(|waits| waits.retain(|&who| who != thread));
        }
    }
    /// The look of a spinner, if its cell has been written and shows something it has not seen.
    fn sees_news(&self, number: usize) -> Option<Touch> {
        let thread = &self.threads[number];
        let cell = thread.wait.cell.filter(|_| thread.activity == Activity::Woken)?;
        let is_news = thread.wait.is_eager || thread.view(cell) != thread.wait.seen;
        is_news.then(|| Touch { offset: self.region.offset_of(cell.address()), is_write: false })
    }

    /// Folds a value that was read or written into the digest of an exploration. Of a pointer no
    /// more than where it points in the arena, because other addresses are the host's.
    #[inline]
    pub(super) fn fold_value(&mut self, cell: CellRef, value: u64) {
        if self.is_exploring() {
            let elsewhere = || u64::MAX - u64::from(value == 0);
            let what = match cell.is_pointer() {
                true => {
                    self.region.offset_at(value as usize).map_or_else(elsewhere, |it| it as u64)
                }
                false => value,
            };
            self.time.digest.fold(what, 0);
        }
    }

    /// Does what was picked.
    fn perform(&mut self, choice: Choice) -> Option<Step> {
        let thread = usize::from(choice.what.thread);
        let what = (choice.action() as u64) << 16 | thread as u64;
        let took_ps = if self.survivor.is_some() { STEP_IN_CHILD_PS } else { STEP_PS };
        self.time.happened(self.time.now + took_ps, what);
        if let Some(touch) = choice.touch {
            self.time.digest.fold(touch.offset as u64, touch.is_write.into());
        }
        self.trace_move(thread, choice.action());
        match choice.action() {
            Action::Commit => {
                let step = self.commit(thread);
                self.committed(thread);
                step
            }
            Action::Step if self.threads[thread].activity == Activity::Woken => self.look(thread),
            Action::Step | Action::Fork => {
                if choice.action() == Action::Fork {
                    self.fork(thread);
                }
                if let Some(exploration) = &mut self.exploration {
                    exploration.intents[thread] = Intent::NONE;
                    exploration.has_begun[thread] = true;
                }
                self.next = thread;
                Some(Step::Switch)
            }
            Action::TimeOut => {
                self.time.now = self.time.now.max(self.threads[thread].wait.deadline_ps);
                self.run_out(thread)
            }
            Action::WakeUp => {
                self.wake_up(thread);
                None
            }
            Action::Signal => Some(self.interrupt(thread)),
            Action::Preempt | Action::Dispatch => {
                if let Some(exploration) = &mut self.exploration {
                    exploration.is_preempted[thread] = choice.action() == Action::Preempt;
                }
                None
            }
        }
    }
    /// The last stores become visible: the run is over.
    pub(super) fn commit_all(&mut self) {
        for thread in 0..self.threads.len() {
            while !self.threads[thread].stores.is_empty() {
                self.commit(thread);
            }
        }
    }
}

impl Here {
    /// Waits until the current thread is picked for what it intends to do.
    pub(super) fn wait_for_turn(self) {
        let is_private = self.with(|engine| {
            let current = engine.current;
            let is_full = engine.threads[current].stores.len() >= STORES_MAX;
            let intents = engine.exploration.as_mut().map(|exploration| &mut exploration.intents);
            let intent = intents.map_or(Intent::NONE, |intents| {
                core::mem::replace(&mut intents[current], Intent::NONE)
            });
            if !intent.is_private || is_full {
                engine.intend(Intent { is_private: false, ..intent });
                return false;
            }
            true
        });
        if !is_private {
            self.wait_for_others();
            while self.handles_signal() {
                self.wait_for_others();
            }
        }
    }
    /// Lets others go first, if it is not time that decides.
    pub fn yield_turn(self) {
        self.with(|engine| engine.intend(Intent::YIELD));
    }
}
