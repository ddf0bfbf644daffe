//! What came of a trial.

use crate::latency::{LockTransfers, Waited};
use crate::starved::Starved;
use crate::stats::Histogram;
use crate::stress::Exercised;
use lockwright_core::events::Event;
use lockwright_sim::ScheduleReport;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What came of a trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrialRecord {
    /// How long it ran, in nanoseconds of the machine's time.
    pub window_ns: u64,
    /// How long a fixed amount of work took, in nanoseconds; `None` if there was none, or not all of
    /// it was done.
    pub wall_ns: Option<u64>,
    /// Operations of each thread.
    pub per_thread_ops: Vec<u64>,
    /// Operations per second of all threads together, corrected for what does not fit into the
    /// window (see the workload's documentation).
    pub ops_per_s: f64,
    /// Waiting times, unless it was for [`Purpose::Throughput`](crate::trial::Purpose).
    pub waits: Option<Histogram>,
    /// Simulated: transfers to threads that waited, if there were any.
    pub transfers: Option<LockTransfers>,
    /// The same as the waits by role, if a thread did anything but own.
    pub waited: Option<Waited>,
    /// The waits of the thread of `starve` that waits.
    pub starved: Option<Starved>,
    /// CPU seconds of all threads, in the machine's time.
    pub cpu_s: f64,
    /// Voluntary context switches of all threads.
    pub voluntary_switches: u64,
    /// Involuntary context switches of all threads.
    pub involuntary_switches: u64,
    /// How its threads waited on condition variables, if the workload has any.
    pub condvar_waits: Option<CondvarWaits>,
    /// What the lock counted.
    pub events: EventCounts,
    /// How often a thread saw that it was not alone.
    pub fail: u64,
    /// What the checkers have to say, a sentence each. Empty if everything held.
    pub violations: Vec<String>,
    /// How often each disturbance of a torture happened.
    pub exercised: Exercised,
    /// Simulated, if the threads share the CPUs: what their host did.
    pub host: Option<ScheduleCounts>,
    /// Simulated torture: the most others that queued later and were served earlier than one waiter.
    pub most_overtakes: Option<u32>,
    /// Simulated: events of the simulation, which is what it costs to run.
    pub simulated_events: u64,
    /// Simulated, if the threads share the CPUs: how long they had one, all together, in picoseconds.
    pub run_ps: u64,
    /// Simulated: fingerprint of the history. Equal histories have equal ones.
    pub digest: Option<String>,
}

impl TrialRecord {
    /// Operations of all threads.
    pub fn total_ops(&self) -> u64 {
        self.per_thread_ops.iter().sum()
    }
    /// Least and greatest number of operations of a thread.
    pub fn min_max_ops(&self) -> (u64, u64) {
        let min = self.per_thread_ops.iter().min().copied().unwrap_or(0);
        let max = self.per_thread_ops.iter().max().copied().unwrap_or(0);
        (min, max)
    }
    /// How many threads did at most one operation.
    pub fn threads_with_at_most_one_op(&self) -> u64 {
        self.per_thread_ops.iter().filter(|&&ops| ops <= 1).count() as u64
    }
    /// Returns true if exclusion and everything else that was checked held.
    pub fn held(&self) -> bool {
        self.fail == 0 && self.violations.is_empty()
    }
}

/// How threads waited on condition variables, for each operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CondvarWaits {
    /// Waits.
    pub per_op: f64,
    /// Those that were notified and found nothing to do.
    pub futile_per_op: f64,
}

impl CondvarWaits {
    /// Of that many waits in `ops` operations; `futile` of them were notified and found nothing to do.
    pub(crate) fn of(waits: u64, futile: u64, ops: u64) -> Self {
        let ops = ops.max(1) as f64;
        Self { per_op: waits as f64 / ops, futile_per_op: futile as f64 / ops }
    }
}

/// What the host of simulated threads did that share its CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleCounts {
    /// How often a sleeping thread was woken by another one.
    pub kicks: u64,
    /// How often an idle CPU took a thread from the run queue of another.
    pub steals: u64,
    /// How often a thread lost its CPU because it spun for too long in one go.
    pub pause_loop_exits: u64,
}

impl ScheduleCounts {
    /// The mean of several repetitions, rounded; `None` of none.
    pub fn mean(repetitions: impl Iterator<Item = Self>) -> Option<Self> {
        let all: Vec<Self> = repetitions.collect();
        let runs = all.len() as u64;
        let mean = |get: fn(&Self) -> u64| (all.iter().map(get).sum::<u64>() + runs / 2) / runs;
        (runs > 0).then(|| Self {
            kicks: mean(|host| host.kicks),
            steals: mean(|host| host.steals),
            pause_loop_exits: mean(|host| host.pause_loop_exits),
        })
    }
}

impl From<&ScheduleReport> for ScheduleCounts {
    fn from(report: &ScheduleReport) -> Self {
        let &ScheduleReport { kicks, steals, pause_loop_exits, .. } = report;
        Self { kicks, steals, pause_loop_exits }
    }
}

/// How often each lock event happened, in the order of [`Event::ALL`]; in documents, by name, those that did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, u64>", into = "BTreeMap<&'static str, u64>")]
pub struct EventCounts(Vec<u64>);

impl From<BTreeMap<String, u64>> for EventCounts {
    fn from(named: BTreeMap<String, u64>) -> Self {
        Self::from_fn(|event| named.get(event.name()).copied().unwrap_or(0))
    }
}

impl From<EventCounts> for BTreeMap<&'static str, u64> {
    fn from(counts: EventCounts) -> Self {
        counts.happened().collect()
    }
}

impl Default for EventCounts {
    fn default() -> Self {
        Self(vec![0; Event::ALL.len()])
    }
}

impl EventCounts {
    /// Counts from something that knows them.
    pub fn from_fn(count: impl Fn(Event) -> u64) -> Self {
        Self(Event::ALL.iter().map(|&event| count(event)).collect())
    }
    /// The mean of several counts, rounded.
    pub fn mean(counts: &[&Self]) -> Self {
        let runs = counts.len().max(1) as u64;
        let sum = |event: usize| counts.iter().map(|counts| counts.0[event]).sum::<u64>();
        Self((0..Event::ALL.len()).map(|event| (sum(event) + runs / 2) / runs).collect())
    }
    /// How often `event` happened.
    pub fn of(&self, event: Event) -> u64 {
        self.0[event as usize]
    }
    /// The events that happened, by name.
    pub fn happened(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = Event::ALL.iter().zip(&self.0);
        all.filter(|&(_, &count)| count > 0).map(|(event, &count)| (event.name(), count))
    }
}

/// Why a trial has no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialError {
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The run failed; the sentence says how, and how to repeat it.
    Failed(String),
}

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::Failed(how) => f.write_str(how),
        }
    }
}
