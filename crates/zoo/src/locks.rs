//! The locks that have a bug, as lists.

pub const ALL: &[&str] = &[
    "qspinlock",
    "cna",
    "cna-v10_time",
    "cna-v10_as_described",
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
pub const QUEUED: &[&str] = ALL.split_at(7).0;
pub const CNA: &[&str] = QUEUED.split_at(1).1;
/// The versions that look again after they have taken the lock.
pub const CNA_LOOKING_TWICE: &[&str] = CNA.split_at(3).0;
/// A bug, and one of its locks in which loom does not see it. The second look of version 10 as posted sets a waiter
/// aside only if two have come since the first look. In what loom explores there is one; others have more threads. A
/// granter is late while a head uses up its time only in a client that loom runs without CNA.
pub const HIDDEN_FROM_LOOM: &[(&str, &str)] =
    &[("47", "cna"), ("47", "cna-v10_time"), ("29", "cna-park"), ("29", "cna-hybrid")];
/// A preset that differs from one of the versions by a number has no entry of its own.
pub const CNA_LOOKING_AT_NEIGHBOURS: &[&str] = CNA.split_at(4).1;

/// Succession in two levels.
pub const TWO_LEVEL: &[&str] = &["two-level"];

/// Those that set waiters of other NUMA nodes aside.
pub const SETTING_ASIDE: &[&str] = &and::<{ CNA.len() + 1 }>(CNA, "two-level");

/// Those whose waiters may have deadlines and leave the queue.
pub const TIMED_SPIN: &[&str] = &["qspinlock", "cna"];
pub const RESILIENT: &[&str] = &["resilient"];
pub const RESILIENT_IN_PROGRAMS: &[&str] = &["resilient-in_programs"];

/// Those whose waiters sleep.
pub const SLEEPING: &[&str] = &[
    "park",
    "park-steal",
    "hybrid",
    "hybrid-bounded",
    "cna-park",
    "cna-hybrid",
    "cna-hybrid-bounded",
    "park-steal-full_spin",
    "park-full_spin",
];
/// Those of them whose head says in its node that it sleeps.
pub const SAYING_STATE: &[&str] = SLEEPING.split_at(8).0;
/// Those of them whose waiters look at the waiter in front.
pub const SLEEPING_EARLY: &[&str] = SLEEPING.split_at(7).0;
/// Those of them that seldom sleep in a schedule that was not chosen for it.
pub const SELDOM_SLEEPING: &[&str] = &["hybrid-bounded", "cna-hybrid-bounded"];
pub const SLEEPING_CNA: &[&str] = SLEEPING_EARLY.split_at(4).1;
pub const TICKET: &[&str] = &["ticket"];
pub const MUTEX: &[&str] = &["mutex"];
/// The mutex, and the one whose every release hands over.
pub const HANDING_OVER: &[&str] = &["mutex", "fair-mutex"];
pub const OSQ: &[&str] = &["osq"];
/// The once, which has the clients of the barrier, too.
pub const ONCE: &[&str] = &["once"];
/// Reference locks whose waiters sleep.
pub const FUTEX3: &[&str] = &["futex3", "futex3-spin"];
pub const WORD_LOCK: &[&str] = &["word-lock"];
pub const KERNEL_MUTEX: &[&str] = &["kernel-mutex"];
/// The reader-writer lock for programs.
pub const RWLOCK: &[&str] = &["rwlock", "rwlock-fair"];
pub const PERCPU: &[&str] = &["percpu-rwlock-in_slots"];
/// The semaphore: the presets that stand for the others, and those of them that can have a bug.
pub const RWSEM: &[&str] = &["rwsem-v3_12", "rwsem-v4_14", "rwsem-current"];
pub const RWSEM_TODAY: &[&str] = RWSEM.split_at(2).1;
pub const RWSEM_TODAY_OR_FAIR_RWLOCK: &[&str] = &and::<2>(RWSEM_TODAY, "rwlock-fair");
pub const RWSEM_OR_RWLOCK: &[&str] = &and::<{ RWSEM.len() + 1 }>(RWSEM, "rwlock");
/// The other one makes an attempt when its time is over, and a release wakes the next waiter.
pub const RWSEM_OR_FAIR_RWLOCK: &[&str] = &and::<{ RWSEM.len() + 1 }>(RWSEM, "rwlock-fair");
pub const RWSEM_OR_RWLOCK_OR_MUTEX: &[&str] = &and::<{ RWSEM.len() + 2 }>(RWSEM_OR_RWLOCK, "mutex");
pub const RWSEM_LOOKING: &[&str] = RWSEM.split_at(2).0;
pub const QRWLOCK: &[&str] = &["qrwlock"];
pub const HQ: &[&str] = &["hq"];
pub const SEQLOCK: &[&str] = &["seqlock"];
pub const SEMAPHORE: &[&str] = &["semaphore"];
/// The same and one more.
pub const SLEEPING_OR_MUTEX: &[&str] = &and::<{ SLEEPING.len() + 1 }>(SLEEPING, "mutex");
pub const HYBRID_OR_MUTEX: &[&str] = &and::<{ HYBRID.len() + 1 }>(HYBRID, "mutex");
pub const HYBRID_OR_QRWLOCK: &[&str] = &and::<{ HYBRID.len() + 1 }>(HYBRID, "qrwlock");

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
pub const HYBRID: &[&str] = &[
    "park-steal-full_spin",
    "park-steal",
    "hybrid",
    "hybrid-bounded",
    "cna-hybrid",
    "cna-hybrid-bounded",
];

pub const CNA_VERIFIED: &str =
    "CNA, verified for the kernel's memory model, 2021 (arXiv 2111.15240)";
pub const CNA_REVIEWED: &str = "CNA v10, review of July 2020";
