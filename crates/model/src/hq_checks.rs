//! The rows of the hierarchical queued spinlock: waiters on one, two and three NUMA nodes that queue at once, two
//! threads with two locks that use the same metadata, and two at the end of a list of queues.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright::hq::testing::QueuesAtOnce;
use lockwright::registry::LockRow;
use lockwright::tunables::Tunable;
use lockwright_clients::hq::{ByNode, EndOfList, SharedMetadata};

/// Of three threads that all queue. With two locks they have too many schedules for loom.
const PREEMPTIONS_MAX: usize = 1;
/// At the end of a list, with a queue of its own: there two threads do the work of three.
const PREEMPTIONS_MAX_AT_END: usize = 2;

pub(crate) fn of_hq(lock: &'static LockRow) -> Vec<Check> {
    let on = |numa: &[u32]| MachineSettings::flat(numa.len() as u32).with_numa(numa);
    let mut checks = vec![
        row::<ByNode<Loom>>(lock, "two, nodes 00", 2, on(&[0, 0])),
        row::<ByNode<Loom>>(lock, "two, nodes 01", 2, on(&[0, 1])),
        row::<SharedMetadata<Loom>>(lock, "two, nodes 00", 2, on(&[0, 0])),
        row::<SharedMetadata<Loom>>(lock, "two, nodes 01", 2, on(&[0, 1])),
    ];
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
    for (name, numa) in [("nodes 010", [0, 1, 0]), ("nodes 012", [0, 1, 2])] {
        checks.push(row::<ByNode<Loom>>(lock, name, 3, on(&numa)));
    }
    // A last waiter that was handed the lock leaves it undecided.
    let soon = on(&[0, 1, 0]).with_tunable(Tunable::hqlock_general_handoffs_turn_numa, 0);
    let in_order = row::<ByNode<Loom, true>>(lock, "in one queue at first", 3, soon.clone());
    for check in checks.iter_mut().filter(|check| check.threads == 3) {
        check.preemptions_max = PREEMPTIONS_MAX;
    }
    checks.push(in_order);
    checks.extend(three_on::<QueuesAtOnce<Loom, true>>(lock, "in one queue at first", soon));
    checks
}
