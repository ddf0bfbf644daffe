//! What was simulated, beside what was published.

use super::score::Score;
use super::simulate::Effort;
use crate::report::{self, Chart, Grid, Point, Report, Series, Shape};
use crate::simulated::Fitted;
use crate::tables::{Depth, Quantity, Table};
use serde::Serialize;
use std::collections::BTreeMap;

/// `lockwright.reproduce/1`: one table, or `tables`.
pub struct ReproduceDocument {
    effort: Effort,
    seed: u64,
    is_list: bool,
    /// Whether Ctrl-C came before the end.
    pub interrupted: bool,
    /// The tables so far.
    pub tables: Vec<TableDocument>,
}

impl ReproduceDocument {
    /// A document without a table. One that `is_list` lists them even if it is one.
    pub fn new(effort: Effort, seed: u64, is_list: bool) -> Self {
        Self { effort, seed, is_list, interrupted: false, tables: Vec::new() }
    }
}

#[derive(Serialize)]
struct Document<'a, T: Serialize> {
    schema: &'a str,
    effort: Effort,
    seed: u64,
    interrupted: bool,
    #[serde(flatten)]
    body: T,
}

#[derive(Serialize)]
struct List<'a> {
    tables: &'a [TableDocument],
}

/// A table.
#[derive(Clone, Debug, Serialize)]
pub struct TableDocument {
    table: &'static str,
    machine: &'static str,
    simulated: bool,
    calibration: Option<Fitted>,
    windows: Windows,
    pub(super) score: Option<Score>,
    pub(super) rows: Vec<Row>,
    #[serde(skip)]
    columns: Vec<&'static str>,
    #[serde(skip)]
    key: &'static str,
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

/// A row.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub(super) key: BTreeMap<&'static str, u32>,
    pub(super) columns: BTreeMap<&'static str, Cell>,
}

/// A simulated number beside the published one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The mean over seeds, placements and start states.
    pub simulated: f64,
    /// The least and the greatest of all seeds, placements, start states and fits.
    pub interval: [f64; 2],
    /// What was published, if it was.
    pub published: Option<f64>,
    /// The simulated number relative to it.
    pub error_percent: Option<f64>,
}

impl Cell {
    pub(super) fn new(simulated: f64, interval: [f64; 2], published: Option<f64>) -> Self {
        let error = |published: f64| (simulated / published - 1.0) * 100.0;
        Self { simulated, interval, published, error_percent: published.map(error) }
    }
}

impl Row {
    /// Its threads, or vCPUs.
    pub(super) fn threads(&self) -> u32 {
        self.key.values().next().copied().unwrap_or_default()
    }
}

impl Windows {
    pub(super) fn of(table: &Table, depth: &Depth, fits: usize) -> Self {
        Self {
            warmup_us: depth.warmup_us,
            window_us: depth.window_us,
            units: (depth.units > 0).then_some(depth.units),
            seeds: depth.seeds,
            start_states: depth.starts.iter().map(|start| start.name()).collect(),
            fits,
            placement: table.crew.name(),
        }
    }
    fn told(&self) -> String {
        let Self { warmup_us, window_us, seeds, start_states, fits, placement, units } = self;
        let what = match units {
            Some(units) => format!("{units} units of work"),
            None => format!(
                "windows of {} ms after {} ms",
                *window_us as f64 / 1e3,
                *warmup_us as f64 / 1e3
            ),
        };
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let starts = match start_states.len() {
            0 => String::new(),
            count => format!(", {count} start state{}", plural(count)),
        };
        format!(
            "{what}; {seeds} seed{}, placement {placement}{starts}; intervals are of these and of \
             {fits} set{} of numbers that fit",
            plural(*seeds as usize),
            plural(*fits)
        )
    }
}

impl TableDocument {
    pub(super) fn new(
        table: &'static Table,
        calibration: Option<Fitted>,
        windows: Windows,
    ) -> Self {
        Self {
            table: table.name,
            machine: table.machine,
            simulated: true,
            calibration,
            windows,
            score: None,
            rows: Vec::new(),
            columns: table.columns.iter().map(|column| column.name).collect(),
            key: table.key,
        }
    }
    /// Whether no row was simulated.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// A cell of the last row, and its threads or vCPUs.
    pub fn last(&self, column: &str) -> Option<(u32, Cell)> {
        let row = self.rows.last()?;
        Some((row.threads(), *row.columns.get(column)?))
    }
    /// Column by column.
    fn cells(&self) -> impl Iterator<Item = (u32, &'static str, &Cell)> {
        self.columns.iter().flat_map(move |&name| {
            self.rows
                .iter()
                .filter_map(move |row| Some((row.threads(), name, row.columns.get(name)?)))
        })
    }
    fn told_score(&self) -> String {
        match &self.score {
            None if self.rows.is_empty() => "no row was simulated".into(),
            None => "nothing of this table was published here: all of it is a prediction".into(),
            Some(Score { cells, rms_percent, pairs, pairs_right }) => format!(
                "unpatched columns: {rms_percent:.1} % RMS over {cells} cells; {pairs_right} of {pairs} \
                 pairs of cells in the published order"
            ),
        }
    }
}

/// A number with four digits or so.
fn digits(value: f64) -> String {
    match value.abs() {
        large if large >= 1e4 => format!("{value:.0}"),
        large if large >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

impl Report for TableDocument {
    fn text(&self) -> String {
        let mut grid =
            Grid::new(["column", self.key, "simulated", "from", "to", "published", "error %"]);
        for (threads, name, cell) in self.cells() {
            grid.push([
                name.into(),
                threads.to_string(),
                digits(cell.simulated),
                digits(cell.interval[0]),
                digits(cell.interval[1]),
                cell.published.map_or("-".into(), digits),
                cell.error_percent.map_or("-".into(), |error| format!("{error:+.1}")),
            ]);
        }
        let fitted = match &self.calibration {
            None => "nothing was fitted".into(),
            Some(fitted) => fitted.to_string(),
        };
        format!(
            "{}, simulated on {}\n{}\n{fitted}\n{}\n\n{}",
            self.table,
            self.machine,
            self.windows.told(),
            self.told_score(),
            report::text_table(&grid, 1)
        )
    }
    fn json(&self) -> String {
        report::to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = empty_grid();
        push_cells(&mut grid, self);
        grid
    }
    fn chart(&self) -> Option<Chart> {
        let table = Table::named(self.table)?;
        let drawn = table.columns.iter().filter(|c| matches!(c.quantity, Quantity::Of(..)));
        let (mut simulated, mut published) = (Vec::new(), Vec::new());
        for column in drawn {
            let cells = || self.cells().filter(|(_, name, _)| *name == column.name);
            let points = cells().map(|(threads, _, cell)| Point {
                x: threads.into(),
                y: cell.simulated,
                spread: (cell.interval[1] - cell.interval[0]) / 2.0,
            });
            simulated.push(series(column.name, "simulated", false, points.collect()));
            let points = cells().filter_map(|(threads, _, cell)| {
                Some(Point { x: threads.into(), y: cell.published?, spread: 0.0 })
            });
            published.push(series(column.name, "published", true, points.collect()));
        }
        // References take the colours of the lines in their order, so only the last ones can be missing.
        while published.last().is_some_and(|series: &Series| series.points.is_empty()) {
            published.pop();
        }
        Some(Chart {
            title: format!("{}: simulated, and as published", self.table),
            x_label: self.key.into(),
            y_label: unit(table).into(),
            shape: Shape::Lines(simulated.into_iter().chain(published).collect()),
        })
    }
}

fn series(column: &str, what: &str, is_reference: bool, points: Vec<Point>) -> Series {
    // The unit is on the axis.
    const UNITS: [&str; 5] =
        ["_ops_1e7", "_ops_per_us", "_build_time_s", "_ops_per_thread_in_5_s", "_acquisitions"];
    let name = UNITS.iter().fold(column, |name, unit| name.trim_end_matches(unit));
    Series { name: format!("{}, {what}", name.replace('_', " ")), points, is_reference }
}

fn unit(table: &Table) -> &'static str {
    let name = table.columns.first().map_or("", |column| column.name);
    [
        ("_ops_1e7", "10^7 operations per 30 s"),
        ("_ops_per_us", "operations per microsecond"),
        ("_build_time_s", "seconds"),
        ("_ops_per_thread_in_5_s", "operations of a thread in 5 s"),
    ]
    .iter()
    .find_map(|(ending, unit)| name.ends_with(ending).then_some(*unit))
    .unwrap_or("how often")
}

fn empty_grid() -> Grid {
    Grid::new([
        "table",
        "row",
        "column",
        "simulated",
        "interval_low",
        "interval_high",
        "published",
        "error_percent",
    ])
}

fn push_cells(grid: &mut Grid, table: &TableDocument) {
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for (threads, name, cell) in table.cells() {
        grid.push([
            table.table.into(),
            threads.to_string(),
            name.into(),
            cell.simulated.to_string(),
            cell.interval[0].to_string(),
            cell.interval[1].to_string(),
            optional(cell.published),
            optional(cell.error_percent),
        ]);
    }
}

impl Report for ReproduceDocument {
    fn text(&self) -> String {
        self.tables.iter().map(|table| table.text() + "\n").collect()
    }
    fn json(&self) -> String {
        let Self { effort, seed, interrupted, .. } = *self;
        let schema = "lockwright.reproduce/1";
        match self.tables.first() {
            Some(body) if !self.is_list => {
                report::to_json(&Document { schema, effort, seed, interrupted, body })
            }
            _ => {
                let body = List { tables: &self.tables };
                report::to_json(&Document { schema, effort, seed, interrupted, body })
            }
        }
    }
    fn grid(&self) -> Grid {
        let mut grid = empty_grid();
        self.tables.iter().for_each(|table| push_cells(&mut grid, table));
        grid
    }
    fn chart(&self) -> Option<Chart> {
        self.tables.first().and_then(TableDocument::chart)
    }
}
