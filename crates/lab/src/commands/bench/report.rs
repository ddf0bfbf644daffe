//! The results of a benchmark, in each format.

mod chart;
mod columns;
mod document;
mod text;

pub use document::BenchDocument;

use document::BenchResult;
use lockwright_sheets::{Chart, Grid, Report, to_json};
use serde_json::json;

/// The columns as CSV.
const COLUMNS: &str = "kind machine workload lock threads start_state runs ops_per_s/median ops_per_s/mean \
    ops_per_s/stddev ops_per_s/min ops_per_s/max per_thread_ops/min per_thread_ops/avg per_thread_ops/max \
    wait_ns/p50 wait_ns/p99 wait_ns/p999 wait_ns/max cpu_s voluntary_switches involuntary_switches pair_ns/median \
    ratio_to_floor/median wall_s/median queued_share=mode_shares/queued unfair_share=mode_shares/unfair \
    reader_wait_ns/max writer_wait_ns/max parameters upgrader_wait_ns/max notified_wait_ns/max starving/waits \
    longest_wait_ns=starving/longest/wait_ns longest_sections_ns=starving/longest/sections_ns \
    longest_difference_ns=starving/longest/difference_ns transfer_ns/p50 transfer_ns/p999 transfer_ns/max \
    transfer_looks/p50 transfer_looks/p999 transfer_looks/max";

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
        let row = |result: &BenchResult| {
            let mut row = json!(result);
            row["kind"] = self.on.kind().into();
            row["machine"] = self.on.machine().into();
            row["workload"] = self.workload().name().into();
            // Such as `cs_load=20`.
            let parameters =
                result.parameters.iter().map(|(name, value)| format!("{name}={value}"));
            row["parameters"] = parameters.collect::<Vec<_>>().join(" ").into();
            row
        };
        Grid::of_json(self.results.iter().map(row), COLUMNS)
    }
    fn chart(&self) -> Option<Chart> {
        chart::of(self)
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
