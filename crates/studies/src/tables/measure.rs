//! What the runs of a cell show.

use super::row::TableRow;
use super::{build, tasks};
use lockwright_core::events::Event;
use lockwright_measure::record::TrialRecord;
use lockwright_measure::workload::Workload;
use lockwright_sim::machine::Parameters;

/// What a run shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TableMeasure {
    /// Operations of all threads, and how many of them per second are one in the column's unit.
    Total(f64),
    /// Operations of the slowest thread, in this number of seconds.
    Least(f64),
    /// The same, but a thread that did at most one operation in the run is not taken to have done more in
    /// a longer one.
    LeastOrOne(f64),
    /// How many threads did at most one operation.
    AtMostOne,
    /// Operations of a thread, on average, in this number of seconds.
    Average(f64),
    /// Operations of the fastest thread, in this number of seconds.
    Greatest(f64),
    /// Seconds that a build takes: the serial part, and the parallel part by its simulated speed-up.
    BuildTime,
    /// How often the event happens in a build.
    InBuild(Event),
    /// Jobs per minute of all tasks. A job has as many operations as fit into the time that it computes.
    JobsPerMinute,
    /// Percentage of the CPU time of tasks that the row's function takes.
    OfCycles,
    /// Percentage of the function's time that is its caller's.
    OfFunction,
}

impl TableMeasure {
    /// What a run shows in a row, in the column's unit.
    pub fn of(
        self,
        outcome: &TrialRecord,
        row: &TableRow,
        workload: Workload,
        parameters: &Parameters,
    ) -> f64 {
        let ops = &outcome.per_thread_ops;
        let in_secs = |ops: Option<&u64>, secs: f64| {
            ops.map_or(0.0, |&ops| ops as f64) * secs * 1e9 / outcome.window_ns as f64
        };
        match self {
            Self::Total(unit) => outcome.ops_per_s / unit,
            Self::Least(secs) => in_secs(ops.iter().min(), secs),
            Self::LeastOrOne(secs) => match ops.iter().min() {
                Some(&least) if least > 1 => in_secs(Some(&least), secs),
                least => least.map_or(0.0, |&least| least as f64),
            },
            Self::AtMostOne => ops.iter().filter(|&&ops| ops <= 1).count() as f64,
            Self::Average(secs) => outcome.ops_per_s * secs / ops.len() as f64,
            Self::Greatest(secs) => in_secs(ops.iter().max(), secs),
            Self::BuildTime => build::build_s(outcome, workload, parameters),
            Self::InBuild(event) => {
                outcome.events.of(event) as f64 * build::scale(workload, parameters)
            }
            Self::JobsPerMinute => tasks::jobs_per_minute(outcome, workload, parameters),
            Self::OfCycles => row.symbol.map_or(0.0, |symbol| tasks::of_cycles(outcome, symbol)),
            Self::OfFunction => {
                row.symbol.map_or(0.0, |symbol| tasks::of_function(outcome, symbol))
            }
        }
    }
}
