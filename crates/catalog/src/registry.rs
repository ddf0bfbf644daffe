//! The one list of locks.
//!
//! A lock enters all commands and checks by its row in the table below. Torture, benchmarks, the lists of the lab and
//! the checkers all walk it. The table is generic over the platform. A row is the name of the test of its model checks,
//! the name of the lock, its class, a type constructor, and a description. The [`RawLock`] of a lock says what the lock
//! can do (readers, order, the threads that may free it). The abilities that only some locks have stand behind the
//! type. `deadline`, `condvar` and `slowpath` are the traits [`TimedLock`], [`CondvarLock`] and [`SlowpathLock`].
//! `spins` says that a lock asks the platform for no more than [`SpinPlatform`], and that each thread releases its own
//! nodes, the last one first. So it runs where no thread can sleep and nodes belong to CPUs. `pooled` says that a lock
//! only spins, but lets other threads release its nodes, so that these must not belong to CPUs.
//!
//! A name is looked up once; then the row travels. If the variable `LOCKWRIGHT_ONLY` is set when this
//! crate is compiled, the table has only the locks that it names, separated by commas. Such a build takes seconds.

use crate::capabilities::{CondvarLock, SlowpathLock, TimedLock};
use crate::hq::HqPlatform;
use crate::percpu_rwlock::ReaderPlatform;
use crate::qspinlock::resilient::{
    Guest6_19, HolderPlatform, InPrograms, Linux6_15, Linux6_19, RawResilientSpinLock,
};
use crate::qspinlock::{
    CnaSpinlock, Fifo, Hybrid, HybridBounded, Park, ParkFullSpin, QSpinlock, StealOnce,
    StealOnceFullSpin, TwoLevel, cna,
};
use crate::queue::QueuePlatform;
use crate::raw::RawLock;
use crate::rwsem::{self, RwSem, RwSemPolicy};
use core::any::TypeId;

/// A platform with everything that a lock of the registry may ask of it.
pub trait Platform: ReaderPlatform + HolderPlatform + HqPlatform {}
impl<P: ReaderPlatform + HolderPlatform + HqPlatform> Platform for P {}

/// A platform with everything that a lock of the registry may ask of it if the lock only spins.
pub trait SpinPlatform: HolderPlatform + HqPlatform {}
impl<P: HolderPlatform + HqPlatform> SpinPlatform for P {}

/// A row of the registry: all that it knows about a lock, apart from its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRow {
    /// The name by which it is selected.
    pub name: &'static str,
    /// Other names for the same lock.
    pub aliases: &'static [&'static str],
    /// The purpose of the lock.
    pub class: LockClass,
    /// A description of the lock, or of what it models, in one line.
    pub models: &'static str,
}

/// The purpose of a lock. `all` stands for the locks of today: every class but the history and the broken locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockClass {
    /// A product of this crate.
    Product,
    /// A product, too: the succession of one lock with the waiting policy of another, which have rows of their own.
    Combination,
    /// A product, too: a state of the kernel's history, to reproduce what was measured then. No mutant and no seeded
    /// bug needs it. Commands take it by its name or by a pattern, and not as one of `all`. The test suites run it when
    /// its sources change, and when they run everything.
    History,
    /// A reference to measure against.
    Reference,
    /// Deliberately broken: every checker that can see the fault must fail on it.
    Busted,
}

impl LockClass {
    /// Returns `true` if it is a product of this crate.
    pub const fn is_product(self) -> bool {
        matches!(self, Self::Product | Self::Combination | Self::History)
    }
}

impl LockRow {
    /// Returns `true` if `name` is the lock's name or one of its aliases.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
    /// Returns `true` if `all` includes the lock.
    pub fn is_in_all(&self) -> bool {
        self.is_correct() && self.class != LockClass::History
    }
    /// Returns `true` if it is not broken on purpose.
    pub fn is_correct(&self) -> bool {
        self.class != LockClass::Busted
    }
    /// Returns `true` if it is this very row.
    fn is(&self, row: &Self) -> bool {
        core::ptr::eq(self, row)
    }
}

/// An operation on a lock whose type is chosen by its row.
pub trait LockVisitor<P: Platform> {
    /// The result of the operation.
    type Output;
    /// Runs the operation on lock `L`.
    fn visit<L: RawLock>(self, row: &'static LockRow) -> Self::Output;
}

macro_rules! visitors {
    ($($(#[$doc:meta])+ $Visitor:ident of $Lock:ident;)+) => {$(
        $(#[$doc])+
        pub trait $Visitor {
            /// The result of the operation.
            type Output;
            /// Runs the operation with type `T`.
            fn visit<T: $Lock>(self) -> Self::Output;
        }
    )+};
}
visitors! {
    /// An operation on a lock that has deadlines, whose type is chosen by its row.
    TimedVisitor of TimedLock;
    /// An operation on a lock that has a condition variable, whose type is chosen by its row.
    CondvarVisitor of CondvarLock;
    /// An operation on a lock that only spins, whose type is chosen by its row.
    SpinVisitor of RawLock;
    /// An operation on a lock that has the kernel's word, whose type is chosen by its row.
    SlowpathVisitor of SlowpathLock;
    /// An operation on a semaphore whose policy is chosen by its row.
    RwSemVisitor of RwSemPolicy;
}

/// The names of the locks that this build has, separated by commas; `None` if it has all of them.
pub const ONLY: Option<&str> = option_env!("LOCKWRIGHT_ONLY");

/// Returns `true` if this build has a lock that has one of these names.
pub const fn is_compiled(names: &[&str]) -> bool {
    let Some(only) = ONLY else { return true };
    let mut at = 0;
    while at < names.len() {
        if is_listed(names[at].as_bytes(), only.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns `true` if `name` is one of the words of `list`.
const fn is_listed(name: &[u8], list: &[u8]) -> bool {
    let (mut begin, mut end) = (0, 0);
    while end <= list.len() {
        if end == list.len() || list[end] == b',' {
            if is_same(name, list, begin, end) {
                return true;
            }
            begin = end + 1;
        }
        end += 1;
    }
    false
}

const fn is_same(name: &[u8], list: &[u8], begin: usize, end: usize) -> bool {
    let mut at = 0;
    while at < name.len() && begin + at < end && name[at] == list[begin + at] {
        at += 1;
    }
    at == name.len() && begin + at == end
}

/// Returns the number of these rows that this build has.
const fn count(rows: &[LockRow]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < rows.len() {
        count += is_row_compiled(&rows[at]) as usize;
        at += 1;
    }
    count
}

/// Returns the rows of this build. `N` is their [`count`].
const fn compiled<const N: usize>(rows: &[LockRow]) -> [LockRow; N] {
    let mut kept = [rows[0]; N];
    let (mut at, mut next) = (0, 0);
    while at < rows.len() {
        if is_row_compiled(&rows[at]) {
            kept[next] = rows[at];
            next += 1;
        }
        at += 1;
    }
    kept
}

const fn is_row_compiled(row: &LockRow) -> bool {
    is_compiled(&[row.name]) || is_compiled(row.aliases)
}

/// Returns the lock that answers to `name`.
pub fn find(name: &str) -> Option<&'static LockRow> {
    LOCKS.iter().find(|row| row.answers_to(name))
}

/// Returns `true` if a lock answers to `name` that this build does not have.
pub fn is_left_out(name: &str) -> bool {
    find(name).is_none() && ALL.iter().any(|row| row.answers_to(name))
}

/// Returns the type of a lock on platform `P`; `None` as for [`visit`]. Callers use it to find parts that only some
/// locks have.
pub fn type_of<P: Platform>(row: &'static LockRow) -> Option<TypeId> {
    struct OfType;
    impl<P: Platform> LockVisitor<P> for OfType {
        type Output = TypeId;
        fn visit<L: RawLock>(self, _row: &'static LockRow) -> TypeId {
            TypeId::of::<L>()
        }
    }
    visit::<P, _>(row, OfType)
}

macro_rules! locks {
    (
        $dollar:tt $P:ident;
        $($test:ident: $name:literal $(| $alias:literal)* , $class:ident, $lock:ty $([$($can:ident)*])?, $models:literal;)+
        [semaphores] {
            $($sem_test:ident: $sem:literal $(| $sem_alias:literal)* , $sem_class:ident, $policy:ty, $sem_models:literal;)+
        }
        $($last_test:ident: $last:literal $(| $last_alias:literal)* , $last_class:ident, $last_lock:ty $([$($last_can:ident)*])?, $last_models:literal;)+
    ) => {
        locks! { table $P {
            $($name $(| $alias)*, $class, $lock $([$($can)*])?, $models;)+
            $($sem $(| $sem_alias)*, $sem_class, RwSem<$P, $policy>, $sem_models;)+
            $($last $(| $last_alias)*, $last_class, $last_lock $([$($last_can)*])?, $last_models;)+
        }}

        /// Calls `visitor` with the policy of the semaphore of this row; `None` if the lock is not a semaphore.
        pub fn visit_rwsem<V: RwSemVisitor>(row: &LockRow, visitor: V) -> Option<V::Output> {
            let mut rows = LOCKS.iter();
            $(if const { is_compiled(&[$name $(, $alias)*]) } {
                rows.next();
            })+
            $(if const { is_compiled(&[$sem $(, $sem_alias)*]) } && rows.next()?.is(row) {
                return Some(visitor.visit::<$policy>());
            })+
            None
        }

        /// Calls the macro of that name with the test, the name and the class of every lock. A build with [`ONLY`] some
        /// locks still has all of them here.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! for_each_lock {
            ($dollar callback:ident) => {
                $dollar callback! {
                    $($test: $name, $class;)+
                    $($sem_test: $sem, $sem_class;)+
                    $($last_test: $last, $last_class;)+
                }
            };
        }
    };
    (table $P:ident $rows:tt) => {
        locks! { list $P $rows }
        locks! {
            /// Calls `visitor` with the lock of this row, if it has deadlines.
            visit_timed(Platform, TimedVisitor) if deadline, $P $rows
        }
        locks! {
            /// Calls `visitor` with the lock of this row, if it has a condition variable.
            visit_condvar(Platform, CondvarVisitor) if condvar, $P $rows
        }
        locks! {
            /// Calls `visitor` with the lock of this row, if it only spins.
            visit_spinning(SpinPlatform, SpinVisitor) if spins, $P $rows
        }
        locks! {
            /// Calls `visitor` with the lock of this row, if it only spins and lets other threads release its nodes.
            visit_pooled(QueuePlatform, SpinVisitor) if pooled, $P $rows
        }
        locks! {
            /// Calls `visitor` with the lock of this row, if it has the word of the kernel's spinlock.
            visit_kernel_word(QueuePlatform, SlowpathVisitor) if slowpath, $P $rows
        }
    };
    (list $P:ident {
        $($name:literal $(| $alias:literal)* , $class:ident, $lock:ty $([$($can:ident)*])?, $models:literal;)+
    }) => {
        const ALL: &[LockRow] = &[$(LockRow {
            name: $name,
            aliases: &[$($alias),*],
            class: LockClass::$class,
            models: $models,
        },)+];

        /// Every lock of this build, in the order of the table.
        pub static LOCKS: &[LockRow] = &compiled::<{ count(ALL) }>(ALL);

        /// Calls `visitor` with the lock of this row; `None` if it is not one of [`LOCKS`].
        pub fn visit<$P: Platform, V: LockVisitor<$P>>(
            row: &'static LockRow,
            visitor: V,
        ) -> Option<V::Output> {
            let mut rows = LOCKS.iter();
            $(if const { is_compiled(&[$name $(, $alias)*]) } && rows.next()?.is(row) {
                return Some(visitor.visit::<$lock>(row));
            })+
            None
        }
    };
    ($(#[$doc:meta])+ $visit:ident($Bound:ident, $Visitor:ident) if $asked:ident, $P:ident {
        $($name:literal $(| $alias:literal)* , $class:ident, $lock:ty $([$($can:ident)*])?, $models:literal;)+
    }) => {
        $(#[$doc])+
        pub fn $visit<$P: $Bound, V: $Visitor>(row: &LockRow, visitor: V) -> Option<V::Output> {
            let mut rows = LOCKS.iter();
            $(if const { is_compiled(&[$name $(, $alias)*]) } {
                let _is_it = rows.next()?.is(row);
                $($(if_can! { $asked $can if _is_it { return Some(visitor.visit::<$lock>()); } })*)?
            })+
            None
        }
    };
}

/// Expands to the code if a row names the capability. The arguments are the capability, what the row names, and the
/// code.
#[doc(hidden)]
#[macro_export]
macro_rules! if_can {
    (deadline deadline $($code:tt)*) => { $($code)* };
    (condvar condvar $($code:tt)*) => { $($code)* };
    (spins spins $($code:tt)*) => { $($code)* };
    (pooled pooled $($code:tt)*) => { $($code)* };
    (slowpath slowpath $($code:tt)*) => { $($code)* };
    // A word that is none of these is an error.
    ($asked:ident deadline $($code:tt)*) => {};
    ($asked:ident condvar $($code:tt)*) => {};
    ($asked:ident spins $($code:tt)*) => {};
    ($asked:ident pooled $($code:tt)*) => {};
    ($asked:ident slowpath $($code:tt)*) => {};
}

locks! { $ P;
    qspinlock: "qspinlock" | "fifo", Product, QSpinlock<P> [deadline spins slowpath],
        "the Linux kernel's queued spinlock: waiters are served in order of arrival";
    cna: "cna" | "cna-v10" | "cna-v10_posted", Product, CnaSpinlock<P, cna::V10> [deadline spins slowpath],
        "the queued spinlock with NUMA-aware order (CNA), version 10";
    cna_v10_time: "cna-v10_time", Product, CnaSpinlock<P, cna::V10Time> [deadline spins slowpath],
        "CNA v10 with the review's first attachment: a threshold of 10 ms instead of a number of handoffs";
    cna_v10_limited: "cna-v10_limited", Product, CnaSpinlock<P, cna::V10Limited> [deadline spins slowpath],
        "CNA v10 with the review's second attachment: once the lock is free, few looks for each NUMA node";
    cna_v11: "cna-v11" | "cna-v13_unreduced", Product, CnaSpinlock<P, cna::V11> [deadline spins slowpath],
        "CNA v11: looks at one waiter per handoff; the next waiter inherits the preferred NUMA node";
    cna_v15: "cna-v15", Product, CnaSpinlock<P, cna::V15> [deadline spins slowpath],
        "CNA v15: looks at one waiter after another while the lock is held; the threshold is a time";
    cna_v10_as_described: "cna-v10_as_described", History, CnaSpinlock<P, cna::V10AsDescribed> [spins slowpath],
        "CNA v10 as its text describes it: the second search remembers which waiters the first one has passed";
    cna_v10_no_threshold: "cna-v10_no_threshold", History, CnaSpinlock<P, cna::V10WithoutThreshold> [spins slowpath],
        "CNA v10 without the series' fourth patch: no threshold, so waiters of other NUMA nodes may starve";
    cna_v10_culling: "cna-v10_culling", History, CnaSpinlock<P, cna::V10Culling> [spins slowpath],
        "CNA v10 with the review's third attachment, incremental culling: v11 that counts handoffs";
    cna_v13: "cna-v13", History, CnaSpinlock<P, cna::V13> [spins slowpath],
        "CNA v11 that skips reordering with probability 127/128 while the secondary queue is empty (shuffle reduction)";
    cna_v15_unreduced: "cna-v15_unreduced", History, CnaSpinlock<P, cna::V15Unreduced> [spins slowpath],
        "CNA v15 without shuffle reduction: every head looks, also while the secondary queue is empty";
    cna_v15_10ms: "cna-v15_10ms", History, CnaSpinlock<P, cna::V15TenMs> [spins slowpath],
        "CNA v15 with a threshold of 10 ms instead of 1 ms";
    two_level: "two-level", Product, QSpinlock<P, TwoLevel> [deadline spins slowpath],
        "the queued spinlock with the idea of hq: waiters in a list for each NUMA node, the lists in a list";
    resilient: "resilient" | "rqspinlock" | "resilient-v6_15", Product, RawResilientSpinLock<P> [spins],
        "the resilient queued spinlock of Linux 6.15: a waiter gives up in a deadlock, or after 250 ms per section";
    resilient_v6_15_unmaskable: "resilient-v6_15_unmaskable", History, RawResilientSpinLock<P, Linux6_15<true>> [spins],
        "resilient with the rule of September 2025: an interrupt that cannot be masked does not queue";
    resilient_v6_19: "resilient-v6_19", History, RawResilientSpinLock<P, Linux6_19> [spins],
        "the resilient queued spinlock of Linux 6.19: a deadlock is found earlier, and does not dissolve the queue";
    resilient_guest: "resilient-guest", History, RawResilientSpinLock<P, Guest6_19> [spins],
        "resilient-v6_19 in a guest: waiters compete for the word for 1 s";
    resilient_in_programs: "resilient-in_programs", Product, RawResilientSpinLock<P, InPrograms> [deadline spins],
        "resilient as `ResilientSpinLock` has it: a signal handler learns of every lock that its thread holds";
    hq: "hq", Product, crate::hq::HqSpinlock<P> [spins],
        "the hierarchical queued spinlock (HQ) of 2025: under contention, one queue for each NUMA node";
    park: "park", Product, QSpinlock<P, Fifo, Park>,
        "park-steal without lock stealing (ours): waiters sleep, and no thread passes them";
    park_full_spin: "park-full_spin", Product, QSpinlock<P, Fifo, ParkFullSpin>,
        "the paravirtual queued spinlock of Linux 4.4: a waiter spins for as long as it may, also behind one that sleeps";
    park_steal_full_spin: "park-steal-full_spin", Product, QSpinlock<P, Fifo, StealOnceFullSpin>,
        "park-steal whose waiters do not ask if their predecessor runs";
    park_steal: "park-steal", Product, QSpinlock<P, Fifo, StealOnce>,
        "the paravirtual queued spinlock of Linux 4.11 to 4.14: each newcomer tries once to steal, then it queues";
    hybrid: "hybrid", Product, QSpinlock<P, Fifo, Hybrid>,
        "the hybrid paravirtual queued spinlock of November 2017: fair while the queue head spins, lock stealing while it sleeps";
    hybrid_bounded: "hybrid-bounded", Product, QSpinlock<P, Fifo, HybridBounded>,
        "the hybrid tuned for programs: bounded spinning, no more spinning threads than CPUs";
    cna_park: "cna-park", Combination, CnaSpinlock<P, cna::V10, Park>,
        "CNA v10 whose waiters wait as in park";
    cna_hybrid: "cna-hybrid", Combination, CnaSpinlock<P, cna::V10, Hybrid>,
        "CNA v10 whose waiters wait as in hybrid";
    cna_hybrid_bounded: "cna-hybrid-bounded" | "hybrid-lock", Product, CnaSpinlock<P, cna::V10, HybridBounded>,
        "CNA v10 whose waiters wait as in hybrid-bounded";
    mutex: "mutex", Product, crate::mutex::RawMutex<P> [deadline condvar],
        "`Mutex` for programs: arriving threads may overtake for 4 ms; waiters spin in order of arrival, then sleep";
    cna_mutex: "cna-mutex", Combination, lockwright::linux::RawCnaMutex<P> [deadline condvar],
        "`CnaMutex` for programs: the mutex whose waiters spin in CNA order";
    fair_mutex: "fair-mutex", Product, crate::mutex::RawFairMutex<P> [deadline],
        "`FairMutex` for programs: each release is for a thread that sleeps";
    rwlock: "rwlock", Product, crate::rwlock::RawRwLock<P> [deadline],
        "`RwLock` for programs: arriving threads may overtake for 4 ms; recursive reads are allowed";
    rwlock_unlisted: "rwlock-unlisted", Reference, crate::rwlock::RawRwLock<P, crate::rwlock::Unlisted> [deadline],
        "rwlock whose readers are not known by their threads, as in `SendRwLock`: each may be one that reads already";
    rwlock_fair: "rwlock-fair", Product, crate::rwlock::RawRwLock<P, crate::rwlock::Fair> [deadline],
        "`FairRwLock` for programs: first come, first served";
    percpu_rwlock: "percpu-rwlock", Product, crate::percpu_rwlock::RawPercpuRwLock<P> [deadline],
        "`PercpuRwLock` for programs: for data that is nearly always read";
    percpu_rwlock_in_slots: "percpu-rwlock-in_slots", Reference, crate::percpu_rwlock::testing::InSlots<P> [deadline],
        "percpu-rwlock whose readers use memory of their own threads from the start";
    seqlock: "seqlock", Product, crate::seqlock::RawSeqLock<P, 2>,
        "the write side of `SeqLock`; its readers copy the value, and copy again if it changed meanwhile";
    semaphore: "semaphore", Product, crate::semaphore::RawSemaphore<P, 1> [deadline],
        "`Semaphore` for programs with one permit: first come, first served; waiters sleep";
    qrwlock: "qrwlock", Product, crate::qrwlock::RawQRwLock<P> [spins],
        "the Linux kernel's queued reader-writer spinlock";
    futex3: "futex3", Reference, crate::futex3::Futex3<P> [deadline condvar],
        "mutex with three states whose waiters sleep at once (Drepper, Futexes Are Tricky, mutex 3)";
    futex3_spin: "futex3-spin", Reference, crate::futex3::Futex3<P, crate::futex3::Spin100> [deadline condvar],
        "futex3 whose waiters look 100 times before they sleep, as in several standard libraries";
    [semaphores] {
        rwsem_current: "rwsem-current" | "rwsem", Product, rwsem::Current,
            "the Linux kernel's reader-writer semaphore (rwsem) of 6.3 and later";
        rwsem_current_in_programs: "rwsem-current_in_programs", Product, rwsem::CurrentInPrograms,
            "rwsem-current changed for programs, as `RwSemLock` has it: wakes less, hands over to a woken writer";
        rwsem_v5_19: "rwsem-v5_19", History, rwsem::V5_19,
            "rwsem of Linux 5.19 to 6.2: a handoff binds only while the waiter that asked for it is the first";
        rwsem_v5_16: "rwsem-v5_16", History, rwsem::V5_16,
            "rwsem of Linux 5.16 to 5.18: any writer in the list asks for the handoff";
        rwsem_v5_11: "rwsem-v5_11", History, rwsem::V5_11,
            "rwsem of Linux 5.11 to 5.15.0: the series of November 2020 without its patch 4";
        rwsem_v5_10_no_rspin: "rwsem-v5_10_no_rspin", History, rwsem::V5_10NoRspin,
            "rwsem of Linux 5.10 with all patches of that series: readers steal the lock and do not spin";
        rwsem_v5_10_limit_rspin: "rwsem-v5_10_limit_rspin", History, rwsem::V5_10LimitRspin,
            "rwsem of Linux 5.10 with patches 1 to 4 of that series, and one spinning reader at a time";
        rwsem_v5_10_before: "rwsem-v5_10_before", History, rwsem::V5_10Before,
            "rwsem of Linux 5.10 with patches 1 to 4 of that series";
        rwsem_v5_10_stealing: "rwsem-v5_10_stealing", History, rwsem::V5_10Stealing,
            "rwsem of Linux 5.10 with patches 1 to 3 of that series: readers steal the lock if no thread spins";
        rwsem_v5_10_starvation: "rwsem-v5_10_starvation", History, rwsem::V5_10Starvation,
            "rwsem of Linux 5.10 with patches 1 and 2 of that series: readers queue behind several readers";
        rwsem_v5_10: "rwsem-v5_10", Product, rwsem::V5_10,
            "rwsem of Linux 5.10: readers spin, too";
        rwsem_v5_2_timed_spin: "rwsem-v5_2_timed_spin", History, rwsem::V5_2TimedSpin,
            "rwsem of Linux 5.2 with patches 1 to 14 of May 2019: writers spin on readers for a limited time";
        rwsem_v5_2_reader_spin: "rwsem-v5_2_reader_spin", History, rwsem::V5_2ReaderSpin,
            "rwsem of Linux 5.2 with patches 1 to 12 of that series: readers spin while a writer owns the lock";
        rwsem_v5_2_all_readers: "rwsem-v5_2_all_readers", History, rwsem::V5_2AllReaders,
            "rwsem of Linux 5.2 with that series up to the wake-up of almost all waiting readers";
        rwsem_v5_2_handoff: "rwsem-v5_2_handoff", History, rwsem::V5_2Handoff,
            "rwsem of Linux 5.2 with that series up to the handoff, after 4 ms";
        rwsem_v5_2_new_count: "rwsem-v5_2_new_count", History, rwsem::V5_2NewCount,
            "rwsem of Linux 5.2 with patches 1 to 3 of that series: a count in bits, without the handoff";
        rwsem_v4_14_handoff: "rwsem-v4_14_handoff", History, rwsem::V4_14Handoff,
            "rwsem of Linux 4.14 with the handoff patch of October 2017, corrected";
        rwsem_v4_14_bits: "rwsem-v4_14_bits", History, rwsem::V4_14Bits,
            "rwsem of Linux 4.14 with patches 1 to 6 of October 2017: a count in bits, without the handoff";
        rwsem_v4_14: "rwsem-v4_14", Product, rwsem::V4_14,
            "rwsem of Linux 4.14: writers spin in a queue";
        rwsem_v3_12_wake_flag: "rwsem-v3_12_wake_flag", Product, rwsem::V3_12WakeFlag,
            "rwsem of Linux 3.12 with the wake-up flag patch of October 2013, corrected";
        rwsem_v3_12_series_wake_flag: "rwsem-v3_12_series_wake_flag", History, rwsem::V3_12SeriesWakeFlag,
            "rwsem of Linux 3.12 with patches 1 to 9 of October 2013, the wake-up flag corrected";
        rwsem_v3_12_series: "rwsem-v3_12_series", Product, rwsem::V3_12Series,
            "rwsem of Linux 3.12 with patches 1 to 8 of October 2013: writers spin one at a time";
        rwsem_v3_12: "rwsem-v3_12", Product, rwsem::V3_12,
            "rwsem of Linux 3.12: writers steal the lock on the fast path, no thread spins";
        rwsem_v3_12_on_32_bits: "rwsem-v3_12_on_32_bits", History, rwsem::V3_12On32Bits,
            "rwsem-v3_12 as on 32-bit machines: a count of 16 and 16 bits, so at most 32767 readers";
        rwsem_v3_12_wake_flag_as_posted: "rwsem-v3_12_wake_flag_as_posted", Busted, rwsem::V3_12WakeFlagAsPosted,
            "rwsem of Linux 3.12 with the wake-up flag patch as posted: loses wake-ups";
        rwsem_v3_12_series_wake_flag_as_posted:
            "rwsem-v3_12_series_wake_flag_as_posted", Busted, rwsem::V3_12SeriesWakeFlagAsPosted,
            "rwsem of Linux 3.12 with patches 1 to 9 of October 2013 as posted: loses wake-ups";
        rwsem_v4_14_handoff_as_posted: "rwsem-v4_14_handoff_as_posted", Busted, rwsem::V4_14HandoffAsPosted,
            "rwsem of Linux 4.14 with the handoff patch as posted: loses wake-ups";
        rwsem_v5_10_as_posted: "rwsem-v5_10_as_posted", Busted, rwsem::V5_10AsPosted,
            "rwsem of Linux 5.10 as it was: a spinning reader can leave a reserved lock to no thread";
    }
    once: "once", Reference, crate::once::testing::OnceMutex<P>,
        "`Once` as a lock, to test it: an owner that unlocks has not done it; all waiters are woken";
    unfair: "unfair", Reference, crate::unfair::UnfairLock<P> [spins],
        "test-and-test-and-set spinlock, the Linux kernel's fallback in guests";
    unfair_backoff: "unfair-backoff", Reference, crate::unfair::UnfairLock<P, crate::unfair::Exponential> [spins],
        "test-and-test-and-set spinlock with exponential back-off";
    ticket: "ticket", Reference, crate::ticket::TicketLock<P> [spins],
        "ticket lock, the Linux kernel's spinlock before the queued one";
    mcs: "mcs", Reference, crate::mcs::McsLock<P> [spins],
        "queue lock whose waiters spin on their own node (Mellor-Crummey and Scott, 1991)";
    clh: "clh", Reference, crate::clh::ClhLock<P> [pooled],
        "queue lock whose waiters spin on the node in front of them (Craig, 1993; Landin and Hagersten, 1994)";
    word_lock: "word-lock", Reference, crate::word_lock::WordLock<P>,
        "barging lock with a list of sleepers and a handoff about every 0.5 ms (WebKit; parking_lot before 0.13)";
    kernel_mutex: "kernel-mutex", Reference, crate::kernel_mutex::KernelMutex<P>,
        "the Linux kernel's mutex: waiters spin while the owner runs; handoff to the first waiter";
    osq: "osq", Reference, crate::osq::testing::OsqMutex<P>,
        "the queue of optimistic spinners as a lock: the queue head is the owner";
    busted: "busted", Busted, crate::busted::BustedLock<P> [spins],
        "deliberately broken: excludes no thread, so every test must fail on it";
    busted_rw: "busted-rw", Busted, crate::busted::BustedRwLock<P> [spins],
        "deliberately broken: readers take nothing, so every test with readers must fail on it";
    busted_relaxed: "busted-relaxed", Busted, crate::busted::BustedRelaxedLock<P>,
        "deliberately broken: excludes, but its release orders nothing, so weak-memory checkers must fail on it";
    futex3_grouped_condvar: "futex3-grouped_condvar", Busted, crate::busted::GroupedMutex<P>,
        "deliberately broken: futex3 with a model of the condition variable of glibc 2.25 to 2.40: loses wake-ups";
}
