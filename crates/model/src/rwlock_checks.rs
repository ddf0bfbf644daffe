//! The rows of the reader-writer lock for programs.
//!
//! In a hurry, because a thread that is to sleep has to lose patience some times first.

use crate::check::{Check, is, is_of_any, named};
use crate::reused_checks::has_own_rows;
use crate::{Loom, MachineSettings};
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::RawRwLock;
use lockwright_catalog::registry::LockRow;
use lockwright_clients::clients_of;
use lockwright_clients::rwlock::LAST_USER;
use lockwright_clients::upgrade::UPGRADE;
use lockwright_core::tunables::Tunable;

/// Of a lock that differs from the usual one only in how it knows readers that read again.
pub(crate) fn of_again(lock: &'static LockRow) -> Vec<Check> {
    let late = |threads: usize| {
        let flat = MachineSettings::flat(threads as u32).with_nodes_per_cpu(1).in_a_hurry();
        let settings = flat.with_clock_step(LONG_NS);
        let check = named(lock, AGAIN, "in a hurry, time flies", threads, settings);
        Check { preemptions_max: PREEMPTIONS[threads - 2], ..check }
    };
    vec![late(2), late(3)]
}

/// Preemptions of two threads, and of three.
const PREEMPTIONS: [usize; 2] = [5, 3];
/// The clients of such locks that have more rows than others.
const AGAIN: &str = "rwlock-again";
const GROUP: &str = "rwlock-group";
const LAST_READER: &str = "rwlock-last-reader";
const TIMED_READER: &str = "rwlock-timed-reader";
const TIMED_WRITER: &str = "rwlock-timed-writer";

/// Longer than newcomers may pass a waiter.
const LONG_NS: u64 = 5_000_000;

pub(crate) fn of_rwlock(lock: &'static LockRow) -> Vec<Check> {
    let hurried =
        |threads: usize| MachineSettings::flat(threads as u32).with_nodes_per_cpu(1).in_a_hurry();
    let mut checks = Vec::new();
    let mut add = |client, on, threads: usize, settings| {
        let preemptions_max = PREEMPTIONS[threads - 2];
        checks.push(Check { preemptions_max, ..named(lock, client, on, threads, settings) });
    };
    // Who frees the lock asks until the others are done: there is no end of that.
    let is_wanted = |&client: &&str| client != LAST_USER && !has_own_rows(client);
    let clients = clients_of::<Loom>(lock).filter(is_wanted);
    for client in clients.clone() {
        add(client, "in a hurry, two", 2, hurried(2));
    }
    for client in clients.filter(is_of_any).chain([GROUP, TIMED_WRITER, TIMED_READER]) {
        add(client, "in a hurry, three", 3, hurried(3));
    }
    for client in ["exclusion", "shared"] {
        add(client, "in a hurry, three, time flies", 3, hurried(3).with_clock_step(LONG_NS));
        add(client, "in a hurry, three, sleeps end for no reason", 3, hurried(3).with_wake_ups(1));
    }
    if is::<RawRwLock<Loom>>(lock) {
        let long = |threads| hurried(threads).with_tunable(Tunable::rwlock_long_ns, 0);
        for client in
            ["exclusion", "shared", "downgrade", TIMED_WRITER, TIMED_READER, AGAIN, UPGRADE]
        {
            add(client, "in a hurry, two, long sections", 2, long(2));
        }
        for client in ["exclusion", "shared", GROUP, LAST_READER, TIMED_WRITER, TIMED_READER, AGAIN]
        {
            add(client, "in a hurry, three, long sections", 3, long(3));
        }
        add(AGAIN, "in a hurry, two, time flies", 2, hurried(2).with_clock_step(LONG_NS));
        add(AGAIN, "in a hurry, three, time flies", 3, hurried(3).with_clock_step(LONG_NS));
    }
    if clients_of::<Loom>(lock).any(|client| client == UPGRADE) {
        add(UPGRADE, "in a hurry, two, time flies", 2, hurried(2).with_clock_step(LONG_NS));
    }
    if is::<RawPercpuRwLock<Loom>>(lock) {
        let calm = hurried(3).with_tunable(Tunable::percpu_rwlock_calm_reads, 1);
        add("shared", "three, slots at once", 3, calm);
    }
    if is::<InSlots<Loom>>(lock) {
        // A writer looks four times at the slot of its own CPU before it looks at another one.
        let looks = hurried(2).with_hurried_waits(8);
        add("shared", "two, a writer sleeps for a slot", 2, looks.clone());
        add(AGAIN, "two, a writer sleeps for a slot", 2, looks);
    }
    let without_nodes = MachineSettings::flat(2).with_nodes_per_cpu(0).in_a_hurry();
    add("shared", "no queue nodes", 2, without_nodes);
    // The owner comes back while the lock is free and kept for the other.
    let upgrades = clients_of::<Loom>(lock).find(|&client| client == UPGRADE);
    // Two preemptions are millions of executions.
    let three = |client| named(lock, client, "in a hurry, three", 3, hurried(3));
    checks.extend(upgrades.map(|client| Check { preemptions_max: 1, ..three(client) }));
    if is::<RawRwLock<Loom>>(lock) {
        // Two readers leave, and the last of them grants the lock.
        let long = hurried(3).with_tunable(Tunable::rwlock_long_ns, 0);
        let check = named(lock, UPGRADE, "in a hurry, three, long sections", 3, long);
        checks.push(Check { preemptions_max: 1, ..check });
    }
    let late = hurried(2).with_clock_step(LONG_NS);
    let twice = named(lock, "exclusion", "two rounds, time flies", 2, late);
    checks.push(Check { rounds: 2, preemptions_max: 3, ..twice });
    checks
}
