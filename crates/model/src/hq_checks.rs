//! The rows of the hierarchical queued spinlock: waiters on one and two NUMA nodes that queue at once, two of whom one
//! or both are late, two threads with two locks that use the same metadata, and two at the end of a list of queues.
//! Three threads that all queue by NUMA node have too many schedules for loom: shuttle and `explore` sample them.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::hq::{ByNode, EndOfList, Late, SharedMetadata};
use lockwright_core::tunables::Tunable;
use lockwright_linux::hq::testing::QueuesAtOnce;

/// With late threads: without a bound it takes minutes.
const PREEMPTIONS_MAX_LATE: usize = 2;
/// At the end of a list, in one of its queues.
const PREEMPTIONS_MAX: usize = 1;
/// At the end of a list, with a queue of its own: there two threads do the work of three.
const PREEMPTIONS_MAX_AT_END: usize = 2;

fn on(numa: &[u32]) -> MachineSettings {
    MachineSettings::flat(numa.len() as u32).with_numa(numa)
}

pub(crate) fn of_hq(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = Vec::new();
    for (name, nodes) in [("two, nodes 00", [0, 0]), ("two, nodes 01", [0, 1])] {
        checks.push(row::<ByNode<Loom>>(lock, name, 2, on(&nodes)));
        checks.push(row::<SharedMetadata<Loom>>(lock, name, 2, on(&nodes)));
    }
    let late = [
        row::<Late<Loom, true>>(lock, "both late, nodes 00", 2, on(&[0, 0])),
        row::<Late<Loom, true>>(lock, "both late, nodes 01", 2, on(&[0, 1])),
        row::<Late<Loom>>(lock, "one late, nodes 00", 2, on(&[0, 0])),
        row::<Late<Loom>>(lock, "one late, nodes 01", 2, on(&[0, 1])),
    ];
    checks.extend(late.map(|check| Check { preemptions_max: PREEMPTIONS_MAX_LATE, ..check }));
    // A last waiter that was handed the lock leaves it without a mode.
    let soon = on(&[0, 1, 0]).with_tunable(Tunable::hqlock_general_handoffs_turn_numa, 0);
    checks.push(row::<ByNode<Loom, true>>(lock, "in one queue at first", 3, soon.clone()));
    checks.extend(three_on::<QueuesAtOnce<Loom, true>>(lock, "in one queue at first", soon));
    // The absent waiters are on CPUs 2 to 4.
    let ends = [
        ("a third node", 2, PREEMPTIONS_MAX_AT_END),
        ("the last node", 1, PREEMPTIONS_MAX),
        ("the first node", 0, PREEMPTIONS_MAX),
    ];
    for (name, node, preemptions_max) in ends {
        let end_of_list = row::<EndOfList<Loom>>(lock, name, 2, on(&[0, node, 0, 0, 1]));
        checks.push(Check { preemptions_max, ..end_of_list });
    }
    checks
}
