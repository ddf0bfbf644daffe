//! One trial: everything that decides its result, and its key.

use crate::sweep::axis::AxisValue;
use crate::sweep::key::{CODE, Sha};
use crate::sweep::workload::{Given, STUTTER, SweptWorkload};
use lockwright_catalog::registry::LockRow;
use lockwright_measure::cell::{Purpose, Workload};
use lockwright_measure::simulated::{Cell, Outcome, SimulatedError, SimulatedMachine};
use lockwright_core::tunables::Tunable;
use lockwright_sim::machine::ThreadPlacement;
use lockwright_sim::{ScheduledKind, Scheduling};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// One run of one lock, simulated.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Which of the points that were drawn.
    pub(crate) point: usize,
    /// The machine with its numbers, which trials share.
    pub(crate) machine: Arc<TriedMachine>,
    pub(crate) placement: ThreadPlacement,
    pub(crate) lock: &'static LockRow,
    pub(crate) tunables: Vec<(Tunable, u64)>,
    pub(crate) workload: &'static SweptWorkload,
    pub(crate) given: Arc<Given>,
    pub(crate) threads: u32,
    pub(crate) scheduling: Option<Scheduling>,
    pub(crate) warmup_us: u64,
    pub(crate) window_us: u64,
    pub(crate) seed: u64,
}

/// A machine of a question, with the numbers that the question sets.
#[derive(Debug)]
pub(crate) struct TriedMachine {
    /// As the question names it.
    pub(crate) name: String,
    pub(crate) numbers: Vec<(String, f64)>,
    /// What parts of the software of workloads take, in nanoseconds.
    pub(crate) software: Vec<(String, f64)>,
    pub(crate) simulated: SimulatedMachine,
    /// A digest of all numbers of the machine and of what was fitted to it.
    pub(crate) digest: String,
}

impl TriedMachine {
    pub(crate) fn new(
        name: &str,
        numbers: Vec<(String, f64)>,
        software: Vec<(String, f64)>,
        simulated: SimulatedMachine,
    ) -> Self {
        let machine = simulated.machine();
        let all = format!(
            "{:?} {:?} {:?} {:?}",
            machine.topology,
            machine.costs,
            machine.scheduler,
            simulated.parameters()
        );
        let digest = Sha::of(&all).hex(16);
        Self { name: name.into(), numbers, software, digest, simulated }
    }
}

/// What a line of results says of a trial, in this order.
#[derive(Clone, Debug, Serialize)]
struct Described<'a> {
    machine: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    set: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    software: Map<String, Value>,
    placement: &'static str,
    lock: &'static str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    tunables: Map<String, Value>,
    workload: &'static str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    parameters: Map<String, Value>,
    threads: u32,
    scheduling: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<&'static str>,
    warmup_us: u64,
    window_us: u64,
    seed: u64,
}

/// What a line says of the result.
#[derive(Clone, Debug, Default, Serialize)]
struct Measured {
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ops_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ops: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least_ops: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_ops: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fairness_factor: Option<f64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    events: Map<String, Value>,
    simulated_events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

/// The names of the kinds of scheduling.
pub(crate) const SCHEDULINGS: [(&str, Option<ScheduledKind>); 4] = [
    ("own-cpu", None),
    ("program", Some(ScheduledKind::Program)),
    ("guest", Some(ScheduledKind::Guest { virtual_numa: false })),
    ("guest-with-nodes", Some(ScheduledKind::Guest { virtual_numa: true })),
];

fn value(value: &AxisValue) -> Value {
    match value {
        AxisValue::Text(text) => text.as_str().into(),
        AxisValue::Number(number) => number_value(*number),
        AxisValue::Truth(truth) => (*truth).into(),
    }
}

/// A whole number without a point.
fn number_value(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 9e15 {
        true => (number as i64).into(),
        false => number.into(),
    }
}

/// The share of the half of the threads that did most: 0.5 is fair.
fn fairness_factor(ops: &[u64]) -> f64 {
    let mut sorted = ops.to_vec();
    sorted.sort_unstable();
    let upper: u64 = sorted[sorted.len() / 2..].iter().sum();
    let all: u64 = sorted.iter().sum();
    upper as f64 / all.max(1) as f64
}

impl Trial {
    fn described(&self) -> Described<'_> {
        let all = |numbers: &[(String, f64)]| {
            numbers.iter().map(|(key, number)| (key.clone(), number_value(*number))).collect()
        };
        let kind = self.scheduling.map(|scheduling| scheduling.kind);
        let scheduling = SCHEDULINGS.iter().find(|(_, named)| *named == kind);
        Described {
            machine: &self.machine.name,
            set: all(&self.machine.numbers),
            software: all(&self.machine.software),
            placement: self.placement.name(),
            lock: self.lock.name,
            tunables: self
                .tunables
                .iter()
                .map(|&(tunable, number)| (tunable.name().into(), number.into()))
                .collect(),
            workload: self.workload.name,
            parameters: self.given.iter().map(|(key, it)| (key.clone(), value(it))).collect(),
            threads: self.threads,
            scheduling: scheduling.map_or("", |(name, _)| name),
            start: self.scheduling.map(|scheduling| scheduling.start.name()),
            warmup_us: self.warmup_us,
            window_us: self.window_us,
            seed: self.seed,
        }
    }

    /// What it is, as a line of results begins.
    pub fn description(&self) -> String {
        serde_json::to_string(&self.described()).unwrap_or_default()
    }

    /// What digests everything that decides its result: the code, the machine and its calibration, the lock, the
    /// workload, the seed.
    pub fn key(&self) -> String {
        let Self { machine, workload, given, .. } = self;
        let decides =
            format!("{CODE} {} {:?} {}", machine.digest, workload.with(given), self.description());
        Sha::of(&decides).hex(32)
    }

    pub(crate) fn workload(&self) -> Workload {
        self.workload.with(&self.given)
    }

    /// Runs it on the calling thread.
    pub(crate) fn run(&self) -> Result<Outcome, SimulatedError> {
        let simulated = &self.machine.simulated;
        let cell = Cell {
            machine: simulated.machine(),
            parameters: simulated.parameters(),
            lock: self.lock,
            workload: self.workload(),
            threads: self.threads,
            has_siblings: true,
            placement: self.placement,
            scheduling: self.scheduling,
            seed: self.seed,
            stutter_ns: self.workload.whole(&self.given, STUTTER),
            warmup_ns: self.warmup_us * 1_000,
            window_ns: self.window_us * 1_000,
            tunables: &self.tunables,
            purpose: Purpose::Throughput,
        };
        cell.run()
    }

    /// The line of its result, with its key and the code that made it.
    pub(crate) fn line(&self, key: &str, result: &Result<Outcome, SimulatedError>) -> String {
        let measured = match result {
            Err(error) => Measured { failed: Some(error.to_string()), ..Measured::default() },
            Ok(outcome) => Measured {
                failed: None,
                ops_per_s: Some(outcome.ops_per_s),
                wall_ns: outcome.wall_ns,
                ops: Some(outcome.per_thread_ops.iter().sum()),
                least_ops: outcome.per_thread_ops.iter().min().copied(),
                most_ops: outcome.per_thread_ops.iter().max().copied(),
                fairness_factor: Some(fairness_factor(&outcome.per_thread_ops)),
                events: outcome
                    .events
                    .happened()
                    .map(|(event, count)| (event.into(), count.into()))
                    .collect(),
                simulated_events: outcome.simulated_events,
                digest: Some(outcome.digest.to_string()),
            },
        };
        #[derive(Serialize)]
        struct Whole<'a> {
            key: &'a str,
            code: &'static str,
            #[serde(flatten)]
            described: Described<'a>,
            #[serde(flatten)]
            measured: Measured,
        }
        let whole = Whole { key, code: CODE, described: self.described(), measured };
        serde_json::to_string(&whole).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::fairness_factor;

    #[test]
    fn a_fair_run_has_a_factor_of_a_half_and_an_unfair_one_of_one() {
        assert_eq!(fairness_factor(&[5, 5, 5, 5]), 0.5);
        assert_eq!(fairness_factor(&[0, 9, 0, 9]), 1.0);
    }
}
