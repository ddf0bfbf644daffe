//! A published table, simulated beside the published numbers.

use crate::cell::{CellError, CellSpec, LabMachine, Purpose, Settings, Workload};
use crate::error::Error;
use crate::interrupt;
use crate::published::Published;
use crate::report::{self, Chart, Grid, Point, Progress, Report, Series, Shape};
use crate::simulated::{Fitted, SimulatedMachine};
use crate::stats::Summary;
use crate::subject::Subject;
use serde::Serialize;
use std::collections::BTreeMap;

const TABLE: &str = "cna_v10_locktorture_x5_4";
const MACHINE: &str = "x5-4";
/// The benchmark ran for 30 s and counted in units of 10^7 operations.
const UNIT_OPS_PER_S: f64 = 1e7 / 30.0;
/// Lock, column of its operations, name for people.
const COLUMNS: [(&str, &str, &str); 2] =
    [("qspinlock", "stock_ops_1e7", "FIFO"), ("cna", "patch_cna_ops_1e7", "CNA")];
const SPEEDUP: &str = "speedup_patch_cna_over_stock";
/// Each has a placement of its own.
const SEEDS: u32 = 24;
const WINDOW_NS: u64 = 1_000_000;
const WORKLOAD: Workload = Workload::Locktorture { long_hold: true };

/// The locktorture table of CNA v10.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedTable {
    table: &'static str,
    machine: &'static str,
    simulated: bool,
    calibration: Option<Fitted>,
    rows: Vec<Row>,
}

/// A row: one number of threads.
#[derive(Clone, Debug, Serialize)]
struct Row {
    key: BTreeMap<&'static str, usize>,
    columns: BTreeMap<&'static str, Cell>,
    #[serde(skip)]
    threads: usize,
}

/// A simulated number beside the published one.
#[derive(Clone, Copy, Debug, Serialize)]
struct Cell {
    simulated: f64,
    /// The least and the greatest of all seeds.
    interval: [f64; 2],
    published: Option<f64>,
    error_percent: Option<f64>,
}

impl Cell {
    fn new(simulated: Summary, published: Option<f64>) -> Self {
        let error = |published: f64| (simulated.mean / published - 1.0) * 100.0;
        Self {
            simulated: simulated.mean,
            interval: [simulated.min, simulated.max],
            published,
            error_percent: published.map(error),
        }
    }
    /// Simulated, published, error.
    fn texts(&self) -> [String; 3] {
        let published = self.published.map_or("-".into(), |value| format!("{value:.3}"));
        let error = self.error_percent.map_or("-".into(), |error| format!("{error:+.1}"));
        [format!("{:.3}", self.simulated), published, error]
    }
}

impl PublishedTable {
    /// Simulates the table.
    pub fn simulate(seed: u64, progress: Progress) -> Result<Self, Error> {
        let broken = |how: String| Error::Machine(how);
        let machine = SimulatedMachine::builtin(MACHINE, Settings::default())
            .ok_or_else(|| broken(format!("there is no machine `{MACHINE}`")))?
            .map_err(|error| broken(error.to_string()))?;
        let published = Published::named(TABLE)
            .ok_or_else(|| broken(format!("there is no table `{TABLE}`")))?;
        let mut table = Self {
            table: TABLE,
            machine: MACHINE,
            simulated: true,
            calibration: machine.fitted(WORKLOAD),
            rows: Vec::new(),
        };
        for (at, threads) in published.threads().into_iter().enumerate() {
            progress.say(&format!("simulated {MACHINE}, locktorture, threads: {threads}"));
            let rates = simulate_row(&machine, threads as usize, seed)?;
            if interrupt::is_requested() {
                break;
            }
            let published_at = |name| published.column(name).map(|column| column[at]);
            table.rows.push(Row::new(threads as usize, &rates, published_at));
        }
        Ok(table)
    }
}

impl PublishedTable {
    /// What it shows, made of its last row.
    pub fn sentence(&self) -> Option<String> {
        let row = self.rows.last()?;
        let speedup = row.columns.get(SPEEDUP)?;
        Some(format!(
            "With {} threads CNA does {:.2} times as much as FIFO on the simulated machine, and {:.2} \
             times in the published table.",
            row.threads, speedup.simulated, speedup.published?
        ))
    }
    fn told_calibration(&self) -> String {
        match &self.calibration {
            None => "Nothing was fitted: all costs come from the literature.".into(),
            Some(fitted) => format!(
                "Some costs were {fitted}.\nThe CNA column took no part in it: it is a prediction."
            ),
        }
    }
}

impl Row {
    fn new(
        threads: usize,
        rates: &[Vec<f64>; 2],
        published: impl Fn(&'static str) -> Option<f64>,
    ) -> Self {
        let [stock, cna] = rates;
        let mut columns = BTreeMap::new();
        for ((_, name, _), rates) in COLUMNS.into_iter().zip(rates) {
            columns.insert(name, Cell::new(Summary::of(rates), published(name)));
        }
        // The same seed has the same placement, so the speed-up has a spread of its own.
        let of_seed: Vec<f64> = cna.iter().zip(stock).map(|(cna, stock)| cna / stock).collect();
        let (of_seed, of_means) =
            (Summary::of(&of_seed), Summary::of(cna).mean / Summary::of(stock).mean);
        let speedup = Summary { mean: of_means, ..of_seed };
        columns.insert(SPEEDUP, Cell::new(speedup, published(SPEEDUP)));
        Self { key: BTreeMap::from([("threads", threads)]), columns, threads }
    }
}

/// Both locks with so many threads, in the table's unit, by seed.
fn simulate_row(
    machine: &dyn LabMachine,
    threads: usize,
    seed: u64,
) -> Result<[Vec<f64>; 2], Error> {
    let subjects = [Subject::find(COLUMNS[0].0)?, Subject::find(COLUMNS[1].0)?];
    let cell = |lock, repetition| CellSpec {
        lock,
        workload: WORKLOAD,
        threads,
        scheduling: None,
        window_ns: WINDOW_NS,
        repetition,
        seed,
        purpose: Purpose::Throughput,
    };
    let of_lock = |lock| (0..SEEDS).map(move |repetition| cell(lock, repetition));
    let specs: Vec<CellSpec> = subjects.into_iter().flat_map(of_lock).collect();
    let mut rates = Vec::new();
    for result in machine.run_batch(&specs) {
        match result {
            Ok(measured) => rates.push(measured.ops_per_s / UNIT_OPS_PER_S),
            // The row is thrown away.
            Err(CellError::Interrupted) => rates.push(0.0),
            Err(CellError::Failed(how)) => return Err(Error::Measurement(how)),
        }
    }
    let cna = rates.split_off(SEEDS as usize);
    Ok([rates, cna])
}

impl Report for PublishedTable {
    fn text(&self) -> String {
        let mut grid = Grid::new([
            "threads",
            "FIFO simulated",
            "published",
            "error %",
            "CNA simulated",
            "published",
            "error %",
            "speed-up simulated",
            "published",
            "error %",
        ]);
        for row in &self.rows {
            let texts = |name| row.columns.get(name).map(Cell::texts).unwrap_or_default();
            let [a, b, c] = texts(COLUMNS[0].1);
            let [d, e, f] = texts(COLUMNS[1].1);
            let [g, h, i] = texts(SPEEDUP);
            grid.push([row.threads.to_string(), a, b, c, d, e, f, g, h, i]);
        }
        format!(
            "locktorture on a simulated {MACHINE} with 4 sockets, beside the published measurement\n\
             In 10^7 operations per 30 s; simulated: mean of {SEEDS} seeds of {} ms.\n{}\n\n{}",
            WINDOW_NS as f64 / 1e6,
            self.told_calibration(),
            report::text_table(&grid, 0)
        )
    }
    fn json(&self) -> String {
        report::to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = Grid::new([
            "threads",
            "column",
            "simulated",
            "simulated_min",
            "simulated_max",
            "published",
            "error_percent",
        ]);
        for row in &self.rows {
            for (name, cell) in &row.columns {
                let optional = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
                grid.push([
                    row.threads.to_string(),
                    (*name).into(),
                    cell.simulated.to_string(),
                    cell.interval[0].to_string(),
                    cell.interval[1].to_string(),
                    optional(cell.published),
                    optional(cell.error_percent),
                ]);
            }
        }
        grid
    }
    fn chart(&self) -> Option<Chart> {
        let series = |name: String, is_reference, y: &dyn Fn(&Row) -> Option<(f64, f64)>| {
            let point = |row: &Row| {
                let (y, spread) = y(row)?;
                Some(Point { x: row.threads as f64, y, spread })
            };
            Series { name, points: self.rows.iter().filter_map(point).collect(), is_reference }
        };
        let simulated = COLUMNS.map(|(_, column, name)| {
            series(format!("{name}, simulated"), false, &move |row| {
                let cell = row.columns.get(column)?;
                Some((cell.simulated, (cell.interval[1] - cell.interval[0]) / 2.0))
            })
        });
        let published = COLUMNS.map(|(_, column, name)| {
            series(format!("{name}, published"), true, &move |row| {
                Some((row.columns.get(column)?.published?, 0.0))
            })
        });
        Some(Chart {
            title: format!("locktorture on {MACHINE}: simulated, and as published"),
            x_label: "threads".into(),
            y_label: "10^7 operations per 30 s".into(),
            shape: Shape::Lines(simulated.into_iter().chain(published).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_columns_of_the_table_and_errors_against_it() {
        let published = |name| match name {
            "stock_ops_1e7" => Some(2.0),
            "patch_cna_ops_1e7" => Some(5.0),
            _ => None,
        };
        let row = Row::new(8, &[vec![2.0, 3.0], vec![4.0, 6.0]], published);
        let stock = row.columns["stock_ops_1e7"];
        assert_eq!((stock.simulated, stock.interval), (2.5, [2.0, 3.0]));
        assert_eq!(stock.error_percent, Some(25.0));
        assert_eq!(row.columns[SPEEDUP].simulated, 2.0);
        assert_eq!(row.columns[SPEEDUP].published, None);
    }

    #[test]
    fn the_table_and_its_columns_exist() {
        let table = Published::named(TABLE).expect("the table is built in");
        for name in COLUMNS.map(|(_, column, _)| column).into_iter().chain([SPEEDUP]) {
            assert!(table.column(name).is_some(), "{name}");
        }
    }
}
