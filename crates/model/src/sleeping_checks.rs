//! The rows of the waiting policies that sleep.
//!
//! Two threads and absent waiters play what takes five threads otherwise: sleepers that are set
//! aside, kicked at the end of the primary queue, or stolen from. The expensive machines are for one
//! lock of each policy and two of its compositions; what they explore is the waiting policy, and the
//! successions differ in nothing that it looks at.

use crate::check::{CPUS, Check, row, three_on};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::prebuilt::{
    AsideInTurn, FromQueue, HeadAway, HeadWakes, SecondaryAsleep, TwoAsleep,
};
use lockwright_linux::qspinlock::{Fifo, QSpinlock, Succession, Waiting};

/// Longer than the head of a queue lets others pass it, wherever that is bounded by time.
const LONG_NS: u64 = 1_000_000;

pub(crate) fn of_fifo<W: Waiting<Loom>>(lock: &'static LockRow) -> Vec<Check> {
    let mut checks = of_any::<Fifo, W>(lock);
    let waking = MachineSettings::flat(3).with_wake_ups(1);
    checks.extend(three_on::<QSpinlock<Loom, Fifo, W>>(lock, "sleeps end for no reason", waking));
    if W::KEEPS_ORDER {
        // Between two looks a waiter yields, and after that loom does not let it read an old value again. So a waiter
        // that looks twice before it sleeps does not need the barrier of K1 under loom. In a hurry it looks once.
        let hurried = MachineSettings::flat(CPUS).in_a_hurry();
        let hurried = row::<FromQueue<Loom, Fifo, HeadWakes, W>>(lock, "in a hurry", 2, hurried);
        checks.push(at_most(2, hurried));
    }
    if W::BARGES {
        let flat = MachineSettings::flat(CPUS);
        checks.push(row::<FromQueue<Loom, Fifo, HeadAway, W>>(lock, "flat", 2, flat));
        let hurried = MachineSettings::flat(3).in_a_hurry();
        checks.extend(three_on::<QSpinlock<Loom, Fifo, W>>(lock, "in a hurry", hurried));
    }
    checks
}

fn of_any<S: Succession<Loom>, W: Waiting<Loom>>(lock: &'static LockRow) -> Vec<Check> {
    let hurried = || MachineSettings::flat(CPUS).in_a_hurry();
    let mut machines = vec![("flat", MachineSettings::flat(CPUS))];
    if !W::KEEPS_ORDER {
        machines.push(("in a hurry", hurried()));
    }
    if W::BARGES {
        machines.push(("in a hurry, time flies", hurried().with_clock_step(LONG_NS)));
    }
    let mut checks = Vec::new();
    for (on, settings) in machines {
        checks.extend([
            row::<FromQueue<Loom, S, HeadWakes, W>>(lock, on, 2, settings.clone()),
            row::<FromQueue<Loom, S, TwoAsleep, W>>(lock, on, 2, settings),
        ]);
    }
    checks
}

/// Where sleepers were set aside first. One preemption is enough there: the question is who is
/// kicked, and the executions are long.
pub(crate) fn of_cna<S: Succession<Loom>, W: Waiting<Loom>>(lock: &'static LockRow) -> Vec<Check> {
    let flat = MachineSettings::flat(CPUS);
    let mut checks = vec![row::<FromQueue<Loom, S, SecondaryAsleep, W>>(lock, "flat", 2, flat)];
    if W::BARGES {
        let hurried = MachineSettings::flat(CPUS).in_a_hurry();
        checks.push(row::<FromQueue<Loom, S, SecondaryAsleep, W>>(lock, "in a hurry", 2, hurried));
    }
    let mut checks: Vec<_> = checks.into_iter().map(|check| at_most(1, check)).collect();
    let by_turns = MachineSettings::flat(CPUS + 1).with_numa(&[0, 0, 0, 1, 0, 1, 0]);
    let by_turns = row::<FromQueue<Loom, S, AsideInTurn, W>>(lock, "nodes 0001010", 2, by_turns);
    checks.push(at_most(2, by_turns));
    checks.extend(of_any::<S, W>(lock).into_iter().map(|check| at_most(2, check)));
    checks
}

fn at_most(preemptions_max: usize, check: Check) -> Check {
    Check { preemptions_max, ..check }
}
