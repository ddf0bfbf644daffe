//! The rows of spinlocks with deadlines.

use crate::check::{CPUS, Check, row};
use crate::{Loom, MachineSettings};
use lockwright::qspinlock::{QSpinlock, Spin, Succession};
use lockwright::registry::LockRow;
use lockwright_clients::timed_spin::{LeavesQueue, SpinTimeOuts};

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
