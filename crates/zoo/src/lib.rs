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
//! - **shuttle** samples schedules of more threads;
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
/// The variable of the environment that chooses what is wrong in the copy: [`EDIT`] and the [number](Bug::number) of a
/// bug.
pub const VARIABLE: &str = "LOCKWRIGHT_WEAKEN";
/// What stands before the number of a bug in [`VARIABLE`].
pub const EDIT: &str = "edit:";

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
    /// The value of [`VARIABLE`] that chooses it.
    pub fn choice(&self) -> String {
        format!("{EDIT}{}", self.number())
    }
    /// The bug that the locks of this build have, in the copy.
    pub fn chosen() -> Option<&'static Self> {
        if !IS_COPY {
            return None;
        }
        let chosen = std::env::var(VARIABLE).ok()?;
        Self::all().nth(chosen.strip_prefix(EDIT)?.parse().ok()?)
    }
}
