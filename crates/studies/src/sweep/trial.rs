//! One trial: everything that decides its result, and its key.

use crate::sweep::key::{CODE, Sha};
use lockwright_measure::record::{TrialError, TrialRecord};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::trial::{LabMachine, Trial};
use lockwright_measure::workload::Value;
use lockwright_sim::ScheduledKind;
use serde::Serialize;
use serde_json::Map;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a section gives, by key.
pub(crate) type Given = BTreeMap<String, Value>;

/// One run of one lock, simulated.
#[derive(Clone, Debug)]
pub struct SweptTrial {
    /// Which of the points that were drawn.
    pub(crate) point: usize,
    /// The machine with its numbers, which trials share.
    pub(crate) machine: Arc<TriedMachine>,
    /// The parameters of the workload that the question gives.
    pub(crate) given: Arc<Given>,
    pub(crate) trial: Trial,
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
    set: Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    software: Map<String, serde_json::Value>,
    placement: &'static str,
    lock: &'static str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    tunables: Map<String, serde_json::Value>,
    workload: &'static str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    parameters: Map<String, serde_json::Value>,
    threads: usize,
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
    events: Map<String, serde_json::Value>,
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

/// In a document.
fn json(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The share of the half of the threads that did most: 0.5 is fair.
fn fairness_factor(ops: &[u64]) -> f64 {
    let mut sorted = ops.to_vec();
    sorted.sort_unstable();
    let upper: u64 = sorted[sorted.len() / 2..].iter().sum();
    let all: u64 = sorted.iter().sum();
    upper as f64 / all.max(1) as f64
}

impl SweptTrial {
    fn described(&self) -> Described<'_> {
        let all = |numbers: &[(String, f64)]| {
            numbers.iter().map(|(key, it)| (key.clone(), json(&Value::Number(*it)))).collect()
        };
        let Trial { lock, workload, threads, scheduling, placement, window_ns, seed, .. } =
            self.trial;
        let kind = scheduling.map(|scheduling| scheduling.kind);
        let scheduled = SCHEDULINGS.iter().find(|(_, named)| *named == kind);
        let tunables = self.trial.tunables.set();
        Described {
            machine: &self.machine.name,
            set: all(&self.machine.numbers),
            software: all(&self.machine.software),
            placement: placement.map_or("", |placement| placement.name()),
            lock: lock.name(),
            tunables: tunables.map(|(it, number)| (it.name().into(), number.into())).collect(),
            workload: workload.name(),
            parameters: self.given.iter().map(|(key, it)| (key.clone(), json(it))).collect(),
            threads,
            scheduling: scheduled.map_or("", |(name, _)| name),
            start: scheduling.map(|scheduling| scheduling.start.name()),
            warmup_us: self.trial.warmup_ns.unwrap_or(0) / 1_000,
            window_us: window_ns / 1_000,
            seed,
        }
    }

    /// What it is, as a line of results begins.
    pub fn description(&self) -> String {
        serde_json::to_string(&self.described()).unwrap_or_default()
    }

    /// What digests everything that decides its result: the code, the machine and its calibration, the lock, the
    /// workload, the seed.
    pub fn key(&self) -> String {
        let Self { machine, trial, .. } = self;
        let decides =
            format!("{CODE} {} {:?} {}", machine.digest, trial.workload, self.description());
        Sha::of(&decides).hex(32)
    }

    /// Runs it on the calling thread.
    pub(crate) fn run(&self) -> Result<TrialRecord, TrialError> {
        self.machine.simulated.run_trial(&self.trial)
    }

    /// The line of its result, with its key and the code that made it.
    pub(crate) fn line(&self, key: &str, result: &Result<TrialRecord, TrialError>) -> String {
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
                digest: outcome.digest.clone(),
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
