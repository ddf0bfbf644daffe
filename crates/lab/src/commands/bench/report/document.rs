//! The results of a benchmark, in each format.

use crate::commands::bench::schedule::{BenchRuns, Benchmark};
use lockwright_core::events::Event;
use lockwright_measure::error::Error;
use lockwright_measure::native::ForeignLoad;
use lockwright_measure::native::locks::waiters_sleep;
use lockwright_measure::record::{EventCounts, ScheduleCounts, TrialRecord};
use lockwright_measure::stats::Summary;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, On, Settings, Trial};
use lockwright_measure::workload::{Value, Workload};
use lockwright_sheets::{Starving, TrialWaits, foreign_load};
use serde::{Serialize, Serializer};
use serde_json::json;
use std::collections::BTreeMap;

/// `lockwright.bench/1`.
#[derive(Clone, Debug, Serialize)]
pub struct BenchDocument {
    schema: &'static str,
    pub(super) on: On,
    #[serde(rename = "workload")]
    pub(super) asked: Asked,
    pub(super) seed: u64,
    pub(super) secs: f64,
    tunables: BTreeMap<&'static str, u64>,
    pub(super) results: Vec<BenchResult>,
    /// True if Ctrl-C ended it early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Native: what others used of the machine meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign_load_percent: Option<f64>,
    /// What the reader should know about the numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Operations of all repetitions.
    #[serde(skip)]
    pub operations: u64,
    /// Events of the simulation in all repetitions.
    #[serde(skip)]
    pub simulated_events: u64,
}

/// One lock with one number of threads.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BenchResult {
    pub(super) lock: &'static str,
    pub(super) threads: usize,
    /// The values of those parameters of which there are several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) parameters: BTreeMap<&'static str, Value>,
    /// How it began, if the threads share simulated CPUs.
    pub(super) start_state: Option<&'static str>,
    pub(super) runs: usize,
    /// How long a repetition was, on average: less than asked for after Ctrl-C, and with a fixed
    /// amount of work that was done.
    pub(super) secs: f64,
    /// A fixed amount of work: how long it took; `None` in it if not all of it was done in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wall_s: Option<Option<Summary>>,
    pub(super) ops_per_s: Summary,
    /// Operations per second of each repetition.
    per_repetition: Vec<f64>,
    pub(super) per_thread_ops: PerThread,
    /// Why the repetitions are too short to say anything about fairness: then the operations of single threads
    /// and the longest waits mean nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fairness: Option<String>,
    #[serde(flatten)]
    pub(super) waits: TrialWaits,
    /// Workload `starve`: the waits of its thread that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) starving: Option<Starving>,
    pub(super) cpu_s: f64,
    pub(super) voluntary_switches: u64,
    pub(super) involuntary_switches: u64,
    /// If the threads share simulated CPUs, what their host did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<ScheduleCounts>,
    pub(super) events: BTreeMap<&'static str, u64>,
    /// A lock that has modes: how it was acquired by threads that had to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode_shares: Option<ModeShares>,
    /// Threads that read, and threads that write: each does both where both happen.
    readers: usize,
    writers: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pair_ns: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ratio_to_floor: Option<Ratio>,
    /// Simulated: fingerprints of the repetitions' histories, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    digests: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// Operations of the threads of a repetition: mean over the repetitions.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct PerThread {
    pub(super) min: u64,
    pub(super) avg: u64,
    pub(super) max: u64,
    /// How many threads did at most one.
    pub(super) threads_with_at_most_one: u64,
}

/// The parts of the acquisitions that were not immediate.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ModeShares {
    /// Through the queue.
    pub(super) queued: f64,
    /// Past the queue.
    pub(super) unfair: f64,
}

impl ModeShares {
    /// `None` if the lock has no modes or no thread had to wait.
    fn of(lock: Subject, events: &EventCounts) -> Option<Self> {
        let queued = events.of(Event::lock_slowpath) as f64;
        let unfair = events.of(Event::pv_lock_stealing) as f64;
        let all = queued + unfair;
        (waiters_sleep(lock) && all > 0.0)
            .then(|| Self { queued: queued / all, unfair: unfair / all })
    }
}

/// The cost of a pair in terms of the fastest floor's in the same repetition.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Ratio {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    per_repetition: Vec<f64>,
}

impl BenchResult {
    fn of(sample: &BenchRuns, varied: &[&'static str]) -> Self {
        let Trial { lock, workload, threads, scheduling, .. } = sample.spec;
        let runs = &sample.throughput;
        let column = |get: fn(&TrialRecord) -> f64| runs.iter().map(get).collect::<Vec<f64>>();
        let mean = |get| Summary::of(&column(get)).mean;
        let rounded = |get| mean(get).round() as u64;
        let events = EventCounts::mean(&sample.timed().map(|run| &run.events).collect::<Vec<_>>());
        let (readers, writers) = workload.readers_and_writers(threads);
        let is_pair = matches!(workload, Workload::Uncontended(_)) && !runs.is_empty();
        Self {
            lock: lock.name(),
            threads,
            parameters: varied.iter().filter_map(|&it| Some((it, workload.get(it)?))).collect(),
            start_state: scheduling.map(|scheduling| scheduling.start.name()),
            runs: runs.len(),
            secs: mean(|run| run.window_ns as f64 / 1e9),
            wall_s: workload.is_fixed_work().then(|| wall_s(runs)),
            ops_per_s: Summary::of(&column(|run| run.ops_per_s)),
            per_repetition: column(|run| run.ops_per_s),
            per_thread_ops: PerThread {
                min: rounded(|run| run.min_max_ops().0 as f64),
                avg: rounded(|run| run.total_ops() as f64 / run.per_thread_ops.len().max(1) as f64),
                max: rounded(|run| run.min_max_ops().1 as f64),
                threads_with_at_most_one: rounded(|run| run.threads_with_at_most_one_op() as f64),
            },
            fairness: sample.fairness.too_short(
                lock.name(),
                mean(|run| run.window_ns as f64),
                mean(|run| run.total_ops() as f64),
            ),
            waits: TrialWaits::of(sample.timed()),
            starving: Starving::of(runs.iter().filter_map(|run| run.starved.as_ref())),
            cpu_s: mean(|run| run.cpu_s),
            voluntary_switches: rounded(|run| run.voluntary_switches as f64),
            involuntary_switches: rounded(|run| run.involuntary_switches as f64),
            host: ScheduleCounts::mean(runs.iter().filter_map(|run| run.host)),
            mode_shares: ModeShares::of(lock, &events),
            events: events.happened().collect(),
            readers,
            writers,
            pair_ns: is_pair.then(|| Summary::of(&column(pair_ns))),
            ratio_to_floor: ratio_to_floor(sample),
            digests: runs.iter().filter_map(|run| run.digest.clone()).collect(),
            failure: sample.failure.as_ref().map(|(_, how)| how.clone()),
        }
    }
}

/// How long the work took, if it was done in every repetition.
fn wall_s(runs: &[TrialRecord]) -> Option<Summary> {
    let walls: Option<Vec<f64>> =
        runs.iter().map(|run| run.wall_ns.map(|ns| ns as f64 / 1e9)).collect();
    walls.filter(|walls| !walls.is_empty()).map(|walls| Summary::of(&walls))
}

fn pair_ns(run: &TrialRecord) -> f64 {
    1e9 / run.ops_per_s
}

fn ratio_to_floor(sample: &BenchRuns) -> Option<Ratio> {
    let pairs = sample.throughput.iter().zip(&sample.floor);
    let per_repetition: Vec<f64> =
        pairs.map(|(run, floor)| pair_ns(run) / pair_ns(floor)).collect();
    let Summary { median, min, max, .. } = Summary::of(&per_repetition);
    (!per_repetition.is_empty()).then_some(Ratio { median, min, max, per_repetition })
}

/// What was asked for: a workload, some of whose parameters may have several values.
#[derive(Clone, Debug)]
pub(super) struct Asked(Vec<Workload>);

impl Asked {
    /// The values of a parameter, in the order in which they run.
    fn values(&self, name: &str) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for value in self.0.iter().filter_map(|workload| workload.get(name)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
    /// The names of the parameters that have several values.
    pub(super) fn varied(&self) -> Vec<&'static str> {
        let names = self.0[0].table().iter().map(|param| param.name);
        names.filter(|name| self.values(name).len() > 1).collect()
    }
    /// The name and what is unusual, for people.
    pub(super) fn described(&self) -> String {
        self.0[0].described_with(|param| self.values(param.name))
    }
}

/// The name, and each parameter: its value, or the array of its values.
impl Serialize for Asked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = ("name", serde_json::Value::from(self.0[0].name()));
        let params = self.0[0].table().iter().map(|param| {
            let values = self.values(param.name);
            (param.name, if values.len() > 1 { json!(values) } else { json!(values.first()) })
        });
        serializer.collect_map(std::iter::once(name).chain(params))
    }
}

impl BenchDocument {
    /// A document without results.
    pub fn new(schedule: &Benchmark, machine: &dyn LabMachine, settings: &Settings) -> Self {
        let tunables = settings.tunables.iter().map(|&(tunable, value)| (tunable.name(), value));
        Self {
            schema: "lockwright.bench/1",
            on: machine.on(schedule.workload()).shared_by(schedule.matrix.thread_counts.kind()),
            asked: Asked(schedule.workloads.clone()),
            seed: schedule.seed,
            secs: schedule.window_ns as f64 / 1e9,
            tunables: tunables.collect(),
            results: Vec::new(),
            interrupted: false,
            foreign_load_percent: None,
            warnings: schedule.matrix.warnings.clone(),
            operations: 0,
            simulated_events: 0,
        }
    }
    /// What ran, with the first of its parameters.
    pub(super) fn workload(&self) -> Workload {
        self.asked.0[0]
    }
    /// True if one of its results is like this.
    pub(super) fn has(&self, is: impl Fn(&BenchResult) -> bool) -> bool {
        self.results.iter().any(is)
    }
    /// True if it is of a simulated machine.
    pub fn is_simulated(&self) -> bool {
        self.on.is_simulated()
    }
    /// CPUs of the machine.
    pub fn cpus(&self) -> usize {
        self.on.cpus()
    }
    /// Each lock with each number of threads, and its operations per second.
    pub fn rates(&self) -> impl Iterator<Item = (&'static str, usize, f64)> + '_ {
        self.results.iter().map(|result| (result.lock, result.threads, result.ops_per_s.median))
    }
    /// What the threads are called.
    pub fn noun(&self) -> &'static str {
        if self.on.is_guest() { "vCPUs" } else { "threads" }
    }
    /// Notes what others used of the machine meanwhile, if that was watched.
    pub fn add_foreign_load(&mut self, watched: Option<ForeignLoad>) {
        self.foreign_load_percent = watched.and_then(|load| load.percent());
        self.warnings.extend(foreign_load(self.foreign_load_percent));
    }
    /// Adds a result.
    pub fn add(&mut self, sample: BenchRuns) {
        for run in sample.throughput.iter().chain(&sample.latency) {
            self.operations += run.total_ops();
            self.simulated_events += run.simulated_events;
        }
        self.results.push(BenchResult::of(&sample, &self.asked.varied()));
    }
    /// An error that names the first lock that failed, if one did.
    pub fn verdict(&self) -> Result<(), Error> {
        let failed = self.results.iter().find_map(|result| {
            let how = result.failure.as_ref()?;
            Some(format!("`{}` with {} {}: {how}", result.lock, result.threads, self.noun()))
        });
        failed.map_or(Ok(()), |sentence| Err(Error::Measurement(sentence)))
    }
}
