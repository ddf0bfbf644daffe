//! Arbitration: decides if the core that had a line last gets it back, and which core gets it if not.

use super::Engine;
use crate::memory::{CostTable, NOBODY};
use crate::rng::Rng;

/// The weight of a spinner in the socket that the line is at home in.
const WHOLE: u64 = 1 << 20;

impl Engine {
    /// Until when the current thread's read-modify-write waits because others are served before it; 0
    /// if it does not have to.
    #[inline]
    pub(super) fn beaten_until(&mut self, address: usize) -> u64 {
        if self.costs.arbitration.is_never() || self.is_exploring() {
            return 0;
        }
        let line = self.line_of(address);
        let thread = &mut self.threads[self.current];
        let is_wanted = self.memory.is_wanted_back(self.time.now, thread.site.core, line);
        if !is_wanted || !self.costs.arbitration.happens(&mut thread.noise) {
            return 0;
        }
        let stored = self.time.now.max(thread.last_commit);
        // Spinners wake up when the store that this core waits for becomes visible.
        self.memory.lines[line].is_contested = stored > self.time.now;
        // Meanwhile the first of them reads the line and asks for it again, to own it.
        stored + self.costs.spin_reaction + 2 * self.costs.farthest_transfer()
    }

    /// Moves one spinner of a line, which has some, in front of the others: any that has a CPU, those in
    /// the line's home rather than the others.
    pub(super) fn draw_first(&mut self, line: usize) {
        let (home, first) = (self.memory.lines[line].home, self.memory.lines[line].first_spinner);
        let mut noise = self.threads[usize::from(first)].noise.fork();
        if let Some(chosen) = self.drawn(first, home, &mut noise).filter(|&chosen| chosen != first)
        {
            self.unpark(usize::from(chosen));
            self.memory.lines[line].first_spinner = chosen;
            self.threads[usize::from(chosen)].next_spinner = first;
            self.threads[usize::from(first)].previous_spinner = chosen;
        }
    }

    /// One of the list of spinners that begins with `first`, by weight.
    fn drawn(&self, first: u16, home: u16, noise: &mut Rng) -> Option<u16> {
        let weight = |&at: &u16| self.threads[usize::from(at)].weight(home, &self.costs);
        let total: u64 = self.spinners(first).map(|at| weight(&at)).sum();
        if total == 0 {
            return None;
        }
        let mut left = noise.below(total as usize) as u64;
        self.spinners(first).find(|at| {
            let weight = weight(at);
            let is_chosen = left < weight;
            left = left.saturating_sub(weight);
            is_chosen
        })
    }

    fn spinners(&self, first: u16) -> impl Iterator<Item = u16> + '_ {
        let linked = |at: u16| (at != NOBODY).then_some(at);
        core::iter::successors(linked(first), move |&at| {
            linked(self.threads[usize::from(at)].next_spinner)
        })
    }
}

impl super::Thread {
    /// How likely the thread is served first of those that spin on a line with this home.
    fn weight(&self, home: u16, costs: &CostTable) -> u64 {
        match self.turn.is_off {
            true => 0,
            false if self.site.socket == home => WHOLE,
            false => costs.arbitration_remote.of(WHOLE),
        }
    }
}
