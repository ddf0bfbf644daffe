//! Forks: the world turns into the child's. In explorations only.

use super::Engine;
use super::exploration::{Exploration, Intent};
use super::family::ForkMark;
use super::thread::Activity;
use crate::switch::Here;

impl Engine {
    /// The fork epoch. If the first question comes in the child, it cannot be told from its parent.
    fn epoch(&mut self) -> u32 {
        self.family.epoch += u32::from(self.family.mark == ForkMark::Wiped);
        self.family.mark = ForkMark::Set;
        self.family.epoch
    }
    /// The number of the current thread, as the kernel counts threads: it gives the next one that no thread has, and
    /// begins again after a few.
    pub fn thread_number(&mut self) -> u32 {
        let number = self.threads[self.current].claim.number;
        if number == 0 { self.number_thread(self.current) } else { number }
    }
    fn number_thread(&mut self, thread: usize) -> u32 {
        let numbers = 2 * self.threads.len() as u32;
        let after = |number: u32| number % numbers + 1;
        let mut number = after(self.family.last_number);
        while self.has_thread(number) {
            number = after(number);
        }
        self.family.last_number = number;
        self.threads[thread].claim.number = number;
        number
    }
    /// Returns true if there is a thread of that number. One that has ended is there until its stores are visible: the
    /// kernel takes it from its CPU before that.
    pub fn has_thread(&self, number: u32) -> bool {
        let is_it = |thread: &super::Thread| {
            thread.claim.number == number
                && (thread.activity != Activity::Finished || !thread.stores.is_empty())
        };
        self.threads.iter().any(is_it)
    }
    /// Returns true if the thread waits for the moment at which it begins in a child.
    pub(super) fn is_unborn(&self, exploration: &Exploration, thread: usize) -> bool {
        exploration.intents[thread].is_for_child
            && self.survivor.is_none()
            && self.threads[thread].activity != Activity::Finished
    }
    /// Returns true if no child comes any more in which they could begin.
    pub(super) fn has_unborn_only(&self, exploration: &Exploration) -> bool {
        let waits = |&thread: &usize| self.is_unborn(exploration, thread);
        (0..self.threads.len()).filter(waits).count() == self.live
    }

    /// Ends all threads but `survivor` and those that are to begin in a child. Their stores that were not visible yet
    /// are lost, as if each thread had been stopped before it made them.
    pub(super) fn fork(&mut self, survivor: usize) {
        let is_for_child = |engine: &Self, thread: usize| {
            engine.exploration.as_ref().is_some_and(|it| engine.is_unborn(it, thread))
        };
        self.live = 1;
        for other in (0..self.threads.len()).filter(|&other| other != survivor) {
            if is_for_child(self, other) {
                self.live += 1;
                continue;
            }
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
        self.number_thread(survivor);
        if self.family.mark == ForkMark::Set {
            self.family.mark = ForkMark::Wiped;
        }
        self.tables.nodes.orphan_all_but(survivor);
        self.survivor = Some(survivor);
    }
}

impl Here {
    /// The current thread calls `fork`, if that is picked. Returns true in the child.
    pub fn fork_point(self) -> bool {
        if !self.with(|engine| engine.is_exploring() && engine.survivor.is_none()) {
            return false;
        }
        self.with(|engine| engine.intend(Intent::FORK));
        self.wait_for_turn();
        self.has_forked()
    }
    /// The current thread begins in the child, if there is a fork. Returns true there.
    pub fn begin_in_child(self) -> bool {
        if self.with(|engine| engine.is_exploring() && engine.survivor.is_none()) {
            self.with(|engine| engine.intend(Intent::FOR_CHILD));
            self.wait_for_turn();
        }
        self.has_forked()
    }
    /// The fork epoch, as the process knows it.
    pub fn epoch(self) -> u32 {
        self.with(Engine::epoch)
    }
    /// Returns true if there was a fork, so that this is the child.
    pub fn has_forked(self) -> bool {
        self.with(|engine| engine.survivor.is_some())
    }
}
