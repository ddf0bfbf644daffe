//! The results of a torture, in each format.

mod result;

use lockwright_measure::record::TrialRecord;
use lockwright_measure::stress::Stress;
use lockwright_measure::trial::{On, Settings, Trial};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{Bar, Chart, ChartShape, Grid, Report, optional, to_json, warned};
use result::{Mixed, TortureResult};
use serde::Serialize;
use std::collections::BTreeMap;

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
        self.results.iter().any(TortureResult::has_failed)
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
        Grid::of(
            &self.results,
            &[
                ("kind", &|_| self.on.kind().into()),
                ("machine", &|_| self.on.machine().into()),
                ("lock", &|it| it.lock.into()),
                ("threads", &|it| it.threads.to_string()),
                ("start_state", &|it| it.start_state.unwrap_or_default().into()),
                ("secs", &|it| it.secs.to_string()),
                ("total", &|it| it.total.to_string()),
                ("max", &|it| it.max.to_string()),
                ("min", &|it| it.min.to_string()),
                ("fail", &|it| it.fail.to_string()),
                ("verdict", &|it| it.verdict.name().into()),
                ("long_holds", &|it| it.exercised.long_holds.to_string()),
                ("nested", &|it| it.exercised.nested.to_string()),
                ("stutters", &|it| it.exercised.stutters.to_string()),
                ("shuffles", &|it| it.exercised.shuffles.to_string()),
                ("preemptions", &|it| it.exercised.preemptions.to_string()),
                ("most_overtakes", &|it| optional(it.most_overtakes)),
                ("wait_ns_max", &|it| optional(it.wait_ns.map(|waits| waits.max))),
                ("writers", &|it| it.writers.to_string()),
                ("readers", &|it| it.readers.to_string()),
                ("reads_total", &|it| optional(it.reads.map(|reads| reads.total))),
                ("reads_max", &|it| optional(it.reads.map(|reads| reads.max))),
                ("reads_min", &|it| optional(it.reads.map(|reads| reads.min))),
            ],
        )
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
