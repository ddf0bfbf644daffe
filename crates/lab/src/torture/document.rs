//! The results of a torture, in each format.

use crate::cell::{CellSpec, Measurement, On, Settings, Workload};
use crate::report::{self, Bar, Chart, Grid, Report, Shape};
use serde::Serialize;
use std::collections::BTreeMap;

/// `lockwright.torture/1`.
#[derive(Clone, Debug, Serialize)]
pub struct TortureDocument {
    schema: &'static str,
    on: On,
    workload: Workload,
    seed: u64,
    tunables: BTreeMap<&'static str, u64>,
    results: Vec<TortureResult>,
    /// Whether Ctrl-C ended it early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Whether nothing more can be run in this process.
    #[serde(skip)]
    pub is_over: bool,
}

/// What became of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Everything that was checked held.
    #[serde(rename = "SUCCESS")]
    Success,
    /// Something did not.
    #[serde(rename = "FAILURE")]
    Failure,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::Failure => "FAILURE",
        }
    }
}

/// One lock with one number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct TortureResult {
    lock: &'static str,
    threads: usize,
    secs: f64,
    total: u64,
    max: u64,
    min: u64,
    fail: u64,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(skip)]
    long_hold: bool,
    #[serde(skip)]
    machine: String,
}

impl TortureResult {
    /// The result of `spec` on a machine; `failure` says what broke.
    pub fn new(on: &On, spec: &CellSpec, measured: &Measurement, failure: Option<String>) -> Self {
        let (min, max) = measured.min_max_ops();
        Self {
            lock: spec.lock.name(),
            threads: spec.threads,
            secs: measured.window_ns as f64 / 1e9,
            total: measured.total_ops(),
            max,
            min,
            fail: measured.fail,
            verdict: if failure.is_some() { Verdict::Failure } else { Verdict::Success },
            failure,
            long_hold: spec.workload == Workload::Locktorture { long_hold: true },
            machine: match on {
                On::Native { .. } => "native".into(),
                On::Simulated { machine, .. } => format!("simulated-{machine}"),
            },
        }
    }
    /// The lock's name.
    pub fn name(&self) -> &'static str {
        self.lock
    }
    /// What broke, if something did.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
    /// The lines of locktorture.
    pub fn lines(&self) -> [String; 3] {
        let Self { lock, threads, total, max, min, ref machine, .. } = *self;
        let long_hold = if self.long_hold { 100 } else { 0 };
        let parameters =
            format!("long_hold={long_hold} machine={machine} nwriters_stress={threads}");
        // A thread that had less than half of the luckiest one's acquisitions is worth a mark.
        let unfair = if max / 2 > min { "???" } else { "" };
        let failed = self.verdict == Verdict::Failure;
        let (fail, mark) = if failed { (1, "!!!") } else { (0, "") };
        let verdict = self.verdict.name();
        [
            format!("{lock}-torture:--- Start of test: {parameters}"),
            format!("Writes:  Total: {total}  Max/Min: {max}/{min} {unfair}  Fail: {fail} {mark}"),
            format!("{lock}-torture:--- End of test: {verdict}: {parameters}"),
        ]
    }
}

impl TortureDocument {
    /// A document without results.
    pub fn new(on: On, workload: Workload, seed: u64, settings: Settings) -> Self {
        let tunables = settings.tunables.iter().map(|&(tunable, value)| (tunable.name(), value));
        Self {
            schema: "lockwright.torture/1",
            on,
            workload,
            seed,
            tunables: tunables.collect(),
            results: Vec::new(),
            interrupted: false,
            is_over: false,
        }
    }
    /// Adds a result and returns it.
    pub fn add(&mut self, result: TortureResult) {
        self.results.push(result);
    }
    /// The newest result, if there is one.
    pub fn last(&self) -> Option<&TortureResult> {
        self.results.last()
    }
    /// Whether a lock broke.
    pub fn has_failed(&self) -> bool {
        self.results.iter().any(|result| result.verdict == Verdict::Failure)
    }
}

impl Report for TortureDocument {
    fn text(&self) -> String {
        let lines = self.results.iter().flat_map(TortureResult::lines);
        lines.map(|line| line + "\n").collect()
    }
    fn json(&self) -> String {
        report::to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = Grid::new([
            "kind", "machine", "lock", "threads", "secs", "total", "max", "min", "fail", "verdict",
        ]);
        for result in &self.results {
            grid.push([
                self.on.kind().into(),
                self.on.machine().into(),
                result.lock.into(),
                result.threads.to_string(),
                result.secs.to_string(),
                result.total.to_string(),
                result.max.to_string(),
                result.min.to_string(),
                result.fail.to_string(),
                result.verdict.name().into(),
            ]);
        }
        grid
    }
    fn chart(&self) -> Option<Chart> {
        let simulated = if self.on.is_simulated() { "simulated " } else { "" };
        let bar = |result: &TortureResult| Bar {
            name: format!("{}, {} threads", result.lock, result.threads),
            value: result.total as f64 / result.secs / 1e6,
        };
        Some(Chart {
            title: format!("torture on {simulated}{}", self.on.machine()),
            x_label: String::new(),
            y_label: "million acquisitions per second".into(),
            shape: Shape::Bars(self.results.iter().map(bar).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Purpose;
    use crate::subject::Subject;

    fn result(per_thread_ops: Vec<u64>, failure: Option<&str>) -> TortureResult {
        let spec = CellSpec {
            lock: Subject::find("ticket").expect("a known name"),
            workload: Workload::Locktorture { long_hold: true },
            threads: per_thread_ops.len(),
            window_ns: 1_000_000,
            repetition: 0,
            seed: 1,
            purpose: Purpose::Torture,
        };
        let measured = Measurement { per_thread_ops, window_ns: 1_000_000, ..Default::default() };
        let on = On::Simulated {
            machine: "x".into(),
            description: String::new(),
            cpus: 2,
            numa_nodes: 1,
            placement: "compact".into(),
            calibration: None,
        };
        TortureResult::new(&on, &spec, &measured, failure.map(String::from))
    }

    #[test]
    fn the_lines_are_those_of_locktorture() {
        let [start, statistics, end] = result(vec![70, 50], None).lines();
        assert_eq!(
            start,
            "ticket-torture:--- Start of test: long_hold=100 machine=simulated-x nwriters_stress=2"
        );
        assert_eq!(statistics, "Writes:  Total: 120  Max/Min: 70/50   Fail: 0 ");
        assert_eq!(
            end,
            "ticket-torture:--- End of test: SUCCESS: long_hold=100 machine=simulated-x nwriters_stress=2"
        );
    }

    #[test]
    fn unfair_and_failed_locks_are_marked() {
        let [_, statistics, end] = result(vec![100, 49], Some("two owners")).lines();
        assert_eq!(statistics, "Writes:  Total: 149  Max/Min: 100/49 ???  Fail: 1 !!!");
        assert!(end.contains("End of test: FAILURE"));
    }
}
