//! The rows of the mutex for programs and its condition variable, and of the reference locks whose waiters sleep.
//!
//! In a hurry, because a thread that is to sleep has to lose patience some times first.

use crate::check::{Check, named, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright::mutex::RawMutex;
use lockwright_catalog::capabilities::ProgramMutex;
use lockwright_catalog::registry::LockRow;
use lockwright_catalog::word_lock::WordLock;
use lockwright_clients::CLIENTS;
use lockwright_clients::condvar::{AnotherMutex, LastUser, Left, LeftToWaiter};
use lockwright_clients::limits::AllTimeOut;
use lockwright_clients::mutex::{
    GiveUp, HandsOver, MutexTimeOuts, Neighbours, NotifiedMutex, Notify, NotifyAll,
};
use lockwright_clients::promise::{Promise, Unheld};
use lockwright_clients::two_kinds::TwoKinds;
use lockwright_core::raw::RawLock;

/// Longer than the first waiter lets others pass it, and than the time between two handoffs of the lock that measures
/// it.
const LONG_NS: u64 = 10_000_000;

/// The rows of the mutex for which the condition variable keeps its promise.
pub(crate) fn with_promise(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = of_mutex::<RawMutex<Loom>>(lock);
    let woken = hurried(2).with_wake_ups(1);
    checks.push(row::<Promise<Loom>>(lock, "in a hurry, two, sleeps end for no reason", 2, woken));
    let three = row::<Promise<Loom>>(lock, "in a hurry, three", 3, hurried(3));
    let unheld = row::<Unheld<Loom>>(lock, "three", 3, MachineSettings::flat(3));
    checks.extend(interrupted_once([three, unheld]));
    checks
}

pub(crate) fn of_mutex<M: NotifiedMutex>(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = without_condvar::<M>(lock);
    checks.push(row::<Notify<Loom, M>>(lock, "in a hurry, two", 2, hurried(2)));
    checks.push(row::<Left<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)));
    checks.extend(interrupted_once([
        row::<Notify<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<GiveUp<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<NotifyAll<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<LeftToWaiter<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<AnotherMutex<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
    ]));
    checks
}

/// The rows of a mutex without a condition variable, which are rows of the others too.
pub(crate) fn without_condvar<M: ProgramMutex>(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = three_on::<M>(lock, "in a hurry", hurried(3));
    let late = hurried(3).with_clock_step(LONG_NS);
    checks.extend(three_on::<M>(lock, "in a hurry, time flies", late));
    let waking = hurried(3).with_wake_ups(1);
    checks.extend(three_on::<M>(lock, "in a hurry, sleeps end for no reason", waking));
    let asleep = |threads| MachineSettings { sleeping: vec![1], ..hurried(threads) };
    checks.extend([
        row::<MutexTimeOuts<Loom, M>>(lock, "in a hurry, two", 2, hurried(2)),
        row::<MutexTimeOuts<Loom, M>>(
            lock,
            "in a hurry, two, the second one must not spin",
            2,
            asleep(2),
        ),
        row::<HandsOver<Loom, M>>(lock, "in a hurry, two", 2, hurried(2)),
    ]);
    checks.extend(interrupted_once([
        row::<MutexTimeOuts<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<HandsOver<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<Neighbours<M>>(lock, "in a hurry, four", 4, hurried(4)),
    ]));
    checks
}

fn hurried(threads: usize) -> MachineSettings {
    MachineSettings::flat(threads as u32).in_a_hurry()
}

fn interrupted_once<const N: usize>(rows: [Check; N]) -> impl Iterator<Item = Check> {
    rows.into_iter().map(|check| Check { preemptions_max: 1, ..check })
}

/// That a user may free the lock is checked here only, where no wait returns for no reason: the client needs that of
/// the condition variable.
pub(crate) fn of_futex3<M: NotifiedMutex>(lock: &'static LockRow) -> Vec<Check> {
    let flat = |threads: usize| MachineSettings::flat(threads as u32);
    let mut checks = three_on::<M>(lock, "sleeps end for no reason", flat(3).with_wake_ups(1));
    for (on, threads) in [("two", 2), ("three", 3)] {
        checks.extend([
            row::<MutexTimeOuts<Loom, M>>(lock, on, threads, flat(threads)),
            row::<Notify<Loom, M>>(lock, on, threads, flat(threads)),
            row::<AllTimeOut<Loom, M>>(lock, on, threads, flat(threads)),
            row::<LastUser<Loom, M>>(lock, on, threads, flat(threads)),
        ]);
    }
    checks.push(row::<GiveUp<Loom, M>>(lock, "three", 3, flat(3)));
    checks
}

/// In a hurry, because a thread that is to sleep has to lose patience first. In two rounds a thread that was woken may
/// be overtaken by the one that woke it, and queue nodes are used again.
pub(crate) fn of_list<L: RawLock>(lock: &'static LockRow) -> Vec<Check> {
    let hurried = |threads: usize| MachineSettings::flat(threads as u32).in_a_hurry();
    let mut checks = three_on::<L>(lock, "in a hurry", hurried(3));
    checks.extend(two_rounds(lock, "in a hurry, two rounds", hurried(2)));
    let waking = hurried(2).with_wake_ups(1);
    checks.extend(two_rounds(lock, "in a hurry, two rounds, sleeps end for no reason", waking));
    checks
}

/// The same, and with a clock by which it is always time for a handoff.
pub(crate) fn of_word_lock(lock: &'static LockRow) -> Vec<Check> {
    let late = |threads| MachineSettings::flat(threads).in_a_hurry().with_clock_step(LONG_NS);
    let mut checks = of_list::<WordLock<Loom>>(lock);
    checks.extend(three_on::<WordLock<Loom>>(lock, "in a hurry, time flies", late(3)));
    checks.extend(two_rounds(lock, "in a hurry, two rounds, time flies", late(2)));
    let hurried = MachineSettings::flat(2).in_a_hurry();
    checks.push(row::<TwoKinds<Loom>>(lock, "two, in a hurry", 2, hurried));
    checks
}

fn two_rounds(lock: &'static LockRow, on: &'static str, settings: MachineSettings) -> Vec<Check> {
    let of = |client| named(lock, client, on, 2, settings.clone());
    CLIENTS.iter().map(|client| Check { rounds: 2, ..of(client) }).collect()
}
