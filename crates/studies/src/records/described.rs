//! A line of results: what it says of a trial, and of what came of it.

use super::key::{CODE, Sha};
use lockwright_measure::latency::LockTransfers;
use lockwright_measure::record::{TrialError, TrialRecord};
use lockwright_measure::trial::{Purpose, Trial};
use lockwright_measure::workload::{Value, Workload};
use lockwright_sim::ScheduledKind;
use serde::Serialize;
use serde_json::Map;
use std::collections::BTreeMap;

/// The parameters of a workload that a line names.
pub(crate) type Given = BTreeMap<String, Value>;

/// A machine, to a line.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// As the user names it.
    pub(crate) name: String,
    pub(crate) numbers: Vec<(String, f64)>,
    /// What parts of the software of workloads take, in nanoseconds.
    pub(crate) software: Vec<(String, f64)>,
    /// A digest of everything about it that decides a record.
    pub(crate) digest: String,
}

impl About {
    pub(crate) fn new(name: &str, identity: &str) -> Self {
        let (numbers, software) = (Vec::new(), Vec::new());
        Self { name: name.into(), numbers, software, digest: Sha::of(identity).hex(16) }
    }
}

/// What a line of results says of a trial, in this order.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Described<'a> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purpose: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbours: Option<bool>,
}

/// The names of the kinds of scheduling that a question can have.
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

/// All parameters of a workload.
pub(crate) fn all_given(workload: Workload) -> Given {
    let table = workload.table().iter();
    table.filter_map(|param| Some((param.name.to_string(), workload.get(param.name)?))).collect()
}

impl<'a> Described<'a> {
    pub(crate) fn of(about: &'a About, given: &Given, trial: &Trial) -> Self {
        let all = |numbers: &[(String, f64)]| {
            numbers.iter().map(|(key, it)| (key.clone(), json(&Value::Number(*it)))).collect()
        };
        let kind = trial.scheduling.map(|scheduling| scheduling.kind);
        let scheduled = SCHEDULINGS.iter().find(|(_, named)| *named == kind);
        let tunables = trial.tunables.set();
        Self {
            machine: &about.name,
            set: all(&about.numbers),
            software: all(&about.software),
            placement: trial.placement.map_or("", |placement| placement.name()),
            lock: trial.lock.name(),
            tunables: tunables.map(|(it, number)| (it.name().into(), number.into())).collect(),
            workload: trial.workload.name(),
            parameters: given.iter().map(|(key, it)| (key.clone(), json(it))).collect(),
            threads: trial.threads,
            scheduling: scheduled.map_or("kernel", |(name, _)| name),
            start: trial.scheduling.map(|scheduling| scheduling.start.name()),
            warmup_us: trial.warmup_ns.unwrap_or(0) / 1_000,
            window_us: trial.window_ns / 1_000,
            seed: trial.seed,
            repetition: (trial.repetition > 0).then_some(trial.repetition),
            purpose: match trial.purpose {
                Purpose::Throughput => None,
                Purpose::Latency => Some("latency"),
                Purpose::Torture(_) => Some("torture"),
            },
            neighbours: trial.has_neighbours.then_some(true),
        }
    }

    /// As a line of results begins.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What digests everything that decides the record of `trial`: the code, the machine and its calibration, the
    /// lock, the workload, the seed.
    pub(crate) fn key(&self, about: &About, trial: &Trial) -> String {
        Sha::of(&format!("{CODE} {} {trial:?} {}", about.digest, self.json())).hex(32)
    }
}

/// What a line says of the result.
#[derive(Clone, Debug, Default, Serialize)]
struct Measured<'a> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_wait_ns: Option<u64>,
    #[serde(flatten)]
    transfers: Option<TransfersTold>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    events: Map<String, serde_json::Value>,
    simulated_events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// All of it, if a command is to go on from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a TrialRecord>,
}

/// What a line says of the transfers to threads that waited.
#[derive(Clone, Debug, Serialize)]
struct TransfersTold {
    transfer_ns_p50: u64,
    transfer_ns_p999: u64,
    transfer_ns_max: u64,
    transfer_looks_p999: u64,
    transfer_looks_max: u64,
}

impl From<&LockTransfers> for TransfersTold {
    fn from(LockTransfers { ns, looks, .. }: &LockTransfers) -> Self {
        Self {
            transfer_ns_p50: ns.quantile(500),
            transfer_ns_p999: ns.quantile(999),
            transfer_ns_max: ns.max(),
            transfer_looks_p999: looks.quantile(999),
            transfer_looks_max: looks.max(),
        }
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

/// The line of a result, with its key and the code that made it; with all of the record if it `is_whole`.
pub(crate) fn line_of(
    described: Described<'_>,
    key: &str,
    result: &Result<TrialRecord, TrialError>,
    is_whole: bool,
) -> String {
    let measured = match result {
        Err(error) => Measured { failed: Some(error.to_string()), ..Measured::default() },
        Ok(record) => {
            let happened = record.events.happened();
            Measured {
                failed: None,
                ops_per_s: Some(record.ops_per_s),
                wall_ns: record.wall_ns,
                ops: Some(record.total_ops()),
                least_ops: record.per_thread_ops.iter().min().copied(),
                most_ops: record.per_thread_ops.iter().max().copied(),
                fairness_factor: Some(fairness_factor(&record.per_thread_ops)),
                longest_wait_ns: record.transfers.as_ref().map(|it| it.longest_wait_ns),
                transfers: record.transfers.as_ref().map(TransfersTold::from),
                events: happened.map(|(event, count)| (event.into(), count.into())).collect(),
                simulated_events: record.simulated_events,
                digest: record.digest.clone(),
                record: is_whole.then_some(record),
            }
        }
    };
    #[derive(Serialize)]
    struct Whole<'a> {
        key: &'a str,
        code: &'static str,
        #[serde(flatten)]
        described: Described<'a>,
        #[serde(flatten)]
        measured: Measured<'a>,
    }
    serde_json::to_string(&Whole { key, code: CODE, described, measured }).unwrap_or_default()
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
