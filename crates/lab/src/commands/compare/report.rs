//! The results of a comparison, in each format.

mod document;
mod tables;
mod text;

pub use document::CompareDocument;

use document::CellResult;
use lockwright_measure::workload::Workload;
use lockwright_sheets::{Grid, Report, to_json};
use serde_json::json;

/// The columns as CSV: of a cell, of a lock `it` in it, and of the cell again if that lock is the one of `ours`.
const COLUMNS: &str = "on machine cell=cell/name kind=cell/kind readers=counter/read_percent cs_load=counter/cs_load \
    think_load=counter/think_load threads=cell/threads lock ops_per_s=it/ops_per_s pair_ns=it/pair_ns cpu_s=it/cpu_s \
    cpu_ns_per_op=it/cpu_ns_per_op voluntary_switches_per_op=it/voluntary_switches_per_op \
    involuntary_switches_per_op=it/involuntary_switches_per_op condvar_waits_per_op=it/condvar_waits_per_op \
    futile_wakeups_per_op=it/futile_wakeups_per_op bound_ops_per_s=cell/bound_ops_per_s min_max=it/min_max \
    wait_p999_ns=it/wait_p999_ns wait_max_ns=it/wait_max_ns best_peer=ours/best_peer ratio=ours/ratio \
    ratio_low=ours/ratio_ci95/0 ratio_high=ours/ratio_ci95/1";

impl CompareDocument {
    /// The newest cell in a sentence.
    pub fn newest(&self) -> String {
        self.cells.last().map_or_else(String::new, text::sentence)
    }
}

impl Report for CompareDocument {
    fn text(&self) -> String {
        text::text(self)
    }
    fn json(&self) -> String {
        to_json(self)
    }
    /// A row for each lock in each cell.
    fn grid(&self) -> Grid {
        let (on, machine) = (self.on.kind(), self.on.machine());
        let rows = |result: &CellResult| {
            let mut cell = json!(result);
            let locks = cell["locks"].take();
            // Readers and pauses, if the cell has any.
            let workload = result.cell.workload;
            let counter = matches!(workload, Workload::Counter(_)).then_some(workload);
            let row = |name: &&str| {
                let (it, ours) = (&locks[name], (*name == result.ours).then_some(&cell));
                json!({ "on": on, "machine": machine, "cell": cell, "counter": counter, "lock": name, "it": it, "ours": ours })
            };
            result.locks.keys().map(row).collect::<Vec<_>>()
        };
        Grid::of_json(self.cells.iter().flat_map(rows), COLUMNS)
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
