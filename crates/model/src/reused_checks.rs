//! The rows of memory that is used again, of guards that are given back elsewhere, and of limits.
//!
//! One preemption is enough: the first thread stops in the middle of its release, and every other thread goes on as far
//! as it can. In a hurry, because a thread that is to sleep has to lose patience some times first.

use crate::check::{Check, is, named};
use crate::{Loom, MachineSettings};
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright_catalog::registry::LockRow;
use lockwright_clients::guards::OUT_OF_ORDER;
use lockwright_clients::limits::DEPTH;
use lockwright_clients::{clients_of, is_of_guards, is_of_limits, is_of_reused};

/// True if the client of that name is explored here, and nowhere else.
pub(crate) fn has_own_rows(client: &str) -> bool {
    is_of_reused(client) || is_of_guards(client) || is_of_limits(client)
}

pub(crate) fn of_reused(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut add = |client, on, settings: MachineSettings| {
        let (threads, settings) = (settings.cpus as usize, settings.in_a_hurry());
        checks.push(Check { preemptions_max: 1, ..named(lock, client, on, threads, settings) });
    };
    // Once an ordering is missing, there is no end to the executions with six locks: that client is for the explorer
    // and shuttle.
    let is_meant = |client: &&str| has_own_rows(client) && *client != OUT_OF_ORDER;
    let own = || clients_of::<Loom>(lock).filter(is_meant);
    for client in own() {
        match is_of_reused(client) {
            true => add(client, "in a hurry, three", MachineSettings::flat(3)),
            false => add(client, "in a hurry, two", MachineSettings::flat(2)),
        }
    }
    for client in own().filter(|client| is_of_limits(client)) {
        add(
            client,
            "in a hurry, two, no queue nodes",
            MachineSettings::flat(2).with_nodes_per_cpu(0),
        );
    }
    if is::<InSlots<Loom>>(lock) {
        for client in ["shared", "try-shared", DEPTH] {
            add(client, "in a hurry, two, no slots", MachineSettings::flat(2).with_reader_slots(0));
        }
        add(
            "shared",
            "in a hurry, three, two slots",
            MachineSettings::flat(3).with_reader_slots(2),
        );
    }
    checks
}
