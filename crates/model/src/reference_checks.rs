//! The rows of the reference locks whose waiters sleep.

use crate::check::{Check, named, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::LockRow;
use lockwright_catalog::word_lock::WordLock;
use lockwright_clients::CLIENTS;
use lockwright_clients::last_user::LastUser;
use lockwright_clients::limits::AllTimeOut;
use lockwright_clients::mutex::{GiveUp, MutexTimeOuts, NotifiedMutex, Notify};
use lockwright_clients::two_kinds::TwoKinds;
use lockwright_core::raw::RawLock;

/// Longer than the time between two handoffs of the lock that measures it.
const LONG_NS: u64 = 10_000_000;

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
