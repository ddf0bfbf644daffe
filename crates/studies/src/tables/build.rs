//! What a build takes, from the outcome of a sample of it.
//!
//! A build is simulated as a sample of its parallel part: a fixed amount of work that the vCPUs share.
//! What was published is a whole build, so two of the fitted numbers are about what is not simulated:
//! [`SERIAL`], which takes as long whatever the number of vCPUs, and [`PARALLEL`], the CPU time of the rest, which
//! takes as much less time as the sample shows. The third is the time between two lock operations.

use lockwright_measure::record::TrialRecord;
use lockwright_measure::workload::Workload;
use lockwright_sim::machine::Parameters;

/// The part of a build that more vCPUs do not make shorter, in nanoseconds.
pub const SERIAL: &str = "serial";
/// The CPU time of the rest of a build, in nanoseconds.
pub const PARALLEL: &str = "parallel";
/// The mean time between two lock operations.
pub const COMPUTE: &str = "compute";
/// The workload that a sample runs.
pub const WORKLOAD: &str = "kbuild";
/// The CPU time that the sample has without locks, in nanoseconds.
fn work_ns(workload: Workload) -> f64 {
    match workload {
        Workload::Kbuild(knobs) => {
            knobs.ops() as f64 * (knobs.compute_ns + knobs.section_ns) as f64
        }
        _ => 0.0,
    }
}

/// Seconds that a build takes, from the outcome of its sample.
pub fn build_s(outcome: &TrialRecord, workload: Workload, parameters: &Parameters) -> f64 {
    // A sample that was not finished in time took at least the whole window.
    let wall_ns = outcome.wall_ns.unwrap_or(outcome.window_ns) as f64;
    let serial_ns = parameters.software_ns(WORKLOAD, SERIAL);
    (serial_ns + wall_ns * scale(workload, parameters)) * 1e-9
}

/// How many samples make the parallel part of the build.
pub fn scale(workload: Workload, parameters: &Parameters) -> f64 {
    parameters.software_ns(WORKLOAD, PARALLEL) / work_ns(workload)
}
