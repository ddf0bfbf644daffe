//! The rows of the once and of the barrier.
//!
//! In a hurry, because a thread that is to sleep has to lose patience first.

use crate::MachineSettings;
use crate::check::{Check, is_of_any, named};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::clients_of;

/// Preemptions of two threads, and of three.
const PREEMPTIONS: [usize; 2] = [5, 3];
/// Of two that spin for as long as they may.
const PREEMPTIONS_AWAKE: usize = 3;
/// Of four.
const PREEMPTIONS_OF_FOUR: usize = 1;
/// Of three whose sleeps end for no reason.
const PREEMPTIONS_WAKING: usize = 2;

pub(crate) fn of_once(lock: &'static LockRow) -> Vec<Check> {
    let flat = |threads: usize| MachineSettings::flat(threads as u32).with_nodes_per_cpu(1);
    let mut checks = Vec::new();
    let mut add = |client, on, threads: usize, settings, preemptions_max| {
        checks.push(Check { preemptions_max, ..named(lock, client, on, threads, settings) });
    };
    let clients = clients_of::<crate::Loom>(lock);
    for client in clients.clone() {
        add(client, "in a hurry, two", 2, flat(2).in_a_hurry(), PREEMPTIONS[0]);
    }
    for client in ["once-call", "once-give-up", "barrier-meet"] {
        add(client, "two", 2, flat(2), PREEMPTIONS_AWAKE);
    }
    for client in
        clients.filter(is_of_any).chain(["once-call", "once-give-up", "once-freed", "barrier-meet"])
    {
        add(client, "in a hurry, three", 3, flat(3).in_a_hurry(), PREEMPTIONS[1]);
    }
    for client in ["once-give-up", "barrier-meet"] {
        let settings = flat(3).in_a_hurry().with_wake_ups(1);
        add(client, "in a hurry, three, sleeps end for no reason", 3, settings, PREEMPTIONS_WAKING);
    }
    add("barrier-groups", "in a hurry, four", 4, flat(4).in_a_hurry(), PREEMPTIONS_OF_FOUR);
    checks
}
