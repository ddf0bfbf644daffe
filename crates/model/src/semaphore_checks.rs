//! The rows of the semaphore for programs.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright::semaphore::RawSemaphore;
use lockwright_catalog::registry::LockRow;
use lockwright_clients::semaphore::{LastPermit, Makers, SemaphoreTimeOuts};

/// Of three threads: a thread without the bucket of the table naps, and naps that end at any time are without
/// end where two of them wait for one that was preempted.
pub(crate) const PREEMPTIONS_MAX: usize = 2;
/// Of three threads that all contend for the bucket: each look at one that is held is a choice.
const PREEMPTIONS_OF_THREE: usize = 1;

pub(crate) fn of_semaphore(lock: &'static LockRow) -> Vec<Check> {
    let flat = |threads: usize| MachineSettings::flat(threads as u32);
    let waking = flat(3).with_wake_ups(1);
    let forked = flat(3).with_nodes_per_cpu(1).in_a_forked_child();
    let mut three = vec![row::<Makers<Loom>>(lock, "three", 3, flat(3))];
    three.extend(three_on::<RawSemaphore<Loom, 1>>(lock, "in a forked child", forked));
    let three =
        three.into_iter().map(|check| Check { preemptions_max: PREEMPTIONS_OF_THREE, ..check });
    let two = [
        row::<Makers<Loom>>(lock, "two", 2, flat(2)),
        row::<LastPermit<Loom>>(lock, "two", 2, flat(2)),
    ];
    let timed = [
        row::<SemaphoreTimeOuts<Loom>>(lock, "three", 3, flat(3)),
        row::<SemaphoreTimeOuts<Loom>>(lock, "three, sleeps end for no reason", 3, waking),
    ];
    let timed = timed.into_iter().map(|check| Check { preemptions_max: PREEMPTIONS_MAX, ..check });
    two.into_iter().chain(timed).chain(three).collect()
}
