//! The rows of the hierarchical queued spinlock: waiters on one and two NUMA nodes that queue at once, two threads with
//! two locks that use the same metadata, and two at the end of a list of queues. Three threads that all queue by NUMA
//! node have too many schedules for loom: shuttle and `explore` sample them.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::hq::{ByNode, EndOfList, SharedMetadata, TurnsUnderLoad};
use lockwright_core::tunables::Tunable;
use lockwright_linux::hq::testing::QueuesAtOnce;
use lockwright_linux::hq::{HqBounded, HqPolicy, HqPosted};

/// At the end of a list, in one of its queues.
const PREEMPTIONS_MAX: usize = 1;
/// At the end of a list, with a queue of its own: there two threads do the work of three.
const PREEMPTIONS_MAX_AT_END: usize = 2;
/// Where a lock turns to HQ mode under load: with one more it takes a minute.
const PREEMPTIONS_MAX_AT_TURN: usize = 2;

fn on(numa: &[u32]) -> MachineSettings {
    MachineSettings::flat(numa.len() as u32).with_numa(numa)
}
/// The same, where locks turn to HQ mode at the first occasion.
fn soon(numa: &[u32]) -> MachineSettings {
    on(numa)
        .with_tunable(Tunable::hqlock_general_handoffs_turn_numa, 0)
        .with_tunable(Tunable::hqlock_waiters_turn_numa, 1)
}

/// The rows of `hq-bounded`: those of `hq` but for the end of the list, whose code is the same, and two threads with
/// absent waiters where it turns.
pub(crate) fn of_hq_bounded(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = of_queues::<HqBounded>(lock);
    // Thread 0 turns the lock, on node 0.
    for (name, node) in [("the same node", 0), ("another node", 1)] {
        let check = row::<TurnsUnderLoad<Loom, false>>(lock, name, 2, soon(&[0, node, 0, 1]));
        checks.push(Check { preemptions_max: PREEMPTIONS_MAX_AT_TURN, ..check });
    }
    for (name, node) in [("late, the same node", 0), ("late, another node", 1)] {
        let check = row::<TurnsUnderLoad<Loom, true>>(lock, name, 2, soon(&[0, node, 0, 1]));
        checks.push(Check { preemptions_max: PREEMPTIONS_MAX_AT_TURN, ..check });
    }
    checks
}

pub(crate) fn of_hq(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = of_queues::<HqPosted>(lock);
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

fn of_queues<F: HqPolicy>(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = vec![
        row::<ByNode<Loom, F>>(lock, "two, nodes 00", 2, on(&[0, 0])),
        row::<ByNode<Loom, F>>(lock, "two, nodes 01", 2, on(&[0, 1])),
        row::<SharedMetadata<Loom, F>>(lock, "two, nodes 00", 2, on(&[0, 0])),
        row::<SharedMetadata<Loom, F>>(lock, "two, nodes 01", 2, on(&[0, 1])),
    ];
    // A last waiter that was handed the lock leaves it undecided. `hq-bounded` turns if one waiter is behind the head.
    let soon = soon(&[0, 1, 0]);
    checks.push(row::<ByNode<Loom, F, true>>(lock, "in one queue at first", 3, soon.clone()));
    checks.extend(three_on::<QueuesAtOnce<Loom, F, true>>(lock, "in one queue at first", soon));
    checks
}
