//! The event loop: what happens next is what is due.

use super::queue::{EventKind, QueuedEvent};
use super::thread::{Activity, Thread};
use super::{Engine, Step};
use crate::report::Ending;
use crate::switch::Here;

impl Engine {
    /// Makes a thread start at `at`.
    pub fn start(&mut self, thread: usize, at: u64) {
        self.schedule(at, EventKind::Resume, thread);
        self.plan_preemption(thread, at);
    }
    /// Moves the clock to `at` for the current thread if nothing else comes before; otherwise says
    /// when it may go on.
    #[inline]
    fn arrives_at_once(&mut self, at: u64) -> Result<(), u64> {
        let stolen = core::mem::take(&mut self.threads[self.current].stolen_ps);
        let at = at.saturating_add(stolen);
        if at < self.time.queue.top().at_ps() && !self.time.is_full() {
            self.time.happened(at, (EventKind::Inline as u64) << 16 | self.current as u64);
            return Ok(());
        }
        Err(at)
    }

    /// Runs the event loop until something has to be done that only its caller can do. `own` is
    /// the event that the calling thread waits for, or [`QueuedEvent::NEVER`].
    pub(super) fn step(&mut self, own: QueuedEvent) -> Step {
        loop {
            if self.ending.is_some() {
                return Step::Over;
            }
            if self.time.is_full() {
                return self.explore();
            }
            let top = self.time.queue.top();
            if own < top {
                self.time.happened(own.at_ps(), own.what());
                return Step::Arrived;
            }
            if top.kind() == EventKind::Limit {
                // The clock stays where the last event left it.
                self.ending = Some(self.reason_at_limit());
                return Step::Over;
            }
            if self.is_stale(top) {
                self.time.queue.pop();
                continue;
            }
            self.time.happened(top.at_ps(), top.what());
            if top.kind() == EventKind::Resume {
                self.next = top.thread();
                if own == QueuedEvent::NEVER {
                    self.time.queue.pop();
                } else {
                    self.time.queue.replace_top(own);
                }
                return Step::Switch;
            }
            self.time.queue.pop();
            let stop = match top.kind() {
                EventKind::Commit => self.commit(top.thread()),
                EventKind::Reread => self.reread(top.thread()),
                EventKind::Look => self.look(top.thread()),
                EventKind::Timer => self.timer(top.thread()),
                EventKind::Preempt => self.preempt(top.thread()),
                EventKind::Resume | EventKind::Limit | EventKind::Inline => None,
                kind => self.turn(kind, top.thread()),
            };
            if let Some(stop) = stop {
                if matches!(stop, Step::Switch) && own != QueuedEvent::NEVER {
                    self.time.queue.push(own);
                }
                return stop;
            }
        }
    }

    /// Everything but the limit has happened, or would happen after it.
    fn reason_at_limit(&self) -> Ending {
        let mut waiting = self.threads.iter().filter(|t| t.activity != Activity::Finished);
        if waiting.all(Thread::is_stuck) { Ending::Stuck } else { Ending::TimeLimit }
    }

    /// The current thread has returned.
    pub fn finish(&mut self) {
        let thread = &mut self.threads[self.current];
        thread.activity = Activity::Finished;
        self.live -= 1;
        if self.live == 0 {
            self.ending.get_or_insert(Ending::Done);
        }
        self.idle_on_core();
    }
    /// The current thread, which sleeps or has returned, needs its CPU no more.
    pub(super) fn idle_on_core(&mut self) {
        if self.is_scheduled() {
            self.leave_cpu();
        } else {
            let core = self.threads[self.current].site.core;
            self.busy_on_core[usize::from(core)] -= 1;
        }
    }
    /// Lets the stores that are still on their way become visible: the run is over.
    pub fn drain(&mut self) {
        while let Some(event) = self.time.queue.pop() {
            if event.kind() == EventKind::Commit {
                self.time.happened(event.at_ps(), event.what());
                self.commit(event.thread());
            }
        }
        // In an exploration they are in no queue.
        self.commit_all();
    }
}

impl Here {
    /// Lets time pass until `at`.
    #[inline]
    pub fn until(self, at: u64) {
        if let Err(at) = self.with(|engine| engine.arrives_at_once(at)) {
            self.wait_until(at);
        }
    }
    #[inline(never)]
    fn wait_until(self, at: u64) {
        if std::thread::panicking() {
            // The run ends with this panic. Switching away in the middle of it would mix up the
            // host thread's state, so the clock stands still for the destructors.
            return;
        }
        if self.with(|engine| engine.is_exploring()) {
            return self.wait_for_turn();
        }
        if self.with(|engine| engine.is_scheduled()) {
            self.with(|engine| engine.plan(at, EventKind::Resume, engine.current));
            return self.wait_for_others();
        }
        let mut next = Some(at);
        while let Some(at) = next {
            let own = self.with(|engine| {
                let current = engine.current;
                engine.time.stamp(at, EventKind::Resume, current)
            });
            if !self.drive(own) {
                self.suspend();
            }
            next = self.with(Engine::delayed_until);
        }
    }
    /// Lets time pass until the current thread, which waits for another one, goes on.
    pub(super) fn wait_for_others(self) {
        let me = self.with(|engine| engine.current);
        if std::thread::panicking() {
            // No thread will run from now on, and there is nothing true to return: leave for good.
            self.with(|engine| engine.ending = Some(Ending::WaitWhilePanicking(me)));
        }
        self.drive(QueuedEvent::NEVER);
        if self.with(|engine| engine.ending.is_some() || engine.next != me) {
            self.suspend();
        }
    }
    /// Runs the event loop until `own` is the next event (`true`), or until another thread goes on
    /// or the run is over (`false`).
    pub fn drive(self, own: QueuedEvent) -> bool {
        let mut step = self.with(|engine| engine.step(own));
        loop {
            match step {
                Step::Arrived => return true,
                Step::Switch | Step::Over => return false,
                Step::Look { thread, predicate, value } => {
                    // SAFETY: `thread` is in the wait that this predicate belongs to.
                    let held = crate::switch::aside(|| unsafe { predicate.holds(value) });
                    step = self.with(|engine| engine.looked(thread, held, own));
                }
            }
        }
    }
}
