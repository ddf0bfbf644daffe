//! The results of a benchmark, in each format.

use super::schedule::{Sample, Schedule};
use crate::cell::{On, Settings, Workload};
use crate::error::Error;
use crate::report::{self, Bar, Chart, Grid, Point, Report, Series, Shape, Waits};
use crate::stats::Summary;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// `lockwright.bench/1`.
#[derive(Clone, Debug, Serialize)]
pub struct BenchDocument {
    schema: &'static str,
    on: On,
    workload: Workload,
    seed: u64,
    secs: f64,
    tunables: BTreeMap<&'static str, u64>,
    results: Vec<BenchResult>,
    /// Whether Ctrl-C ended it early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Native: what others used of the machine meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_load_percent: Option<f64>,
    /// Operations of all repetitions.
    #[serde(skip)]
    pub operations: u64,
    /// Events of the simulation in all repetitions.
    #[serde(skip)]
    pub simulated_events: u64,
}

/// One lock with one number of threads.
#[derive(Clone, Debug, Serialize)]
struct BenchResult {
    lock: &'static str,
    threads: usize,
    runs: usize,
    /// How long a repetition was, on average: less than asked for after Ctrl-C.
    secs: f64,
    ops_per_s: Summary,
    per_thread_ops: PerThread,
    wait_ns: Option<Waits>,
    cpu_s: f64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    events: BTreeMap<&'static str, u64>,
    readers: usize,
    writers: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair_ns: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_to_floor: Option<Ratio>,
    /// Simulated: fingerprints of the repetitions' histories, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    digests: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// Operations of the threads of a repetition: mean over the repetitions.
#[derive(Clone, Copy, Debug, Serialize)]
struct PerThread {
    min: u64,
    avg: u64,
    max: u64,
}

/// The cost of a pair in terms of the floor's in the same repetition.
#[derive(Clone, Debug, Serialize)]
struct Ratio {
    median: f64,
    min: f64,
    max: f64,
    per_repetition: Vec<f64>,
}

impl BenchResult {
    fn of(sample: &Sample, workload: Workload) -> Self {
        let runs = &sample.throughput;
        let column =
            |get: fn(&crate::cell::Measurement) -> f64| runs.iter().map(get).collect::<Vec<f64>>();
        let mean = |get| Summary::of(&column(get)).mean;
        let rounded = |get| mean(get).round() as u64;
        let latency = sample.latency.as_ref();
        let waits = latency.and_then(|measured| measured.waits.as_ref());
        let is_pair = workload == Workload::Uncontended && !runs.is_empty();
        Self {
            lock: sample.asked.subject.name(),
            threads: sample.threads,
            runs: runs.len(),
            secs: mean(|run| run.window_ns as f64 / 1e9),
            ops_per_s: Summary::of(&column(|run| run.ops_per_s)),
            per_thread_ops: PerThread {
                min: rounded(|run| run.min_max_ops().0 as f64),
                avg: rounded(|run| run.total_ops() as f64 / run.per_thread_ops.len().max(1) as f64),
                max: rounded(|run| run.min_max_ops().1 as f64),
            },
            wait_ns: waits.map(Waits::of),
            cpu_s: mean(|run| run.cpu_s),
            voluntary_switches: rounded(|run| run.voluntary_switches as f64),
            involuntary_switches: rounded(|run| run.involuntary_switches as f64),
            events: latency.map(|run| run.events.happened().collect()).unwrap_or_default(),
            readers: 0,
            writers: sample.threads,
            pair_ns: is_pair.then(|| Summary::of(&column(pair_ns))),
            ratio_to_floor: ratio_to_floor(sample),
            digests: runs.iter().filter_map(|run| run.digest.clone()).collect(),
            failure: sample.failure.as_ref().map(|(_, how)| how.clone()),
        }
    }
}

fn pair_ns(run: &crate::cell::Measurement) -> f64 {
    1e9 / run.ops_per_s
}

fn ratio_to_floor(sample: &Sample) -> Option<Ratio> {
    let pairs = sample.throughput.iter().zip(&sample.floor);
    let ratios: Vec<f64> = pairs.map(|(run, floor)| pair_ns(run) / pair_ns(floor)).collect();
    let summary = Summary::of(&ratios);
    let Summary { median, min, max, .. } = summary;
    (!ratios.is_empty()).then_some(Ratio { median, min, max, per_repetition: ratios })
}

impl BenchDocument {
    /// A document without results.
    pub fn new(schedule: &Schedule, on: On, settings: &Settings) -> Self {
        let tunables = settings.tunables.iter().map(|&(tunable, value)| (tunable.name(), value));
        Self {
            schema: "lockwright.bench/1",
            on,
            workload: schedule.workload,
            seed: schedule.seed,
            secs: schedule.window_ns as f64 / 1e9,
            tunables: tunables.collect(),
            results: Vec::new(),
            interrupted: false,
            foreign_load_percent: None,
            operations: 0,
            simulated_events: 0,
        }
    }
    /// Adds a result.
    pub fn add(&mut self, sample: Sample) {
        for run in sample.throughput.iter().chain(&sample.latency) {
            self.operations += run.total_ops();
            self.simulated_events += run.simulated_events;
        }
        self.results.push(BenchResult::of(&sample, self.workload));
    }
    /// An error that names the first lock that failed, if one did.
    pub fn verdict(&self) -> Result<(), Error> {
        let failed = self.results.iter().find_map(|result| {
            let how = result.failure.as_ref()?;
            Some(format!("`{}` with {} threads: {how}", result.lock, result.threads))
        });
        failed.map_or(Ok(()), |sentence| Err(Error::Measurement(sentence)))
    }
    /// Million operations per second of a lock, by threads.
    fn series(&self) -> Vec<Series> {
        let mut series: Vec<Series> = Vec::new();
        for result in &self.results {
            let mops = |ops_per_s: f64| ops_per_s / 1e6;
            let point = Point {
                x: result.threads as f64,
                y: mops(result.ops_per_s.median),
                spread: mops(result.ops_per_s.stddev),
            };
            match series.iter_mut().find(|series| series.name == result.lock) {
                Some(series) => series.points.push(point),
                None => series.push(Series {
                    name: result.lock.into(),
                    points: vec![point],
                    is_reference: false,
                }),
            }
        }
        series
    }
    fn title(&self) -> String {
        let simulated = if self.on.is_simulated() { "simulated " } else { "" };
        format!("{} on {simulated}{}", self.workload.described(), self.on.machine())
    }
    fn pairs_table(&self) -> String {
        let mut grid =
            Grid::new(["lock", "ns per pair", "min", "max", "of the floor", "min", "max"]);
        for result in &self.results {
            let pair = result.pair_ns.unwrap_or_default();
            let ratio = |get: fn(&Ratio) -> f64| {
                result.ratio_to_floor.as_ref().map_or(String::new(), |r| format!("{:.2}", get(r)))
            };
            grid.push([
                result.lock.into(),
                format!("{:.2}", pair.median),
                format!("{:.2}", pair.min),
                format!("{:.2}", pair.max),
                ratio(|r| r.median),
                ratio(|r| r.min),
                ratio(|r| r.max),
            ]);
        }
        report::text_table(&grid, 1)
    }
    fn contended_table(&self) -> String {
        let mut grid = Grid::new([
            "lock",
            "threads",
            "Mops/s",
            "+-",
            "thread min/max",
            "wait p50",
            "p99.9",
            "max",
            "CPUs",
            "switches/s",
        ]);
        for result in &self.results {
            let wait = |get: fn(&Waits) -> u64| {
                result.wait_ns.as_ref().map_or(String::new(), |waits| duration(get(waits)))
            };
            let switches = result.voluntary_switches + result.involuntary_switches;
            let per_thread = result.per_thread_ops;
            let per_second = |count: u64| format!("{:.0}", count as f64 / result.secs);
            let evenness = per_thread.min as f64 / per_thread.max.max(1) as f64;
            let real_only = |text: String| if self.on.is_simulated() { "-".into() } else { text };
            grid.push([
                result.lock.into(),
                result.threads.to_string(),
                format!("{:.3}", result.ops_per_s.median / 1e6),
                format!("{:.3}", result.ops_per_s.stddev / 1e6),
                format!("{evenness:.2}"),
                wait(|waits| waits.p50),
                wait(|waits| waits.p999),
                wait(|waits| waits.max),
                real_only(format!("{:.2}", result.cpu_s / result.secs)),
                real_only(per_second(switches)),
            ]);
        }
        report::text_table(&grid, 1)
    }
    fn csv_row(&self, result: &BenchResult) -> [String; CSV_COLUMNS.len()] {
        let wait = |get: fn(&Waits) -> u64| {
            result.wait_ns.as_ref().map_or(String::new(), |waits| get(waits).to_string())
        };
        let optional = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
        let (ops, per_thread) = (result.ops_per_s, result.per_thread_ops);
        [
            self.on.kind().into(),
            self.on.machine().into(),
            self.workload.name().into(),
            result.lock.into(),
            result.threads.to_string(),
            result.runs.to_string(),
            ops.median.to_string(),
            ops.mean.to_string(),
            ops.stddev.to_string(),
            ops.min.to_string(),
            ops.max.to_string(),
            per_thread.min.to_string(),
            per_thread.avg.to_string(),
            per_thread.max.to_string(),
            wait(|waits| waits.p50),
            wait(|waits| waits.p99),
            wait(|waits| waits.p999),
            wait(|waits| waits.max),
            result.cpu_s.to_string(),
            result.voluntary_switches.to_string(),
            result.involuntary_switches.to_string(),
            optional(result.pair_ns.map(|pair| pair.median)),
            optional(result.ratio_to_floor.as_ref().map(|ratio| ratio.median)),
        ]
    }
}

/// The columns of the CSV form.
const CSV_COLUMNS: [&str; 23] = [
    "kind",
    "machine",
    "workload",
    "lock",
    "threads",
    "runs",
    "ops_per_s_median",
    "ops_per_s_mean",
    "ops_per_s_stddev",
    "ops_per_s_min",
    "ops_per_s_max",
    "per_thread_ops_min",
    "per_thread_ops_avg",
    "per_thread_ops_max",
    "wait_ns_p50",
    "wait_ns_p99",
    "wait_ns_p999",
    "wait_ns_max",
    "cpu_s",
    "voluntary_switches",
    "involuntary_switches",
    "pair_ns_median",
    "ratio_to_floor_median",
];

/// A time with a unit that fits.
pub fn duration(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

impl Report for BenchDocument {
    fn text(&self) -> String {
        let mut text = self.title();
        if let On::Simulated { placement, calibration, .. } = &self.on {
            let _ = write!(text, "\nsimulated; placement {placement}; ");
            let _ = match calibration {
                Some(fitted) => write!(text, "{fitted}"),
                None => write!(text, "nothing was fitted"),
            };
        }
        let runs = self.results.iter().map(|result| result.runs).max().unwrap_or(0);
        let _ = writeln!(text, "\n{runs} x {} s, seed {}\n", self.secs, self.seed);
        text += &match self.workload {
            Workload::Uncontended => self.pairs_table(),
            _ => self.contended_table(),
        };
        text
    }
    fn json(&self) -> String {
        report::to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = Grid::new(CSV_COLUMNS);
        self.results.iter().for_each(|result| grid.push(self.csv_row(result)));
        grid
    }
    fn chart(&self) -> Option<Chart> {
        let most_threads = self.results.iter().map(|result| result.threads).max()?;
        let bar = |result: &BenchResult, value| Bar { name: result.lock.into(), value };
        let bars = |get: &dyn Fn(&BenchResult) -> f64| {
            Shape::Bars(self.results.iter().map(|result| bar(result, get(result))).collect())
        };
        let (x_label, y_label, shape) = if self.workload == Workload::Uncontended {
            let pair = |result: &BenchResult| result.pair_ns.map_or(0.0, |pair| pair.median);
            ("", "ns per lock and unlock", bars(&pair))
        } else if self.results.iter().all(|result| result.threads == most_threads) {
            let mops = |result: &BenchResult| result.ops_per_s.median / 1e6;
            ("", "million operations per second", bars(&mops))
        } else {
            ("threads", "million operations per second", Shape::Lines(self.series()))
        };
        let (x_label, y_label) = (x_label.into(), y_label.into());
        Some(Chart { title: self.title(), x_label, y_label, shape })
    }
}
