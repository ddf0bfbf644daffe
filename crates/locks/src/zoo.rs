//! The bug zoo: historical lock bugs, seeded in the locks of this crate.
//!
//! A checker is believed when it finds bugs that people made. Each entry below is such a bug, with a cause and a
//! source. The wrong code stands next to the correct code, behind [`Cells::is_seeded`]. A platform for checking
//! answers for the bug that its run was asked to seed. A platform for programs answers `false` at compile time, so
//! that nothing of the wrong code is left there.
//!
//! The numbers are those of the list of historical bugs that the project keeps; letters are variants. Bugs from 47
//! on are our own findings, and races that the design rules out.

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
    /// A waiter links itself behind another waiter before the initialisation of its node is visible. The exchange of
    /// the tail and the store of the link order nothing.
    LinkBeforeInit, "9", MEMORY, "Linux qspinlock, 2018 (95bcade33a8a)", QUEUED;
    /// A waiter links itself behind another waiter by a store that orders nothing. The initialisation of its node may
    /// overwrite the owner's grant, and the waiter hangs.
    LinkRelaxed, "10", MEMORY, "DPDK mcslock, about 2020 (021b698eb56e)", &["mcs"];
    /// Taking one lock and asking whether another lock is held are not ordered. Two threads that each take one lock
    /// and ask about the other's both find it free, and both go on.
    LookUnordered, "11", BY_LOOM, "Linux qspinlock and System V semaphores, 2016", ALL;
    /// The owner hands the lock to a waiter and leaves this waiter in the list. The next owner hands it to the same
    /// thread again, which may own it already.
    HandoffTwice, "8", ASLEEP, "Linux mutex handoff, 2017 (e274795ea7b7)", MUTEX;
    /// A waiter reads that it was handed the lock with no acquire ordering. Its critical section may not see what the
    /// last owner wrote.
    GrantReadRelaxed, "14", MEMORY, "parking_lot RwLock, 2020 to 2022 (PR 260, PR 344)", MUTEX;
    /// The internal lock of the sleep table is taken by an exchange with no acquire ordering. The list may be read as
    /// it was before the last change.
    BucketTakenRelaxed, "15", MEMORY, "parking_lot WordLock, 2020 (PR 292)", MUTEX;
    /// A notifier moves a waiter and subtracts it from the count afterwards, when the waiter may have returned. It
    /// writes to memory that is no longer the condition variable.
    CountedOutLate, "16", EXPLORED, "parking_lot ReentrantMutex, 2019 (da16c2c)", MUTEX;
    /// A waiter that gives up asks whether it was the first one after it has left the list. The answer is no, so the
    /// next waiter is never woken.
    FirstAfterRemoval, "17", EXPLORED, "parking_lot core, 2019 (PR 129)", IN_TABLE;
    /// The owner looks at the lock after it has released it. The next owner may have freed it.
    ReadAfterRelease, "18", EXPLORED, "glibc mutex and semaphore (BZ 13690, BZ 12674)",
        &["mutex", "semaphore", "rwlock"];
    /// The head of the queue was woken, lost the lock to a thief, and sleeps again without saying so in the lock
    /// word. The thief sees no sleeper when it releases the lock.
    RobbedSleepsUnannounced, "19", ASLEEP, "musl stdio lock, 2018 (c21f75072751, 0db393d3a77b)",
        HYBRID_OR_MUTEX;
    /// The first sleeper takes a lock that is reserved for it and writes the whole word. The queue of the spinning
    /// threads is forgotten.
    TakeoverForgetsQueue, "20", BY_LOOM, "glibc robust mutex, 2016 (BZ 20973)", MUTEX;
    /// A notifier finds that the only waiter has just given up, and still subtracts it from the count. A waiter that
    /// comes later is not counted.
    CountedOutTwice, "21", EXPLORED, "glibc condition variable, 2016 to 2024 (BZ 25847)", MUTEX;
    /// The waiter that came last is notified, and not the one that the notification was for.
    NewcomerNotified, "22", EXPLORED, "glibc condition variable before 2016 (BZ 12875, BZ 13165)", MUTEX;
    /// A reader that may already hold the lock waits for a writer for which the lock is reserved, and this writer
    /// waits for the reader.
    RecursionForgotten, "35b", BY_LOOM, "s390 rwlock, 2018 (LP 1761674); parking_lot issue 212", &["rwlock"];
    /// The first waiter checks whether the lock is held, and only then says that it sleeps. A release in between
    /// wakes no thread.
    LookBeforeMark, "36", BY_LOOM, "bcachefs six lock (e057a290ef71)", RWLOCK;
    /// A writer looks at a reader's slot, and only then says that it waits for it. The reader leaves in between and
    /// wakes no thread.
    LookBeforeWanted, "36b", BY_LOOM, "bcachefs six lock (e057a290ef71)", PERCPU;
    /// A reader says in its slot that it reads, and checks whether slots are in use, with no barrier in between, not
    /// even for the compiler. The writer does not see the reader, and the reader does not see the writer.
    SlotUnordered, "46", BY_LOOM, "FreeBSD rmlock, 2021 (1d44514fcd68)", PERCPU;
    /// A reader finds with no acquire ordering that slots are in use. It may read what was there before the last
    /// write.
    ModeReadRelaxed, "14b", MEMORY, "parking_lot RwLock, 2020 to 2022 (PR 260, PR 344)", PERCPU;
    /// A waiting thread takes the lock by an exchange with no acquire ordering. It may read what was there before the
    /// last write.
    SharedTakeRelaxed, "14c", MEMORY, "parking_lot RwLock, 2020 to 2022 (c866ba8, d26c284)", RWLOCK;
    /// A writer releases the lock and counts afterwards. The next owner may have freed the lock.
    CountedAfterUnlock, "16b", EXPLORED, "parking_lot ReentrantMutex, 2019 (da16c2c)", PERCPU;
    /// A thread that wakes up for no reason sleeps again while its word has the value that it has now, and not the
    /// value that means sleep. If it was told in between, it sleeps for ever.
    StaleExpected, "24", EXPLORED, "Darwin pthread_rwlock, 2026 (ClickHouse PR 112267)", MUTEX;
    /// The word on which a waiter sleeps keeps the value of its last sleep. The waiter takes the old value for a new
    /// one.
    SignalKept, "25", EXPLORED, "musl condition variable, 2011 (97c5b5a87c3d)", MUTEX;
    /// A notifier checks whether the mutex is free, and counts the waiter that it moves there afterwards. A release
    /// in between finds no waiter to wake.
    CountedAfterLook, "26", EXPLORED, "Linux futex requeue, 2014 (69cd9eba3886)", MUTEX;
    /// A waiter says that it sleeps and looks at its grant with no full barrier in between (store buffering). The
    /// granter does not see it sleep, the waiter does not see the grant, and the wake-up is lost.
    HaltUnordered, "27", BY_LOOM, "Linux futex, 2014 (76835b0ebf8a)", SLEEPING;
    /// There is no full barrier between the grant and the check whether the waiter sleeps. This is the other side of
    /// bug 27.
    KickUnordered, "28", BY_LOOM, "Xen paravirtual spinlock, about 2009 (2496afbf1e50)", SLEEPING;
    /// The head of the queue says before it sleeps that it sleeps, but not that it has an entry in the hash. The
    /// owner that has just granted it enters it a second time. One of the entries stays, and a later owner kicks the
    /// thread that it names.
    HeadSaysHalted, "29", ASLEEP, "pvqspinlock, 2016 (229ce6315747)", SLEEPING;
    /// A waiter checks whether it has to sleep, and only then prepares what it sleeps on. A kick in between is
    /// forgotten.
    KickForgottenUnseen, "30", ASLEEP, "Xen PVHVM, 2013 (1fb3a8b2cfb2)", SLEEPING;
    /// In the slow path, the head of the queue or a thief takes the lock by an exchange with no acquire ordering. Its
    /// critical section may not see what the last owner wrote.
    SlowTakeRelaxed, "33", MEMORY, "Linux rtmutex, 2022 (no acquire in the slow path on arm64)",
        SLEEPING_OR_MUTEX;
    /// A waiter of a condition variable is moved to a mutex that no thread holds. No thread will wake it.
    MovedToFree, "37", ASLEEP, "nsync condition variables, 2017 (215217c)", MUTEX;
    /// The owner hands the lock to a waiter by the waiter's number, after it has unlocked the sleep table. By then the
    /// waiter may have left, and another thread may have the number.
    NumberReused, "39", ASLEEP, "Rust std ReentrantLock, 2025 (PR 141248)", MUTEX;
    /// A thread that sleeps in one wait consumes the wake-up of another wait of its own. When it comes to that other
    /// wait, its wake-up is gone, and it sleeps for ever.
    WordEaten, "40", ASLEEP, "Rust std thread parking, 2025 (issue 145816)", MUTEX;
    /// The owner releases the lock and does not check whether a thread sleeps for it.
    SleeperMissed, "42", ASLEEP, "gperftools SpinLock (93a69c4df287)", SLEEPING_OR_MUTEX;
    /// A sleeper writes that it wants the lock and looks at the lock with no barrier in between. The owner's release
    /// does not see the sleeper, the sleeper does not see the release, and no thread wakes it.
    SleepUnordered, "43a", BY_LOOM, "brpc ParkingLot, 2026 (PR 3539)", MUTEX;
    /// Where a thread may sleep, the owner releases the lock by a store and looks for sleepers with no barrier in
    /// between. This is the other side of bug 43a.
    ReleaseUnordered, "43b", EXPLORED, "HotSpot Parker (6822370)", MUTEX;
    /// The owner finds a sleeper and leaves the lock to it without a release, because the thread that wakes up is the
    /// owner. But the sleeper woke up by itself before, and does not know.
    WakeTakenForHandoff, "45", ASLEEP, "litebox RwLock, 2026 (PR 809)", SLEEPING_OR_MUTEX;
    /// The head cuts the circle of the secondary queue and publishes its tail without a release. The cut may
    /// overwrite the link of a newly arriving thread.
    CutUnpublished, "31a", MEMORY, CNA_VERIFIED, CNA;
    /// The head scans the queue without acquiring the links. It may read a waiter's NUMA node, or grant it the lock,
    /// as it was before the waiter initialised its queue node.
    ScanUnordered, "31b", MEMORY, CNA_VERIFIED, CNA_LOOKING_TWICE;
    /// The head looks at its neighbour without acquiring the link. This is bug 31b where the head looks at one
    /// neighbour at a time.
    NeighbourUnordered, "31c", MEMORY, CNA_VERIFIED, CNA_LOOKING_AT_NEIGHBOURS;
    /// The head looks at the waiter behind its neighbour without acquiring the link. This is bug 31c, one waiter
    /// further.
    BehindUnordered, "31d", MEMORY, CNA_VERIFIED, CNA_LOOKING_AT_NEIGHBOURS;
    /// The threshold is never reached. Waiters that were set aside wait as long as the preferred NUMA node has any
    /// waiter.
    NeverDue, "32a", LATE, CNA_REVIEWED, CNA;
    /// The head scans the whole queue after it has taken the lock, when it could run its critical section.
    ScanUnlimited, "32b", LATE, CNA_REVIEWED, &["cna-v10_limited"];
    /// A try-lock compares only one half of the word, the one that it changes (an ABA problem). When the tickets have
    /// gone around once in between, this half is the same again and the lock is held, so there are two owners. Tickets
    /// have two bits here, for at most three threads that hold or wait.
    HalfCompared, "34", SOON, "arm64 ticket spinlock, about 2015 (202fb4ef81e3)", &["ticket"];
    /// A reader in an interrupt handler waits behind a queued writer, and that writer waits for readers, of which one
    /// is the interrupted thread.
    UrgentReaderQueues, "35", BY_LOOM, "s390 rwlock, 2018 (Launchpad 1761674)", QRWLOCK;
    /// The head chooses the waiter to grant and then reorders the queues. This waiter may be in the secondary queue
    /// by then, and the next one is forgotten.
    GrantChosenEarly, "47", SOON, "design: a grant is chosen after the last reordering", CNA_LOOKING_TWICE;
    /// The head takes the lock from the end of the primary queue and forgets to grant the head of the secondary
    /// queue, which waits for ever.
    GrantForgotten, "48", SOON, "design: every grant goes through one place", CNA;
    /// The head cannot leave alone because a thread has just set the pending bit, and takes this for a sign that a
    /// thread queues behind it. With no queue node left, that thread takes its bit back and competes for the word.
    /// The head, now the owner, waits for a link that no thread writes.
    PendingTakenForQueued, "49", BY_LOOM, "our own finding, from the rules of the kernel's slow path", QUEUED;
    /// The owner reads from its link which waiter to kick and then reorders the queues. It kicks another waiter than
    /// it grants, and the granted one sleeps for ever.
    KickComputedEarly, "50", BY_LOOM, "design: the succession returns the waiter that it grants",
        SLEEPING_CNA;
    /// The owner takes the lock from the end of the primary queue, grants the head of the secondary queue and does
    /// not kick it.
    KickForgotten, "51", BY_LOOM, "design: every grant is kicked", SLEEPING_CNA;
    /// The head of the queue sees that the lock is free and takes it by a plain store, although a thief may take it
    /// at the same time.
    HeadStoresBesideThief, "52", BY_LOOM, "design: only where nobody steals is the lock taken by a store",
        HYBRID_OR_QRWLOCK;
    /// A waiter sees that its predecessor does not run, concludes that it cannot have been granted the lock, and
    /// sleeps without another look. The predecessor may have granted it the lock before, and wait again, for this
    /// lock or another one.
    PrevTrusted, "53", BY_LOOM, "design: the predecessor's node is a hint", SLEEPING;
    /// A sleeper marks its bucket, so that owners need no barrier of their own, and interrupts all threads
    /// (membarrier) only after it has unlocked the bucket. In between a sleeper of another lock relies on the mark. An
    /// owner that looked earlier and released that lock by a plain store does not see the sleeper.
    MarkedTooSoon, "55", EXPLORED, "our own finding, in review", MUTEX;
    /// An owner leaves a sleeper behind and marks the bucket, so that later owners know, without interrupting the
    /// threads (membarrier). Later owners of its own lock see the sleeper; owners of another lock in the bucket may
    /// not.
    OwnerSpeaksForAll, "56", EXPLORED, "design: a mark of its own for what only later owners know", MUTEX;
    /// The head of the queue wakes up spuriously, marks the lock word as slow and finds that it is marked already. It
    /// takes this for an owner that will kick it. But that owner has taken out the head's last entry and is about to
    /// overwrite the mark, so the wake-up is lost.
    SlowTakenForHeld, "54", ASLEEP, "our own finding, by the Promela model", SLEEPING;
    /// The head makes the waiter behind it the new head, without keeping this waiter where it is. If the waiter is
    /// leaving, the queue has no head, and threads that come later wait for ever.
    NextNotTaken, "57", BY_LOOM, "design: a link is taken before what it names is used", OSQ;
    /// The last waiter leaves, and the one in front of it, now the last, leaves before the mark in its link is
    /// cleared. The mark is cleared in a node that another thread uses.
    MarkOutlived, "58", BY_LOOM, "design: a node is given back when nobody will write to it", OSQ;
    /// A waiter whose wait is over clears the handoff bit that it believes to have set. It never set it, so the count
    /// is wrong from then on.
    HandoffClearedStale, "1", BY_LOOM, "Linux rwsem, 2021 (d257cc8cb8d5)", RWSEM_TODAY;
    /// A writer that is not the first waiter asks for the lock to be reserved, and it is reserved for this writer. The
    /// first waiter is overtaken, however long it has waited.
    HandoffToAnybody, "3", BY_LOOM, "Linux rwsem, 2023 (b613c7f31476)", RWSEM_TODAY;
    /// A reader is woken first and told afterwards that it was granted the lock. It finds nothing and sleeps for
    /// ever.
    WokenBeforeGranted, "4", BY_LOOM, "Linux rwsem, 2018", RWSEM;
    /// A reader finds the list empty and the writer gone, and enters with no acquire ordering. It may not see what the
    /// writer wrote.
    FastReadRelaxed, "5", MEMORY, "Linux rwsem, 2019 (e1b98fa31664)", RWSEM_TODAY;
    /// A waiting reader sees its grant with a load that has no acquire ordering. Its critical section may read what
    /// was there before the last write.
    GrantPolledRelaxed, "6", MEMORY, "Linux rwsem, 2019 (99143f82a255)", RWSEM;
    /// A writer unlocks with no release ordering. The next owner may not see what the writer wrote.
    WriterReleaseRelaxed, "7", MEMORY, "Linux rwbase, 2021", RWSEM;
    /// The last waiter leaves and says outside the internal lock that no thread waits. A thread may have come in
    /// between.
    WaitersClearedUnlocked, "12", EXPLORED, "parking_lot RwLock, 2025 (PR 466)",
        RWSEM_TODAY_OR_RWLOCK;
    /// A waiter at the head of the list gives up and leaves. The waiters behind it could have the lock, and no thread
    /// wakes them.
    TimeoutWakesNobody, "13", EXPLORED, "parking_lot RwLock, 2025 (249cb2a)", RWSEM_OR_RWLOCK;
    /// A writer that wakes up decides by the count from before its sleep whether it sleeps again.
    StaleCount, "23", BY_LOOM, "glibc rwlock, 2018 (BZ 23861)", RWSEM_LOOKING;
    /// A writer that becomes a reader walks the list without the internal lock, to take other readers along.
    DowngradeUnguarded, "38", BY_LOOM, "Rust std RwLock, 2024 (PR 128219)", RWSEM;
    /// The last waiter for permits gives up and says that no thread waits when the list is no longer locked. A thread
    /// may have come in between, and sleeps for ever.
    WaitsClearedUnlocked, "12b", EXPLORED, "parking_lot RwLock, 2025 (PR 466)", SEMAPHORE;
    /// A waiter for many permits gives up at the head of the list. There are enough permits for the waiter behind it,
    /// and no thread tells that one.
    GiveUpServesNobody, "13b", BY_LOOM, "parking_lot RwLock, 2025 (249cb2a)", SEMAPHORE;
    /// A waiter that gives up finds no waiter behind it and says that no thread waits. The waiters in front of it
    /// sleep for ever.
    LastByOneSide, "17b", BY_LOOM, "parking_lot core, 2019 (fbd45c2)", SEMAPHORE;
    /// Readers are counted in four bits, and a reader does not check for the greatest number. After some more of them
    /// the lock is free while they read.
    ReadersOverflow, "41", BY_LOOM, "spin RwLock, 2022 (0.9.4)", RWSEM_TODAY;
    /// The last reader looks for other readers in the value from before its own subtraction. It finds itself there, so
    /// it wakes no thread.
    OldValueTested, "44", BY_LOOM, "Asterinas RwMutex, 2024 (issue 1303)", RWSEM;
    /// A reader looks at the sequence for the second time without a fence behind its copy. The look may be older than
    /// the copy, which is torn.
    ReadUnfenced, "70a", MEMORY, "seqlocks in C11 (Boehm, 2012)", SEQLOCK;
    /// A writer makes the sequence odd without a fence before its words. A reader may see some of the words first,
    /// and find the old sequence.
    WriteUnfenced, "70b", MEMORY, "seqlocks in C11 (Boehm, 2012)", SEQLOCK;
    /// The sequence has two bits. After two writes it is the same again, and a slow reader believes that no thread
    /// wrote.
    SequenceWraps, "71", BY_LOOM, "design: the sequence has 64 bits", SEQLOCK;
    /// Readers are granted the lock by an addition with no acquire ordering. What the last writer released does not
    /// reach them.
    GrantUnacquired, "59", MEMORY, "design: a thread that grants has acquired", RWSEM;
    /// A writer that gives up while a thread reads in a slot leaves slots unused. The next writer does not look
    /// there.
    SlotsForgotten, "60", EXPLORED, "found by a test of this code", PERCPU;
}
