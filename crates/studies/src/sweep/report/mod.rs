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
pub use lines::{LinesAsked, LinesReport};
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
    /// What is the same at all points of the setting.
    setting: String,
    point: usize,
    values: BTreeMap<String, String>,
    gain: f64,
}

const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The columns of a setting and a point, and throughput by lock, summed over seeds, with the number of them.
struct Cell {
    values: BTreeMap<String, String>,
    locks: BTreeMap<String, (f64, u64)>,
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
            let cell = cells.entry((setting_key(&values, question), trial.point));
            let cell = cell.or_insert_with(|| Cell { values, locks: BTreeMap::new() });
            let sum = cell.locks.entry(lock).or_default();
            *sum = (sum.0 + found.ops_per_s, sum.1 + 1);
        }
        let usual = |at: usize| names.get(at).or(names.last()).map_or("", String::as_str);
        let over = named(over.unwrap_or(usual(0)), &names)?;
        let of = named(of.unwrap_or(usual(1)), &names)?;
        let columns = telling(&cells);
        let at_point = |((setting, point), Cell { values, locks }): ((String, usize), Cell)| {
            let mean = |lock| locks.get(lock).map(|&(sum, count)| sum / count as f64);
            let gain = mean(&of)? / mean(&over)?;
            gain.is_finite().then_some(GainPoint { setting, point, values, gain })
        };
        let points: Vec<_> = cells.into_iter().filter_map(at_point).collect();
        if points.is_empty() {
            return Err(Error::usage(format!(
                "there are no results of both {of} and {over} for this question: run `lockwright sweep` first"
            )));
        }
        let settings = gains(&points, &columns, question);
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
        let rows = settings.iter().flat_map(|it| it.sensitivity.iter().map(|of| (&it.setting, of)));
        let row = |(setting, of): (_, &Sensitivity)| {
            in_columns(setting, &columns).chain(of.cells()).collect()
        };
        Grid { rows: rows.map(row).collect(), header: [&columns[..], &names].concat() }
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
            without_result(self.missing),
        );
        let columns = self.setting_columns();
        let quantiles = QUANTILES.map(|quantile| format!("{} %", quantile * 100.0));
        let row = |it: &SettingGain| {
            let row = in_columns(&it.setting, &columns).chain([it.points.to_string()]);
            let gains = format!("{:.0} %", it.gains * 100.0);
            row.chain(it.quantiles.map(digits)).chain([gains]).collect()
        };
        let grid = Grid {
            header: [&columns[..], &["points".into()], &quantiles, &["gains".into()]].concat(),
            rows: self.settings.iter().map(row).collect(),
        };
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
            let gain = format!("{:.5}", point.gain);
            in_columns(&point.values, &self.columns).chain([gain]).collect()
        };
        Grid { header, rows: self.points.iter().map(row).collect() }
    }
}

/// The values of these columns; empty where there is none.
fn in_columns<'a>(
    values: &'a BTreeMap<String, String>,
    columns: &'a [String],
) -> impl Iterator<Item = String> + 'a {
    columns.iter().map(|column| values.get(column).cloned().unwrap_or_default())
}

/// The end of a title that says what is missing.
fn without_result(missing: u64) -> String {
    if missing > 0 { format!("; {missing} trials have no result") } else { String::new() }
}

/// What a line says of the result.
#[derive(Debug, Deserialize)]
struct Found {
    ops_per_s: f64,
    ops: u64,
    least_ops: u64,
    fairness_factor: f64,
    threads: u32,
    #[serde(flatten)]
    others: serde_json::Map<String, Value>,
}

impl Found {
    /// A number of the line by its name, such as `longest_wait_ns` or `events.cna_flush`.
    fn number(&self, name: &str) -> Option<f64> {
        match name {
            "ops_per_s" => return Some(self.ops_per_s),
            "ops" => return Some(self.ops as f64),
            "least_ops" => return Some(self.least_ops as f64),
            "least_of_average" => return Some(self.least_of_average()),
            "fairness_factor" => return Some(self.fairness_factor),
            _ => {}
        }
        let mut parts = name.split('.');
        let first = self.others.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))?.as_f64()
    }
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

/// The gain in each setting. Points of one setting are next to each other.
fn gains(points: &[GainPoint], columns: &[String], question: &Question) -> Vec<SettingGain> {
    let of_setting = |points: &[GainPoint]| {
        let mut gains: Vec<f64> = points.iter().map(|point| point.gain).collect();
        gains.sort_by(f64::total_cmp);
        let is_own =
            |column: &&String| columns.contains(column) && !question.ranges.contains(column);
        let setting = points[0].values.iter().filter(|(column, _)| is_own(column));
        let by_point = points.iter().map(|point| (point.point, point.gain.ln()));
        let sensitivity = match question.sampling {
            Sampling::Saltelli => indices::of(&by_point.collect(), question),
            _ => Vec::new(),
        };
        SettingGain {
            setting: setting.map(|(column, value)| (column.clone(), value.clone())).collect(),
            points: gains.len(),
            quantiles: QUANTILES.map(|quantile| quantile_of(&gains, quantile)),
            gains: gains.iter().filter(|&&gain| gain > 1.0).count() as f64 / gains.len() as f64,
            sensitivity,
        }
    };
    let of_one = |a: &GainPoint, b: &GainPoint| a.setting == b.setting;
    let mut found: Vec<_> = points.chunk_by(of_one).map(of_setting).collect();
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
