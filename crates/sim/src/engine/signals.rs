//! Signals: a handler runs on the stack of its thread, between two of its accesses. In explorations only.

use super::exploration::Intent;
use super::handler::Handler;
use super::thread::{Activity, Wait};
use super::{Engine, Step};
use crate::switch::Here;

impl Engine {
    /// A signal interrupts `thread`, which goes on with its handler.
    pub(super) fn interrupt(&mut self, thread: usize) -> Step {
        match self.threads[thread].activity {
            Activity::Parked => self.unpark(thread),
            Activity::Sleeping => self.wake_up(thread),
            Activity::Busy | Activity::Woken | Activity::Reading | Activity::Finished => {}
        }
        let state = &mut self.threads[thread];
        state.activity = Activity::Busy;
        state.signals.is_interrupted = true;
        self.next = thread;
        Step::Switch
    }
    /// The handler that the current thread has been interrupted for, and what it was doing.
    fn begin_handler(&mut self) -> Option<(Handler, Option<Intent>, Wait)> {
        let intent = self.intent();
        let thread = &mut self.threads[self.current];
        let is_due = thread.signals.is_interrupted && !thread.signals.is_handling;
        let handler = thread.signals.handler.filter(|_| is_due)?;
        thread.signals.is_handling = true;
        Some((handler, intent, thread.wait))
    }
    fn end_handler(&mut self, intent: Option<Intent>, wait: Wait) {
        if let Some(intent) = intent {
            self.intend(intent);
        }
        let thread = &mut self.threads[self.current];
        thread.wait = wait;
        thread.signals.is_interrupted = false;
        thread.signals.is_handling = false;
    }
}

impl Here {
    /// Runs the handler of the current thread and returns true if a signal has interrupted the thread. What the thread
    /// was about to do is then as it was.
    pub(super) fn handles_signal(self) -> bool {
        let Some((handler, intent, wait)) = self.with(Engine::begin_handler) else { return false };
        // SAFETY: it is alive as long as the thread has it.
        unsafe { handler.run() };
        self.with(|engine| engine.end_handler(intent, wait));
        true
    }
    /// A place between two accesses, invisible to other threads, where a signal may come.
    #[inline]
    pub(super) fn may_be_interrupted(self) {
        let has_handler = self.with(|engine| engine.threads[engine.current].signals.may_come());
        if has_handler && self.with(|engine| engine.is_exploring()) {
            self.wait_for_turn();
        }
    }
    /// Runs `body`, which signals may interrupt to run `handler`.
    pub fn handling<R>(self, handler: &impl Fn(), body: impl FnOnce() -> R) -> R {
        struct Without(Here, Option<Handler>);
        impl Drop for Without {
            fn drop(&mut self) {
                let Self(here, before) = *self;
                here.set_handler(before);
            }
        }
        let _guard = Without(self, self.set_handler(Some(Handler::of(handler))));
        body()
    }
    fn set_handler(self, handler: Option<Handler>) -> Option<Handler> {
        self.with(|engine| {
            let signals = &mut engine.threads[engine.current].signals;
            core::mem::replace(&mut signals.handler, handler)
        })
    }
    /// Runs `section`, in which no signal interrupts the thread.
    pub fn uninterrupted<R>(self, section: impl FnOnce() -> R) -> R {
        self.hold_signals_back();
        let result = section();
        self.with(|engine| engine.threads[engine.current].signals.held_back -= 1);
        result
    }
    fn hold_signals_back(self) {
        self.may_be_interrupted();
        self.with(|engine| engine.threads[engine.current].signals.held_back += 1);
    }
}
