//! The one list of locks.
//!
//! A lock is added to the table below and nowhere else; torture, benchmarks, the lists of the lab
//! and the checkers all walk it. The table is generic over the platform: a row is a name and a
//! type constructor.

use crate::percpu_rwlock::ReaderPlatform;
use crate::qspinlock::{CnaSpinlock, Fifo, Hybrid, HybridBounded, Park, QSpinlock, cna};
use crate::raw::RawLock;
use crate::rwsem::{self, RwSem, RwSemPolicy};

/// Everything that a lock of the registry may ask of the machine below it.
pub trait Platform: ReaderPlatform {}
impl<P: ReaderPlatform> Platform for P {}

/// What the registry knows about a lock, apart from its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRow {
    /// The name by which it is selected.
    pub name: &'static str,
    /// Other names for the same lock.
    pub aliases: &'static [&'static str],
    /// What the lock is for.
    pub class: LockClass,
    /// What it is or models, in one line.
    pub models: &'static str,
}

/// What a lock is for. `all` includes the first two classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockClass {
    /// A product of this crate.
    Product,
    /// A reference to measure against.
    Reference,
    /// Deliberately broken: every checker that can see the fault must fail on it.
    Busted,
}

impl LockRow {
    /// Returns `true` if `name` is the lock's name or one of its aliases.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
    /// Returns `true` if `all` includes the lock.
    pub fn is_in_all(&self) -> bool {
        self.class != LockClass::Busted
    }
}

/// Something to be done with a lock whose type is chosen by name.
pub trait LockVisitor<P: Platform> {
    /// What comes out of it.
    type Output;
    /// Does it with lock `L`.
    fn visit<L: RawLock>(self, row: &'static LockRow) -> Self::Output;
}

/// Something to be done with a semaphore whose policy is chosen by name.
pub trait RwSemVisitor {
    /// What comes out of it.
    type Output;
    /// Does it with policy `C`.
    fn visit<C: RwSemPolicy>(self) -> Self::Output;
}

macro_rules! locks {
    (
        $P:ident;
        $($name:literal $(| $alias:literal)* , $class:ident, $lock:ty, $models:literal;)+
        semaphores {
            $($sem:literal $(| $sem_alias:literal)* , $sem_class:ident, $policy:ty, $sem_models:literal;)+
        }
        $($last:literal $(| $last_alias:literal)* , $last_class:ident, $last_lock:ty, $last_models:literal;)+
    ) => {
        locks! { table $P;
            $($name $(| $alias)*, $class, $lock, $models;)+
            $($sem $(| $sem_alias)*, $sem_class, RwSem<$P, $policy>, $sem_models;)+
            $($last $(| $last_alias)*, $last_class, $last_lock, $last_models;)+
        }

        /// Calls `visitor` with the policy of the semaphore that answers to `name`; `None` if there is none.
        pub fn visit_rwsem<V: RwSemVisitor>(name: &str, visitor: V) -> Option<V::Output> {
            let row = LOCKS.iter().find(|row| row.answers_to(name))?;
            $(if row.name == $sem {
                return Some(visitor.visit::<$policy>());
            })+
            None
        }
    };
    (
        table $P:ident;
        $($name:literal $(| $alias:literal)* , $class:ident, $lock:ty, $models:literal;)+
    ) => {
        /// Every lock, in the order of the table.
        pub static LOCKS: &[LockRow] = &[$(LockRow {
            name: $name,
            aliases: &[$($alias),*],
            class: LockClass::$class,
            models: $models,
        },)+];

        /// Calls `visitor` with the lock that answers to `name`; `None` if there is none.
        pub fn visit<$P: Platform, V: LockVisitor<$P>>(name: &str, visitor: V) -> Option<V::Output> {
            let at = LOCKS.iter().position(|row| row.answers_to(name))?;
            let row = &LOCKS[at];
            $(if row.name == $name {
                return Some(visitor.visit::<$lock>(row));
            })+
            None
        }
    };
}

locks! { P;
    "qspinlock" | "fifo", Product, QSpinlock<P>,
        "the Linux kernel's queued spinlock: waiters are served in order of arrival";
    "cna" | "cna-v10", Product, CnaSpinlock<P, cna::V10>,
        "the queued spinlock with NUMA-aware order (CNA), version 10";
    "cna-v10_time", Product, CnaSpinlock<P, cna::V10Time>,
        "CNA v10 whose threshold is a time instead of a number of handoffs";
    "cna-v10_limited", Product, CnaSpinlock<P, cna::V10Limited>,
        "CNA v10 that looks at few waiters once the lock is free";
    "cna-v11", Product, CnaSpinlock<P, cna::V11>,
        "CNA v11: looks at one waiter per handoff; the preferred NUMA node is inherited";
    "cna-v15", Product, CnaSpinlock<P, cna::V15>,
        "CNA v15: looks at one waiter after another while the lock is held; the threshold is a time";
    "park", Product, QSpinlock<P, Fifo, Park>,
        "the paravirtual queued spinlock without lock stealing: waiters sleep";
    "hybrid", Product, QSpinlock<P, Fifo, Hybrid>,
        "the hybrid paravirtual queued spinlock: fair while the queue head spins, lock stealing while it sleeps";
    "hybrid-bounded", Product, QSpinlock<P, Fifo, HybridBounded>,
        "the hybrid tuned for programs: bounded spinning, no more spinning threads than CPUs";
    "cna-park", Product, CnaSpinlock<P, cna::V10, Park>,
        "CNA v10 whose waiters wait as in park";
    "cna-hybrid", Product, CnaSpinlock<P, cna::V10, Hybrid>,
        "CNA v10 whose waiters wait as in hybrid";
    "cna-hybrid-bounded" | "hybrid-lock", Product, CnaSpinlock<P, cna::V10, HybridBounded>,
        "CNA v10 whose waiters wait as in hybrid-bounded";
    "mutex", Product, crate::mutex::RawMutex<P>,
        "`Mutex` for programs: arriving threads may overtake for 4 ms; waiters spin in CNA order, then sleep";
    "rwlock", Product, crate::rwlock::RawRwLock<P>,
        "`RwLock` for programs: arriving threads may overtake for 4 ms; recursive reads are allowed";
    "rwlock-fair", Product, crate::rwlock::RawRwLock<P, crate::rwlock::Fair>,
        "`FairRwLock` for programs: first come, first served";
    "percpu-rwlock", Product, crate::percpu_rwlock::RawPercpuRwLock<P>,
        "`PercpuRwLock` for programs: for data that is nearly always read";
    "percpu-rwlock-in_slots", Reference, crate::percpu_rwlock::testing::InSlots<P>,
        "percpu-rwlock whose readers use memory of their own threads from the start";
    "seqlock", Product, crate::seqlock::RawSeqLock<P, 2>,
        "the write side of `SeqLock`; its readers copy the value, and copy again if it changed meanwhile";
    "semaphore", Product, crate::semaphore::RawSemaphore<P, 1>,
        "`Semaphore` for programs with one permit: first come, first served; waiters sleep";
    "qrwlock", Product, crate::qrwlock::QRwLock<P>,
        "the Linux kernel's queued reader-writer spinlock";
    semaphores {
        "rwsem-current" | "rwsem", Product, rwsem::Current,
            "the Linux kernel's reader-writer semaphore (rwsem) of today";
        "rwsem-current_in_programs", Product, rwsem::CurrentInPrograms,
            "rwsem-current as it runs natively, on every machine: it does not know which threads run";
        "rwsem-v5_10_no_rspin", Product, rwsem::V5_10NoRspin,
            "rwsem of Linux 5.10 with the series of November 2020: readers steal the lock and do not spin";
        "rwsem-v5_10_limit_rspin", Product, rwsem::V5_10LimitRspin,
            "rwsem of Linux 5.10 with patches 1 to 4 of that series, and one spinning reader at a time";
        "rwsem-v5_10_before", Product, rwsem::V5_10Before,
            "rwsem of Linux 5.10 with patches 1 to 4 of that series";
        "rwsem-v5_10", Product, rwsem::V5_10,
            "rwsem of Linux 5.10: readers spin, too";
        "rwsem-v4_14_handoff", Product, rwsem::V4_14Handoff,
            "rwsem of Linux 4.14 with the handoff patch of October 2017, corrected";
        "rwsem-v4_14", Product, rwsem::V4_14,
            "rwsem of Linux 4.14: writers spin in a queue";
        "rwsem-v3_12_wake_flag", Product, rwsem::V3_12WakeFlag,
            "rwsem of Linux 3.12 with the wake-up flag patch of October 2013, corrected";
        "rwsem-v3_12_series", Product, rwsem::V3_12Series,
            "rwsem of Linux 3.12 with patches 1 to 8 of October 2013: writers spin one at a time";
        "rwsem-v3_12", Product, rwsem::V3_12,
            "rwsem of Linux 3.12: writers steal the lock on the fast path, no thread spins";
        "rwsem-v3_12_wake_flag_as_posted", Busted, rwsem::V3_12WakeFlagAsPosted,
            "rwsem of Linux 3.12 with the wake-up flag patch as posted: loses wake-ups";
        "rwsem-v4_14_handoff_as_posted", Busted, rwsem::V4_14HandoffAsPosted,
            "rwsem of Linux 4.14 with the handoff patch as posted: loses wake-ups";
    }
    "unfair", Reference, crate::unfair::UnfairLock<P>,
        "test-and-test-and-set spinlock, the Linux kernel's fallback in guests";
    "unfair-backoff", Reference, crate::unfair::UnfairLock<P, crate::unfair::Exponential>,
        "test-and-test-and-set spinlock with exponential back-off";
    "ticket", Reference, crate::ticket::TicketLock<P>,
        "ticket lock, the Linux kernel's spinlock before the queued one";
    "mcs", Reference, crate::mcs::McsLock<P>,
        "queue lock whose waiters spin on their own node (Mellor-Crummey and Scott, 1991)";
    "clh", Reference, crate::clh::ClhLock<P>,
        "queue lock whose waiters spin on the node in front of them (Craig, 1993; Landin and Hagersten, 1994)";
    "osq", Reference, crate::osq::testing::OsqMutex<P>,
        "the queue of optimistic spinners as a lock: the queue head is the owner";
    "busted", Busted, crate::busted::BustedLock<P>,
        "deliberately broken: excludes no thread, so every test must fail on it";
    "busted-rw", Busted, crate::busted::BustedRwLock<P>,
        "deliberately broken: readers take nothing, so every test with readers must fail on it";
    "busted-relaxed", Busted, crate::busted::BustedRelaxedLock<P>,
        "deliberately broken: excludes, but its release orders nothing, so weak-memory checkers must fail on it";
}
