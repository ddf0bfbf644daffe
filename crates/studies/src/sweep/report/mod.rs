//! What the results of a question say of its locks: the gain of one over another, and the throughput of all.

mod html;
mod indices;
mod lines;
mod picture;

use crate::records::{Lines, opened, result_files};
use crate::sweep::question::Question;
use crate::sweep::sample::Sampling;
use crate::sweep::table::{flat, text};
use crate::sweep::trials::Trials;
pub use html::page;
pub use indices::Sensitivity;
pub use lines::LinesReport;
use lockwright_measure::error::Error;
use lockwright_sheets::{Grid, Report, digits, text_table, to_json, wrapped};
pub use picture::map;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// The gain of one lock over another, setting by setting.
#[derive(Debug, Serialize)]
pub struct GainReport {
    schema: &'static str,
    asks: String,
    simulated: bool,
    /// The lock whose gain it is, and the one that it is compared with.
    of: String,
    over: String,
    /// Trials without a result: they did not run, or failed.
    missing: u64,
    settings: Vec<SettingGain>,
    #[serde(skip)]
    points: Vec<GainPoint>,
    /// The columns that tell settings and points apart.
    #[serde(skip)]
    columns: Vec<String>,
}

/// The gain in a setting: with all numbers that a list of the question gives.
#[derive(Debug, Serialize)]
struct SettingGain {
    setting: BTreeMap<String, String>,
    points: usize,
    /// The quantiles of [`QUANTILES`] over the points.
    quantiles: [f64; 5],
    /// The share of points at which the lock gains.
    gains: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sensitivity: Vec<Sensitivity>,
}

/// The gain at one point of one setting.
#[derive(Debug)]
struct GainPoint {
    values: BTreeMap<String, String>,
    gain: f64,
}

const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Throughput by lock, summed over seeds, with the number of them.
type ByLock = BTreeMap<String, (f64, u64)>;

/// A setting, a point, and the columns of both.
struct Cell {
    values: BTreeMap<String, String>,
    point: usize,
    locks: ByLock,
}

impl GainReport {
    /// The gain of `of` over `over`: of the second lock of the question over the first, if they are not named.
    ///
    /// # Errors
    /// If the results cannot be read, if a lock is not one of the question, or if nothing is there to compare.
    pub fn new(
        question: &Question,
        trials: &Trials,
        folders: &[PathBuf],
        of: Option<&str>,
        over: Option<&str>,
    ) -> Result<Self, Error> {
        let results = results(folders)?;
        let shared = shared_tunables(trials);
        let mut missing = 0;
        let mut names = Vec::new();
        let mut cells: BTreeMap<(String, usize), Cell> = BTreeMap::new();
        for trial in trials.iter() {
            let (lock, values) = lock_and_setting(flat(&trial.description()), &shared);
            if !names.contains(&lock) {
                names.push(lock.clone());
            }
            let Some(Some(found)) = results.get(&trial.key()) else {
                missing += 1;
                continue;
            };
            let point = trial.point;
            let cell = cells.entry((setting_key(&values, question), point));
            let cell = cell.or_insert_with(|| Cell { values, point, locks: ByLock::new() });
            let sum = cell.locks.entry(lock).or_default();
            *sum = (sum.0 + found.ops_per_s, sum.1 + 1);
        }
        let usual = |at: usize| names.get(at).or(names.last()).map_or("", String::as_str);
        let over = named(over.unwrap_or(usual(0)), &names)?;
        let of = named(of.unwrap_or(usual(1)), &names)?;
        let columns = telling(&cells);
        let settings = gains(&cells, &columns, question, [&of, &over]);
        let points: Vec<_> = cells
            .values()
            .filter_map(|cell| {
                Some(GainPoint { values: cell.values.clone(), gain: cell.gain([&of, &over])? })
            })
            .collect();
        if points.is_empty() {
            return Err(Error::usage(format!(
                "there are no results of both {of} and {over} for this question: run `lockwright sweep` first"
            )));
        }
        let (schema, asks) = ("lockwright.sweep-report/1", question.asks.clone());
        Ok(Self { schema, asks, simulated: true, of, over, missing, settings, points, columns })
    }

    fn setting_columns(&self) -> Vec<String> {
        let is_of_setting =
            |column: &&String| self.settings.iter().any(|it| it.setting.contains_key(*column));
        self.columns.iter().filter(is_of_setting).cloned().collect()
    }

    fn indices(&self, settings: &[&SettingGain]) -> Grid {
        let columns = self.setting_columns();
        let names = ["number", "first", "total"].map(String::from);
        let mut grid = Grid { header: [&columns[..], &names].concat(), rows: Vec::new() };
        for setting in settings {
            for of_number in &setting.sensitivity {
                let value =
                    |column: &String| setting.setting.get(column).cloned().unwrap_or_default();
                let row = columns.iter().map(value).chain(of_number.cells());
                grid.rows.push(row.collect());
            }
        }
        grid
    }
}

impl Report for GainReport {
    fn is_measured(&self) -> bool {
        false
    }
    /// Quantiles, and how much each range decides.
    fn text(&self) -> String {
        let title = format!(
            "{}\nsimulated: throughput of {} over {}; 1 is equal; quantiles over the points of each setting{}",
            self.asks,
            self.of,
            self.over,
            match self.missing {
                0 => String::new(),
                missing => format!("; {missing} trials have no result"),
            }
        );
        let columns = self.setting_columns();
        let mut grid = Grid {
            header: columns.iter().cloned().chain(["points".into()]).collect(),
            rows: Vec::new(),
        };
        grid.header.extend(QUANTILES.map(|quantile| format!("{} %", quantile * 100.0)));
        grid.header.push("gains".into());
        for setting in &self.settings {
            let value = |column: &String| setting.setting.get(column).cloned().unwrap_or_default();
            let mut row: Vec<String> = columns.iter().map(value).collect();
            row.push(setting.points.to_string());
            row.extend(setting.quantiles.map(digits));
            row.push(format!("{:.0} %", setting.gains * 100.0));
            grid.rows.push(row);
        }
        let mut text = wrapped(&title) + "\n" + &text_table(&grid, columns.len());
        let of_indices: Vec<_> =
            self.settings.iter().filter(|it| !it.sensitivity.is_empty()).collect();
        if !of_indices.is_empty() {
            text += "\nSobol indices with 95 % intervals: the part of the variance that a number decides\n\
                     alone (first), and with all others (total)\n";
            text += &text_table(&self.indices(&of_indices), columns.len() + 1);
        }
        text
    }

    fn json(&self) -> String {
        to_json(self)
    }

    /// The gain at each point.
    fn grid(&self) -> Grid {
        let header = self.columns.iter().cloned().chain(["gain".into()]).collect();
        let row = |point: &GainPoint| {
            let value = |column: &String| point.values.get(column).cloned().unwrap_or_default();
            self.columns.iter().map(value).chain([format!("{:.5}", point.gain)]).collect()
        };
        Grid { header, rows: self.points.iter().map(row).collect() }
    }
}

impl Cell {
    fn gain(&self, [of, over]: [&str; 2]) -> Option<f64> {
        let mean = |lock| self.locks.get(lock).map(|&(sum, count)| sum / count as f64);
        Some(mean(of)? / mean(over)?).filter(|gain| gain.is_finite())
    }
}

/// What a line says of the result.
#[derive(Debug, Deserialize)]
struct Found {
    ops_per_s: f64,
    ops: u64,
    least_ops: u64,
    fairness_factor: f64,
    threads: u32,
}

impl Found {
    fn least_of_average(&self) -> f64 {
        self.least_ops as f64 * f64::from(self.threads) / self.ops.max(1) as f64
    }
}

/// A lock of the question, by its name and tunables.
fn named(asked: &str, locks: &[String]) -> Result<String, Error> {
    let found = locks.iter().find(|name| *name == asked).cloned();
    let known = || locks.join(", ");
    found.ok_or_else(|| {
        Error::usage(format!("`{asked}` is no lock of the question: they are {}", known()))
    })
}

/// Results by key; `None` of a trial that failed.
fn results(folders: &[PathBuf]) -> Result<HashMap<String, Option<Found>>, Error> {
    let mut results = HashMap::new();
    for folder in folders {
        for path in result_files(folder)? {
            for line in Lines::open(&path)? {
                let line = line?;
                let Some(head) = opened(&line) else { continue };
                results.insert(head.key, serde_json::from_str(&line).ok());
            }
        }
    }
    Ok(results)
}

/// The tunables that all trials have, with the same value. No lock is told from another by them.
fn shared_tunables(trials: &Trials) -> Vec<(String, Value)> {
    let mut all = trials.iter().map(|trial| flat(&trial.description()));
    let mut shared = all.next().unwrap_or_default();
    shared.retain(|(column, _)| column.starts_with("tunables."));
    all.for_each(|values| shared.retain(|it| values.contains(it)));
    shared
}

/// The lock with its tunables except those that all have, and the columns of what is not the lock.
fn lock_and_setting(
    mut columns: Vec<(String, Value)>,
    shared: &[(String, Value)],
) -> (String, BTreeMap<String, String>) {
    columns.retain(|column| !shared.contains(column));
    let mut lock = String::new();
    let mut tunables = String::new();
    let mut values = BTreeMap::new();
    for (column, value) in columns {
        let value = text(&value);
        match column.strip_prefix("tunables.") {
            Some(tunable) => tunables += &format!(" {tunable}={value}"),
            None if column == "lock" => lock = value,
            // Runs with other seeds are added up.
            None if column == "seed" => {}
            None => drop(values.insert(column, value)),
        }
    }
    (lock + &tunables, values)
}

/// What is the same at all points.
fn setting_key(values: &BTreeMap<String, String>, question: &Question) -> String {
    let own = values.iter().filter(|(column, _)| !question.ranges.contains(column));
    own.map(|(column, value)| format!("{column}={value} ")).collect()
}

/// The columns that have more than one value.
fn telling(cells: &BTreeMap<(String, usize), Cell>) -> Vec<String> {
    let mut seen: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for (column, value) in cells.values().flat_map(|cell| &cell.values) {
        seen.entry(column).or_default().insert(value);
    }
    seen.into_iter()
        .filter(|(_, values)| values.len() > 1)
        .map(|(column, _)| column.clone())
        .collect()
}

/// The gain in each setting.
fn gains(
    cells: &BTreeMap<(String, usize), Cell>,
    columns: &[String],
    question: &Question,
    locks: [&str; 2],
) -> Vec<SettingGain> {
    let mut settings: BTreeMap<&String, Vec<&Cell>> = BTreeMap::new();
    for ((setting, _), cell) in cells {
        settings.entry(setting).or_default().push(cell);
    }
    let of_setting = |cells: &Vec<&Cell>| {
        let mut gains: Vec<f64> = cells.iter().filter_map(|cell| cell.gain(locks)).collect();
        gains.sort_by(f64::total_cmp);
        let first = cells.first()?;
        let is_own =
            |column: &&String| columns.contains(column) && !question.ranges.contains(column);
        let setting = first.values.iter().filter(|(column, _)| is_own(column));
        let by_point = cells.iter().filter_map(|cell| Some((cell.point, cell.gain(locks)?.ln())));
        let sensitivity = match question.sampling {
            Sampling::Saltelli => indices::of(&by_point.collect(), question),
            _ => Vec::new(),
        };
        (!gains.is_empty()).then(|| SettingGain {
            setting: setting.map(|(column, value)| (column.clone(), value.clone())).collect(),
            points: gains.len(),
            quantiles: QUANTILES.map(|quantile| quantile_of(&gains, quantile)),
            gains: gains.iter().filter(|&&gain| gain > 1.0).count() as f64 / gains.len() as f64,
            sensitivity,
        })
    };
    let mut found: Vec<_> = settings.values().filter_map(of_setting).collect();
    // Numbers in the order of numbers.
    let order = |setting: &SettingGain| {
        let number = |value: &String| value.parse().unwrap_or(f64::MAX);
        setting.setting.values().map(|value| (number(value), value.clone())).collect::<Vec<_>>()
    };
    found.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    found
}

/// A quantile of sorted values, between two of them where it falls there.
fn quantile_of(sorted: &[f64], quantile: f64) -> f64 {
    let at = quantile * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * at.fract()
}
