//! The results of a benchmark, in each format.

mod chart;
mod columns;
mod document;
mod text;

pub use document::BenchDocument;

use document::BenchResult;
use lockwright_measure::workload::Value;
use lockwright_sheets::{Chart, Grid, Report, Waits, optional, to_json};
use std::collections::BTreeMap;

/// Parameters and their values, such as `cs_load=20`.
fn told(parameters: &BTreeMap<&'static str, Value>) -> String {
    let each = parameters.iter().map(|(name, value)| format!("{name}={value}"));
    each.collect::<Vec<_>>().join(" ")
}

impl Report for BenchDocument {
    fn text(&self) -> String {
        text::text(self)
    }
    fn brief(&self) -> String {
        text::brief(self)
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let wait =
            |it: &BenchResult, get: fn(&Waits) -> u64| optional(it.wait_ns.as_ref().map(get));
        let longest = |waits: Option<Waits>| optional(waits.map(|waits| waits.max));
        Grid::of(
            &self.results,
            &[
                ("kind", &|_| self.on.kind().into()),
                ("machine", &|_| self.on.machine().into()),
                ("workload", &|_| self.workload.name().into()),
                ("lock", &|it| it.lock.into()),
                ("threads", &|it| it.threads.to_string()),
                ("start_state", &|it| it.start_state.unwrap_or_default().into()),
                ("runs", &|it| it.runs.to_string()),
                ("ops_per_s_median", &|it| it.ops_per_s.median.to_string()),
                ("ops_per_s_mean", &|it| it.ops_per_s.mean.to_string()),
                ("ops_per_s_stddev", &|it| it.ops_per_s.stddev.to_string()),
                ("ops_per_s_min", &|it| it.ops_per_s.min.to_string()),
                ("ops_per_s_max", &|it| it.ops_per_s.max.to_string()),
                ("per_thread_ops_min", &|it| it.per_thread_ops.min.to_string()),
                ("per_thread_ops_avg", &|it| it.per_thread_ops.avg.to_string()),
                ("per_thread_ops_max", &|it| it.per_thread_ops.max.to_string()),
                ("wait_ns_p50", &|it| wait(it, |waits| waits.p50)),
                ("wait_ns_p99", &|it| wait(it, |waits| waits.p99)),
                ("wait_ns_p999", &|it| wait(it, |waits| waits.p999)),
                ("wait_ns_max", &|it| wait(it, |waits| waits.max)),
                ("cpu_s", &|it| it.cpu_s.to_string()),
                ("voluntary_switches", &|it| it.voluntary_switches.to_string()),
                ("involuntary_switches", &|it| it.involuntary_switches.to_string()),
                ("pair_ns_median", &|it| optional(it.pair_ns.map(|pair| pair.median))),
                ("ratio_to_floor_median", &|it| {
                    optional(it.ratio_to_floor.as_ref().map(|ratio| ratio.median))
                }),
                ("wall_s_median", &|it| optional(it.wall_s.flatten().map(|wall| wall.median))),
                ("queued_share", &|it| optional(it.mode_shares.map(|shares| shares.queued))),
                ("unfair_share", &|it| optional(it.mode_shares.map(|shares| shares.unfair))),
                ("reader_wait_ns_max", &|it| longest(it.reader_wait_ns)),
                ("writer_wait_ns_max", &|it| longest(it.writer_wait_ns)),
                ("parameters", &|it| told(&it.parameters)),
                ("upgrader_wait_ns_max", &|it| longest(it.upgrader_wait_ns)),
                ("notified_wait_ns_max", &|it| longest(it.notified_wait_ns)),
                ("starving_waits", &|it| optional(it.starving.map(|it| it.waits))),
                ("longest_wait_ns", &|it| optional(it.starving.map(|it| it.longest.wait_ns))),
                ("longest_sections_ns", &|it| {
                    optional(it.starving.map(|it| it.longest.sections_ns))
                }),
                ("longest_difference_ns", &|it| {
                    optional(it.starving.map(|it| it.longest.difference_ns))
                }),
            ],
        )
    }
    fn chart(&self) -> Option<Chart> {
        chart::of(self)
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
