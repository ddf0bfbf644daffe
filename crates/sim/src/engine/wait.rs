//! Spinning without polling: a spinner sleeps on its cache line until that is invalidated.

use super::queue::{EventKind, QueuedEvent};
use super::thread::Activity;
use super::{CellRef, Engine, Predicate, Step};
use crate::memory::{Kind, NOBODY};
use crate::report::Ending;
use crate::switch::Here;

/// How a bounded spin on a cell went.
#[derive(Clone, Copy, Debug)]
pub struct Looked {
    /// The last value seen.
    pub value: u64,
    /// The predicate held of it.
    pub held: bool,
    /// The wait ended because its time was used up.
    pub expired: bool,
}

/// When a bounded spin gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    Never,
    /// At this time.
    At(u64),
    /// At this reading of the thread's [CPU time](Engine::cpu_time): the clock of a spinner that
    /// counts its looks, and does not look while it has no CPU.
    OnCpu(u64),
}

impl Deadline {
    /// What is left of it for the current thread, if that keeps its CPU.
    #[inline]
    pub fn left(self, engine: &Engine) -> u64 {
        match self {
            Self::Never => u64::MAX,
            Self::At(at) => at.saturating_sub(engine.time.now),
            Self::OnCpu(at) => at.saturating_sub(engine.cpu_time()),
        }
    }
    /// The one that comes first, the other if both come at once.
    #[inline]
    pub fn or_earlier(self, other: Self, engine: &Engine) -> Self {
        if self.left(engine) < other.left(engine) { self } else { other }
    }
}

impl Engine {
    /// Wakes every spinner of a line: each reads it again a reaction time later, in the order in
    /// which they came.
    #[inline]
    pub(super) fn wake_spinners(&mut self, line: usize) {
        if self.memory.lines[line].first_spinner != NOBODY {
            self.wake_all(line);
        }
    }
    #[inline(never)]
    fn wake_all(&mut self, line: usize) {
        if core::mem::take(&mut self.memory.lines[line].is_contested) {
            self.draw_first(line);
        }
        let state = &mut self.memory.lines[line];
        let mut at = core::mem::replace(&mut state.first_spinner, NOBODY);
        state.last_spinner = NOBODY;
        while at != NOBODY {
            let thread = &mut self.threads[usize::from(at)];
            thread.activity = Activity::Woken;
            thread.previous_spinner = NOBODY;
            let next = core::mem::replace(&mut thread.next_spinner, NOBODY);
            if !thread.turn.is_off {
                let stolen = core::mem::take(&mut thread.stolen_ps);
                let wake = self.time.now.max(thread.away_until) + self.costs.spin_reaction + stolen;
                self.plan(wake, EventKind::Reread, usize::from(at));
            }
            at = next;
        }
    }
    /// Adds a thread to the spinners of its line.
    fn park(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        state.activity = Activity::Parked;
        let line = &mut self.memory.lines[state.wait.line];
        state.previous_spinner = line.last_spinner;
        state.next_spinner = NOBODY;
        let previous = core::mem::replace(&mut line.last_spinner, thread as u16);
        if previous == NOBODY {
            line.first_spinner = thread as u16;
        } else {
            self.threads[usize::from(previous)].next_spinner = thread as u16;
        }
    }
    /// Takes a thread from the spinners of its line.
    pub(super) fn unpark(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        let previous = core::mem::replace(&mut state.previous_spinner, NOBODY);
        let next = core::mem::replace(&mut state.next_spinner, NOBODY);
        let line = &mut self.memory.lines[state.wait.line];
        match previous {
            NOBODY => line.first_spinner = next,
            previous => self.threads[usize::from(previous)].next_spinner = next,
        }
        match next {
            NOBODY => line.last_spinner = previous,
            next => self.threads[usize::from(next)].previous_spinner = previous,
        }
    }

    pub(super) fn reread(&mut self, thread: usize) -> Option<Step> {
        if let Some(back) = self.back_at(thread) {
            self.schedule(back, EventKind::Reread, thread);
            return None;
        }
        let line = self.threads[thread].wait.line;
        let done = self.issue(thread, line, Kind::Read, 0);
        self.reads_while_spinning(thread, done);
        self.threads[thread].activity = Activity::Reading;
        self.plan(done, EventKind::Look, thread);
        None
    }
    pub(super) fn look(&mut self, thread: usize) -> Option<Step> {
        if let Some(back) = self.back_at(thread) {
            self.threads[thread].activity = Activity::Woken;
            self.schedule(back, EventKind::Reread, thread);
            return None;
        }
        let state = &mut self.threads[thread];
        let (cell, predicate) = (state.wait.cell?, state.wait.predicate?);
        let value = state.view(cell);
        state.wait.seen = value;
        self.checkers.touched(self.time.now, thread, self.region.offset_of(cell.address()));
        self.fold_value(cell, value);
        self.trace_access(thread, "look again", cell, (value, None));
        Some(Step::Look { thread, predicate, value })
    }
    /// What follows from the answer of a thread's predicate; then the event loop goes on.
    pub(super) fn looked(&mut self, thread: usize, held: bool, own: QueuedEvent) -> Step {
        let wait = &mut self.threads[thread].wait;
        wait.held = held;
        if !(held || wait.expired || wait.is_eager) {
            self.park(thread);
            self.may_spin_too_long(thread);
            return self.step(own);
        }
        self.threads[thread].activity = Activity::Busy;
        self.next = thread;
        if own != QueuedEvent::NEVER {
            self.time.queue.push(own);
        }
        Step::Switch
    }

    /// Makes sure that a timer fires when the thread's deadline comes.
    pub(super) fn arm_timer(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        let deadline = state.wait.deadline_ps;
        if deadline < state.timer_at {
            state.timer_at = deadline;
            self.schedule(deadline, EventKind::Timer, thread);
        }
    }
    pub(super) fn timer(&mut self, thread: usize) -> Option<Step> {
        let back = self.back_at(thread);
        let state = &mut self.threads[thread];
        if state.timer_at == self.time.now {
            state.timer_at = u64::MAX;
        }
        if let Some(back) = back.filter(|_| state.is_spinning()) {
            state.timer_at = back;
            self.schedule(back, EventKind::Timer, thread);
            return None;
        }
        match state.activity {
            Activity::Busy | Activity::Finished => None,
            // Noticed when it has a CPU again.
            _ if state.turn.is_off && state.is_spinning() => None,
            _ if self.time.now < state.wait.deadline_ps => {
                self.arm_timer(thread);
                None
            }
            // The read on its way decides, when it completes.
            Activity::Woken | Activity::Reading => {
                state.wait.expired = true;
                None
            }
            Activity::Parked | Activity::Sleeping => self.run_out(thread),
        }
    }
    /// The time of a waiting thread is used up.
    pub(super) fn run_out(&mut self, thread: usize) -> Option<Step> {
        self.threads[thread].wait.expired = true;
        match self.threads[thread].activity {
            Activity::Parked => self.unpark(thread),
            Activity::Sleeping => self.wake_up(thread),
            Activity::Busy | Activity::Woken | Activity::Reading | Activity::Finished => {}
        }
        if self.threads[thread].turn.is_off {
            self.arrive(thread);
            return None;
        }
        self.threads[thread].activity = Activity::Busy;
        self.next = thread;
        Some(Step::Switch)
    }
}

impl Here {
    /// Waits until `holds` of the value in `cell`, and returns that value.
    #[inline]
    pub fn spin(self, cell: CellRef, mut holds: impl FnMut(u64) -> bool) -> u64 {
        self.settle();
        let value = self.load(cell);
        if holds(value) {
            return value;
        }
        loop {
            let looked = self.park(cell, &mut holds, Deadline::Never, false);
            // A predicate that panicked in the event loop panics again here.
            if looked.held && holds(looked.value) {
                return looked.value;
            }
        }
    }
    /// Spins on `cell`, whose value the thread has just found wanting, until `holds`, until the
    /// deadline, or if it is eager until it has looked again.
    #[inline]
    pub fn park<F: FnMut(u64) -> bool>(
        self,
        cell: CellRef,
        holds: &mut F,
        deadline: Deadline,
        is_eager: bool,
    ) -> Looked {
        self.park_until(cell, Predicate::of(holds), deadline, is_eager)
    }
    fn park_until(
        self,
        cell: CellRef,
        predicate: Predicate,
        deadline: Deadline,
        is_eager: bool,
    ) -> Looked {
        self.with(|engine| {
            let line = engine.line_of(cell.address());
            let (now, current) = (engine.time.now, engine.current);
            let seen = engine.threads[current].view(cell);
            let deadline_ps = now.saturating_add(deadline.left(engine));
            let wait = &mut engine.threads[current].wait;
            wait.cell = Some(cell);
            wait.predicate = Some(predicate);
            wait.line = line;
            wait.deadline_ps = deadline_ps;
            wait.is_cpu_time = matches!(deadline, Deadline::OnCpu(_));
            wait.is_eager = is_eager;
            wait.held = false;
            wait.expired = false;
            wait.since_ps = now;
            wait.seen = seen;
            engine.spin_begins();
            engine.trace_at(current, "spins", cell.address());
            engine.park(current);
            engine.arm_timer(current);
            engine.may_spin_too_long(current);
        });
        self.wait_for_others();
        while self.handles_signal() {
            // It looks again once there is something that it has not seen.
            self.with(|engine| engine.threads[engine.current].activity = Activity::Woken);
            self.wait_for_others();
        }
        self.with(|engine| {
            let wait = &mut engine.threads[engine.current].wait;
            wait.predicate = None;
            wait.deadline_ps = u64::MAX;
            wait.is_cpu_time = false;
            let looked = Looked { value: wait.seen, held: wait.held, expired: wait.expired };
            engine.spin_ends();
            looked
        })
    }
    /// The thread begins to wait: its place in the queue is what it is.
    pub fn settle(self) {
        self.with(|engine| {
            let current = engine.current;
            engine.checkers.settled(current);
        });
    }
    /// Ends the run because the current thread panicked.
    pub fn panicked(self, message: String) {
        self.with(|engine| {
            let current = engine.current;
            engine.ending = Some(Ending::Panicked(current, message));
        });
    }
}
