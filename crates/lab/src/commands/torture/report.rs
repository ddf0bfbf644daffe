//! The results of a torture, in each format.

mod result;

use lockwright_measure::record::TrialRecord;
use lockwright_measure::stress::Stress;
use lockwright_measure::trial::{On, Settings, Trial};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{Bar, Chart, ChartShape, Grid, Report, to_json, warned};
use result::{Mixed, TortureResult};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// The columns as CSV.
const COLUMNS: &str = "kind machine lock threads start_state secs total max min fail verdict \
    long_holds=exercised/long_holds nested=exercised/nested stutters=exercised/stutters \
    shuffles=exercised/shuffles preemptions=exercised/preemptions most_overtakes wait_ns/max writers readers \
    reads/total reads/max reads/min";

/// `lockwright.torture/1`.
#[derive(Clone, Debug, Serialize)]
pub struct TortureDocument {
    schema: &'static str,
    on: On,
    workload: Workload,
    /// What was mixed in.
    pub stress: Mixed,
    seed: u64,
    tunables: BTreeMap<&'static str, u64>,
    results: Vec<TortureResult>,
    /// True if Ctrl-C ended it early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What the reader should know about the results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// True if nothing more can be run in this process.
    #[serde(skip)]
    pub is_over: bool,
}

impl TortureDocument {
    /// A document without results.
    pub fn new(on: On, workload: Workload, seed: u64, settings: Settings) -> Self {
        let tunables = settings.tunables.iter().map(|&(tunable, value)| (tunable.name(), value));
        Self {
            schema: "lockwright.torture/1",
            on,
            workload,
            stress: Mixed::default(),
            seed,
            tunables: tunables.collect(),
            results: Vec::new(),
            interrupted: false,
            warnings: Vec::new(),
            is_over: false,
        }
    }
    /// Adds what was measured of `spec`; `failure` says what broke.
    pub fn add(&mut self, spec: &Trial, measured: &TrialRecord, failure: Option<String>) {
        self.results.push(TortureResult::new(&self.on, spec, measured, failure));
    }
    /// The newest result, if there is one.
    pub fn last(&self) -> Option<&TortureResult> {
        self.results.last()
    }
    /// Adds a warning for each part of `stress` that never happened to some locks.
    pub fn note_short_runs(&mut self, stress: &Stress) {
        let mut short: Vec<(String, Vec<String>)> = Vec::new();
        for result in self.results.iter().filter(|result| result.failure().is_none()) {
            let missing = result.missing(stress).join(" and no ");
            match short.iter_mut().find(|(known, _)| *known == missing) {
                _ if missing.is_empty() => {}
                Some((_, locks)) => locks.push(result.who()),
                None => short.push((missing, vec![result.who()])),
            }
        }
        let warning = |(missing, locks): (String, Vec<String>)| {
            let locks = locks.join("; ");
            format!(
                "there was no {missing} in these runs, which were too short: {locks}. Give a longer --secs"
            )
        };
        self.warnings.extend(short.into_iter().map(warning));
    }
    /// True if a lock broke.
    pub fn has_failed(&self) -> bool {
        self.results.iter().any(|result| result.failure().is_some())
    }
}

impl Report for TortureDocument {
    fn text(&self) -> String {
        let lines = self.results.iter().flat_map(TortureResult::lines);
        lines.map(|line| line + "\n").collect::<String>() + &warned(&self.warnings)
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let row = |result: &TortureResult| {
            let mut row = json!(result);
            row["kind"] = self.on.kind().into();
            row["machine"] = self.on.machine().into();
            row
        };
        Grid::of_json(self.results.iter().map(row), COLUMNS)
    }
    fn chart(&self) -> Option<Chart> {
        let simulated = if self.on.is_simulated() { "simulated " } else { "" };
        let bar = |result: &TortureResult| Bar {
            name: result.who(),
            value: result.acquisitions_per_s() / 1e6,
        };
        Some(Chart {
            title: format!("torture on {simulated}{}", self.on.machine()),
            x_label: String::new(),
            y_label: "million acquisitions per second".into(),
            shape: ChartShape::Bars(self.results.iter().map(bar).collect()),
        })
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
