//! The rows of the reader-writer semaphore.
//!
//! With three threads, one preemption in each execution where waiters spin first: each look of a
//! spinner is a choice. In a hurry, because a thread that is to sleep has to stop spinning first.

use crate::check::{Check, is_of_any, named};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::{self, LockRow, RwSemVisitor};
use lockwright_clients::rwsem::SOON_NS;
use lockwright_clients::{READER_CLIENTS, clients_of};
use lockwright_core::tunables::Tunable;
use lockwright_linux::rwsem::{Handoff, Policy, RwSemPolicy, WriterSpin};

/// Preemptions of two threads of the clients of semaphores alone.
const PREEMPTIONS_OF_TWO: usize = 2;

/// How many preemptions of three threads are explored on `lock`; `None` if it is no semaphore.
pub(crate) fn preemptions_of_three(lock: &'static LockRow) -> Option<usize> {
    let spins = policy_of(lock)?.writer_spin != WriterSpin::No;
    Some(if spins { 1 } else { 3 })
}

pub(crate) fn policy_of(lock: &'static LockRow) -> Option<Policy> {
    struct OfType;
    impl RwSemVisitor for OfType {
        type Output = Policy;
        fn visit<C: RwSemPolicy>(self) -> Policy {
            C::POLICY
        }
    }
    registry::visit_rwsem(lock, OfType)
}

/// The rows of `lock`; none if it is no semaphore.
pub(crate) fn of_rwsem(lock: &'static LockRow) -> Vec<Check> {
    let (Some(policy), Some(of_three)) = (policy_of(lock), preemptions_of_three(lock)) else {
        return Vec::new();
    };
    let flat = |threads: usize| MachineSettings::flat(threads as u32).with_nodes_per_cpu(1);
    // Who pauses between looks needs the pauses, and so does one for whom the lock is kept.
    let usual = |threads| match policy.writer_spin {
        WriterSpin::PerTurn => flat(threads),
        _ => flat(threads).in_a_hurry(),
    };
    let after = |threads, ns| flat(threads).with_tunable(Tunable::rwsem_handoff_ns, ns);
    let mut checks = Vec::new();
    let mut add = |client, on, threads: usize, settings| {
        let preemptions_max = if threads == 2 { PREEMPTIONS_OF_TWO } else { of_three };
        checks.push(Check { preemptions_max, ..named(lock, client, on, threads, settings) });
    };
    for client in ["rwsem-timed-writer", "rwsem-timed-reader", "rwsem-interrupted-writer"] {
        add(client, "two", 2, usual(2));
    }
    if !matches!(policy.writer_spin, WriterSpin::No | WriterSpin::PerTurn) {
        for client in clients_of::<Loom>(lock).filter(is_of_any) {
            add(client, "two, in a hurry", 2, usual(2));
        }
        for client in READER_CLIENTS {
            add(client, "three, in a hurry", 3, usual(3));
        }
    }
    add("rwsem-last-round", "two", 2, usual(2));
    add("rwsem-last-round", "three", 3, usual(3));
    for client in ["rwsem-timed-writer", "rwsem-timed-reader", "rwsem-interrupted-writer"] {
        add(client, "three", 3, usual(3));
    }
    if policy.handoff != Handoff::Never {
        add("rwsem-last-round", "three, kept at once", 3, after(3, 0));
        add("rwsem-timed-writer", "three, kept at once", 3, after(3, 0));
        // It has waited long enough for both at the same time: it gives up without another look.
        add("rwsem-timed-writer", "two, kept soon", 2, after(2, SOON_NS));
        add("rwsem-handoff", "three, kept at once", 3, after(3, 0));
        let urgent = MachineSettings { urgent: vec![2], ..flat(3) };
        add("rwsem-handoff", "three, the last one is urgent", 3, urgent);
    }
    // That many attempts of one thread are worth one preemption each.
    checks.push(Check { preemptions_max: 1, ..named(lock, "rwsem-overflow", "two", 2, usual(2)) });
    checks
}
