//! The bug zoo: bugs that people made in locks, as edits of the source text of the locks.
//!
//! A checker is believed when it finds bugs that people made. Each [`Bug`] is such a bug, with a cause and a source.
//! Its [`Edit`]s say what stands in a file of the locks, and what stands there with the bug. `cargo xtask zoo` writes
//! a copy of the crates in which both forms stand behind a switch ([`VARIABLE`]) and builds it once. It then seeds one
//! bug after the other, and fails if a checker that must see it does not. The same checks run on the correct code.
//! Nothing of this is in the locks that people use.
//!
//! `lockwright bugs` lists all bugs. To seed one bug, and to see the schedule that breaks a lock:
//!
//! ```text
//! cargo xtask zoo --only 9
//! lockwright explore --bug 18 --lock mutex
//! ```
//!
//! The checkers are:
//!
//! - **loom** explores every execution of two or three threads, up to a number of preemptions;
//! - **explore** samples schedules on a simulated machine (`lockwright explore`);
//! - **fairness** measures how long threads wait in simulated runs;
//! - **native tests** run the lock on the real machine, and **explored schedules** are tests that explore.
//!
//! The numbers are those of a longer list of lock bugs; letters are variants. Bugs of locks that do not exist here are
//! left out. Bugs from 47 on were not found in the field: they are our own findings, and races that the design rules
//! out. Bugs from 80 on show on the real machine. `explore` need not see bugs of going to sleep and waking up in
//! `hybrid-bounded`, whose waiters seldom sleep in sampled schedules.
//!
//! Bug 2 is left out: a reader gives up as the first waiter and wakes no thread (Linux rwsem, 2022, 1ee326196c66).
//! Seeded in the reader-writer semaphore it does no harm, and no checker saw it. Readers are granted under the internal
//! lock, so a reader that is the first waiter leaves a lock that a thread holds, and the release of this thread wakes
//! the next waiter. Bug 13 is the same for a writer.

mod bug;
pub mod cards;
mod hq;
pub mod locks;
mod mutex;
mod once;
mod programs;
mod queued;
mod real;
mod rwsem;
mod seen;
mod sleeping;
mod spin;

pub use bug::{Bug, Edit, Test};
pub use seen::{BugKind, Checker, Detection, fault_of};

/// True in the copy that has the bugs. `xtask`, which writes the copy, changes this line there.
pub const IS_COPY: bool = false;
/// The variable of the environment that chooses what is wrong in the copy: the [number](Bug::number) of a bug or, from
/// 1000 on, that of a weakened ordering.
pub const VARIABLE: &str = "LOCKWRIGHT_WEAKEN";

impl Bug {
    /// Every bug.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [
            spin::BUGS,
            queued::BUGS,
            mutex::BUGS,
            sleeping::BUGS,
            programs::BUGS,
            once::BUGS,
            rwsem::BUGS,
            real::BUGS,
            hq::BUGS,
        ]
        .into_iter()
        .flatten()
    }
    /// Every bug, in the order of their rows.
    pub fn sorted() -> Vec<&'static Self> {
        let number = |row: &'static str| {
            let digits = row.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            (digits.parse::<u32>().unwrap_or(u32::MAX), row)
        };
        let mut all: Vec<_> = Self::all().collect();
        all.sort_by_key(|bug| number(bug.row));
        all
    }
    /// The bug of this row.
    pub fn of_row(row: &str) -> Option<&'static Self> {
        Self::all().find(|bug| bug.row == row)
    }
    /// The bug that a person means by a row or a name.
    pub fn called(typed: &str) -> Option<&'static Self> {
        let typed = typed.trim();
        Self::all().find(|bug| bug.row == typed || bug.name.eq_ignore_ascii_case(typed))
    }
    /// What the copy knows it by.
    pub fn number(&self) -> usize {
        Self::all().take_while(|bug| bug.row != self.row).count()
    }
    /// The bug that the locks of this build have, in the copy.
    pub fn chosen() -> Option<&'static Self> {
        if !IS_COPY {
            return None;
        }
        let chosen = std::env::var(VARIABLE).ok()?;
        Self::all().nth(chosen.parse().ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_has_a_row_of_its_own_a_lock_an_edit_and_a_checker_that_must_see_it() {
        let all: Vec<&Bug> = Bug::all().collect();
        for (number, bug) in all.iter().enumerate() {
            let is_once =
                |same: fn(&Bug) -> &str| all.iter().filter(|it| same(it) == same(bug)).count() == 1;
            assert!(is_once(|it| it.row) && is_once(|it| it.name), "{bug:?}");
            let words = [bug.source, bug.what, bug.headline()];
            assert!(!bug.locks.is_empty() && words.iter().all(|it| !it.is_empty()), "{bug:?}");
            assert!(!bug.seen.by.is_empty() && !bug.edits.is_empty(), "{bug:?}");
            let is_hidden = bug.seen.kind.hides_from_explore().is_some();
            assert!(!is_hidden || !bug.seen.by.contains(&Checker::Explore), "{bug:?}");
            assert_eq!((bug.number(), Bug::of_row(bug.row)), (number, Some(*bug)));
        }
    }

    #[test]
    fn every_bug_that_tests_must_see_has_them_and_every_program_of_a_lock_is_one_of_it() {
        for bug in Bug::all() {
            for checker in bug.seen.by.iter().filter(|it| !Checker::OF_SEEDED.contains(it)) {
                assert!(bug.tests.iter().any(|test| test.checker == *checker), "{bug:?}");
            }
            assert!(bug.shown_by.iter().all(|(lock, _)| bug.is_in(lock)), "{bug:?}");
        }
    }
}
