//! The rows of the hierarchical queued spinlock: waiters on one, two and three NUMA nodes that queue at once, and two
//! threads with two locks that use the same metadata.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright::hq::testing::QueuesAtOnce;
use lockwright::registry::LockRow;
use lockwright::tunables::Tunable;
use lockwright_clients::hq::{ByNode, SharedMetadata};

/// Of three threads that all queue. With two locks they have too many schedules for loom.
const PREEMPTIONS_MAX: usize = 1;

pub(crate) fn of_hq(lock: &'static LockRow) -> Vec<Check> {
    let on = |numa: &[u32]| MachineSettings::flat(numa.len() as u32).with_numa(numa);
    let mut checks = vec![
        row::<ByNode<Loom>>(lock, "two, nodes 00", 2, on(&[0, 0])),
        row::<ByNode<Loom>>(lock, "two, nodes 01", 2, on(&[0, 1])),
        row::<SharedMetadata<Loom>>(lock, "two, nodes 00", 2, on(&[0, 0])),
        row::<SharedMetadata<Loom>>(lock, "two, nodes 01", 2, on(&[0, 1])),
    ];
    for (name, numa) in [("nodes 010", [0, 1, 0]), ("nodes 012", [0, 1, 2])] {
        checks.push(row::<ByNode<Loom>>(lock, name, 3, on(&numa)));
    }
    for check in checks.iter_mut().filter(|check| check.threads == 3) {
        check.preemptions_max = PREEMPTIONS_MAX;
    }
    // A last waiter that was handed the lock leaves it undecided.
    let soon = on(&[0, 1, 0]).with_tunable(Tunable::hqlock_general_handoffs_turn_numa, 0);
    checks.extend(three_on::<QueuesAtOnce<Loom, true>>(lock, "in one queue at first", soon));
    checks
}
