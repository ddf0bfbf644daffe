//! The results of a check, in each format.

use super::described;
use super::judge::{CLEAR, CheckEntry, LockOrder, Wrong, median_error};
use super::plan::{CheckCell, LOADS};
use lockwright_measure::native::NativeMachine;
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::trial::{LabMachine, On};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{
    Column, Grid, Report, Sheet, percent, plural, rate, signed, to_json, warned, wrapped,
};
use serde::Serialize;
use serde_json::json;

/// `lockwright.machines-check/1`.
#[derive(Clone, Debug, Serialize)]
pub struct CheckDocument {
    schema: &'static str,
    native: On,
    simulated: On,
    seed: u64,
    /// Pairs of native medians that differ by more than this have a clear order.
    clear_factor: f64,
    /// The cells so far.
    pub cells: Vec<JudgedCell>,
    /// Missing while cells are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Overall>,
    /// What a reader should know of the results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A cell.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedCell {
    #[serde(flatten)]
    cell: CheckCell,
    locks: Vec<CheckEntry>,
    order: LockOrder,
    median_error_percent: f64,
}

/// All cells together.
#[derive(Clone, Copy, Debug, Serialize)]
struct Overall {
    cells: usize,
    /// Cells in which every pair with a clear native order has the same order simulated.
    cells_with_right_order: usize,
    pairs_judged: usize,
    pairs_right: usize,
    /// Wrong pairs whose native ranges overlap.
    pairs_wrong_and_unsteady: usize,
    median_error_percent: f64,
}

impl JudgedCell {
    /// Judges the locks of a cell.
    pub fn of(cell: CheckCell, locks: Vec<CheckEntry>) -> Self {
        let (order, median_error_percent) = (LockOrder::of(&locks), median_error(locks.iter()));
        Self { cell, order, median_error_percent, locks }
    }
    /// One sentence about the order.
    fn verdict(&self) -> String {
        let LockOrder { judged, right, wrong } = &self.order;
        let pair = |wrong: &Wrong| {
            let but = if wrong.ranges_overlap { " (the native runs overlap)" } else { "" };
            format!("{} > {}{but}", wrong.faster, wrong.slower)
        };
        let pairs: Vec<_> = wrong.iter().map(pair).collect();
        let have = "clear pairs of locks have the native order";
        match self.order.is_right() {
            true => format!("all {judged} {have}"),
            false => format!("{right} of {judged} {have}, but not {}", pairs.join(", ")),
        }
    }
    fn table(&self) -> Sheet {
        Sheet::of(
            &self.locks,
            1,
            &[
                (Column::name("lock"), &|it| it.lock.into()),
                (Column::number("native"), &|it| rate(it.native_ops_per_s.median)),
                (Column::number("least"), &|it| rate(it.native_ops_per_s.min)),
                (Column::number("most"), &|it| rate(it.native_ops_per_s.max)),
                (Column::number("simulated"), &|it| rate(it.simulated_ops_per_s)),
                (Column::number("error"), &|it| format!("{} %", signed(it.error_percent))),
            ],
        )
    }
}

impl CheckDocument {
    /// A document without cells yet.
    pub fn new(seed: u64, native: &NativeMachine, simulated: &SimulatedMachine) -> Self {
        let (cs_load, think_load) = LOADS[0];
        let workload = Workload::counter(cs_load, think_load);
        Self {
            schema: "lockwright.machines-check/1",
            native: native.on(workload),
            simulated: simulated.on(workload),
            seed,
            clear_factor: CLEAR,
            cells: Vec::new(),
            summary: None,
            warnings: simulated.warnings(workload),
        }
    }
    /// There are no more cells.
    pub fn finish(&mut self) {
        let sum =
            |get: fn(&LockOrder) -> usize| self.cells.iter().map(|cell| get(&cell.order)).sum();
        self.summary = Some(Overall {
            cells: self.cells.len(),
            cells_with_right_order: sum(|order| usize::from(order.is_right())),
            pairs_judged: sum(|order| order.judged),
            pairs_right: sum(|order| order.right),
            pairs_wrong_and_unsteady: sum(|order| {
                order.wrong.iter().filter(|wrong| wrong.ranges_overlap).count()
            }),
            median_error_percent: median_error(self.cells.iter().flat_map(|cell| &cell.locks)),
        });
    }
}

impl Overall {
    fn sentence(&self) -> String {
        format!(
            "all cells: median error {}. Of {} pairs of locks whose native medians differ by more than \
             {:.0} %, {} have the same order in the simulation; of the others, the native runs overlap in {}. \
             In {} of {}, all pairs have the same order.",
            percent(self.median_error_percent),
            self.pairs_judged,
            (CLEAR - 1.0) * 100.0,
            self.pairs_right,
            self.pairs_wrong_and_unsteady,
            self.cells_with_right_order,
            plural(self.cells as u64, "cell")
        )
    }
}

impl Report for CheckDocument {
    fn text(&self) -> String {
        let mut text = wrapped(
            "workload counter, natively and simulated. native: median of the runs; least, most: of the \
             native runs; error: simulated relative to native",
        );
        for cell in &self.cells {
            text = text + "\n" + &wrapped(&described(cell.cell)) + &cell.table().text();
            let error = percent(cell.median_error_percent);
            text += &wrapped(&format!("median error {error}; {}", cell.verdict()));
        }
        if let Some(all) = &self.summary {
            text = text + "\n" + &wrapped(&all.sentence());
        }
        text + &warned(&self.warnings)
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let rows = self.cells.iter().flat_map(|it| {
            it.locks.iter().map(|entry| {
                let (cell, native) = (it.cell, &entry.native_ops_per_s);
                json!({
                    "cell": cell,
                    "lock": entry.lock,
                    "native_ops_per_s": format!("{:.0}", native.median),
                    "native_min": format!("{:.0}", native.min),
                    "native_max": format!("{:.0}", native.max),
                    "simulated_ops_per_s": format!("{:.0}", entry.simulated_ops_per_s),
                    "error_percent": format!("{:.1}", entry.error_percent),
                })
            })
        });
        let columns = "threads=cell/threads cs_load=cell/cs_load think_load=cell/think_load lock native_ops_per_s \
                       native_min native_max simulated_ops_per_s error_percent";
        Grid::of_json(rows, columns)
    }
}
