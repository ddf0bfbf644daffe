//! The results of a torture, in each format.

use crate::cell::{CellSpec, Measurement, On, Settings, Workload};
use crate::report::{self, Bar, Chart, Grid, Report, Shape, Waits};
use crate::stress::{Exercised, Stress};
use lockwright_sim::Preemption;
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
    /// Whether Ctrl-C ended it early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Whether nothing more can be run in this process.
    #[serde(skip)]
    pub is_over: bool,
}

/// What was mixed in; 0 is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Mixed {
    long_hold_ms: f64,
    nested: usize,
    /// On average.
    preemption: Option<Faults>,
    shuffle_s: f64,
    stutter_s: f64,
}

/// When simulated threads lose their CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Faults {
    every_ns: u64,
    for_ns: u64,
}

impl From<Stress> for Mixed {
    fn from(stress: Stress) -> Self {
        let faults = |Preemption { every_ns, for_ns }| Faults { every_ns, for_ns };
        Self {
            long_hold_ms: stress.long_hold_ms(),
            nested: stress.nested,
            preemption: stress.preemption.map(faults),
            shuffle_s: stress.shuffle_s(),
            stutter_s: stress.stutter_s(),
        }
    }
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
    /// How it began, if the threads share simulated CPUs.
    start_state: Option<&'static str>,
    secs: f64,
    total: u64,
    max: u64,
    min: u64,
    fail: u64,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    wait_ns: Option<Waits>,
    most_overtakes: Option<u32>,
    exercised: Exercised,
    /// If the threads share simulated CPUs: how often one lost its CPU, and how often it slept.
    #[serde(skip_serializing_if = "Option::is_none")]
    switches: Option<Switches>,
    #[serde(skip)]
    mixed: Mixed,
    #[serde(skip)]
    machine: String,
    #[serde(skip)]
    is_guest: bool,
}

/// How often threads gave up their CPU and how often they lost it.
#[derive(Clone, Copy, Debug, Serialize)]
struct Switches {
    voluntary: u64,
    involuntary: u64,
}

impl TortureResult {
    /// The result of `spec` on a machine; `failure` says what broke.
    pub fn new(on: &On, spec: &CellSpec, measured: &Measurement, failure: Option<String>) -> Self {
        let (min, max) = measured.min_max_ops();
        Self {
            lock: spec.lock.name(),
            threads: spec.threads,
            start_state: spec.scheduling.map(|scheduling| scheduling.start.name()),
            secs: measured.window_ns as f64 / 1e9,
            total: measured.total_ops(),
            max,
            min,
            fail: measured.fail,
            verdict: if failure.is_some() { Verdict::Failure } else { Verdict::Success },
            failure,
            wait_ns: measured.waits.as_ref().map(Waits::of),
            most_overtakes: measured.most_overtakes,
            exercised: measured.exercised,
            switches: spec.scheduling.map(|_| Switches {
                voluntary: measured.voluntary_switches,
                involuntary: measured.involuntary_switches,
            }),
            mixed: spec.purpose.stress().into(),
            machine: match on {
                On::Native { .. } => "native".into(),
                On::Simulated { machine, .. } => format!("simulated-{machine}"),
            },
            is_guest: on.is_guest(),
        }
    }
    /// The lock's name.
    pub fn name(&self) -> &'static str {
        self.lock
    }
    /// The lock, the number of threads and, if there is one, the start state.
    pub fn who(&self) -> String {
        let noun = if self.is_guest { "vCPUs" } else { "threads" };
        let start = self.start_state.map_or(String::new(), |start| format!(", {start}"));
        format!("{}, {} {noun}{start}", self.lock, self.threads)
    }
    /// What broke, if something did.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
    /// What was mixed in and never happened, in words.
    pub fn missing(&self, stress: &Stress) -> Vec<&'static str> {
        self.exercised.missing(stress)
    }
    /// The lines of locktorture, and one more.
    pub fn lines(&self) -> [String; 4] {
        let Self { lock, total, max, min, .. } = *self;
        let parameters = self.parameters();
        // The kernel's fairness mark: a thread had less than half of the luckiest one's
        // acquisitions.
        let unfair = if max / 2 > min { "???" } else { "" };
        let failed = self.verdict == Verdict::Failure;
        let (fail, mark) = if failed { (1, "!!!") } else { (0, "") };
        let verdict = self.verdict.name();
        [
            format!("{lock}-torture:--- Start of test: {parameters}"),
            format!("Writes:  Total: {total}  Max/Min: {max}/{min} {unfair}  Fail: {fail} {mark}"),
            self.stress_line(),
            format!("{lock}-torture:--- End of test: {verdict}: {parameters}"),
        ]
    }
    /// Every parameter, in alphabetical order; those of the kernel have its names.
    fn parameters(&self) -> String {
        let Self { threads, mixed, machine, start_state, is_guest, .. } = self;
        let Mixed { long_hold_ms, nested, preemption, shuffle_s, stutter_s } = mixed;
        let faults = u8::from(preemption.is_some());
        let start = start_state.map_or(String::new(), |start| format!(" start_state={start}"));
        let vcpus = if *is_guest { format!(" vcpus={threads}") } else { String::new() };
        format!(
            "faults={faults} long_hold={long_hold_ms} machine={machine} nested_locks={nested} \
             nwriters_stress={threads} shuffle_interval={shuffle_s}{start} stutter={stutter_s}{vcpus}"
        )
    }
    /// How often what was mixed in happened, and how fair it was.
    fn stress_line(&self) -> String {
        let Exercised { long_holds, nested, stutters, shuffles, preemptions } = self.exercised;
        let is_simulated = self.machine.starts_with("simulated");
        let label = if is_simulated { "Stress (simulated):" } else { "Stress:" };
        let mut line =
            format!("{label}  Long holds: {long_holds}  Nested: {nested}  Stutters: {stutters}  ");
        line += &match is_simulated {
            true => {
                let lost = self.switches.map_or(preemptions, |switches| switches.involuntary);
                let slept =
                    self.switches.map(|switches| format!("Sleeps: {}  ", switches.voluntary));
                format!("Preemptions: {lost}  {}", slept.unwrap_or_default())
            }
            false => format!("Shuffles: {shuffles}  "),
        };
        if let Some(overtakes) = self.most_overtakes {
            line += &format!("Most overtakes: {overtakes}  ");
        }
        let longest = self.wait_ns.map_or("none".into(), |waits| milliseconds(waits.max));
        line + &format!("Longest wait: {longest}")
    }
}

fn milliseconds(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
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
            is_over: false,
        }
    }
    /// The machine.
    pub fn on(&self) -> &On {
        &self.on
    }
    /// Adds a result.
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
            "kind",
            "machine",
            "lock",
            "threads",
            "start_state",
            "secs",
            "total",
            "max",
            "min",
            "fail",
            "verdict",
            "long_holds",
            "nested",
            "stutters",
            "shuffles",
            "preemptions",
            "most_overtakes",
            "wait_ns_max",
        ]);
        for result in &self.results {
            grid.push([
                self.on.kind().into(),
                self.on.machine().into(),
                result.lock.into(),
                result.threads.to_string(),
                result.start_state.unwrap_or_default().into(),
                result.secs.to_string(),
                result.total.to_string(),
                result.max.to_string(),
                result.min.to_string(),
                result.fail.to_string(),
                result.verdict.name().into(),
                result.exercised.long_holds.to_string(),
                result.exercised.nested.to_string(),
                result.exercised.stutters.to_string(),
                result.exercised.shuffles.to_string(),
                result.exercised.preemptions.to_string(),
                result.most_overtakes.map_or(String::new(), |count| count.to_string()),
                result.wait_ns.map_or(String::new(), |waits| waits.max.to_string()),
            ]);
        }
        grid
    }
    fn chart(&self) -> Option<Chart> {
        let simulated = if self.on.is_simulated() { "simulated " } else { "" };
        let bar = |result: &TortureResult| Bar {
            name: result.who(),
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
    use crate::stats::Histogram;
    use crate::subject::Subject;

    const STRESS: Stress = Stress {
        long_hold_ns: 100_000_000,
        stutter_ns: 5_000_000,
        shuffle_ns: 0,
        nested: 2,
        preemption: Some(Preemption { every_ns: 10, for_ns: 5 }),
    };

    fn result(per_thread_ops: Vec<u64>, failure: Option<&str>) -> TortureResult {
        let spec = CellSpec {
            lock: Subject::find("ticket").expect("a known name"),
            workload: Workload::Locktorture { long_hold: true },
            scheduling: None,
            threads: per_thread_ops.len(),
            window_ns: 1_000_000,
            repetition: 0,
            seed: 1,
            purpose: Purpose::Torture(STRESS),
        };
        let mut waits = Histogram::default();
        waits.record(1_250_000);
        let measured = Measurement {
            per_thread_ops,
            window_ns: 1_000_000,
            waits: Some(waits),
            most_overtakes: Some(3),
            exercised: Exercised { long_holds: 5, nested: 70, stutters: 4, ..Exercised::default() },
            ..Measurement::default()
        };
        let on = On::Simulated {
            machine: "x".into(),
            description: String::new(),
            cpus: 2,
            numa_nodes: 1,
            scheduled: None,
            placement: None,
            calibration: None,
        };
        TortureResult::new(&on, &spec, &measured, failure.map(String::from))
    }

    #[test]
    fn the_lines_are_those_of_locktorture_and_one_about_the_stress() {
        let [start, statistics, stress, end] = result(vec![70, 50], None).lines();
        let parameters = "faults=1 long_hold=100 machine=simulated-x nested_locks=2 \
                          nwriters_stress=2 shuffle_interval=0 stutter=0.005";
        assert_eq!(start, format!("ticket-torture:--- Start of test: {parameters}"));
        assert_eq!(statistics, "Writes:  Total: 120  Max/Min: 70/50   Fail: 0 ");
        assert_eq!(
            stress,
            "Stress (simulated):  Long holds: 5  Nested: 70  Stutters: 4  Preemptions: 0  \
             Most overtakes: 3  Longest wait: 1.250 ms"
        );
        assert_eq!(end, format!("ticket-torture:--- End of test: SUCCESS: {parameters}"));
    }

    #[test]
    fn unfair_and_failed_locks_are_marked() {
        let [_, statistics, _, end] = result(vec![100, 49], Some("two owners")).lines();
        assert_eq!(statistics, "Writes:  Total: 149  Max/Min: 100/49 ???  Fail: 1 !!!");
        assert!(end.contains("End of test: FAILURE"));
    }
}
