//! The rows of the queued reader-writer spinlock: urgent readers, which pass the writers that wait, and machines
//! without queue nodes.

use crate::check::{Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::qrwlock::ReadsAgain;
use lockwright_linux::qrwlock::RawQRwLock;

/// Of clients whose threads take the lock once each.
const PREEMPTIONS_MAX: usize = 2;

pub(crate) fn of_qrwlock(lock: &'static LockRow) -> Vec<Check> {
    let urgent = |threads| MachineSettings { urgent: vec![1], ..MachineSettings::flat(threads) };
    let mut checks = three_on::<RawQRwLock<Loom>>(
        lock,
        "the second one is urgent",
        urgent(3).with_nodes_per_cpu(1),
    );
    let without_nodes = MachineSettings::flat(3).with_nodes_per_cpu(0);
    checks.extend(three_on::<RawQRwLock<Loom>>(lock, "no queue nodes", without_nodes));
    checks.extend([
        row::<ReadsAgain<Loom>>(lock, "two, the second one is urgent", 2, urgent(2)),
        row::<ReadsAgain<Loom>>(lock, "three, the second one is urgent", 3, urgent(3)),
    ]);
    checks.into_iter().map(|check| Check { preemptions_max: PREEMPTIONS_MAX, ..check }).collect()
}
