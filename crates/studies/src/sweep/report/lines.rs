//! All locks of a question over one of its columns: a table, and lines.

use super::{Found, in_columns, lock_and_setting, named, results, shared_tunables, without_result};
use crate::sweep::question::Question;
use crate::sweep::table::flat;
use crate::sweep::trials::Trials;
use lockwright_measure::error::Error;
use lockwright_measure::stats::Summary;
use lockwright_sheets::{
    Chart, ChartShape, Column, Grid, Point, Report, Series, Sheet, digits, rate, to_json, wrapped,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The throughput of all locks over a column.
#[derive(Debug, Serialize)]
pub struct LinesReport {
    schema: &'static str,
    asks: String,
    simulated: bool,
    /// The column.
    x: String,
    /// The lock whose gain is drawn, and the one that all are compared with.
    of: Option<String>,
    over: String,
    /// A number of the results that is shown, too.
    show: Option<String>,
    /// Trials without a result: they did not run, or failed.
    missing: u64,
    rows: Vec<LinesRow>,
    /// The columns that tell settings apart.
    #[serde(skip)]
    columns: Vec<String>,
}

/// What is the same along a line, by column.
type Setting = BTreeMap<String, String>;

/// A lock at a place of a line.
#[derive(Clone, Debug, Serialize)]
struct LinesRow {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    setting: Setting,
    x: f64,
    lock: String,
    runs: usize,
    ops_per_us: Summary,
    /// The share of the half of the threads that did most, the mean of the runs.
    fairness_factor: f64,
    /// What the thread with the fewest operations had of the average, in the worst run.
    least_of_average: f64,
    /// Times the throughput of the lock that all are compared with; none if that has no result here.
    gain: Option<f64>,
    /// The number that is shown, too, the mean of the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<f64>,
}

/// What lines are asked for.
#[derive(Clone, Copy, Debug)]
pub struct LinesAsked<'a> {
    /// The column that they are over.
    pub x: &'a str,
    /// The lock whose gain is drawn.
    pub of: Option<&'a str>,
    /// The lock that all are compared with; the first one of the question if there is none.
    pub over: Option<&'a str>,
    /// A number of the results to show and to draw.
    pub show: Option<&'a str>,
}

/// Where runs belong: a setting, a number on the axis as its bits, which are in the order of the numbers, and a lock.
/// A lock without the tunable on the axis has no place there.
type Place = (usize, Option<u64>, usize);

impl LinesReport {
    /// All locks over a column. Runs that differ only in their seed, their start state and their point are put
    /// together.
    ///
    /// # Errors
    /// If the results cannot be read, if a lock is not one of the question, if it has no such numbers, or if there are
    /// no results.
    pub fn new(
        question: &Question,
        trials: &Trials,
        folders: &[PathBuf],
        asked: LinesAsked<'_>,
    ) -> Result<Self, Error> {
        let LinesAsked { x, of, over, show } = asked;
        check_axis(trials, x)?;
        let results = results(folders)?;
        let shared = shared_tunables(trials);
        let (mut locks, mut settings) = (Vec::new(), Vec::new());
        let mut runs: BTreeMap<Place, Vec<&Found>> = BTreeMap::new();
        let mut missing = 0;
        for trial in trials.iter() {
            let (setting, at, lock) = placed(&trial.description(), x, question, &shared);
            let lock = position(&mut locks, (lock, at.is_some()));
            let place = (position(&mut settings, setting), at, lock);
            match results.get(&trial.key()) {
                Some(Some(found)) => runs.entry(place).or_default().push(found),
                _ => missing += 1,
            }
        }
        let locks = told_apart(&locks);
        let of = of.map(|asked| named(asked, &locks)).transpose()?;
        let over = named(over.unwrap_or(&locks[0]), &locks)?;
        shorten(&mut settings);
        let columns: BTreeSet<&String> = settings.iter().flat_map(BTreeMap::keys).collect();
        let columns = columns.into_iter().cloned().collect();
        check_shown(&runs, show)?;
        let rows = rows(&runs, &settings, &locks, (&over, show));
        if rows.is_empty() {
            return Err(Error::usage(format!(
                "no trial with a number `{x}` has a result: run `lockwright sweep` with this question first"
            )));
        }
        let (schema, asks, x) = ("lockwright.sweep-lines/1", question.asks.clone(), x.into());
        let show = show.map(String::from);
        Ok(Self { schema, asks, simulated: true, x, of, over, show, missing, rows, columns })
    }
}

/// Refuses an axis that the question has no numbers for, and says what it has.
fn check_axis(trials: &Trials, x: &str) -> Result<(), Error> {
    let mut numbers: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for (column, value) in trials.iter().flat_map(|trial| flat(&trial.description())) {
        if let Some(number) = value.as_f64() {
            numbers.entry(column).or_default().insert(number.to_bits());
        }
    }
    if numbers.contains_key(x) {
        return Ok(());
    }
    numbers.retain(|column, values| values.len() > 1 && column != "seed");
    let known = match numbers.is_empty() {
        true => "threads".into(),
        false => numbers.into_keys().collect::<Vec<_>>().join(", "),
    };
    Err(Error::usage(format!("`{x}` is not a number of the question: write one of {known}")))
}

/// Refuses a number that no result has.
fn check_shown(runs: &BTreeMap<Place, Vec<&Found>>, show: Option<&str>) -> Result<(), Error> {
    let mut all = runs.values().flatten();
    match show {
        Some(name) if !all.any(|found| found.number(name).is_some()) => Err(Error::usage(format!(
            "no result has a number `{name}`: write one that `lockwright sweep merge` prints, such as \
             longest_wait_ns or events.cna_flush"
        ))),
        _ => Ok(()),
    }
}

/// The names of the locks. Of two that differ only in the tunable on the axis, one has its default.
fn told_apart(locks: &[(String, bool)]) -> Vec<String> {
    let name = |(lock, is_on_axis): &(String, bool)| match is_on_axis {
        false if locks.contains(&(lock.clone(), true)) => format!("{lock} (default)"),
        _ => lock.clone(),
    };
    locks.iter().map(name).collect()
}

/// The setting of a trial, its place on the axis, and its lock.
fn placed(
    description: &str,
    x: &str,
    question: &Question,
    shared: &[(String, Value)],
) -> (Setting, Option<u64>, String) {
    let mut values = flat(description);
    let at = values.iter().position(|(column, _)| column == x);
    let number = at.and_then(|at| values.remove(at).1.as_f64()).map(f64::to_bits);
    values.retain(|(column, _)| column != "start" && !question.ranges.contains(column));
    let (lock, setting) = lock_and_setting(values, shared);
    (setting, number, lock)
}

/// Where `value` is in `all`; it is added if it is not there.
fn position<T: PartialEq>(all: &mut Vec<T>, value: T) -> usize {
    all.iter().position(|it| *it == value).unwrap_or_else(|| {
        all.push(value);
        all.len() - 1
    })
}

/// Leaves the columns that are needed to tell settings apart. The name of a machine stays rather than a number that
/// goes with it.
fn shorten(settings: &mut [Setting]) {
    let columns: BTreeSet<String> = settings.iter().flat_map(BTreeMap::keys).cloned().collect();
    for column in columns.iter().rev() {
        let without = |setting: &Setting| {
            let others = setting.iter().filter(|(it, _)| *it != column);
            others.map(|(it, value)| (it.clone(), value.clone())).collect::<Setting>()
        };
        let shorter: Vec<_> = settings.iter().map(without).collect();
        if shorter.iter().collect::<BTreeSet<_>>().len() == settings.len() {
            settings.clone_from_slice(&shorter);
        }
    }
}

/// The rows, setting by setting and along the axis. A lock that does not depend on the axis has its row everywhere.
fn rows(
    runs: &BTreeMap<Place, Vec<&Found>>,
    settings: &[Setting],
    locks: &[String],
    (over, show): (&str, Option<&str>),
) -> Vec<LinesRow> {
    let all_of = |setting: usize| -> BTreeSet<u64> {
        runs.keys().filter(|(it, ..)| *it == setting).filter_map(|(_, at, _)| *at).collect()
    };
    let mut rows = BTreeMap::new();
    for (&(setting, at, lock), found) in runs {
        let row = LinesRow::new(&settings[setting], &locks[lock], found, show);
        for at in at.map_or_else(|| all_of(setting), |at| [at].into()) {
            rows.insert((setting, at, lock), LinesRow { x: f64::from_bits(at), ..row.clone() });
        }
    }
    let compared: BTreeMap<_, _> = rows
        .iter()
        .filter(|(_, row)| row.lock == over)
        .map(|(&(setting, at, _), row)| ((setting, at), row.ops_per_us.mean))
        .collect();
    let with_gain = |((setting, at, _), row): (_, LinesRow)| {
        let gain = compared.get(&(setting, at)).map(|of_over| row.ops_per_us.mean / of_over);
        LinesRow { gain: gain.filter(|gain| gain.is_finite()), ..row }
    };
    rows.into_iter().map(with_gain).collect()
}

impl LinesRow {
    /// The row of a lock, without its place.
    fn new(setting: &Setting, lock: &str, runs: &[&Found], show: Option<&str>) -> Self {
        let of = |get: &dyn Fn(&Found) -> f64| {
            Summary::of(&runs.iter().map(|run| get(run)).collect::<Vec<_>>())
        };
        Self {
            setting: setting.clone(),
            x: 0.0,
            lock: lock.into(),
            runs: runs.len(),
            ops_per_us: of(&|run| run.ops_per_s / 1e6),
            fairness_factor: of(&|run| run.fairness_factor).mean,
            least_of_average: of(&Found::least_of_average).min,
            gain: None,
            // What did not happen is not in a line.
            shown: show.map(|name| of(&|run| run.number(name).unwrap_or(0.0)).mean),
        }
    }

    /// Its setting, in words: the name of a machine, and numbers with theirs.
    fn setting(&self) -> String {
        let word = |(column, value): (&String, &String)| match column.rsplit('.').next() {
            Some(number) if value.parse::<f64>().is_ok() => format!("{number} {value}"),
            _ => value.clone(),
        };
        self.setting.iter().map(word).collect::<Vec<_>>().join(", ")
    }
}

impl Report for LinesReport {
    fn is_measured(&self) -> bool {
        false
    }
    fn text(&self) -> String {
        let title = format!("{}\nsimulated{}", self.asks, without_result(self.missing));
        let setting = self.columns.iter().map(Column::name);
        let own = [
            Column::name("lock"),
            Column::number(&self.x),
            Column::number("throughput").means("of all threads together, the mean of the runs"),
            Column::number("from").means("the least of the runs"),
            Column::number("to").means("the greatest"),
            Column::number("fairness factor")
                .means(
                    "operations of the busier half of the threads as a part of all; 0.5 is fair, with 1 \
                     the other half starves",
                )
                .first(),
            Column::number("least / mean").means(
                "operations of the least busy thread divided by the mean of all, in the worst run",
            ),
            Column::number("gain")
                .means(format!("throughput over that of {}; 1 is equal", self.over)),
        ];
        let shown =
            self.show.as_ref().map(|name| Column::number(name).means("the mean of the runs"));
        let row = |row: &LinesRow| {
            let Summary { mean, min, max, .. } = row.ops_per_us;
            let setting = in_columns(&row.setting, &self.columns);
            let own = [
                row.lock.clone(),
                row.x.to_string(),
                rate(mean * 1e6),
                rate(min * 1e6),
                rate(max * 1e6),
                digits(row.fairness_factor),
                digits(row.least_of_average),
                row.gain.map(digits).unwrap_or_default(),
            ];
            setting.chain(own).chain(row.shown.map(digits)).collect()
        };
        let rows = self.rows.iter().map(row).collect();
        let keys = self.columns.len() + 2;
        wrapped(&title)
            + "\n"
            + &Sheet { columns: setting.chain(own).chain(shown).collect(), keys, rows }.text()
    }

    fn json(&self) -> String {
        to_json(self)
    }

    fn grid(&self) -> Grid {
        let own = [
            &self.x,
            "lock",
            "runs",
            "ops_per_us",
            "ops_per_us_min",
            "ops_per_us_max",
            "fairness_factor",
            "least_of_average",
            "gain",
        ];
        let header =
            self.columns.iter().cloned().chain(own.map(String::from)).chain(self.show.clone());
        let row = |row: &LinesRow| {
            let Summary { mean, min, max, .. } = row.ops_per_us;
            let setting = in_columns(&row.setting, &self.columns);
            let numbers = [mean, min, max, row.fairness_factor, row.least_of_average];
            let own = [row.x.to_string(), row.lock.clone(), row.runs.to_string()];
            let gain = row.gain.map(|gain| gain.to_string()).unwrap_or_default();
            let shown = row.shown.map(|number| number.to_string());
            let numbers = numbers.map(|it| it.to_string());
            setting.chain(own).chain(numbers).chain([gain]).chain(shown).collect()
        };
        Grid { header: header.collect(), rows: self.rows.iter().map(row).collect() }
    }

    /// A line for each lock and setting; if a lock was named, its gain in each setting.
    fn chart(&self) -> Option<Chart> {
        let mut lines: Vec<Series> = Vec::new();
        // The axis is logarithmic and has no place for 0.
        let is_drawn =
            |row: &&LinesRow| row.x > 0.0 && self.of.as_ref().is_none_or(|of| *of == row.lock);
        for row in self.rows.iter().filter(is_drawn) {
            let y = match (row.shown, &self.of) {
                (Some(shown), _) => Some(shown),
                (None, Some(_)) => row.gain,
                (None, None) => Some(row.ops_per_us.mean),
            };
            let Some(y) = y else { continue };
            let name = match (&self.of, row.setting()) {
                (_, setting) if setting.is_empty() => row.lock.clone(),
                (Some(_), setting) => setting,
                (None, setting) => format!("{}, {setting}", row.lock),
            };
            // The range of the runs is in the table: it is seldom even around the mean.
            let point = Point { x: row.x, y, spread: 0.0 };
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Series { name, points: vec![point], is_reference: false }),
            }
        }
        if lines.is_empty() {
            return None;
        }
        let (title, y_label) = match (&self.show, &self.of) {
            (Some(name), _) => (name.clone(), name.clone()),
            (None, None) => ("throughput".into(), "operations per microsecond".into()),
            (None, Some(of)) => {
                let over = &self.over;
                (format!("gain of {of}"), format!("{of}, times the throughput of {over}"))
            }
        };
        let x = self.x.rsplit('.').next().unwrap_or_default();
        Some(Chart {
            title: format!("{title} over {x}, simulated"),
            x_label: x.into(),
            y_label,
            shape: ChartShape::Lines(lines),
        })
    }
}
