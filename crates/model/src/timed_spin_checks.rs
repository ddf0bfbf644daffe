//! The rows of spinlocks with deadlines, and of the resilient spinlock.

use crate::check::{CPUS, Check, row};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::resilient::{Crossed, HeldTwice, NeverCrossed};
use lockwright_clients::timed_spin::{LeavesQueue, SpinTimeOuts};
use lockwright_linux::qspinlock::resilient::{EntrySpan, RawResilientSpinLock};
use lockwright_linux::qspinlock::{QSpinlock, Spin, Succession};

/// How far the clock moves with each look, so that a waiter searches for a deadlock each time it looks. A waiter with a
/// deadline is late from the start then.
const SEARCH_NS: u64 = 1_000_000;
/// Of clients with three threads.
const PREEMPTIONS_MAX: usize = 2;

/// A waiter that gives up: pending, in the queue and as its head, and without a node.
pub(crate) fn of_timed<S: Succession<Loom>>(
    lock: &'static LockRow,
    machine: &MachineSettings,
) -> Vec<Check> {
    let of = |threads: u32| MachineSettings { cpus: threads, ..machine.clone() };
    let without_nodes = of(3).with_nodes_per_cpu(0);
    let three = Check {
        preemptions_max: PREEMPTIONS_MAX,
        ..row::<SpinTimeOuts<Loom, QSpinlock<Loom, S, Spin>>>(lock, "three", 3, of(3))
    };
    vec![
        row::<SpinTimeOuts<Loom, QSpinlock<Loom, S, Spin>>>(lock, "two", 2, of(2)),
        row::<LeavesQueue<Loom, S, false>>(lock, "two and a head", 2, of(CPUS)),
        row::<LeavesQueue<Loom, S, true>>(lock, "two and a head", 2, of(CPUS)),
        Check { settings: without_nodes, on: "three, no queue nodes", ..three.clone() },
        three,
    ]
}

pub(crate) fn of_resilient<E: EntrySpan>(lock: &'static LockRow) -> Vec<Check> {
    let on = |threads: u32| MachineSettings::flat(threads).with_held_tables();
    let searching = |threads: u32| on(threads).with_clock_step(SEARCH_NS);
    // A thread that holds the lock is the head of the queue, and the other one joins while it gives up.
    let forked = searching(2).in_a_forked_child();
    let two = [
        row::<HeldTwice<Loom, E>>(lock, "two", 2, searching(2)),
        row::<HeldTwice<Loom, E>>(lock, "two, in a forked child", 2, forked),
        row::<NeverCrossed<Loom, E>>(lock, "two", 2, searching(2)),
        row::<SpinTimeOuts<Loom, RawResilientSpinLock<Loom, E>>>(lock, "two", 2, on(2)),
    ];
    // Each attempt may fail in its own way, so there are many executions.
    let many = [
        Check { preemptions_max: 1, ..row::<Crossed<Loom, E>>(lock, "two", 2, searching(2)) },
        Check { preemptions_max: 1, ..row::<HeldTwice<Loom, E>>(lock, "three", 3, searching(3)) },
    ];
    // Where nobody becomes pending, one of three threads is behind the head.
    let three = [("three", on(3)), ("three, in a forked child", on(3).in_a_forked_child())];
    let three = three.map(|(on, settings)| Check {
        preemptions_max: PREEMPTIONS_MAX,
        ..row::<SpinTimeOuts<Loom, RawResilientSpinLock<Loom, E>>>(lock, on, 3, settings)
    });
    two.into_iter().chain(many).chain(three).collect()
}
