//! Forks: the world turns into the child's. In explorations only.

use super::Engine;
use super::exploration::Intent;
use super::thread::Activity;
use crate::switch::Here;

impl Engine {
    /// Ends all threads but `survivor`. Their stores that were not visible yet are lost, as if each thread had been
    /// stopped before it made them.
    pub(super) fn fork(&mut self, survivor: usize) {
        for other in (0..self.threads.len()).filter(|&other| other != survivor) {
            match self.threads[other].activity {
                Activity::Parked => self.unpark(other),
                Activity::Sleeping => self.wake_up(other),
                Activity::Busy | Activity::Woken | Activity::Reading | Activity::Finished => {}
            }
            self.dispatch(other);
            let thread = &mut self.threads[other];
            thread.activity = Activity::Finished;
            thread.stores.clear();
        }
        self.live = 1;
        self.tables.nodes.orphan_all_but(survivor);
        self.survivor = Some(survivor);
    }
}

impl Here {
    /// The current thread calls `fork`, if that is picked. Returns true in the child.
    pub fn fork_point(self, runs_handlers: bool) -> bool {
        if !self.with(|engine| engine.is_exploring() && engine.survivor.is_none()) {
            return false;
        }
        self.with(|engine| engine.intend(Intent::FORK));
        self.wait_for_turn();
        let is_child = self.has_forked();
        self.with(|engine| engine.forgets_readers = is_child && runs_handlers);
        is_child
    }
    /// Returns true if there was a fork, so that this is the child.
    pub fn has_forked(self) -> bool {
        self.with(|engine| engine.survivor.is_some())
    }
}
