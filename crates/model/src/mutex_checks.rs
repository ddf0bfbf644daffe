//! The rows of the mutex for programs and its condition variable.
//!
//! In a hurry, because a thread that is to sleep has to lose patience some times first.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright::capabilities::ProgramMutex;
use lockwright::registry::LockRow;
use lockwright_clients::mutex::{GiveUp, HandsOver, MutexTimeOuts, Notify, NotifyAll};
use lockwright_clients::neighbours::Neighbours;

/// Longer than the first waiter lets others pass it.
const LONG_NS: u64 = 10_000_000;

pub(crate) fn of_mutex<M: ProgramMutex>(lock: &'static LockRow) -> Vec<Check> {
    let hurried = |threads: usize| MachineSettings::flat(threads as u32).in_a_hurry();
    let mut checks = three_on::<M>(lock, "in a hurry", hurried(3));
    let late = hurried(3).with_clock_step(LONG_NS);
    checks.extend(three_on::<M>(lock, "in a hurry, time flies", late));
    let waking = hurried(3).with_wake_ups(1);
    checks.extend(three_on::<M>(lock, "in a hurry, sleeps end for no reason", waking));
    let two = || hurried(2);
    checks.extend([
        row::<MutexTimeOuts<Loom, M>>(lock, "in a hurry, two", 2, two()),
        row::<HandsOver<Loom, M>>(lock, "in a hurry, two", 2, two()),
        row::<Notify<Loom, M>>(lock, "in a hurry, two", 2, two()),
    ]);
    let more = [
        row::<MutexTimeOuts<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<HandsOver<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<Notify<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<GiveUp<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<NotifyAll<Loom, M>>(lock, "in a hurry, three", 3, hurried(3)),
        row::<Neighbours<M>>(lock, "in a hurry, four", 4, hurried(4)),
    ];
    checks.extend(more.into_iter().map(|check| Check { preemptions_max: 1, ..check }));
    checks
}
