//! The rows of the hierarchical queued spinlock: waiters on one and two NUMA nodes that queue at once, two threads with
//! two locks that use the same metadata, and two at the end of a list of queues. Three threads that all queue by NUMA
//! node have too many schedules for loom: shuttle and `explore` sample them.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright::hq::testing::QueuesAtOnce;
use lockwright::registry::LockRow;
use lockwright::tunables::Tunable;
use lockwright_clients::hq::{ByNode, EndOfList, SharedMetadata};

/// At the end of a list, in one of its queues.
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
    // A last waiter that was handed the lock leaves it undecided.
    let soon = on(&[0, 1, 0]).with_tunable(Tunable::hqlock_general_handoffs_turn_numa, 0);
    checks.push(row::<ByNode<Loom, true>>(lock, "in one queue at first", 3, soon.clone()));
    checks.extend(three_on::<QueuesAtOnce<Loom, true>>(lock, "in one queue at first", soon));
    checks
}
