//! The bug zoo: historical lock bugs, seeded in the locks of this crate.
//!
//! A checker is believed when it finds bugs that people made. Each row below is such a bug, with a
//! cause and a source. The wrong code stands next to the right one, behind
//! [`Cells::is_seeded`]: a machine for checking answers for the
//! bug its run was asked to seed, a machine for programs answers `false` when it is compiled, and
//! nothing is left of the wrong code there.
//!
//! Rows are numbered as in the list of historical bugs the project keeps, variants of a row by
//! letters; rows from 47 on are our own findings and the races that the design rules out.

mod entry;
mod seen;

pub use entry::{EDITED, Entry};
pub use seen::{Checker, Kind, Seen, fault_of};

use crate::platform::Cells;
use core::sync::atomic::Ordering;
use seen::{ASLEEP, BY_LOOM, EXPLORED, LATE, MEMORY, SOON};

/// `order`, or no order at all on a machine that is seeded with `bug`.
#[inline(always)]
pub(crate) fn unless<P: Cells>(bug: Bug, order: Ordering) -> Ordering {
    // ordering: Relaxed; WRONG ON PURPOSE, and on no machine for programs.
    if P::is_seeded(bug) { Ordering::Relaxed } else { order }
}

macro_rules! bugs {
    ($($(#[doc = $doc:literal])+ $bug:ident, $row:literal, $seen:expr, $source:expr, $locks:expr;)+) => {
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
            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Bug::$bug => stringify!($bug),)+ }
            }
            /// What it is about, and which checkers must see it.
            pub const fn seen(self) -> Seen {
                match self { $(Bug::$bug => $seen,)+ }
            }
            /// The bug with everything that is known about it.
            pub fn entry(self) -> Entry {
                Entry {
                    row: self.row(),
                    name: self.name(),
                    what: self.describe(),
                    source: self.source(),
                    locks: self.locks(),
                    seen: self.seen(),
                }
            }
            /// The bug of this row.
            pub fn of_row(row: &str) -> Option<Bug> {
                Self::ALL.iter().copied().find(|bug| bug.row() == row)
            }
            /// Returns `true` if the registered lock of this name has it when it is seeded.
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
    "osq",
    "qrwlock",
    "semaphore",
    "rwlock",
];
const QUEUED: &[&str] =
    &["qspinlock", "cna", "cna-v10_time", "cna-v10_limited", "cna-v11", "cna-v15"];
/// The versions that look again after they have taken the lock.
const CNA_LOOKING_TWICE: &[&str] = &["cna", "cna-v10_time", "cna-v10_limited"];
const CNA_LOOKING_AT_NEIGHBOURS: &[&str] = &["cna-v11", "cna-v15"];
const CNA: &[&str] = &["cna", "cna-v10_time", "cna-v10_limited", "cna-v11", "cna-v15"];

/// Those whose waiters sleep.
const SLEEPING: &[&str] = &[
    "park",
    "hybrid",
    "hybrid-bounded",
    "cna-park",
    "cna-hybrid",
    "cna-hybrid-bounded",
    "cna-v10_time-park",
    "cna-v10_time-hybrid",
    "cna-v10_time-hybrid-bounded",
    "cna-v10_limited-park",
    "cna-v10_limited-hybrid",
    "cna-v10_limited-hybrid-bounded",
    "cna-v11-park",
    "cna-v11-hybrid",
    "cna-v11-hybrid-bounded",
    "cna-v15-park",
    "cna-v15-hybrid",
    "cna-v15-hybrid-bounded",
];
const SLEEPING_CNA: &[&str] = SLEEPING.split_at(3).1;
const MUTEX: &[&str] = &["mutex"];
const OSQ: &[&str] = &["osq"];
/// The reader-writer lock for programs.
const RWLOCK: &[&str] = &["rwlock", "rwlock-fair"];
/// The mutex and that lock, whose waiters are in the table.
const IN_TABLE: &[&str] = &["mutex", "rwlock"];
const PERCPU: &[&str] = &["percpu-rwlock-in_slots"];
/// The semaphore: the presets that stand for the others, and those of them that can have a bug.
const RWSEM: &[&str] = &["rwsem-v3_12", "rwsem-v4_14", "rwsem-current"];
const RWSEM_TODAY: &[&str] = RWSEM.split_at(2).1;
const RWSEM_TODAY_OR_RWLOCK: &[&str] = &and::<2>(RWSEM_TODAY, "rwlock");
const RWSEM_OR_RWLOCK: &[&str] = &and::<{ RWSEM.len() + 1 }>(RWSEM, "rwlock");
const RWSEM_LOOKING: &[&str] = RWSEM.split_at(2).0;
const QRWLOCK: &[&str] = &["qrwlock"];
const SEQLOCK: &[&str] = &["seqlock"];
const SEMAPHORE: &[&str] = &["semaphore"];
/// The same and one more.
const SLEEPING_OR_MUTEX: &[&str] = &and::<{ SLEEPING.len() + 1 }>(SLEEPING, "mutex");
const HYBRID_OR_MUTEX: &[&str] = &and::<{ HYBRID.len() + 1 }>(HYBRID, "mutex");
const HYBRID_OR_QRWLOCK: &[&str] = &and::<{ HYBRID.len() + 1 }>(HYBRID, "qrwlock");

const fn and<const N: usize>(locks: &[&'static str], last: &'static str) -> [&'static str; N] {
    let mut names = [last; N];
    let mut at = 0;
    while at < locks.len() {
        names[at] = locks[at];
        at += 1;
    }
    names
}

/// Those of them that newcomers may steal.
const HYBRID: &[&str] = &[
    "hybrid",
    "hybrid-bounded",
    "cna-hybrid",
    "cna-hybrid-bounded",
    "cna-v10_time-hybrid",
    "cna-v10_time-hybrid-bounded",
    "cna-v10_limited-hybrid",
    "cna-v10_limited-hybrid-bounded",
    "cna-v11-hybrid",
    "cna-v11-hybrid-bounded",
    "cna-v15-hybrid",
    "cna-v15-hybrid-bounded",
];

const CNA_VERIFIED: &str = "CNA, verified for the kernel's memory model, 2021 (arXiv 2111.15240)";
const CNA_REVIEWED: &str = "CNA v10, review of July 2020";

bugs! {
    /// A waiter is linked behind another one before the initialisation of its node is visible: the
    /// exchange of the tail and the store of the link order nothing.
    LinkBeforeInit, "9", MEMORY, "Linux qspinlock, 2018 (95bcade33a8a)", QUEUED;
    /// A waiter links itself behind another one by a store that orders nothing. The owner's grant
    /// may be overwritten by the initialisation of the node it was written to: the waiter hangs.
    LinkRelaxed, "10", MEMORY, "DPDK mcslock, about 2020 (021b698eb56e)", &["mcs"];
    /// Taking a lock and the question whether another one is held are not ordered: of two threads
    /// that each take one and ask about the other's, both find it free and both go on.
    LookUnordered, "11", BY_LOOM, "Linux qspinlock and System V semaphores, 2016", ALL;
    /// The owner hands the lock to a waiter and leaves it among the waiters: the next one hands it to
    /// the same thread again, which may be its owner already.
    HandoffTwice, "8", ASLEEP, "Linux mutex handoff, 2017 (e274795ea7b7)", MUTEX;
    /// A waiter reads that it was handed the lock and acquires nothing: its section may run before what
    /// the last owner did.
    GrantReadRelaxed, "14", MEMORY, "parking_lot RwLock, 2020 to 2022 (PR 260, PR 344)", MUTEX;
    /// The internal lock of the table is taken by an exchange that acquires nothing: the list may be read as
    /// it was before the last change.
    BucketTakenRelaxed, "15", MEMORY, "parking_lot WordLock, 2020 (PR 292)", MUTEX;
    /// A notifier moves a waiter and counts it out afterwards, when the waiter may have returned: it
    /// writes to what was the condition variable.
    CountedOutLate, "16", EXPLORED, "parking_lot ReentrantMutex, 2019 (da16c2c)", MUTEX;
    /// A waiter that gives up asks whether it was the first when it is not in the list any more. It
    /// was not, so nobody answers for the next one.
    FirstAfterRemoval, "17", EXPLORED, "parking_lot core, 2019 (PR 129)", IN_TABLE;
    /// The owner looks at the lock after it has released it. The next owner may have freed it.
    ReadAfterRelease, "18", EXPLORED, "glibc mutex and semaphore (BZ 13690, BZ 12674)",
        &["mutex", "semaphore", "rwlock"];
    /// The head of the queue was woken and robbed of the lock, and sleeps again without saying so in
    /// the lock word: the thief releases a lock for which, as far as it can see, nobody sleeps.
    RobbedSleepsUnannounced, "19", ASLEEP, "musl stdio lock, 2018 (c21f75072751, 0db393d3a77b)",
        HYBRID_OR_MUTEX;
    /// The first sleeper takes a lock that is reserved for it and writes the whole word: the queue of those
    /// that spin is forgotten.
    TakeoverForgetsQueue, "20", BY_LOOM, "glibc robust mutex, 2016 (BZ 20973)", MUTEX;
    /// A notifier finds that the only waiter has just given up, and counts one out all the same: one
    /// that comes later does not count.
    CountedOutTwice, "21", EXPLORED, "glibc condition variable, 2016 to 2024 (BZ 25847)", MUTEX;
    /// The waiter that came last is notified, not the one that the notification was for.
    NewcomerNotified, "22", EXPLORED, "glibc condition variable before 2016 (BZ 12875, BZ 13165)", MUTEX;
    /// A reader that may be one already waits for a writer for which the lock is kept, and that one for it.
    RecursionForgotten, "35b", BY_LOOM, "s390 rwlock, 2018 (LP 1761674); parking_lot issue 212", &["rwlock"];
    /// The first waiter looks whether the lock is held, and only then says that it sleeps: a release in
    /// between wakes nobody.
    LookBeforeMark, "36", BY_LOOM, "bcachefs six lock (e057a290ef71)", RWLOCK;
    /// A writer looks at a reader's slot, and only then says that it waits for it: the reader leaves in between
    /// and tells nobody.
    LookBeforeWanted, "36b", BY_LOOM, "bcachefs six lock (e057a290ef71)", PERCPU;
    /// A reader says in its slot that it reads and looks whether slots are used with no barrier in between, not even
    /// the compiler's: a writer does not see it, and it does not see the writer.
    SlotUnordered, "46", BY_LOOM, "FreeBSD rmlock, 2021 (1d44514fcd68)", PERCPU;
    /// A reader finds that slots are used and acquires nothing: it may read what was there before the last write.
    ModeReadRelaxed, "14b", MEMORY, "parking_lot RwLock, 2020 to 2022 (PR 260, PR 344)", PERCPU;
    /// A thread that waits takes the lock by an exchange that acquires nothing: it may read what was there before the
    /// last write.
    SharedTakeRelaxed, "14c", MEMORY, "parking_lot RwLock, 2020 to 2022 (c866ba8, d26c284)", RWLOCK;
    /// A writer releases the lock and counts afterwards: the next owner may have freed it.
    CountedAfterUnlock, "16b", EXPLORED, "parking_lot ReentrantMutex, 2019 (da16c2c)", PERCPU;
    /// A thread that wakes up for no reason sleeps again as long as its word has the value that it has
    /// now, not the one that means sleep: if it has been told meanwhile, for ever.
    StaleExpected, "24", EXPLORED, "Darwin pthread_rwlock, 2026 (ClickHouse PR 112267)", MUTEX;
    /// What a waiter sleeps on keeps the value of its last sleep: it takes an old word for a new one.
    SignalKept, "25", EXPLORED, "musl condition variable, 2011 (97c5b5a87c3d)", MUTEX;
    /// A notifier looks whether the mutex is free and counts the waiter that it moves there afterwards: a
    /// release in between finds nobody to wake.
    CountedAfterLook, "26", EXPLORED, "Linux futex requeue, 2014 (69cd9eba3886)", MUTEX;
    /// A waiter says that it sleeps and looks at its grant with no full barrier in between. The
    /// granter does not see it sleep, it does not see the grant: nobody kicks it.
    HaltUnordered, "27", BY_LOOM, "Linux futex, 2014 (76835b0ebf8a)", SLEEPING;
    /// The other side of the same: no full barrier between the grant and the look whether the
    /// waiter sleeps.
    KickUnordered, "28", BY_LOOM, "Xen paravirtual spinlock, about 2009 (2496afbf1e50)", SLEEPING;
    /// The head of the queue says before it sleeps that it sleeps, but not that it has an entry in
    /// the hash. The owner that has just granted it enters it a second time; one of the entries
    /// stays, and a later owner kicks whoever it names.
    HeadSaysHalted, "29", ASLEEP, "pvqspinlock, 2016 (229ce6315747)", SLEEPING;
    /// A waiter looks whether to sleep, and only then makes ready what it sleeps on: a kick in
    /// between is forgotten.
    KickForgottenUnseen, "30", ASLEEP, "Xen PVHVM, 2013 (1fb3a8b2cfb2)", SLEEPING;
    /// The head of the queue, and a thief, take the lock in the slow path by an exchange that
    /// acquires nothing: the section may run before what the last owner did.
    SlowTakeRelaxed, "33", MEMORY, "Linux rtmutex, 2022 (no acquire in the slow path on arm64)",
        SLEEPING_OR_MUTEX;
    /// A waiter of a condition variable is moved to a mutex that nobody holds: nobody will wake it.
    MovedToFree, "37", ASLEEP, "nsync condition variables, 2017 (215217c)", MUTEX;
    /// The lock is handed to a waiter by its number, after the table was given back: by then the number
    /// may be another thread's.
    NumberReused, "39", ASLEEP, "Rust std ReentrantLock, 2025 (PR 141248)", MUTEX;
    /// A thread that sleeps for one thing takes the word that it was told for another one: when it
    /// asks for that, nobody has told it anything.
    WordEaten, "40", ASLEEP, "Rust std thread parking, 2025 (issue 145816)", MUTEX;
    /// The owner releases the lock and does not look whether somebody sleeps for it.
    SleeperMissed, "42", ASLEEP, "gperftools SpinLock (93a69c4df287)", SLEEPING_OR_MUTEX;
    /// A sleeper writes that it is wanted and looks at the lock with no barrier in between. The owner's
    /// release does not see it, it does not see the release: nobody wakes it.
    SleepUnordered, "43a", BY_LOOM, "brpc ParkingLot, 2026 (PR 3539)", MUTEX;
    /// The other side of the same: where somebody may sleep, the owner releases the lock by a store and
    /// looks with no barrier in between.
    ReleaseUnordered, "43b", EXPLORED, "HotSpot Parker (6822370)", MUTEX;
    /// The owner has found a sleeper and leaves the lock to it, without a release: whoever wakes up
    /// is the owner. But the sleeper was awake already, by itself, and does not know.
    WakeTakenForHandoff, "45", ASLEEP, "litebox RwLock, 2026 (PR 809)", SLEEPING_OR_MUTEX;
    /// The head cuts the circle of the secondary queue and publishes its tail without a release: a
    /// newcomer's link may be overwritten by the cut.
    CutUnpublished, "31a", MEMORY, CNA_VERIFIED, CNA;
    /// The head scans the queue without acquiring the links: it may read a waiter's NUMA node, or
    /// grant it, as it was before the waiter had initialised its node.
    ScanUnordered, "31b", MEMORY, CNA_VERIFIED, CNA_LOOKING_TWICE;
    /// The same for the waiter behind the head, where the head looks at one neighbour at a time.
    NeighbourUnordered, "31c", MEMORY, CNA_VERIFIED, CNA_LOOKING_AT_NEIGHBOURS;
    /// The same for the waiter behind that one.
    BehindUnordered, "31d", MEMORY, CNA_VERIFIED, CNA_LOOKING_AT_NEIGHBOURS;
    /// The threshold is never reached, so waiters that were set aside wait for as long as the
    /// preferred NUMA node has any.
    NeverDue, "32a", LATE, CNA_REVIEWED, CNA;
    /// The head scans the whole queue when it has taken the lock and could be running its section.
    ScanUnlimited, "32b", LATE, CNA_REVIEWED, &["cna-v10_limited"];
    /// An attempt compares only the half of the word that it changes. When tickets have gone once
    /// around in between, that half is the same again and the lock is held: two owners. Tickets are
    /// of two bits here, for at most three threads that hold or wait.
    HalfCompared, "34", SOON, "arm64 ticket spinlock, about 2015 (202fb4ef81e3)", &["ticket"];
    /// A reader waits for a writer that waits for other readers, and one of these is its own thread: it
    /// reads again, in the handler of an interrupt.
    UrgentReaderQueues, "35", BY_LOOM, "s390 rwlock, 2018 (Launchpad 1761674)", QRWLOCK;
    /// The head chooses whom to grant and then reorders the queues: the waiter it grants may be in
    /// the secondary queue by then, and the one that is next is forgotten.
    GrantChosenEarly, "47", SOON, "design: a grant is chosen after the last reordering", CNA_LOOKING_TWICE;
    /// The head takes the lock from the end of the primary queue and forgets to grant the head of
    /// the secondary queue, who waits for ever.
    GrantForgotten, "48", SOON, "design: every grant goes through one place", CNA;
    /// The head cannot leave alone because a thread has just set the pending bit, and takes that for
    /// a sign that somebody queues behind it. With no queue node left that thread takes its bit
    /// back and competes for the word: the head waits for a link that nobody writes, as the owner.
    PendingTakenForQueued, "49", BY_LOOM, "our own finding, from the rules of the kernel's slow path", QUEUED;
    /// The owner reads whom to kick from its link and then reorders the queues: the waiter it kicks
    /// is not the one that it grants, which sleeps for ever.
    KickComputedEarly, "50", BY_LOOM, "design: the succession returns the waiter that it grants",
        SLEEPING_CNA;
    /// The owner takes the lock from the end of the primary queue, grants the head of the secondary
    /// queue and does not kick it.
    KickForgotten, "51", BY_LOOM, "design: every grant is kicked", SLEEPING_CNA;
    /// The head of the queue sees the lock free and takes it by a plain store, beside a thief.
    HeadStoresBesideThief, "52", BY_LOOM, "design: only where nobody steals is the lock taken by a store",
        HYBRID_OR_QRWLOCK;
    /// A waiter sees that its predecessor does not run, concludes that it cannot have been granted
    /// and sleeps without another look. The predecessor may have granted it before, and be a waiter
    /// again, for this lock or another one.
    PrevTrusted, "53", BY_LOOM, "design: the predecessor's node is a hint", SLEEPING;
    /// A sleeper makes its bucket restless and interrupts everybody after it has given the bucket back. In
    /// between another one, for another lock, relies on everybody knowing: an owner that released that
    /// lock by a store, and looked before, does not.
    MarkedTooSoon, "55", EXPLORED, "our own finding, in review", MUTEX;
    /// An owner leaves a sleeper behind and makes the bucket restless without interrupting anybody: those who
    /// own its lock later will know, those who own another lock of the bucket need not.
    OwnerSpeaksForAll, "56", EXPLORED, "design: a mark of its own for what only later owners know", MUTEX;
    /// The head of the queue, awake for no reason, makes the lock slow and finds that it is slow
    /// already. It takes that for an owner who will kick. But that owner has taken the head's last
    /// entry out and is about to overwrite the byte.
    SlowTakenForHeld, "54", ASLEEP, "our own finding, by the Promela model", SLEEPING;
    /// The head looks who is behind it and makes that one the head, without keeping it where it is. It
    /// may be leaving: then nobody is the head, and who comes later waits for ever.
    NextNotTaken, "57", BY_LOOM, "design: a link is taken before what it names is used", OSQ;
    /// A waiter that was the last one leaves, and the one in front, the last one now, goes before the mark
    /// in its link is cleared. It is cleared in a node that somebody else uses.
    MarkOutlived, "58", BY_LOOM, "design: a node is given back when nobody will write to it", OSQ;
    /// A waiter whose wait is over clears the handoff bit that it believes to have set. It had not come
    /// to set it: the count is wrong from then on.
    HandoffClearedStale, "1", BY_LOOM, "Linux rwsem, 2021 (d257cc8cb8d5)", RWSEM_TODAY;
    /// A writer that is not the first asks for the lock to be kept, and it is kept for that one. The
    /// first waiter is passed, however long it has waited.
    HandoffToAnybody, "3", BY_LOOM, "Linux rwsem, 2023 (b613c7f31476)", RWSEM_TODAY;
    /// A reader is woken and told afterwards that it was granted the lock. It finds nothing, and sleeps for
    /// ever.
    WokenBeforeGranted, "4", BY_LOOM, "Linux rwsem, 2018", RWSEM;
    /// A reader finds the list empty and the writer gone, and goes on without acquiring what that one
    /// released.
    FastReadRelaxed, "5", MEMORY, "Linux rwsem, 2019 (e1b98fa31664)", RWSEM_TODAY;
    /// A waiting reader sees its grant and acquires nothing.
    GrantPolledRelaxed, "6", MEMORY, "Linux rwsem, 2019 (99143f82a255)", RWSEM;
    /// A writer gives the lock back and releases nothing.
    WriterReleaseRelaxed, "7", MEMORY, "Linux rwbase, 2021", RWSEM;
    /// A waiter leaves as the last one and says outside the internal lock that nobody waits. Somebody
    /// may have come in between.
    WaitersClearedUnlocked, "12", EXPLORED, "parking_lot RwLock, 2025 (PR 466)",
        RWSEM_TODAY_OR_RWLOCK;
    /// A waiter at the head of the list gives up and leaves. Those behind it could have the lock, and nobody
    /// tells them.
    TimeoutWakesNobody, "13", EXPLORED, "parking_lot RwLock, 2025 (249cb2a)", RWSEM_OR_RWLOCK;
    /// A writer that wakes up decides by the count as it was before it slept whether to sleep again.
    StaleCount, "23", BY_LOOM, "glibc rwlock, 2018 (BZ 23861)", RWSEM_LOOKING;
    /// A writer that becomes a reader walks the list without the internal lock, to take readers along.
    DowngradeUnguarded, "38", BY_LOOM, "Rust std RwLock, 2024 (PR 128219)", RWSEM;
    /// A waiter for permits gives up as the last one and says when the list is not locked any more that nobody
    /// waits. Somebody may have come in between, and sleeps for ever.
    WaitsClearedUnlocked, "12b", EXPLORED, "parking_lot RwLock, 2025 (PR 466)", SEMAPHORE;
    /// A waiter for many permits gives up at the head of the list. There are enough for the one behind it, and
    /// nobody tells that one.
    GiveUpServesNobody, "13b", BY_LOOM, "parking_lot RwLock, 2025 (249cb2a)", SEMAPHORE;
    /// A waiter that gives up finds nobody behind it and says that nobody waits. Those in front of it
    /// sleep for ever.
    LastByOneSide, "17b", BY_LOOM, "parking_lot core, 2019 (fbd45c2)", SEMAPHORE;
    /// Readers are counted in four bits and nobody looks for the last: after some more of them the lock
    /// is free while they read.
    ReadersOverflow, "41", BY_LOOM, "spin RwLock, 2022 (0.9.4)", RWSEM_TODAY;
    /// The last reader looks for others in the count as it was before it left: it is among them, so
    /// nobody is woken.
    OldValueTested, "44", BY_LOOM, "Asterinas RwMutex, 2024 (issue 1303)", RWSEM;
    /// A reader looks at the sequence for the second time without a fence behind its copy. The look may be older
    /// than the copy, which is torn.
    ReadUnfenced, "70a", MEMORY, "seqlocks in C11 (Boehm, 2012)", SEQLOCK;
    /// A writer makes the sequence odd without a fence before its words. They may be seen first: a reader
    /// has some of them, and finds the sequence as it was.
    WriteUnfenced, "70b", MEMORY, "seqlocks in C11 (Boehm, 2012)", SEQLOCK;
    /// The sequence has two bits. After two writes it is the same again, and a reader that was slow believes
    /// that nobody wrote.
    SequenceWraps, "71", BY_LOOM, "design: the sequence has 64 bits", SEQLOCK;
    /// Readers are granted the lock by an addition that acquires nothing: what the last writer released
    /// does not reach them.
    GrantUnacquired, "59", MEMORY, "design: whoever grants has acquired", RWSEM;
    /// A writer that gives up while somebody reads in a slot leaves slots unused: the next writer does not look there.
    SlotsForgotten, "60", EXPLORED, "found by a test of this code", PERCPU;
}
