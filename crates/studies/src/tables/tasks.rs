//! What the runs of many tasks show: jobs per minute, and the shares of a profile.
//!
//! A job of AIM7 is so much work that one does not fit into a run. What is fitted of it is [`JOB`], the time
//! that it computes, which says how many operations it has.

use super::row::Symbol;

use lockwright_measure::record::TrialRecord;
use lockwright_measure::workload::Workload;
use lockwright_sim::machine::Parameters;

/// The workload that the tasks run.
pub(super) const WORKLOAD: &str = "aim7";
/// Time that a job computes, outside of the lock's sections.
pub(super) const JOB: &str = "job";

/// Jobs per minute, of all tasks.
pub(super) fn jobs_per_minute(
    outcome: &TrialRecord,
    workload: Workload,
    parameters: &Parameters,
) -> f64 {
    let (think_ns, unit_ops) = match workload {
        Workload::Aim7(it) => (it.compute_ns as f64, it.unit_ops as f64),
        _ => (0.0, 1.0),
    };
    let job_ns = parameters.software_ns(WORKLOAD, JOB);
    outcome.ops_per_s / unit_ops * 60.0 * think_ns / job_ns
}

/// Percentage of the time that tasks had a CPU which a caller spent in a function.
fn of_caller(outcome: &TrialRecord, symbol: Symbol) -> f64 {
    outcome.events.of(symbol.event) as f64 * 1e3 / outcome.run_ps.max(1) as f64 * 100.0
}

/// Percentage of it that all callers spent there.
pub(super) fn of_cycles(outcome: &TrialRecord, symbol: Symbol) -> f64 {
    of_caller(outcome, symbol) + symbol.elsewhere_percent
}

/// Percentage of the function's time that is the caller's.
pub(super) fn of_function(outcome: &TrialRecord, symbol: Symbol) -> f64 {
    of_caller(outcome, symbol) / of_cycles(outcome, symbol) * 100.0
}
