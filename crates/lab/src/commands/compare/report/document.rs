//! The results of a comparison, in each format.

use crate::commands::compare::cells::{CellKind, CompareCell, GROUPS};
use crate::commands::compare::effort::CompareEffort;
use crate::commands::compare::locks::{Versions, label};
use crate::commands::compare::overall::Overall;
use crate::commands::compare::plan::{ComparePlan, Side};
use crate::commands::compare::rw_section::RwSection;
use crate::commands::compare::score::{
    Compared, Contest, ContestEntry, Estimate, Role, choose_ours, cpu_ns_per_op, cpus,
};
use lockwright_measure::error::Error;
use lockwright_measure::record::{EventCounts, TrialRecord};
use lockwright_measure::stats::median;
use lockwright_measure::subject::FLOOR;
use lockwright_measure::trial::{LabMachine, On};
use lockwright_measure::workload::Workload;
use serde::Serialize;
use std::collections::BTreeMap;

/// `lockwright.compare/1`.
#[derive(Clone, Debug, Serialize)]
pub struct CompareDocument {
    schema: &'static str,
    pub(super) on: On,
    pub(super) effort: CompareEffort,
    pub(super) seed: u64,
    /// Our lock in cells without readers.
    pub(super) ours: Option<&'static str>,
    /// Our locks in cells with readers.
    pub(super) ours_rw: Vec<&'static str>,
    /// The peers of the first; `parking_lot` is the better of its versions in a cell.
    peers: Vec<&'static str>,
    /// The peers of the others.
    rw_peers: Vec<&'static str>,
    /// True if unlocking may rely on membarrier: not with `LOCKWRIGHT_MEMBARRIER=off`.
    pub(super) membarrier: bool,
    pub(super) runs: u32,
    pub(super) wait_runs: u32,
    /// Repetitions of cells with readers.
    pub(super) rw_runs: u32,
    pub(super) rw_wait_runs: u32,
    /// Repetitions of cells of real use.
    pub(super) real_use_runs: u32,
    pub(super) cells: Vec<CellResult>,
    /// All cells of a group together, by its key.
    #[serde(flatten)]
    pub(super) together: BTreeMap<&'static str, Option<Overall>>,
    /// Our lock for any mixture of readers and writers, also where another one of ours is better.
    pub(super) rwlock: Option<RwSection>,
    /// True if the peers are those that take part where nothing is said.
    usual_peers: bool,
    /// True if Ctrl-C ended it early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What others used of the machine meanwhile.
    pub foreign_load_percent: Option<f64>,
    /// What the reader should know about the numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip)]
    contests: Vec<Contest>,
}

/// A cell.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CellResult {
    #[serde(flatten)]
    pub(super) cell: CompareCell,
    /// How long a repetition was to be.
    secs: f64,
    pub(super) locks: BTreeMap<&'static str, LockResult>,
    /// The one of ours that is compared: with readers, the same in all cells of a reader share.
    pub(super) ours: &'static str,
    /// The better version of parking_lot.
    parking_lot: Option<&'static str>,
    /// The fastest floor, where floors were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) floor: Option<&'static str>,
    #[serde(flatten)]
    pub(super) compared: Compared,
    /// CPU time of ours in terms of the best peer's.
    cpu_ratio: Option<f64>,
    /// The most operations per second that the CPUs and the lock let through, where that is known beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bound_ops_per_s: Option<f64>,
    /// True if ours reaches it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_bound: bool,
    /// Ours with one thread in the same repetitions, where that is something to measure by.
    #[serde(skip_serializing_if = "Option::is_none")]
    single_thread_ops_per_s: Option<f64>,
    foreign_load_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// A lock in a cell: medians over the repetitions.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LockResult {
    pub(super) ops_per_s: f64,
    /// Operations per second of each repetition: the best peer is chosen on the first, the third, ...
    per_repetition: Vec<Option<f64>>,
    pub(super) pair_ns: Option<f64>,
    pub(super) cpu_s: Option<f64>,
    cpus: Option<f64>,
    pub(super) cpu_ns_per_op: Option<f64>,
    /// Context switches of an operation: those that a thread asked for by sleeping, and the others.
    pub(super) voluntary_switches_per_op: Option<f64>,
    pub(super) involuntary_switches_per_op: Option<f64>,
    /// Waits on condition variables for each operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) condvar_waits_per_op: Option<f64>,
    /// Those that were notified and found nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) futile_wakeups_per_op: Option<f64>,
    /// The fewest operations of a thread, in parts of the most.
    pub(super) min_max: Option<f64>,
    pub(super) wait_p999_ns: Option<u64>,
    pub(super) wait_max_ns: Option<u64>,
    /// What the lock counted in a repetition: the mean of all.
    events: BTreeMap<&'static str, u64>,
}

impl LockResult {
    /// Returns the slowest and the fastest repetition in terms of the median.
    pub(super) fn spread(&self) -> Option<[f64; 2]> {
        let rates = || self.per_repetition.iter().copied().flatten();
        let least = rates().reduce(f64::min)?;
        let most = rates().reduce(f64::max)?;
        Some([least / self.ops_per_s, most / self.ops_per_s])
    }
    fn of(entry: &ContestEntry, cell: &CompareCell) -> Option<Self> {
        let ops_per_s = entry.median(|run| run.ops_per_s)?;
        let (is_pair, waits) = (cell.kind() == CellKind::Pair, entry.waits.as_ref());
        Some(Self {
            ops_per_s,
            per_repetition: entry
                .runs
                .iter()
                .map(|run| run.as_ref().map(|run| run.ops_per_s))
                .collect(),
            // Of each thread.
            pair_ns: is_pair.then(|| cell.threads as f64 * 1e9 / ops_per_s),
            cpu_s: entry.median_usage(|run| run.cpu_s),
            cpus: entry.median_usage(cpus),
            cpu_ns_per_op: entry.median_usage(cpu_ns_per_op),
            voluntary_switches_per_op: entry
                .median_usage(|run| per_op(run, run.voluntary_switches)),
            involuntary_switches_per_op: entry
                .median_usage(|run| per_op(run, run.involuntary_switches)),
            condvar_waits_per_op: entry.median_known(|run| Some(run.condvar_waits?.per_op)),
            futile_wakeups_per_op: entry.median_known(|run| Some(run.condvar_waits?.futile_per_op)),
            min_max: (!entry.min_max.is_empty()).then(|| median(&entry.min_max)),
            wait_p999_ns: waits.map(|waits| waits.quantile(999)),
            wait_max_ns: waits.map(|waits| waits.max()),
            events: events(entry),
        })
    }
}

/// What a lock counted in a repetition.
fn events(entry: &ContestEntry) -> BTreeMap<&'static str, u64> {
    let runs = entry.runs.iter().flatten().map(|run| &run.events);
    EventCounts::mean(&runs.collect::<Vec<_>>()).happened().collect()
}

/// Something for each operation.
fn per_op(run: &TrialRecord, count: u64) -> f64 {
    count as f64 / run.total_ops().max(1) as f64
}

impl CellResult {
    fn of(contest: &Contest, secs: f64, seed: u64) -> Self {
        let result = |entry: &ContestEntry| LockResult::of(entry, &contest.cell);
        let shown = contest.entries.iter().filter(|entry| entry.role != Role::SingleThread);
        let mut locks: BTreeMap<_, _> =
            shown.filter_map(|entry| Some((entry.name, result(entry)?))).collect();
        let parking_lot = contest.parking_lot();
        if let Some(better) = parking_lot.and_then(result) {
            locks.insert(Versions::of_parking_lot(contest.cell.has_readers()).name, better);
        }
        let floor = contest.floor();
        if let Some(fastest) = floor.and_then(result) {
            locks.insert(FLOOR, fastest);
        }
        let scores = contest.scores();
        let cpu = scores.as_ref().filter(|_| contest.cell.kind() != CellKind::Pair);
        let single = contest.all(Role::SingleThread).next();
        Self {
            cell: contest.cell,
            secs,
            locks,
            ours: contest.ours().map_or("", |ours| ours.name),
            parking_lot: parking_lot.map(|better| better.name),
            floor: floor.map(|fastest| fastest.name),
            compared: scores.as_ref().map(|scores| scores.compared(seed)).unwrap_or_default(),
            cpu_ratio: cpu.and_then(|scores| Some(Estimate::of(&scores.cpu, seed)?.value)),
            bound_ops_per_s: contest.bound(),
            at_bound: contest.is_at_bound(),
            single_thread_ops_per_s: single.and_then(|single| single.median(|run| run.ops_per_s)),
            foreign_load_percent: contest.foreign_load_percent,
            failure: contest.failure.clone(),
        }
    }
}

impl CompareDocument {
    /// A document without results.
    pub fn new(plan: &ComparePlan, machine: &dyn LabMachine, membarrier: bool) -> Self {
        let ours = |side: &Side| side.ours.iter().map(|&lock| label(lock)).collect::<Vec<_>>();
        let peers = |side: &Side| side.peers.iter().map(|peer| label(peer.subject)).collect();
        Self {
            schema: "lockwright.compare/1",
            on: machine.on(Workload::counter(1, 0)),
            effort: plan.effort,
            seed: plan.seed,
            ours: ours(&plan.exclusive).first().copied(),
            ours_rw: ours(&plan.rw),
            peers: peers(&plan.exclusive),
            rw_peers: peers(&plan.rw),
            membarrier,
            runs: plan.runs(CellKind::Exclusive),
            wait_runs: plan.wait_runs(CellKind::Exclusive),
            rw_runs: plan.runs(CellKind::Rw),
            rw_wait_runs: plan.wait_runs(CellKind::Rw),
            real_use_runs: plan.runs(CellKind::Queue),
            cells: Vec::new(),
            together: GROUPS.iter().map(|group| (group.key, None)).collect(),
            rwlock: None,
            usual_peers: plan.has_usual_peers(),
            interrupted: false,
            foreign_load_percent: None,
            warnings: Vec::new(),
            contests: Vec::new(),
        }
    }
    /// Adds a cell.
    pub fn add(&mut self, contest: Contest, window_ns: u64) {
        let secs = window_ns as f64 * 1e-9;
        self.cells.push(CellResult::of(&contest, secs, self.seed));
        self.contests.push(contest);
        choose_ours(&mut self.contests, self.cells.len() - 1);
        for (cell, contest) in self.cells.iter_mut().zip(&self.contests) {
            if contest.ours().is_some_and(|ours| ours.name != cell.ours) {
                *cell = CellResult::of(contest, cell.secs, self.seed);
            }
        }
        for group in GROUPS {
            let own = self.contests.iter().filter(|contest| group.has(&contest.cell));
            self.together.insert(group.key, Overall::of(own, Contest::scores, self.seed));
        }
        self.rwlock = RwSection::of(&self.contests, self.seed);
    }
    /// An error that names the cell in which a lock failed, if one did.
    pub fn verdict(&self) -> Result<(), Error> {
        let failed = self
            .cells
            .iter()
            .find_map(|result| Some(format!("{}: {}", result.cell.name, result.failure.as_ref()?)));
        failed.map_or(Ok(()), |sentence| Err(Error::Measurement(sentence)))
    }
}
