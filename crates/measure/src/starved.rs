//! How long a thread waited for a lock that others always hold, and for how long they held it meanwhile as far as the
//! bound of a wait allows it.
//!
//! The bound: the sections of those who hold the lock or are served before the waiter, of which there is at most one
//! phase of readers between two owners, plus 10 ms, plus wake-ups. [`StarvedWait::of`] computes the first part, the
//! *sections* of a wait:
//!
//! - Only the part of a section counts that lies in the wait.
//! - Every section of an owner counts. They follow each other.
//! - Owners divide the wait into parts in which only readers have the lock. In each part the longest section of a
//!   reader counts, and no other, because the readers of a phase come in together. Readers that come in later make the
//!   phase longer, and the 10 ms are for that.
//!
//! What is left of the wait, *beyond* the sections, is what the lock, its 10 ms and the scheduler took.

use serde::{Deserialize, Serialize};

/// A section of another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldSection {
    /// When the thread asked for the lock, in nanoseconds of the monotonic clock.
    pub asked_ns: u64,
    /// When it had the lock.
    pub start_ns: u64,
    /// When it gave the lock back.
    pub end_ns: u64,
    /// For how long of that it had no CPU or, in a section that sleeps, slept longer than it wanted to.
    pub lost_ns: u64,
    /// True if it owned the lock, false if it read.
    pub owns: bool,
}

impl HeldSection {
    /// The part between two moments; `None` if that is nothing.
    fn within(self, from_ns: u64, to_ns: u64) -> Option<Self> {
        let (start_ns, end_ns) = (self.start_ns.max(from_ns), self.end_ns.min(to_ns));
        let lost_ns = self.lost_ns.min(end_ns.saturating_sub(start_ns));
        (start_ns < end_ns).then_some(Self { start_ns, end_ns, lost_ns, ..self })
    }
    fn length_ns(self) -> u64 {
        self.end_ns - self.start_ns
    }
}

/// A wait of the thread that waits again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StarvedWait {
    /// When it began.
    pub from_ns: u64,
    /// When the thread had the lock.
    pub to_ns: u64,
    /// Sections of others that the bound allows.
    pub sections_ns: u64,
    /// The part of them in which their threads had no CPU, or overslept.
    pub lost_ns: u64,
    /// Sections of threads that asked after the wait had begun, and were served first.
    pub overtakes: u64,
    /// For how long the thread was ready to run and had no CPU.
    pub no_cpu_ns: u64,
    /// True if the others had stopped before it ended: it would have been longer.
    pub is_cut: bool,
}

impl StarvedWait {
    /// A wait from one moment to another, next to the sections `held`.
    pub fn of(from_ns: u64, to_ns: u64, held: &[HeldSection]) -> Self {
        let mut held: Vec<HeldSection> =
            held.iter().filter_map(|it| it.within(from_ns, to_ns)).collect();
        held.sort_unstable_by_key(|it| it.start_ns);
        let mut wait = Self { from_ns, to_ns, ..Self::default() };
        // Of the readers since the last owner.
        let mut longest: Option<HeldSection> = None;
        for it in held {
            wait.overtakes += u64::from(it.asked_ns > from_ns);
            if it.owns {
                longest.take().into_iter().chain([it]).for_each(|it| wait.allow(it));
            } else if longest.is_none_or(|longest| it.length_ns() > longest.length_ns()) {
                longest = Some(it);
            }
        }
        longest.into_iter().for_each(|it| wait.allow(it));
        wait
    }
    fn allow(&mut self, section: HeldSection) {
        self.sections_ns += section.length_ns();
        self.lost_ns += section.lost_ns;
    }
    /// How long it was.
    pub fn length_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
    /// What is left of it without the sections.
    pub fn beyond_ns(&self) -> u64 {
        self.length_ns().saturating_sub(self.sections_ns)
    }
}

/// All waits of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Starved {
    /// When the thread began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Its waits, in order.
    pub waits: Vec<StarvedWait>,
}

/// Parts of a run.
pub const WINDOWS: u64 = 10;

impl Starved {
    /// Of each tenth of the run, the longest of the waits that were going on in it; those without one are left out.
    pub fn longest_of_windows(&self) -> Vec<u64> {
        let length_ns = self.end_ns.saturating_sub(self.start_ns);
        let edge = |window: u64| self.start_ns + length_ns * window / WINDOWS;
        let longest = |window: u64| {
            let is_in =
                |wait: &&StarvedWait| wait.from_ns < edge(window + 1) && wait.to_ns >= edge(window);
            self.waits.iter().filter(is_in).map(StarvedWait::length_ns).max()
        };
        (0..WINDOWS).filter_map(longest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(start_ns: u64, end_ns: u64) -> HeldSection {
        HeldSection { asked_ns: 0, start_ns, end_ns, lost_ns: 0, owns: true }
    }

    fn reader(start_ns: u64, end_ns: u64) -> HeldSection {
        HeldSection { owns: false, ..owner(start_ns, end_ns) }
    }

    fn sections(held: &[HeldSection]) -> u64 {
        StarvedWait::of(100, 200, held).sections_ns
    }

    #[test]
    fn every_owner_counts_with_what_lies_in_the_wait() {
        assert_eq!(sections(&[]), 0);
        assert_eq!(sections(&[owner(50, 110), owner(110, 140), owner(150, 195)]), 10 + 30 + 45);
        assert_eq!(sections(&[owner(10, 100), owner(200, 300)]), 0);
        assert_eq!(sections(&[owner(10, 300)]), 100);
    }

    #[test]
    fn of_readers_that_overlap_only_the_longest_counts() {
        let phase = [reader(90, 110), reader(95, 125), reader(105, 145), reader(130, 160)];
        assert_eq!(sections(&phase), 40);
        // What came before the wait does not count.
        assert_eq!(sections(&[reader(0, 120), reader(110, 135)]), 25);
        // A lock that is never free of them: the wait is beyond all sections but one.
        let forever: Vec<HeldSection> = (0..20).map(|at| reader(at * 10, at * 10 + 15)).collect();
        let wait = StarvedWait::of(100, 200, &forever);
        assert_eq!((wait.sections_ns, wait.beyond_ns()), (15, 85));
    }

    #[test]
    fn there_is_a_phase_of_readers_before_between_and_after_owners() {
        let held = [
            reader(180, 190),
            reader(90, 110),
            reader(105, 120),
            owner(120, 130),
            reader(131, 140),
            reader(132, 150),
            owner(150, 160),
            owner(160, 165),
        ];
        assert_eq!(sections(&held), 15 + 10 + 18 + 10 + 5 + 10);
    }

    #[test]
    fn those_that_asked_later_have_overtaken_and_losses_are_those_of_the_sections_that_count() {
        let held = [
            HeldSection { asked_ns: 90, lost_ns: 7, ..owner(100, 120) },
            HeldSection { asked_ns: 101, lost_ns: 50, ..reader(120, 130) },
            HeldSection { asked_ns: 102, lost_ns: 3, ..reader(120, 150) },
        ];
        let wait = StarvedWait::of(100, 200, &held);
        assert_eq!((wait.overtakes, wait.lost_ns, wait.beyond_ns()), (2, 7 + 3, 50));
        // No more is lost than the part in the wait.
        assert_eq!(StarvedWait::of(110, 115, &held[..1]).lost_ns, 5);
    }

    #[test]
    fn a_wait_belongs_to_each_tenth_in_which_it_was_going_on() {
        let wait = |from_ns, to_ns| StarvedWait { from_ns, to_ns, ..StarvedWait::default() };
        let waits = vec![wait(1_000, 1_005), wait(1_010, 1_013), wait(1_021, 1_049)];
        let run = Starved { start_ns: 1_000, end_ns: 1_100, waits };
        assert_eq!(run.longest_of_windows(), [5, 3, 28, 28, 28]);
        assert!(Starved::default().longest_of_windows().is_empty());
    }
}
