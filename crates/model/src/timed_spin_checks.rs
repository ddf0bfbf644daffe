//! The rows of spinlocks with deadlines, and of the resilient spinlock.

use crate::check::{CPUS, Check, row};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::resilient::{Crossed, HeldTwice, NeverCrossed};
use lockwright_clients::timed_spin::{LeavesQueue, SpinTimeOuts};
use lockwright_linux::qspinlock::resilient::{Form, InPrograms, RawResilientSpinLock};
use lockwright_linux::qspinlock::{QSpinlock, Spin, Succession};

/// How far the clock moves with each look, so that a waiter searches for a deadlock each time it looks. A waiter with a
/// deadline is late from the start then.
const SEARCH_NS: u64 = 1_000_001;
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

/// Waits end early here: as if their time was over. Nobody becomes pending in a forked child: a thread that holds the
/// lock is the head of the queue there, and the other one joins while it gives up.
pub(crate) fn of_resilient<F: Form>(lock: &'static LockRow) -> Vec<Check> {
    let on = |threads: u32| MachineSettings::flat(threads).with_held_tables();
    let searching = |threads: u32| on(threads).with_clock_step(SEARCH_NS);
    let forked = searching(2).in_a_forked_child();
    let mut checks = vec![
        row::<HeldTwice<Loom, F>>(lock, "two", 2, searching(2)),
        row::<HeldTwice<Loom, F>>(lock, "two, in a forked child", 2, forked),
        // Each attempt may fail in its own way, so there are many executions.
        Check { preemptions_max: 1, ..row::<HeldTwice<Loom, F>>(lock, "three", 3, searching(3)) },
        Check { preemptions_max: 1, ..row::<Crossed<Loom, F>>(lock, "two", 2, searching(2)) },
    ];
    // Elsewhere an owner that has just released a lock may be taken for one that waits for it.
    if !F::COVERS_LOCK || F::MARKS_WAITERS {
        checks.push(row::<NeverCrossed<Loom, F>>(lock, "two", 2, searching(2)));
    }
    checks
}

/// As [`of_resilient`], with waiters that have a deadline.
pub(crate) fn of_resilient_in_programs(lock: &'static LockRow) -> Vec<Check> {
    type Client = SpinTimeOuts<Loom, RawResilientSpinLock<Loom, InPrograms>>;
    let on = |threads: u32| MachineSettings::flat(threads).with_held_tables();
    // Where nobody becomes pending, one of three threads is behind the head.
    let three = [("three", on(3)), ("three, in a forked child", on(3).in_a_forked_child())];
    let three = three.map(|(on, settings)| Check {
        preemptions_max: PREEMPTIONS_MAX,
        ..row::<Client>(lock, on, 3, settings)
    });
    let two = row::<Client>(lock, "two", 2, on(2));
    of_resilient::<InPrograms>(lock).into_iter().chain([two]).chain(three).collect()
}
