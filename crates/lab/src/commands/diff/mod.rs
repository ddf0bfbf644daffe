//! `lockwright diff`: two results of the same command, before a change and after it.

use crate::options::SeedArgs;
use crate::outcome::exit_code;
use clap::{Args, ValueHint};
use lockwright_measure::error::Error;
use lockwright_measure::stats::{Bootstrap, median};
use lockwright_sheets::{
    Column, DocumentArgs, Grid, Outputs, Report, SheetOf, digits, plural, rate, to_json, warned,
    wrapped,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What can be compared.
const SCHEMAS: [&str; 2] = ["lockwright.bench/1", "lockwright.compare/1"];

/// Arguments of `diff`.
#[derive(Clone, Debug, Args)]
pub struct DiffArgs {
    /// What `bench` or `compare` wrote with --json before a change
    #[arg(value_name = "BEFORE.json", value_hint = ValueHint::FilePath)]
    before: PathBuf,
    /// What the same command wrote after it
    #[arg(value_name = "AFTER.json", value_hint = ValueHint::FilePath)]
    after: PathBuf,
    /// How much slower or faster counts as the same, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = tolerance)]
    tolerance: f64,
    #[command(flatten)]
    seed: SeedArgs,
    #[command(flatten)]
    documents: DocumentArgs,
}

fn tolerance(typed: &str) -> Result<f64, String> {
    let percent = typed.parse().ok().filter(|percent| (0.0..100.0).contains(percent));
    percent.ok_or_else(|| "write a percentage from 0 to 99, such as 2".into())
}

/// `lockwright.diff/1`.
#[derive(Clone, Debug, Serialize)]
struct DiffDocument {
    schema: &'static str,
    /// Where the second was measured or simulated.
    on: Value,
    before: String,
    after: String,
    tolerance_percent: f64,
    results: Vec<Change>,
    /// How many results only one of the files has.
    only_before: usize,
    only_after: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A lock in a setting.
#[derive(Clone, Debug, Serialize)]
struct Change {
    setting: String,
    lock: String,
    /// Operations per second.
    before: f64,
    after: f64,
    /// The second in terms of the first.
    ratio: f64,
    ratio_ci95: [f64; 2],
    /// What comes of it.
    verdict: &'static str,
}

impl Change {
    /// The verdict for people, who see what changed.
    fn word(&self) -> &'static str {
        if self.verdict == SAME { "" } else { self.verdict }
    }
}

const SLOWER: &str = "slower";
const SAME: &str = "same";
const FASTER: &str = "faster";

/// What comes of an interval.
fn verdict([low, high]: [f64; 2], tolerance_percent: f64) -> &'static str {
    let tolerance = tolerance_percent / 100.0;
    match (high < 1.0 - tolerance, low > 1.0 + tolerance) {
        (true, _) => SLOWER,
        (_, true) => FASTER,
        _ => SAME,
    }
}

/// A result of a file: setting, lock, and operations per second of each repetition.
type Measured = (String, String, Vec<f64>);

/// Runs the command. The exit code is 1 if something got slower.
pub fn run(args: &DiffArgs) -> Result<ExitCode, Error> {
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let (first, second) = (measured(&before, &args.before)?, measured(&after, &args.after)?);
    let outputs = Outputs::open(&args.documents, None)?;
    let of_both = first.iter().filter_map(|old| {
        let new = second.iter().find(|new| (&new.0, &new.1) == (&old.0, &old.1))?;
        Some(change(old, new, args))
    });
    let results: Vec<Change> = of_both.collect();
    if results.is_empty() {
        return Err(Error::usage(
            "the two files have no result in common: give two files of the same command",
        ));
    }
    let path = |path: &Path| path.display().to_string();
    let document = DiffDocument {
        schema: "lockwright.diff/1",
        on: after["on"].clone(),
        before: path(&args.before),
        after: path(&args.after),
        tolerance_percent: args.tolerance,
        only_before: first.len() - results.len(),
        only_after: second.len() - results.len(),
        results,
        warnings: differences(&before, &after),
    };
    outputs.finish(&document)?;
    Ok(exit_code(document.count(SLOWER) > 0, false))
}

/// What is wrong with a file.
fn wrong(path: &Path, why: &str) -> Error {
    Error::usage(format!("{} {why}", path.display()))
}

/// Reads a document.
fn read(path: &Path) -> Result<Value, Error> {
    let text = fs::read_to_string(path)
        .map_err(|error| Error::usage(format!("cannot read {}: {error}", path.display())))?;
    let document: Option<Value> = serde_json::from_str(&text).ok();
    let known = document.filter(|it| SCHEMAS.iter().any(|schema| it["schema"] == **schema));
    let why =
        "is not a result of `bench` or `compare`: give a file that one of them wrote with --json";
    known.ok_or_else(|| wrong(path, why))
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}

/// All results of a document.
fn measured(document: &Value, path: &Path) -> Result<Vec<Measured>, Error> {
    let rates = |result: &Value| -> Option<Vec<f64>> {
        Some(result["per_repetition"].as_array()?.iter().filter_map(Value::as_f64).collect())
    };
    let of_bench = array(&document["results"]).map(|result| {
        let mut setting = word(&document["workload"]["name"]);
        for (name, value) in result["parameters"].as_object().into_iter().flatten() {
            setting += &format!(" {name}={}", word(value));
        }
        setting += &format!(" t{}", result["threads"]);
        if let Some(start) = result["start_state"].as_str() {
            setting += &format!(" {start}");
        }
        (setting, word(&result["lock"]), rates(result))
    });
    let of_compare = array(&document["cells"]).flat_map(|cell| {
        // The better version of a lock is there by its own name, too.
        let is_version = |lock: &str| {
            let chosen = [&cell["parking_lot"], &cell["floor"]].map(Value::as_str);
            chosen.into_iter().flatten().any(|it| it != lock && it.starts_with(lock))
        };
        let locks = cell["locks"].as_object().into_iter().flatten();
        let locks = locks.filter(move |(lock, _)| !is_version(lock));
        locks.map(move |(lock, result)| (word(&cell["name"]), lock.clone(), rates(result)))
    });
    let all = of_bench.chain(of_compare);
    let all = all.map(|(setting, lock, rates)| Some((setting, lock, rates?)));
    let mut all: Vec<Measured> = all.collect::<Option<_>>().ok_or_else(|| {
        wrong(path, "is of an older lockwright and has no repetitions: measure again")
    })?;
    all.retain(|(_, _, rates)| !rates.is_empty());
    Ok(all)
}

fn change((setting, lock, old): &Measured, (_, _, new): &Measured, args: &DiffArgs) -> Change {
    let (before, after) = (median(old), median(new));
    let ratio_ci95 = Bootstrap::new(args.seed.seed)
        .interval(|draw| median(&draw.resampled(new)) / median(&draw.resampled(old)));
    let verdict = verdict(ratio_ci95, args.tolerance);
    let (setting, lock, ratio) = (setting.clone(), lock.clone(), after / before);
    Change { setting, lock, before, after, ratio, ratio_ci95, verdict }
}

/// What else differs, a sentence each.
fn differences(before: &Value, after: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for (key, what) in [
        ("/on/machine", "machine"),
        ("/on/kernel", "kernel"),
        ("/secs", "length of a run"),
        ("/seed", "seed"),
        ("/tunables", "set of tunables"),
    ] {
        let [old, new] = [before, after].map(|it| it.pointer(key).map_or("-".into(), word));
        if old != new {
            warnings.push(format!("another {what}: {old} before, {new} after"));
        }
    }
    warnings
}

impl DiffDocument {
    fn count(&self, verdict: &str) -> usize {
        self.results.iter().filter(|it| it.verdict == verdict).count()
    }
}

impl Report for DiffDocument {
    fn text(&self) -> String {
        let mut table = SheetOf::new(&self.results);
        table.key(Column::name("setting"), |it| it.setting.clone());
        table.key(Column::name("lock"), |it| it.lock.clone());
        table.number("before", "", |it| rate(it.before));
        table.number("after", "", |it| rate(it.after));
        let means = "after divided by before; below 1 is slower";
        table.number("ratio", means, |it| digits(it.ratio));
        table.number("95 %", "confidence interval of the ratio", |it| {
            let [low, high] = it.ratio_ci95.map(digits);
            format!("[{low}, {high}]")
        });
        let beyond = self.tolerance_percent;
        let means = format!("slower or faster: the whole interval is beyond {beyond} % of 1");
        table.add(Column::name("verdict").means(means), |it| it.word().into());
        let simulated = if self.on["kind"] == "simulated" { "simulated " } else { "" };
        let machine = word(&self.on["machine"]);
        let title = format!("{} after {} on {simulated}{machine}", self.after, self.before);
        let text = wrapped(&title) + "\n" + &table.sheet.text();
        let (all, slower) = (plural(self.results.len() as u64, "result"), self.count(SLOWER));
        let mut told = format!("\n{all}: {slower} slower, {} faster", self.count(FASTER));
        if self.only_before + self.only_after > 0 {
            told += &format!("; {} only before, {} only after", self.only_before, self.only_after);
        }
        text + &wrapped(&told) + &warned(&self.warnings)
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let row = |it: &Change| {
            let mut row = json!(it);
            row["verdict"] = it.word().into();
            row
        };
        let columns = "setting lock before after ratio ratio_low=ratio_ci95/0 ratio_high=ratio_ci95/1 verdict";
        Grid::of_json(self.results.iter().map(row), columns)
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
    fn is_measured(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_if_its_whole_interval_is_beyond_the_tolerance() {
        for (interval, verdict) in [
            ([0.9, 0.97], SLOWER),
            ([0.9, 0.985], SAME),
            ([0.9, 1.2], SAME),
            ([1.021, 1.2], FASTER),
        ] {
            assert_eq!(super::verdict(interval, 2.0), verdict, "{interval:?}");
        }
        assert_eq!(verdict([0.9, 0.97], 5.0), SAME);
    }
}
