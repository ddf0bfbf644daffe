//! The results of a check, in each format.

use super::judge::{CLEAR, Entry, Order, Wrong, median_error};
use super::plan::{Cell, LOADS};
use super::{CheckArgs, described};
use crate::cell::{LabMachine, On, Workload};
use crate::native::NativeMachine;
use crate::report::{self, Chart, Grid, Report, text_table};
use crate::simulated::SimulatedMachine;
use serde::Serialize;
use std::fmt::Write;

/// `lockwright.machines-check/1`.
#[derive(Clone, Debug, Serialize)]
pub struct CheckDocument {
    schema: &'static str,
    native: On,
    simulated: On,
    seed: u64,
    /// Pairs of native medians that differ by more than this have a clear order.
    clear_factor: f64,
    cells: Vec<Checked>,
    /// Missing while cells are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Overall>,
}

/// A cell.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    threads: usize,
    cs_load: u32,
    think_load: u32,
    locks: Vec<Entry>,
    order: Order,
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

impl Checked {
    /// Judges the locks of a cell.
    pub fn of(cell: Cell, locks: Vec<Entry>) -> Self {
        Self {
            threads: cell.threads,
            cs_load: cell.cs_load,
            think_load: cell.think_load,
            order: Order::of(&locks),
            median_error_percent: median_error(locks.iter()),
            locks,
        }
    }
    fn cell(&self) -> Cell {
        Cell { cs_load: self.cs_load, think_load: self.think_load, threads: self.threads }
    }
    /// One sentence about the order.
    fn verdict(&self) -> String {
        let Order { judged, right, wrong } = &self.order;
        let pair = |wrong: &Wrong| {
            let but = if wrong.ranges_overlap { " (ranges overlap)" } else { "" };
            format!("{} > {}{but}", wrong.faster, wrong.slower)
        };
        let pairs: Vec<_> = wrong.iter().map(pair).collect();
        match self.order.is_right() {
            true => format!("order right in all {judged} clear pairs"),
            false => {
                format!("order right in {right} of {judged} clear pairs; not {}", pairs.join(", "))
            }
        }
    }
}

impl CheckDocument {
    /// A document without cells yet.
    pub fn new(args: &CheckArgs, native: &NativeMachine, simulated: &SimulatedMachine) -> Self {
        let (cs_load, think_load) = LOADS[0];
        let workload = Workload::counter(cs_load, think_load);
        Self {
            schema: "lockwright.machines-check/1",
            native: native.on(workload),
            simulated: simulated.on(workload),
            seed: args.seed,
            clear_factor: CLEAR,
            cells: Vec::new(),
            summary: None,
        }
    }
    /// Adds a cell.
    pub fn push(&mut self, cell: Checked) {
        self.cells.push(cell);
    }
    /// There are no more cells.
    pub fn finish(&mut self) {
        let sum = |get: fn(&Order) -> usize| self.cells.iter().map(|cell| get(&cell.order)).sum();
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

fn millions(ops_per_s: f64) -> String {
    format!("{:.3}", ops_per_s / 1e6)
}

impl Report for CheckDocument {
    fn text(&self) -> String {
        let mut text =
            String::from("counter, native and simulated, millions of operations per second\n");
        for cell in &self.cells {
            let mut grid = Grid::new(["lock", "native", "least", "most", "simulated", "error"]);
            for entry in &cell.locks {
                let native = entry.native_ops_per_s;
                grid.push([
                    entry.lock.into(),
                    millions(native.median),
                    millions(native.min),
                    millions(native.max),
                    millions(entry.simulated_ops_per_s),
                    format!("{:+.0} %", entry.error_percent),
                ]);
            }
            let _ = write!(
                text,
                "\n{}\n{}median error {:.0} %; {}\n",
                described(cell.cell()),
                text_table(&grid, 1),
                cell.median_error_percent,
                cell.verdict()
            );
        }
        if let Some(all) = &self.summary {
            let _ = write!(
                text,
                "\nall cells: median error {:.1} %; order right in {} of {} pairs whose native medians \
                 differ by more than {:.0} % (of the others the native ranges overlap in {}), and in all of \
                 them in {} of {} cells\n",
                all.median_error_percent,
                all.pairs_right,
                all.pairs_judged,
                (CLEAR - 1.0) * 100.0,
                all.pairs_wrong_and_unsteady,
                all.cells_with_right_order,
                all.cells
            );
        }
        text
    }
    fn json(&self) -> String {
        report::to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = Grid::new([
            "threads",
            "cs_load",
            "think_load",
            "lock",
            "native_ops_per_s",
            "native_min",
            "native_max",
            "simulated_ops_per_s",
            "error_percent",
        ]);
        for cell in &self.cells {
            for entry in &cell.locks {
                let native = entry.native_ops_per_s;
                grid.push([
                    cell.threads.to_string(),
                    cell.cs_load.to_string(),
                    cell.think_load.to_string(),
                    entry.lock.into(),
                    format!("{:.0}", native.median),
                    format!("{:.0}", native.min),
                    format!("{:.0}", native.max),
                    format!("{:.0}", entry.simulated_ops_per_s),
                    format!("{:.1}", entry.error_percent),
                ]);
            }
        }
        grid
    }
    fn chart(&self) -> Option<Chart> {
        None
    }
}
