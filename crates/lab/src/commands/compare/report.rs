//! The results of a comparison, in each format.

mod document;
mod figures;
mod real_use;
mod rw_section;
mod text;

pub use document::CompareDocument;

use document::{CellResult, LockResult};
use lockwright_sheets::{Grid, Report, optional, to_json};

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
        let row = |cell| move |(&name, lock)| CsvRow { cell, name, lock };
        let rows = self.cells.iter().flat_map(|cell| cell.locks.iter().map(row(cell)));
        Grid::of(
            rows,
            &[
                ("on", &|_| self.on.kind().into()),
                ("machine", &|_| self.on.machine().into()),
                ("cell", &|it| it.cell.name.into()),
                ("kind", &|it| it.cell.kind.name().into()),
                ("readers", &|it| optional(it.cell.counter().map(|[readers, ..]| readers))),
                ("cs_load", &|it| optional(it.cell.counter().map(|[_, cs_load, _]| cs_load))),
                ("think_load", &|it| optional(it.cell.counter().map(|[.., think]| think))),
                ("threads", &|it| it.cell.threads.to_string()),
                ("lock", &|it| it.name.into()),
                ("ops_per_s", &|it| it.lock.ops_per_s.to_string()),
                ("pair_ns", &|it| optional(it.lock.pair_ns)),
                ("cpu_s", &|it| optional(it.lock.cpu_s)),
                ("cpu_ns_per_op", &|it| optional(it.lock.cpu_ns_per_op)),
                ("voluntary_switches_per_op", &|it| optional(it.lock.voluntary_switches_per_op)),
                ("involuntary_switches_per_op", &|it| {
                    optional(it.lock.involuntary_switches_per_op)
                }),
                ("condvar_waits_per_op", &|it| optional(it.lock.condvar_waits_per_op)),
                ("futile_wakeups_per_op", &|it| optional(it.lock.futile_wakeups_per_op)),
                ("bound_ops_per_s", &|it| optional(it.cell.bound_ops_per_s)),
                ("min_max", &|it| optional(it.lock.min_max)),
                ("wait_p999_ns", &|it| optional(it.lock.wait_p999_ns)),
                ("wait_max_ns", &|it| optional(it.lock.wait_max_ns)),
                ("best_peer", &|it| optional(it.ours().and_then(|cell| cell.best_peer))),
                ("ratio", &|it| optional(it.ours().and_then(|cell| cell.ratio))),
                ("ratio_low", &|it| optional(it.ours().and_then(|cell| Some(cell.ratio_ci95?[0])))),
                ("ratio_high", &|it| {
                    optional(it.ours().and_then(|cell| Some(cell.ratio_ci95?[1])))
                }),
            ],
        )
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// A lock in a cell.
struct CsvRow<'a> {
    cell: &'a CellResult,
    name: &'static str,
    lock: &'a LockResult,
}

impl<'a> CsvRow<'a> {
    /// The cell, if the lock is the one of ours that is compared in it.
    fn ours(&self) -> Option<&'a CellResult> {
        (self.name == self.cell.ours).then_some(self.cell)
    }
}
