//! The table of what shuttle samples: every client on every lock, with 4, 8 and 16 threads.

use crate::reused_checks::has_own_rows;
use crate::rwsem_checks::policy_of;
use crate::{
    CheckDepth, Explored, MachineSettings, Shuttle, ShuttleFailure, ShuttleRun, ShuttleScheduler,
};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::{TypeOf, clients_of, is_of_limits, visit_client_of};
use lockwright_core::tunables::Tunable;

/// One lock, one client, one machine, one way to choose schedules.
pub struct Sample {
    /// The registered lock.
    pub lock: &'static LockRow,
    /// The client.
    pub client: &'static str,
    /// What is special about the machine.
    pub on: String,
    /// The rest of it.
    pub run: ShuttleRun,
}

/// How many threads the rows have.
pub const THREADS: [usize; 3] = [4, 8, 16];
/// Lock operations of all threads in all executions of one row, usually.
const OPERATIONS: usize = 4_000;
/// A platform with few or no resources.
const LITTLE: &str = "no queue nodes, two readers' slots";
/// Constraints on the order of steps that a bug may need for PCT to find it soon.
const DEPTH: usize = 3;
/// Operations of each thread where something has to happen that seldom does.
const ROUNDS_OF_LONG: u32 = 64;

/// The rows of `lock` with this many threads.
pub fn samples_of(lock: &'static LockRow, threads: usize, depth: CheckDepth) -> Vec<Sample> {
    let operations = match depth {
        CheckDepth::Brief => OPERATIONS / 8,
        CheckDepth::Usual => OPERATIONS,
        CheckDepth::Full => OPERATIONS * 100,
    };
    let numa_nodes = (threads as u32 / 4).clamp(2, 4);
    let mut machines = vec![
        ("flat".to_string(), machine(threads, 1), 2),
        ("2 NUMA nodes".to_string(), machine(threads, 2), 2),
        ("2 NUMA nodes, long".to_string(), machine(threads, 2), ROUNDS_OF_LONG),
        (
            format!("{numa_nodes} NUMA nodes, lowest thresholds, long"),
            impatient_machine(threads, numa_nodes),
            ROUNDS_OF_LONG,
        ),
    ];
    // A semaphore asks for no node, in any of its many policies.
    if policy_of(lock).is_some() {
        machines.truncate(1);
        machines.push(("flat, long".to_string(), machine(threads, 1), ROUNDS_OF_LONG));
    }
    let little = machine(threads, 1).with_nodes_per_cpu(0).with_reader_slots(2);
    machines.push((LITTLE.to_string(), little, 2));
    let mut samples = Vec::new();
    for (on, mut settings, rounds) in machines {
        settings.has_held_tables = lock.name.starts_with("resilient");
        for scheduler in [ShuttleScheduler::Random, ShuttleScheduler::Pct { depth: DEPTH }] {
            let executions = (operations / (threads * rounds as usize)).max(2);
            let run = ShuttleRun::new(threads, executions).on(settings.clone()).by(scheduler);
            let run = ShuttleRun { rounds, ..run };
            let row = |client| Sample { lock, client, on: on.clone(), run: run.clone() };
            let is_wanted = |client: &&str| match on.as_str() {
                "flat" => true,
                LITTLE => is_of_limits(client),
                // No node, no order: nothing in these depends on the machine.
                _ => !has_own_rows(client),
            };
            samples.extend(clients_of::<Shuttle>(lock).filter(is_wanted).map(row));
        }
    }
    samples
}

impl Sample {
    /// Runs its executions, up to the first violation.
    ///
    /// # Panics
    /// If there is no such lock or no such client.
    pub fn run(&self) -> Result<Explored, ShuttleFailure> {
        let client = visit_client_of::<Shuttle, _>(self.lock, self.client, TypeOf);
        self.run.sample(client.expect("lock and client are in their tables"))
    }
}

/// A machine with one CPU for each thread, and with neighbouring CPUs on different ones of
/// `numa_nodes` NUMA nodes, so that a queue in the order of arrival is as mixed as it can be.
pub fn machine(threads: usize, numa_nodes: u32) -> MachineSettings {
    let cpus = threads as u32;
    let numa: Vec<_> = (0..cpus).map(|cpu| cpu % numa_nodes.max(1)).collect();
    MachineSettings::flat(cpus).with_numa(&numa)
}

/// The same, where the successions by NUMA node pass the lock on to another node at the first
/// occasion.
pub fn impatient_machine(threads: usize, numa_nodes: u32) -> MachineSettings {
    machine(threads, numa_nodes)
        .with_tunable(Tunable::numa_spinlock_threshold, 0)
        .with_tunable(Tunable::numa_spinlock_threshold_ns, 1)
        .with_tunable(Tunable::hqlock_general_handoffs_turn_numa, 0)
        .with_tunable(Tunable::hqlock_fairness_threshold, 0)
}
