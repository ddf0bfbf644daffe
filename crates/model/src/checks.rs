//! The table of model checks: which clients loom runs on which lock, from which state and on which
//! machine.
//!
//! The tests explore all of it; the tools that weaken orderings and seed bugs run the rows of one
//! lock against each mutant.

pub use crate::check::{Bounds, CPUS, Check, client_type};
use crate::check::{is, is_of_any, named, row, three_on};
use crate::hq_checks::of_hq;
use crate::mutex_checks::{
    of_futex3, of_list, of_mutex, of_word_lock, with_promise, without_condvar,
};
use crate::once_checks::of_once;
use crate::reused_checks::of_reused;
use crate::rwlock_checks::{of_again, of_rwlock};
use crate::rwsem_checks::{of_rwsem, preemptions_of_three};
use crate::sleeping_checks;
use crate::timed_spin_checks::{of_resilient, of_resilient_in_programs, of_timed};
use crate::{Loom, MachineSettings};
use lockwright::linux::RawCnaMutex;
use lockwright::mutex::{RawFairMutex, RawMutex};
use lockwright::once::testing::OnceMutex;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::{Fair, RawRwLock, Unlisted};
use lockwright::semaphore::RawSemaphore;
use lockwright::seqlock::RawSeqLock;
use lockwright_catalog::futex3::{Futex3, Spin100};
use lockwright_catalog::registry::{self, LOCKS, LockRow};
use lockwright_catalog::word_lock::WordLock;
use lockwright_clients::clients_of;
use lockwright_clients::osq::Leave;
use lockwright_clients::owners::TryLock;
use lockwright_clients::prebuilt::{
    FromQueue, LateWithSecondary, LateWithoutNode, OneToSort, ThreeToSort, TwoSetAside,
};
use lockwright_clients::qrwlock::ReadsAgain;
use lockwright_clients::semaphore::{LastPermit, Makers, SemaphoreTimeOuts};
use lockwright_clients::seqlock::WholePairs;
use lockwright_core::tunables::Tunable;
use lockwright_linux::hq::HqSpinlock;
use lockwright_linux::kernel_mutex::KernelMutex;
use lockwright_linux::osq::testing::OsqMutex;
use lockwright_linux::qrwlock::RawQRwLock;
use lockwright_linux::qspinlock::cna::{
    V10, V10AsDescribed, V10Culling, V10Limited, V10Time, V10WithoutThreshold, V11, V13, V15,
    V15TenMs, V15Unreduced,
};
use lockwright_linux::qspinlock::resilient::{
    Guest6_19, InPrograms, Linux6_15, Linux6_19, RawResilientSpinLock,
};
use lockwright_linux::qspinlock::testing::QueueOnly;
use lockwright_linux::qspinlock::{
    CnaSpinlock, Fifo, Hybrid, HybridBounded, Park, ParkFullSpin, QSpinlock, Spin, StealOnce,
    StealOnceFullSpin, Succession, TwoLevel,
};
use lockwright_linux::ticket::TicketLock;
use std::any::TypeId;

/// The rows of `lock`, cheap ones first.
pub fn checks_of(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = match own_rows(lock) {
        Own::No => of_any_lock(lock),
        Own::Also(rows) => [of_any_lock(lock), rows(lock)].concat(),
        Own::Only(rows) => rows(lock),
    };
    checks.extend(of_rwsem(lock));
    checks.extend(of_reused(lock));
    checks
}

/// Makes the rows of a lock.
type Rows = fn(&'static LockRow) -> Vec<Check>;

/// The rows of one type of lock alone.
enum Own {
    /// None.
    No,
    /// Next to the rows of any lock.
    Also(Rows),
    /// Instead of these.
    Only(Rows),
}

macro_rules! own_rows {
    ($($rows:ident $lock:ty => $of:expr;)+) => {
        /// What the type of a lock has. A lock with phases of its own has an entry here.
        fn own_rows(lock: &'static LockRow) -> Own {
            let Some(lock) = registry::type_of::<Loom>(lock) else { return Own::No };
            $(if lock == TypeId::of::<$lock>() {
                return Own::$rows($of);
            })+
            Own::No
        }
    };
}

own_rows! {
    Also TicketLock<Loom> => of_ticket;
    Also RawMutex<Loom> => with_promise;
    Also RawCnaMutex<Loom> => of_mutex::<RawCnaMutex<Loom>>;
    Also RawFairMutex<Loom> => without_condvar::<RawFairMutex<Loom>>;
    Also Futex3<Loom> => of_futex3::<Futex3<Loom>>;
    Also Futex3<Loom, Spin100> => of_futex3::<Futex3<Loom, Spin100>>;
    Also WordLock<Loom> => of_word_lock;
    Also KernelMutex<Loom> => of_list::<KernelMutex<Loom>>;
    Also OsqMutex<Loom> => of_osq;
    Also RawQRwLock<Loom> => of_qrwlock;
    Also HqSpinlock<Loom> => of_hq;
    Also RawSeqLock<Loom, 2> => of_seqlock;
    Also RawSemaphore<Loom, 1> => of_semaphore;
    Also QSpinlock<Loom> => of_fifo;
    Also RawResilientSpinLock<Loom> => of_resilient::<Linux6_15>;
    Also RawResilientSpinLock<Loom, Linux6_15<true>> => of_resilient::<Linux6_15<true>>;
    Also RawResilientSpinLock<Loom, Linux6_19> => of_resilient::<Linux6_19>;
    Also RawResilientSpinLock<Loom, Guest6_19> => of_resilient::<Guest6_19>;
    Also RawResilientSpinLock<Loom, InPrograms> => of_resilient_in_programs;
    Also CnaSpinlock<Loom, V10> => of_cna::<V10>;
    Also CnaSpinlock<Loom, V10Time> => of_cna::<V10Time>;
    Also CnaSpinlock<Loom, V10Limited> => of_cna::<V10Limited>;
    Also CnaSpinlock<Loom, V10AsDescribed> => of_cna::<V10AsDescribed>;
    Also CnaSpinlock<Loom, V10WithoutThreshold> => of_cna::<V10WithoutThreshold>;
    Also CnaSpinlock<Loom, V10Culling> => of_cna::<V10Culling>;
    Also CnaSpinlock<Loom, V11> => of_cna::<V11>;
    Also CnaSpinlock<Loom, V13> => of_cna::<V13>;
    Also CnaSpinlock<Loom, V15> => of_cna::<V15>;
    Also CnaSpinlock<Loom, V15Unreduced> => of_cna::<V15Unreduced>;
    Also CnaSpinlock<Loom, V15TenMs> => of_cna::<V15TenMs>;
    Also QSpinlock<Loom, TwoLevel> => of_two_level;
    Also QSpinlock<Loom, Fifo, Park> => sleeping_checks::of_fifo::<Park>;
    Also QSpinlock<Loom, Fifo, ParkFullSpin> => sleeping_checks::of_fifo::<ParkFullSpin>;
    Also QSpinlock<Loom, Fifo, StealOnceFullSpin> => sleeping_checks::of_fifo::<StealOnceFullSpin>;
    Also QSpinlock<Loom, Fifo, StealOnce> => sleeping_checks::of_fifo::<StealOnce>;
    Also QSpinlock<Loom, Fifo, Hybrid> => sleeping_checks::of_fifo::<Hybrid>;
    Also QSpinlock<Loom, Fifo, HybridBounded> => sleeping_checks::of_fifo::<HybridBounded>;
    Also CnaSpinlock<Loom, V10, Park> => sleeping_checks::of_cna::<V10, Park>;
    Also CnaSpinlock<Loom, V10, Hybrid> => sleeping_checks::of_cna::<V10, Hybrid>;
    Also CnaSpinlock<Loom, V10, HybridBounded> => sleeping_checks::of_cna::<V10, HybridBounded>;
    Only OnceMutex<Loom> => of_once;
    Only RawRwLock<Loom> => of_rwlock;
    Only RawRwLock<Loom, Fair> => of_rwlock;
    Only RawRwLock<Loom, Unlisted> => of_again;
    Only RawPercpuRwLock<Loom> => of_rwlock;
    Only InSlots<Loom> => of_rwlock;
}

/// The locks that have rows: all that are not wrong on purpose.
pub fn checked_locks() -> impl Iterator<Item = &'static LockRow> {
    LOCKS.iter().filter(|row| row.is_correct())
}

fn of_any_lock(lock: &'static LockRow) -> Vec<Check> {
    let three = MachineSettings::flat(3).with_numa(&[0, 1, 0]);
    let is_semaphore = is::<RawSemaphore<Loom, 1>>(lock);
    let of_semaphore = is_semaphore.then_some(PREEMPTIONS_OF_SEMAPHORE);
    let of_three = preemptions_of_three(lock).or(of_semaphore).unwrap_or(usize::MAX);
    let machines =
        [(2, "flat", MachineSettings::flat(2), usize::MAX), (3, "two NUMA nodes", three, of_three)];
    let clients = clients_of::<Loom>(lock).filter(is_of_any);
    let rows = machines.into_iter().flat_map(|(threads, on, settings, preemptions_max)| {
        clients.clone().map(move |client| Check {
            preemptions_max,
            ..named(lock, client, on, threads, settings.clone())
        })
    });
    rows.collect()
}

/// Three threads that all queue.
fn in_the_queue<S: Succession<Loom>>(
    lock: &'static LockRow,
    settings: MachineSettings,
) -> Vec<Check> {
    three_on::<QueueOnly<Loom, S, Spin>>(lock, "queue only", settings.with_nodes_per_cpu(1))
}

/// Rounds enough for tickets of two bits to wrap around.
const WRAPS: u32 = 4;

fn of_ticket(lock: &'static LockRow) -> Vec<Check> {
    let check =
        row::<TryLock<Loom, TicketLock<Loom>>>(lock, "four rounds", 2, MachineSettings::flat(2));
    vec![Check { rounds: WRAPS, ..check }]
}

/// In two rounds nodes are used again, when a neighbour may not be done with them.
fn of_osq(lock: &'static LockRow) -> Vec<Check> {
    let leave = |on, threads, rounds| {
        let settings = MachineSettings::flat(threads as u32);
        Check { rounds, ..row::<Leave<Loom>>(lock, on, threads, settings) }
    };
    vec![
        leave("two, two rounds", 2, 2),
        leave("three", 3, 1),
        leave("three, two rounds", 3, 2),
        leave("four", 4, 1),
    ]
}

fn of_fifo(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = in_the_queue::<Fifo>(lock, MachineSettings::flat(3));
    let flat = MachineSettings::flat(CPUS);
    checks.push(row::<FromQueue<Loom, Fifo, LateWithoutNode>>(lock, "flat", 2, flat));
    let without_nodes = MachineSettings::flat(3).with_nodes_per_cpu(0);
    checks.extend(three_on::<QSpinlock<Loom>>(lock, "no queue nodes", without_nodes));
    let forked = MachineSettings::flat(3).with_nodes_per_cpu(1).in_a_forked_child();
    checks.extend(three_on::<QSpinlock<Loom>>(lock, "in a forked child", forked));
    checks.extend(of_timed::<Fifo>(lock, &MachineSettings::flat(CPUS)));
    checks
}

/// Queues of waiters from two NUMA nodes. The threads' own nodes decide whether newcomers are local
/// to the head.
const MIXTURES: [(&str, [u32; CPUS as usize]); 4] = [
    ("nodes 010101", [0, 1, 0, 1, 0, 1]),
    ("nodes 000101", [0, 0, 0, 1, 0, 1]),
    ("nodes 110111", [1, 1, 0, 1, 1, 1]),
    ("nodes 000011", [0, 0, 0, 0, 1, 1]),
];
/// The first two again, with a threshold that every handoff reaches.
const AT_ONCE: [&str; 2] = ["nodes 010101, threshold 1", "nodes 000101, threshold 1"];

/// The machines on which the successions by NUMA node are explored.
pub fn mixtures() -> Vec<(&'static str, MachineSettings)> {
    let machine = |numa: &[u32], handoffs_log2: u64, ns: u64| {
        MachineSettings::flat(CPUS)
            .with_numa(numa)
            .with_tunable(Tunable::numa_spinlock_threshold, handoffs_log2)
            .with_tunable(Tunable::numa_spinlock_threshold_ns, ns)
    };
    let far = MIXTURES.iter().map(|(on, numa)| (*on, machine(numa, 16, 1_000_000)));
    let near = AT_ONCE.iter().zip(&MIXTURES).map(|(on, (_, numa))| (*on, machine(numa, 0, 1)));
    far.chain(near).collect()
}

/// Where the threads are, then the head and three waiters: two lists, or one with two waiters.
const TO_SORT: [(&str, [u32; CPUS as usize]); 2] =
    [("nodes 010120", [0, 1, 0, 1, 2, 0]), ("nodes 120110", [1, 2, 0, 1, 1, 0])];
/// The same, where each handoff with lists aside ends the turn.
const IN_TURNS: [&str; 2] = ["nodes 010120, in turns", "nodes 120110, in turns"];

/// The machines on which succession in two levels is explored.
pub fn to_sort() -> Vec<(&'static str, MachineSettings)> {
    let far = TO_SORT.iter().map(|(on, numa)| (*on, MachineSettings::flat(CPUS).with_numa(numa)));
    let near = far.clone().zip(IN_TURNS).map(|((_, settings), on)| {
        (on, settings.with_tunable(Tunable::hqlock_fairness_threshold, 0))
    });
    far.chain(near).collect()
}

fn of_two_level(lock: &'static LockRow) -> Vec<Check> {
    // The threads are of the head's node, and queue behind one of another node.
    let behind = MachineSettings::flat(CPUS).with_numa(&[0, 0, 0, 1, 0, 0]);
    let mut checks =
        vec![row::<FromQueue<Loom, TwoLevel, OneToSort>>(lock, "nodes 0001", 2, behind)];
    for (on, settings) in to_sort() {
        checks.push(row::<FromQueue<Loom, TwoLevel, ThreeToSort>>(lock, on, 2, settings));
    }
    let settings = MachineSettings::flat(3).with_numa(&[0, 1, 2]);
    checks.extend(in_the_queue::<TwoLevel>(lock, settings));
    checks.extend(of_timed::<TwoLevel>(lock, &MachineSettings::flat(CPUS).with_numa(&[0, 1, 0])));
    checks
}

fn of_cna<S: Succession<Loom>>(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = in_the_queue::<S>(lock, MachineSettings::flat(3).with_numa(&[0, 1, 0]));
    for (on, settings) in mixtures() {
        checks.push(row::<FromQueue<Loom, S, TwoSetAside>>(lock, on, 2, settings));
    }
    // No thread passes the end of the primary queue, so it does not matter where the waiters are.
    let flat = MachineSettings::flat(CPUS);
    checks.push(row::<FromQueue<Loom, S, LateWithSecondary>>(lock, "flat", 2, flat));
    checks.extend(of_timed::<S>(lock, &MachineSettings::flat(CPUS).with_numa(&[0, 1, 0])));
    checks
}

/// Rounds enough for the second read to be an attempt, and for a sequence of two bits to wrap around.
const ROUNDS_OF_SEQLOCK: u32 = 2;

fn of_seqlock(lock: &'static LockRow) -> Vec<Check> {
    let pair = |on, threads, rounds| {
        let settings = MachineSettings::flat(threads as u32);
        Check { rounds, ..row::<WholePairs<Loom>>(lock, on, threads, settings) }
    };
    vec![
        pair("two", 2, 1),
        pair("two, two rounds", 2, ROUNDS_OF_SEQLOCK),
        Check { preemptions_max: 1, ..pair("three", 3, 1) },
    ]
}

/// Of three threads and a semaphore: a thread without the bucket of the table naps, and naps that end at any time are
/// without end where two of them wait for one that was preempted.
const PREEMPTIONS_OF_SEMAPHORE: usize = 2;
/// Of three threads that all contend for the bucket: each look at one that is held is a choice.
const PREEMPTIONS_AT_BUCKET: usize = 1;

fn of_semaphore(lock: &'static LockRow) -> Vec<Check> {
    let flat = |threads: usize| MachineSettings::flat(threads as u32);
    let waking = flat(3).with_wake_ups(1);
    let forked = flat(3).with_nodes_per_cpu(1).in_a_forked_child();
    let mut three = vec![row::<Makers<Loom>>(lock, "three", 3, flat(3))];
    three.extend(three_on::<RawSemaphore<Loom, 1>>(lock, "in a forked child", forked));
    let three =
        three.into_iter().map(|check| Check { preemptions_max: PREEMPTIONS_AT_BUCKET, ..check });
    let two = [
        row::<Makers<Loom>>(lock, "two", 2, flat(2)),
        row::<LastPermit<Loom>>(lock, "two", 2, flat(2)),
    ];
    let timed = [
        row::<SemaphoreTimeOuts<Loom>>(lock, "three", 3, flat(3)),
        row::<SemaphoreTimeOuts<Loom>>(lock, "three, sleeps end for no reason", 3, waking),
    ];
    let timed =
        timed.into_iter().map(|check| Check { preemptions_max: PREEMPTIONS_OF_SEMAPHORE, ..check });
    two.into_iter().chain(timed).chain(three).collect()
}

/// Of clients whose threads take a queued reader-writer spinlock once each.
const PREEMPTIONS_OF_QRWLOCK: usize = 2;

/// Urgent readers, which pass the writers that wait, and machines without queue nodes.
fn of_qrwlock(lock: &'static LockRow) -> Vec<Check> {
    let urgent = |threads| MachineSettings { urgent: vec![1], ..MachineSettings::flat(threads) };
    let mut checks = three_on::<RawQRwLock<Loom>>(
        lock,
        "the second one is urgent",
        urgent(3).with_nodes_per_cpu(1),
    );
    let without_nodes = MachineSettings::flat(3).with_nodes_per_cpu(0);
    checks.extend(three_on::<RawQRwLock<Loom>>(lock, "no queue nodes", without_nodes));
    checks.extend([
        row::<ReadsAgain<Loom>>(lock, "two, the second one is urgent", 2, urgent(2)),
        row::<ReadsAgain<Loom>>(lock, "three, the second one is urgent", 3, urgent(3)),
    ]);
    checks
        .into_iter()
        .map(|check| Check { preemptions_max: PREEMPTIONS_OF_QRWLOCK, ..check })
        .collect()
}
