//! How a thread ends and how urgent it is, and what is counted of that.

use super::Actor;
use crate::coverage::{Use, count_use};
use crate::guards::Guard;
use crate::program::{GuardsLeft, Op, Priority};
use crate::stage::{LockSite, Stage};
use crate::world::{Allowed, World};
use std::sync::atomic::Ordering::Relaxed;

/// What a thread leaves to the destructor of a thread-local.
struct LeftBehind<'a, P: World> {
    stage: &'a Stage<P>,
    thread: usize,
    guards: Vec<(usize, Guard<'a, P>)>,
}

impl<P: World> Drop for LeftBehind<'_, P> {
    fn drop(&mut self) {
        for (lock, guard) in self.guards.drain(..).rev() {
            self.stage.places[lock].left_guard(self.thread, &*guard);
        }
    }
}

impl<'a, P: World> Actor<'a, P> {
    /// A step, and what it says about the locks.
    pub(super) fn step(&mut self, op: &Op) -> Allowed {
        let Some(lock) = op.lock() else {
            if let Op::Fork(_) = op {
                self.count_fork();
            }
            return self.op(op);
        };
        match self.raised {
            Some((Priority::RealTime, _)) => count_use(self.kind(lock), Use::RealTime),
            Some(_) => count_use(self.kind(lock), Use::Urgent),
            None => {}
        }
        if may_wait(op) {
            self.count_pair(lock);
        }
        let inside = &self.place(lock).shadow.inside;
        inside.fetch_add(1, Relaxed);
        let outcome = self.op(op);
        inside.fetch_sub(1, Relaxed);
        outcome
    }
    /// The thread wants a lock while it has one of another kind.
    fn count_pair(&self, lock: usize) {
        let kind = self.kind(lock);
        let mut held = self.guards.iter().map(|(held, _)| self.kind(*held));
        if let Some(other) = held.find(|held| *held != kind) {
            count_use(kind, Use::Pair);
            count_use(other, Use::Pair);
        }
    }
    fn count_fork(&self) {
        for (lock, rule) in self.stage.rules[self.number].iter().enumerate() {
            if rule.is_used {
                count_use(self.kind(lock), Use::Forked);
            }
        }
    }

    pub(super) fn raise(&mut self, priority: Priority) {
        self.raised = None;
        self.raised = P::raise(priority).map(|raised| (priority, raised));
    }

    /// The thread ends.
    pub(super) fn leave(&mut self, left: GuardsLeft) {
        for lock in 0..self.stage.program.locks.len() {
            let is_held = self.guards.iter().any(|(held, _)| *held == lock);
            let is_kept = is_held && left == GuardsLeft::Kept;
            let place: &LockSite<P> = self.place(lock);
            place.cover_end(self.kind(lock), is_held, is_kept);
        }
        self.raised = None;
        let guards = std::mem::take(&mut self.guards);
        let behind = LeftBehind { stage: self.stage, thread: self.thread, guards };
        if left == GuardsLeft::Dropped {
            return drop(behind);
        }
        let last: Box<dyn FnOnce() + 'a> = Box::new(move || drop(behind));
        // SAFETY: it is called before this thread has ended. The next one in its place begins after that, and the
        // locks stay where they are until that one has done its part of the phase.
        P::at_end(unsafe {
            std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce()>>(last)
        });
    }
}

/// True if a step takes a lock, or does all that is done with it.
fn may_wait(op: &Op) -> bool {
    matches!(
        op,
        Op::Exclusive(..)
            | Op::Shared(..)
            | Op::Upgradable(..)
            | Op::Acquire(..)
            | Op::Call(..)
            | Op::Copy(..)
            | Op::Put(_)
            | Op::Update(_)
    )
}
