//! The zoo as a list.

use super::Bug;
use super::seen::{EDIT, NATIVE_EDIT, Seen};

/// A bug of the zoo: one that a lock is seeded with, or an edit of the source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number it is selected by.
    pub row: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What goes wrong and why.
    pub what: &'static str,
    /// Where it happened.
    pub source: &'static str,
    /// The registered locks that have it.
    pub locks: &'static [&'static str],
    /// What it is about, and who must see it.
    pub seen: Seen,
}

impl Entry {
    /// Every bug, edits last.
    pub fn all() -> impl Iterator<Item = Self> {
        Bug::ALL.iter().map(|bug| bug.entry()).chain(EDITED.iter().copied())
    }
    /// The bug with this number.
    pub fn of_row(row: &str) -> Option<Self> {
        Self::all().find(|entry| entry.row == row)
    }
    /// Its number and the letter of a variant: lists for people are sorted by them.
    pub fn number(&self) -> (u32, &'static str) {
        let digits = self.row.chars().take_while(char::is_ascii_digit).count();
        let (number, letter) = self.row.split_at(digits);
        (number.parse().unwrap_or(u32::MAX), letter)
    }
    /// One line of [`what`](Self::what): its first sentence, or the part of it before a colon.
    pub fn headline(&self) -> &'static str {
        self.what.split(['.', ':']).next().unwrap_or(self.what)
    }
}

const OURS: &str = "this project, until November 2026";

/// Bugs that are edits of the source text, in the order of their numbers. The edits are in `xtask`.
pub const EDITED: &[Entry] = &[
    Entry {
        row: "80",
        name: "AddressReused",
        what: "Slots name a lock by its address, so the entry of a forgotten guard is taken for the next lock at this address.",
        source: OURS,
        locks: &["percpu-rwlock"],
        seen: EDIT,
    },
    Entry {
        row: "81",
        name: "DepthWraps",
        what: "The depth of a thread that reads again and again wraps around in 16 bits, and a writer gets the lock while there are readers.",
        source: OURS,
        locks: &["percpu-rwlock"],
        seen: EDIT,
    },
    Entry {
        row: "82",
        name: "KindForgotten",
        what: "Sleepers are named by the address of a word alone, so a late unlock wakes a thread that waits for a lock of another kind at this address, and a semaphore takes that for a grant.",
        source: OURS,
        locks: &["mutex", "semaphore"],
        seen: EDIT,
    },
    Entry {
        row: "83",
        name: "EntryUnconfirmed",
        what: "A reader believes an entry of its slot before its thread has looked at the mode, so a signal handler in between reads while there is a writer.",
        source: OURS,
        locks: &["percpu-rwlock"],
        seen: EDIT,
    },
    Entry {
        row: "84",
        name: "TimeoutIgnored",
        what: "A timed wait for a condition variable without a queue node says that it was notified, even after its time-out.",
        source: OURS,
        locks: &["mutex"],
        seen: EDIT,
    },
    Entry {
        row: "85",
        name: "GoneWaitersHeeded",
        what: "An attempt in a forked child respects waiters that do not exist there, and never gets a free lock.",
        source: OURS,
        locks: &["rwlock", "rwlock-fair", "percpu-rwlock"],
        seen: EDIT,
    },
    Entry {
        row: "86",
        name: "ParentSlotsUnseen",
        what: "In a child that was made without the fork handlers, writers do not look at the slots of the parent, in which the child reads.",
        source: OURS,
        locks: &["percpu-rwlock"],
        seen: NATIVE_EDIT,
    },
    Entry {
        row: "87",
        name: "BarrierRefused",
        what: "A heavy barrier that a system call filter refuses ends the process, although another barrier would do.",
        source: OURS,
        locks: &["mutex", "percpu-rwlock"],
        seen: NATIVE_EDIT,
    },
];
