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
    ($($(#[doc = $doc:literal])+ $bug:ident, $row:literal, $source:expr, $locks:expr;)+) => {
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
            /// Whether the registered lock of this name has it when it is seeded.
            pub fn is_in(self, lock: &str) -> bool {
                self.locks().contains(&lock)
            }
        }
    };
}

const ALL: &[&str] = &[
    "qspinlock",
    "cna",
    "cna-v10_time",
    "cna-v10_limited",
    "cna-v11",
    "cna-v15",
    "unfair",
    "unfair-backoff",
    "ticket",
    "mcs",
    "clh",
];
const QUEUED: &[&str] =
    &["qspinlock", "cna", "cna-v10_time", "cna-v10_limited", "cna-v11", "cna-v15"];
/// The versions that look again after they have taken the lock.
const CNA_LOOKING_TWICE: &[&str] = &["cna", "cna-v10_time", "cna-v10_limited"];
const CNA_LOOKING_AT_NEIGHBOURS: &[&str] = &["cna-v11", "cna-v15"];
const CNA: &[&str] = &["cna", "cna-v10_time", "cna-v10_limited", "cna-v11", "cna-v15"];

const CNA_VERIFIED: &str = "CNA, verified for the kernel's memory model, 2021 (arXiv 2111.15240)";
const CNA_REVIEWED: &str = "CNA v10, review of July 2020";

bugs! {
    /// A waiter is linked behind another one before the initialisation of its node is visible: the
    /// exchange of the tail and the store of the link order nothing.
    LinkBeforeInit, "9", "Linux qspinlock, 2018 (95bcade33a8a)", QUEUED;
    /// A waiter links itself behind another one by a store that orders nothing. The owner's grant
    /// may be overwritten by the initialisation of the node it was written to: the waiter hangs.
    LinkRelaxed, "10", "DPDK mcslock, about 2020 (021b698eb56e)", &["mcs"];
    /// Taking a lock and the question whether another one is held are not ordered: of two threads
    /// that each take one and ask about the other's, both find it free and both go on.
    LookUnordered, "11", "Linux qspinlock and System V semaphores, 2016", ALL;
    /// The head cuts the circle of the secondary queue and publishes its tail without a release: a
    /// newcomer's link may be overwritten by the cut.
    CutUnpublished, "31a", CNA_VERIFIED, CNA;
    /// The head scans the queue without acquiring the links: it may read a waiter's NUMA node, or
    /// grant it, as it was before the waiter had initialised its node.
    ScanUnordered, "31b", CNA_VERIFIED, CNA_LOOKING_TWICE;
    /// The same for the waiter behind the head, where the head looks at one neighbour at a time.
    NeighbourUnordered, "31c", CNA_VERIFIED, CNA_LOOKING_AT_NEIGHBOURS;
    /// The same for the waiter behind that one.
    BehindUnordered, "31d", CNA_VERIFIED, CNA_LOOKING_AT_NEIGHBOURS;
    /// The threshold is never reached, so waiters that were set aside wait for as long as the
    /// preferred NUMA node has any.
    NeverDue, "32a", CNA_REVIEWED, CNA;
    /// The head scans the whole queue when it has taken the lock and could be running its section.
    ScanUnlimited, "32b", CNA_REVIEWED, &["cna-v10_limited"];
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
    /// The head cannot leave alone because a thread has just set the pending bit, and takes that for
    /// a sign that somebody queues behind it. With no queue node left that thread takes its bit
    /// back and competes for the word: the head waits for a link that nobody writes, as the owner.
    PendingTakenForQueued, "49", "our own finding, from the rules of the kernel's slow path", QUEUED;
}
