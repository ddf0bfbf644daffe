//! What must hold of a machine as a whole: numbers that are fine alone can contradict each other.

use super::costs::{Range, SCALARS, SCHEDULER, Scalar, TRANSFER_REMOTE, Unit};
use super::error::{MachineError, Problem};
use super::{Costs, Machine, Scheduler, Topology};

/// The simulator keeps the sharers of a line in a set of this many cores.
const CORES_MAX: u64 = 256;

type Refusal = (String, Problem);

impl Machine {
    /// Checks a machine that did not come from a file.
    pub fn validate(&self) -> Result<(), MachineError> {
        check(self).map_err(|(key, problem)| MachineError {
            file: format!("machine {}", self.name),
            key,
            problem,
        })
    }
}

/// Checks a machine; the refusal names the key.
pub(super) fn check(machine: &Machine) -> Result<(), Refusal> {
    counts(&machine.topology)?;
    distances(&machine.topology)?;
    ranges(&machine.costs)?;
    remote_classes(machine)?;
    nearer_is_cheaper(&machine.costs)?;
    machine.scheduler.as_ref().map_or(Ok(()), slices)
}

fn contradiction<T>(key: &str, reason: String) -> Result<T, Refusal> {
    Err((key.into(), Problem::Contradiction(reason)))
}

fn counts(topology: &Topology) -> Result<(), Refusal> {
    let counts = [
        ("topology.sockets", topology.sockets),
        ("topology.cores_per_socket", topology.cores_per_socket),
        ("topology.threads_per_core", topology.threads_per_core),
        ("topology.sockets_per_node", topology.sockets_per_node),
    ];
    if let Some((key, _)) = counts.iter().find(|(_, count)| *count == 0) {
        let problem = Problem::OutOfRange { value: 0.0, allowed: "1 or more" };
        return Err(((*key).into(), problem));
    }
    let cores = u64::from(topology.sockets) * u64::from(topology.cores_per_socket);
    if cores > CORES_MAX {
        let reason =
            format!("makes {cores} cores, more than the {CORES_MAX} that can be simulated");
        return contradiction("topology.cores_per_socket", reason);
    }
    if !topology.sockets.is_multiple_of(topology.sockets_per_node) {
        let reason = format!("does not divide the {} sockets", topology.sockets);
        return contradiction("topology.sockets_per_node", reason);
    }
    if topology.threads_per_core > 8 {
        let value = topology.threads_per_core.into();
        let problem = Problem::OutOfRange { value, allowed: "at most 8" };
        return Err(("topology.threads_per_core".into(), problem));
    }
    Ok(())
}

fn distances(topology: &Topology) -> Result<(), Refusal> {
    const KEY: &str = "topology.distance.classes";
    let distance = &topology.distance;
    let sockets = topology.sockets as usize;
    if distance.len() != sockets || distance.iter().any(|row| row.len() != sockets) {
        return contradiction(KEY, format!("must be {sockets} rows of {sockets}, one per socket"));
    }
    for (a, row) in distance.iter().enumerate() {
        if row[a] != 0 {
            return contradiction(KEY, format!("socket {a} is not at distance 0 from itself"));
        }
        for (b, &class) in row.iter().enumerate().filter(|(b, _)| *b != a) {
            if class == 0 {
                return contradiction(KEY, format!("sockets {a} and {b} are at distance 0"));
            }
            if class != distance[b][a] {
                let reason = format!("sockets {a} and {b} are not equally far from each other");
                return contradiction(KEY, reason);
            }
        }
    }
    Ok(())
}

fn in_range<T>(section: &str, numbers: &T, scalars: &[Scalar<T>]) -> Result<(), Refusal> {
    for scalar in scalars {
        let checked = scalar.check((scalar.get)(numbers));
        checked.map_err(|problem| (format!("{section}.{}", scalar.key), problem))?;
    }
    Ok(())
}

fn ranges(costs: &Costs) -> Result<(), Refusal> {
    in_range("costs", costs, SCALARS)?;
    for &ns in &costs.transfer_remote_ns {
        let checked = Range::Positive.check(ns).and_then(|ns| Unit::Ns.check(ns));
        checked.map_err(|problem| (format!("costs.{TRANSFER_REMOTE}"), problem))?;
    }
    Ok(())
}

/// Every distance class has a cost, and every cost a class.
fn remote_classes(machine: &Machine) -> Result<(), Refusal> {
    let key = format!("costs.{TRANSFER_REMOTE}");
    let costs = machine.costs.transfer_remote_ns.len();
    let farthest = machine.topology.distance.iter().flatten().max().copied().unwrap_or(0);
    if (costs as u64) < u64::from(farthest) {
        return contradiction(
            &key,
            format!("has no cost for distance class {}, which two sockets have", costs + 1),
        );
    }
    if costs as u64 > u64::from(farthest) {
        let reason = format!("has a cost for distance class {costs}, which no two sockets have");
        return contradiction(&key, reason);
    }
    Ok(())
}

/// What is nearer costs no more than what is farther.
fn nearer_is_cheaper(costs: &Costs) -> Result<(), Refusal> {
    let ladder = [
        ("load_hit", costs.load_hit_ns),
        ("shared_load", costs.shared_load_ns),
        ("transfer_local", costs.transfer_local_ns),
    ];
    let remote = costs.transfer_remote_ns.iter().map(|&ns| (TRANSFER_REMOTE, ns));
    let ladder: Vec<_> = ladder.into_iter().chain(remote).collect();
    let dram = [("dram_local", costs.dram_local_ns), ("dram_remote", costs.dram_remote_ns)];
    for pair in ladder.windows(2).chain(dram.windows(2)) {
        let [(near, near_ns), (far, far_ns)] = pair else { continue };
        if !far_ns.is_finite() || far_ns < near_ns {
            let reason =
                format!("costs {far_ns} ns, less than the {near_ns} ns of the nearer `{near}`");
            return contradiction(&format!("costs.{far}"), reason);
        }
    }
    Ok(())
}

/// A thread that gets a CPU gets something done before its slice is over.
fn slices(scheduler: &Scheduler) -> Result<(), Refusal> {
    in_range("scheduler", scheduler, SCHEDULER)?;
    let slice_ns = scheduler.slice_ns;
    let parts = [
        ("scheduler.noise", scheduler.noise_ns),
        ("scheduler.context_switch", scheduler.context_switch_ns),
    ];
    match parts.iter().find(|(_, ns)| *ns >= slice_ns) {
        None => Ok(()),
        Some((key, ns)) => contradiction(
            key,
            format!("takes {ns} ns, which leaves nothing of a slice of {slice_ns} ns"),
        ),
    }
}
