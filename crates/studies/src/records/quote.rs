//! A line to quote with a result: what somebody needs who wants to have it again, and how far to trust it.

use super::key::{CODE, Sha};
use lockwright_measure::simulated::Fitted;
use lockwright_measure::trial::{LabMachine, On};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{percent, plural};
use lockwright_sim::machine::Machine;

/// Of what a machine ran under a workload.
pub fn quote(machine: &dyn LabMachine, workload: Workload, seed: u64) -> String {
    match machine.on(workload) {
        On::Native { machine, cpus, kernel, .. } => {
            let cpus = plural(cpus as u64, "CPU");
            format!("Measured by {} on {machine}, {cpus}, {kernel}, seed {seed}.", program())
        }
        On::Simulated { machine: name, calibration, .. } => {
            of_simulated(&name, &machine.identity(), calibration.as_ref(), seed)
        }
    }
}

/// Of what was simulated on a machine. Its digest tells it from others of that name.
pub(crate) fn of_simulated(
    machine: &str,
    identity: &str,
    calibration: Option<&Fitted>,
    seed: u64,
) -> String {
    let (hash, error) = match calibration {
        Some(fitted) => (fitted.hash.clone(), percent(fitted.residual_percent)),
        None => ("none".into(), "not known, because nothing was fitted".into()),
    };
    format!(
        "Simulated by {} on {machine} (machine {}, calibration {hash}), seed {seed}. Error of the fit to baselines: \
         {error}.",
        program(),
        Sha::of(identity).hex(16),
    )
}

/// Of schedules that were run on a simulated machine, on which nothing is measured.
pub fn quote_schedules(machine: &Machine, seed: u64) -> String {
    let digest = Sha::of(&format!("{:?} {:?}", machine.topology, machine.costs)).hex(16);
    let name = &machine.name;
    format!("Explored by {} on simulated {name} (machine {digest}), seed {seed}.", program())
}

/// The program and the digest of its sources, which every commit and every change has another one of.
fn program() -> String {
    format!("lockwright {} (code {CODE})", env!("CARGO_PKG_VERSION"))
}
