//! The bug zoo: historical lock bugs, seeded in the locks of this crate.
//!
//! A checker is believed when it finds bugs that people made. Each row below is such a bug, with a
//! cause and a source. The wrong code stands beside the right one, behind
//! [`Cells::is_seeded`](crate::platform::Cells::is_seeded): a machine for checking answers for the
//! bug its run was asked to seed, a machine for programs answers `false` when it is compiled, and
//! nothing is left of the wrong code there.
//!
//! Rows are numbered as in the list of historical bugs the project keeps, variants of a row by
//! letters; rows from 47 on are our own findings and the races that the design rules out.

use crate::platform::Cells;
use core::sync::atomic::Ordering;

/// `order`, or no order at all on a machine that is seeded with `bug`.
#[inline(always)]
pub(crate) fn unless<P: Cells>(bug: Bug, order: Ordering) -> Ordering {
    // ordering: Relaxed; WRONG ON PURPOSE, and on no machine for programs.
    if P::is_seeded(bug) { Ordering::Relaxed } else { order }
}

macro_rules! bugs {
    ($($(#[doc = $doc:literal])+ $bug:ident, $row:literal, $source:literal, $locks:expr;)+) => {
        /// A bug that a lock can be seeded with.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Bug { $($(#[doc = $doc])+ $bug,)+ }

        impl Bug {
            /// Every bug, in the order of the table.
            pub const ALL: &[Bug] = &[$(Bug::$bug,)+];
            /// The row it is selected by.
            pub const fn row(self) -> &'static str {
                match self { $(Bug::$bug => $row,)+ }
            }
            /// Where it happened.
            pub const fn source(self) -> &'static str {
                match self { $(Bug::$bug => $source,)+ }
            }
            /// One sentence: what goes wrong and why.
            pub fn describe(self) -> &'static str {
                match self { $(Bug::$bug => concat!($($doc,)+).trim_ascii(),)+ }
            }
            /// The registered locks that have it when it is seeded.
            pub const fn locks(self) -> &'static [&'static str] {
                match self { $(Bug::$bug => $locks,)+ }
            }
            /// The bug of this row.
            pub fn of_row(row: &str) -> Option<Bug> {
                Self::ALL.iter().copied().find(|bug| bug.row() == row)
            }
        }
    };
}

const QUEUED: &[&str] =
    &["qspinlock", "cna", "cna-v10_time", "cna-v10_limited", "cna-v11", "cna-v15"];
/// The versions that look again after they have taken the lock.
const CNA_LOOKING_TWICE: &[&str] = &["cna", "cna-v10_time", "cna-v10_limited"];
const CNA: &[&str] = &["cna", "cna-v10_time", "cna-v10_limited", "cna-v11", "cna-v15"];

bugs! {
    /// A waiter is linked behind another one before the initialisation of its node is visible: the
    /// exchange of the tail and the store of the link order nothing.
    LinkBeforeInit, "9", "Linux qspinlock, 2018 (95bcade33a8a)", QUEUED;
    /// An attempt compares only the half of the word that it changes. When tickets have gone once
    /// around in between, that half is the same again and the lock is held: two owners. Tickets are
    /// of two bits here, for at most three threads that hold or wait.
    HalfCompared, "34", "arm64 ticket spinlock, about 2015 (202fb4ef81e3)", &["ticket"];
    /// The head chooses whom to grant and then reorders the queues: the waiter it grants may be in
    /// the secondary queue by then, and the one that is next is forgotten.
    GrantChosenEarly, "47", "design: a grant is chosen after the last reordering", CNA_LOOKING_TWICE;
    /// The head takes the lock from the end of the primary queue and forgets to grant the head of
    /// the secondary queue, who waits for ever.
    GrantForgotten, "48", "design: every grant goes through one place", CNA;
}
