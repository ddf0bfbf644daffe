//! Reproduced tables, in each format.

use super::cell::TableCell;
use super::document::{ReproduceDocument, ReproduceEffort, TableDocument};
use super::mail;
use super::text::{self, NUMBERS};
use crate::tables::{Key, Quantity, SimulatedTable, TableColumn, TableRow};
use lockwright_sheets::{Chart, ChartShape, Grid, Point, Report, Series, to_json};
use serde::Serialize;
use serde_json::json;

impl ReproduceDocument {
    /// How well each table is met; empty if there is only one.
    pub fn summary(&self) -> String {
        if self.tables.len() > 1 { text::summary(&self.tables) } else { String::new() }
    }
}

impl TableDocument {
    /// Column by column.
    fn cells(&self) -> impl Iterator<Item = (&'static TableRow, &'static str, &TableCell)> {
        self.of.columns.iter().flat_map(move |&TableColumn { name, .. }| {
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
        let others = self.of.keys[1..].iter().zip(others);
        let others = others.map(|(name, key)| format!(", {name} {key}"));
        without_unit(column.name).to_string() + &others.collect::<String>()
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'a str,
    effort: ReproduceEffort,
    seed: u64,
    interrupted: bool,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Table(&'a TableDocument),
    List { tables: &'a [TableDocument] },
}

impl Report for TableDocument {
    fn text(&self) -> String {
        if self.has_other_locks() {
            return mail::of_table(self);
        }
        text::of_table(self)
    }
    fn brief(&self) -> String {
        text::brief(self)
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        cells_of([self])
    }
    fn chart(&self) -> Option<Chart> {
        let table = self.of;
        if self.of.keys.iter().any(|key| !NUMBERS.contains(key)) {
            return None;
        }
        let (mut simulated, mut published) = (Vec::new(), Vec::new());
        for (column, others) in self.drawn(table) {
            let is_its = |row: &TableRow, name| name == column.name && row.key[1..] == *others;
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
            x_label: self.of.keys[0].into(),
            y_label: unit(table).into(),
            shape: ChartShape::Lines(simulated.into_iter().chain(published).collect()),
        })
    }
}

/// How the names of columns end, and what that says on an axis.
const UNITS: [(&str, &str); 6] = [
    ("_ops_1e7", "10^7 operations per 30 s"),
    ("_ops_per_us", "operations per microsecond"),
    ("_kops_per_s", "thousand operations per second"),
    ("_build_time_s", "seconds"),
    ("_ops_per_thread_in_5_s", "operations of a thread in 5 s"),
    ("_acquisitions", "how often"),
];

/// The name of a column; the unit is on the axis.
fn without_unit(column: &str) -> &str {
    UNITS.iter().fold(column, |name, (ending, _)| name.trim_end_matches(ending))
}

fn series(name: &str, what: &str, is_reference: bool, points: Vec<Point>) -> Series {
    Series { name: format!("{}, {what}", name.replace('_', " ")), points, is_reference }
}

fn unit(table: &SimulatedTable) -> &'static str {
    let name = table.columns.first().map_or("", |column| column.name);
    let unit = UNITS.iter().find(|(ending, _)| name.ends_with(ending));
    unit.map_or("how often", |(_, unit)| unit)
}

fn cells_of<'a>(tables: impl IntoIterator<Item = &'a TableDocument>) -> Grid {
    let rows = tables.into_iter().flat_map(|table| {
        table.cells().map(move |(row, name, cell)| {
            let published_is = cell.published.map(|_| cell.published_is);
            let (table, row) = (table.table, row.label());
            json!({"table": table, "row": row, "column": name, "it": cell, "published_is": published_is})
        })
    });
    let columns = "table row column simulated=it/simulated interval_low=it/interval/0 interval_high=it/interval/1 \
                   published=it/published error_percent=it/error_percent role=it/role published_is";
    Grid::of_json(rows, columns)
}

impl Report for ReproduceDocument {
    fn text(&self) -> String {
        let tables: String = self.tables.iter().map(|table| table.text() + "\n").collect();
        tables + &self.summary()
    }
    fn json(&self) -> String {
        let Self { effort, seed, interrupted, .. } = *self;
        let body = match self.tables.first() {
            Some(table) if !self.is_list => Body::Table(table),
            _ => Body::List { tables: &self.tables },
        };
        to_json(&Document { schema: "lockwright.reproduce/1", effort, seed, interrupted, body })
    }
    fn grid(&self) -> Grid {
        cells_of(&self.tables)
    }
    fn chart(&self) -> Option<Chart> {
        self.tables.first().and_then(TableDocument::chart)
    }
}
