//! What was simulated, next to what was published.

use super::cell::{CellRole, ReproducedRow, TableCell};
use super::score::Scores;
use crate::tables::{SimulatedTable, TableColumn, TableDepth};
use lockwright_measure::simulated::Fitted;
use lockwright_sheets::{plural, setting};
use serde::Serialize;

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReproduceEffort {
    /// For minutes.
    Full,
    /// For seconds.
    Quick,
}

impl ReproduceEffort {
    pub(super) fn depth(self, table: &'static SimulatedTable) -> &'static TableDepth {
        match self {
            Self::Full => &table.full,
            Self::Quick => &table.quick,
        }
    }
    /// How many of the fits that fit about as well are simulated, too, at the depth of a quick run.
    pub(super) fn alternatives(self) -> usize {
        match self {
            Self::Full => 4,
            Self::Quick => 1,
        }
    }
}

/// `lockwright.reproduce/1`: one table, or `tables`.
pub struct ReproduceDocument {
    pub(super) effort: ReproduceEffort,
    pub(super) seed: u64,
    pub(super) is_list: bool,
    /// True if Ctrl-C came before the end.
    pub interrupted: bool,
    /// The tables so far.
    pub tables: Vec<TableDocument>,
}

impl ReproduceDocument {
    /// A document without a table. One that `is_list` lists them even if it is one.
    pub fn new(effort: ReproduceEffort, seed: u64, is_list: bool) -> Self {
        Self { effort, seed, is_list, interrupted: false, tables: Vec::new() }
    }
}

/// A table.
#[derive(Clone, Debug, Serialize)]
pub struct TableDocument {
    pub(super) table: &'static str,
    pub(super) machine: &'static str,
    simulated: bool,
    pub(super) calibration: Option<Fitted>,
    pub(super) windows: Windows,
    #[serde(flatten)]
    scores: Scores,
    pub(super) rows: Vec<ReproducedRow>,
    #[serde(skip)]
    pub(super) seed: u64,
    #[serde(skip)]
    pub(super) of: &'static SimulatedTable,
}

/// How long the runs of a cell are, and how many.
#[derive(Clone, Debug, Serialize)]
pub struct Windows {
    warmup_us: u64,
    /// Of a fixed amount of work: the longest that it may take.
    window_us: u64,
    /// Of a fixed amount of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<u64>,
    seeds: u64,
    /// In a guest: how runs begin.
    start_states: Vec<&'static str>,
    /// Sets of fitted numbers: the chosen one, and others that fit about as well.
    fits: usize,
    placement: &'static str,
}

impl Windows {
    pub(super) fn of(table: &SimulatedTable, depth: &TableDepth, fits: usize) -> Self {
        Self {
            warmup_us: depth.warmup_us,
            window_us: depth.window_us,
            units: (depth.units > 0).then_some(depth.units),
            seeds: depth.seeds,
            start_states: depth.starts.iter().map(|start| start.name()).collect(),
            fits,
            placement: table.runs_as.name(),
        }
    }
    /// What each cell is made of, in words.
    pub(super) fn told(&self) -> String {
        let Self { warmup_us, window_us, seeds, start_states, fits, placement, units } = self;
        let time = |us: u64| setting(us as f64 * 1e3);
        let what = match units {
            Some(units) => format!("{units} units of work"),
            None if *warmup_us == 0 => time(*window_us),
            None => format!("{} after a warm-up of {}", time(*window_us), time(*warmup_us)),
        };
        let starts = match start_states.len() {
            0 => String::new(),
            count => format!(", {}", plural(count as u64, "start state")),
        };
        let fits = match fits {
            1 => String::new(),
            fits => format!(
                ". The interval spans all runs of the chosen fit and of {} that fit{} about as well",
                plural(*fits as u64 - 1, "other"),
                if *fits == 2 { "s" } else { "" }
            ),
        };
        format!(
            "each cell: {what}, {}{starts}, placement {placement}{fits}",
            plural(*seeds, "seed")
        )
    }
}

impl TableDocument {
    pub(super) fn new(
        table: &'static SimulatedTable,
        calibration: Option<Fitted>,
        windows: Windows,
        seed: u64,
    ) -> Self {
        Self {
            table: table.name,
            machine: table.machine,
            simulated: true,
            calibration,
            windows,
            scores: Scores::default(),
            rows: Vec::new(),
            seed,
            of: table,
        }
    }
    /// True if no row was simulated.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// A cell of the last row, and its threads or vCPUs.
    pub fn last(&self, column: &str) -> Option<(u32, TableCell)> {
        let row = self.rows.last()?;
        Some((row.of.threads, *row.columns.get(column)?))
    }
    /// Keeps how well the published cells are met.
    pub(super) fn judge(&mut self, scores: Scores) {
        self.scores = scores;
    }
    /// How well the published cells are met.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }
    /// The names of the columns that were simulated, and what the cells of each are.
    pub(super) fn kinds(&self) -> Vec<(&'static str, Vec<CellRole>)> {
        let kinds = |column: &'static TableColumn| {
            let cells = self.rows.iter().filter_map(|row| row.columns.get(column.name));
            let mut kinds: Vec<CellRole> = cells.map(|cell| cell.role).collect();
            kinds.dedup();
            (column.name, kinds)
        };
        self.of.columns.iter().map(kinds).filter(|(_, kinds)| !kinds.is_empty()).collect()
    }
}
