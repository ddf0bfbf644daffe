//! What was simulated, next to what was published.

use super::score::{CellRole, Score, Scores};
use super::simulate::ReproduceEffort;
use super::text;
use crate::published::Standing;
use crate::tables::{self, Key, Quantity, SimulatedTable, TableColumn, TableDepth};
use lockwright_cells::simulated::Fitted;
use lockwright_report::{Chart, ChartShape, Grid, Point, Report, Series, plural, setting, to_json};
use serde::Serialize;
use std::collections::BTreeMap;

/// `lockwright.reproduce/1`: one table, or `tables`.
pub struct ReproduceDocument {
    effort: ReproduceEffort,
    seed: u64,
    is_list: bool,
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
    /// How well each table is met; empty if there is only one.
    pub fn summary(&self) -> String {
        if self.tables.len() > 1 { text::summary(&self.tables) } else { String::new() }
    }
}

#[derive(Serialize)]
struct Document<'a, T: Serialize> {
    schema: &'a str,
    effort: ReproduceEffort,
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
    pub(super) table: &'static str,
    pub(super) machine: &'static str,
    simulated: bool,
    pub(super) calibration: Option<Fitted>,
    pub(super) windows: Windows,
    /// Of the columns of unpatched code.
    score: Option<Score>,
    /// Of the columns of patched code.
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted_score: Option<Score>,
    /// Of the quotients of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    derived_score: Option<Score>,
    pub(super) rows: Vec<ReproducedRow>,
    #[serde(skip)]
    scores: Scores,
    #[serde(skip)]
    columns: Vec<&'static str>,
    #[serde(skip)]
    pub(super) keys: &'static [&'static str],
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
pub struct ReproducedRow {
    pub(super) key: BTreeMap<&'static str, Key>,
    #[serde(skip)]
    pub(super) of: &'static tables::TableRow,
    pub(super) columns: BTreeMap<&'static str, TableCell>,
}

/// A simulated number next to the published one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TableCell {
    /// The mean over seeds, placements and start states.
    pub simulated: f64,
    /// The least and the greatest of all seeds, placements, start states and fits.
    pub interval: [f64; 2],
    /// What was published, if it was.
    pub published: Option<f64>,
    /// What the published number says.
    #[serde(skip_serializing_if = "Standing::is_measured")]
    pub published_is: Standing,
    /// How much more the simulated number is than the published one, if an error can be taken of that.
    pub error_percent: Option<f64>,
    /// What the cell is evidence of.
    pub role: CellRole,
}

impl TableCell {
    /// A simulated number that nothing was published next to.
    pub(super) fn new(simulated: f64, interval: [f64; 2], role: CellRole) -> Self {
        let (published, published_is, error_percent) = (None, Standing::Measured, None);
        Self { simulated, interval, published, published_is, error_percent, role }
    }
    /// The same next to what was published.
    pub(super) fn next_to(self, published: Option<f64>, published_is: Standing) -> Self {
        let error = |published: f64| (self.simulated / published - 1.0) * 100.0;
        let error_percent = published.filter(|_| published_is.is_measured()).map(error);
        Self { published, published_is, error_percent, ..self }
    }
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
            placement: table.crew.name(),
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
    ) -> Self {
        Self {
            table: table.name,
            machine: table.machine,
            simulated: true,
            calibration,
            windows,
            score: None,
            predicted_score: None,
            derived_score: None,
            rows: Vec::new(),
            scores: Scores::default(),
            columns: table.columns.iter().map(|column| column.name).collect(),
            keys: table.keys,
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
        self.score = scores.baseline;
        self.predicted_score = scores.predicted;
        self.derived_score = scores.derived;
        self.scores = scores;
    }
    /// How well the published cells are met.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }
    /// The names of the columns that were simulated, and what the cells of each are.
    pub(super) fn kinds(&self) -> Vec<(&'static str, Vec<CellRole>)> {
        let Some(table) = SimulatedTable::named(self.table) else { return Vec::new() };
        let kinds = |column: &'static TableColumn| {
            let cells = self.rows.iter().filter_map(|row| row.columns.get(column.name));
            let mut kinds: Vec<CellRole> = cells.map(|cell| cell.role).collect();
            kinds.dedup();
            (column.name, kinds)
        };
        table.columns.iter().map(kinds).filter(|(_, kinds)| !kinds.is_empty()).collect()
    }
    /// Column by column.
    fn cells(&self) -> impl Iterator<Item = (&'static tables::TableRow, &'static str, &TableCell)> {
        self.columns.iter().flat_map(move |&name| {
            self.rows.iter().filter_map(move |row| Some((row.of, name, row.columns.get(name)?)))
        })
    }
    /// The lines of its picture: each column, for each value of the keys after the first.
    fn drawn(&self, table: &'static SimulatedTable) -> Vec<(&'static TableColumn, &'static [Key])> {
        let mut others: Vec<&[Key]> = Vec::new();
        for row in &self.rows {
            let of_row = &row.of.key[1..];
            if !others.contains(&of_row) {
                others.push(of_row);
            }
        }
        let columns = table.columns.iter().filter(|c| matches!(c.quantity, Quantity::Of(..)));
        columns.flat_map(|column| others.iter().map(move |&others| (column, others))).collect()
    }
    fn named(&self, column: &TableColumn, others: &[Key]) -> String {
        let others = self.keys[1..].iter().zip(others);
        let others = others.map(|(name, key)| format!(", {name} {key}"));
        without_unit(column.name).to_string() + &others.collect::<String>()
    }
}

impl Report for TableDocument {
    fn text(&self) -> String {
        text::of_table(self)
    }
    fn brief(&self) -> String {
        text::brief(self)
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = empty_grid();
        push_cells(&mut grid, self);
        grid
    }
    fn chart(&self) -> Option<Chart> {
        let table = SimulatedTable::named(self.table)?;
        if self.keys.iter().any(|key| !NUMBERS.contains(key)) {
            return None;
        }
        let (mut simulated, mut published) = (Vec::new(), Vec::new());
        for (column, others) in self.drawn(table) {
            let is_its =
                |row: &tables::TableRow, name| name == column.name && row.key[1..] == *others;
            let cells = || self.cells().filter(|(row, name, _)| is_its(row, *name));
            let points = cells().map(|(row, _, cell)| Point {
                x: row.threads.into(),
                y: cell.simulated,
                spread: (cell.interval[1] - cell.interval[0]) / 2.0,
            });
            let name = self.named(column, others);
            simulated.push(series(&name, "simulated", false, points.collect()));
            let points = cells().filter_map(|(row, _, cell)| {
                Some(Point { x: row.threads.into(), y: cell.published?, spread: 0.0 })
            });
            published.push(series(&name, "published", true, points.collect()));
        }
        // References take the colours of the lines in their order, so only the last ones can be missing.
        while published.last().is_some_and(|series: &Series| series.points.is_empty()) {
            published.pop();
        }
        Some(Chart {
            title: format!("{}: simulated, and as published", self.table),
            x_label: self.keys[0].into(),
            y_label: unit(table).into(),
            shape: ChartShape::Lines(simulated.into_iter().chain(published).collect()),
        })
    }
}

/// Keys that are numbers.
pub(super) const NUMBERS: [&str; 3] = ["threads", "vcpus", "cs_load_pause_instructions"];

/// The name of a column; the unit is on the axis.
fn without_unit(column: &str) -> &str {
    const UNITS: [&str; 6] = [
        "_ops_1e7",
        "_ops_per_us",
        "_kops_per_s",
        "_build_time_s",
        "_ops_per_thread_in_5_s",
        "_acquisitions",
    ];
    UNITS.iter().fold(column, |name, unit| name.trim_end_matches(unit))
}

fn series(name: &str, what: &str, is_reference: bool, points: Vec<Point>) -> Series {
    Series { name: format!("{}, {what}", name.replace('_', " ")), points, is_reference }
}

fn unit(table: &SimulatedTable) -> &'static str {
    let name = table.columns.first().map_or("", |column| column.name);
    [
        ("_ops_1e7", "10^7 operations per 30 s"),
        ("_ops_per_us", "operations per microsecond"),
        ("_kops_per_s", "thousand operations per second"),
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
        "role",
        "published_is",
    ])
}

fn push_cells(grid: &mut Grid, table: &TableDocument) {
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for (row, name, cell) in table.cells() {
        grid.push([
            table.table.into(),
            row.label(),
            name.into(),
            cell.simulated.to_string(),
            cell.interval[0].to_string(),
            cell.interval[1].to_string(),
            optional(cell.published),
            optional(cell.error_percent),
            cell.role.name().into(),
            cell.published.map_or("", |_| cell.published_is.name()).into(),
        ]);
    }
}

impl Report for ReproduceDocument {
    fn text(&self) -> String {
        let tables: String = self.tables.iter().map(|table| table.text() + "\n").collect();
        tables + &self.summary()
    }
    fn json(&self) -> String {
        let Self { effort, seed, interrupted, .. } = *self;
        let schema = "lockwright.reproduce/1";
        match self.tables.first() {
            Some(body) if !self.is_list => {
                to_json(&Document { schema, effort, seed, interrupted, body })
            }
            _ => {
                let body = List { tables: &self.tables };
                to_json(&Document { schema, effort, seed, interrupted, body })
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
