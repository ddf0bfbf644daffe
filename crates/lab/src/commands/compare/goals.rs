//! What a comparison has to show. Nothing but the goals is written down here.

use super::cells::{CellGroup, CellKind, CompareCell, SHARES};
use super::locks::{OURS_MIXED, OURS_READING};
use super::score::{Contest, ContestEntry, Role, cpus};
use lockwright_measure::record::TrialRecord;
use lockwright_measure::stats::Histogram;
use serde::Serialize;
use std::ops::RangeInclusive;

/// A goal, and what was measured of it.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// What is measured.
    pub what: &'static str,
    /// The limit, and on which side of it the goal is.
    #[serde(flatten)]
    pub bound: GoalBound,
    /// True if it has to be met; otherwise it is reported only.
    pub gated: bool,
    /// What was measured: of several cells, in the worst of them.
    pub measured: Option<f64>,
    /// Low and high of its 95 % interval, if it is of several repetitions.
    pub ci95: Option<[f64; 2]>,
    /// The cell that it is of, if it is of one.
    pub cell: Option<&'static str>,
    /// What comes of it.
    pub verdict: GoalVerdict,
}

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalBound {
    /// Not above it.
    AtMost(f64),
    /// Not below it.
    AtLeast(f64),
}

impl GoalBound {
    /// True if `value` is on the right side.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }
    /// True if `a` is farther from the goal than `b`.
    pub fn is_worse(self, a: f64, b: f64) -> bool {
        match self {
            Self::AtMost(_) => a > b,
            Self::AtLeast(_) => a < b,
        }
    }
}

/// What comes of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalVerdict {
    /// It is reached.
    Met,
    /// It is not reached.
    Missed,
    /// Some of its cells or peers were left out, so it is not known.
    PartlyMeasured,
    /// All of its cells or peers were left out.
    NotMeasured,
}

impl GoalVerdict {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::PartlyMeasured => "partly",
            Self::NotMeasured => "not measured",
        }
    }
}

/// What ours is compared with.
#[derive(Clone, Copy)]
pub enum Against {
    /// The least that a pair can cost: the fastest of the floors in the cell.
    Floor,
    /// The better version of it in the cell.
    ParkingLot,
    /// The peer of that name.
    Peer(&'static str),
    /// The best of all in the cell.
    BestPeer,
}

impl Against {
    fn entry(self, contest: &Contest) -> Option<&ContestEntry> {
        match self {
            Self::Floor => contest.floor(),
            Self::ParkingLot => contest.parking_lot(),
            Self::Peer(name) => contest.peer(name),
            Self::BestPeer => contest.best_peer(),
        }
    }
}

/// A figure that each cell has.
#[derive(Clone, Copy)]
pub enum Figure {
    /// Time of a pair.
    PairTime(Against),
    /// Operations per second.
    Rate(Against),
    /// CPU time in the same time.
    CpuTime(Against),
    /// Operations per second of those of one thread alone.
    RateOfSingleThread,
    /// CPUs used.
    Cpus,
    /// The fewest operations of a thread, in parts of the most.
    MinMax,
    /// The longest wait.
    LongestWait(Against),
    /// The wait that one of a thousand exceeds.
    Wait999(Against),
}

impl Figure {
    /// A number for each repetition that counts; none if it was not measured.
    pub fn of(self, contest: &Contest, whose: Whose) -> Vec<f64> {
        self.measured(contest, whose).unwrap_or_default()
    }
    fn measured(self, contest: &Contest, whose: Whose) -> Option<Vec<f64>> {
        let ours = whose.entry(contest)?;
        let all = |get: fn(&TrialRecord) -> f64| ours.runs.iter().flatten().map(get).collect();
        let waits = |against: Against, get: fn(&Histogram) -> u64| {
            let theirs = get(against.entry(contest)?.waits.as_ref()?);
            Some(vec![get(ours.waits.as_ref()?) as f64 / theirs.max(1) as f64])
        };
        match self {
            Self::PairTime(against) => {
                let ratios = ours.ratios_to(against.entry(contest)?);
                Some(ratios.into_iter().map(f64::recip).collect())
            }
            Self::Rate(against) => Some(ours.ratios_to(against.entry(contest)?)),
            Self::CpuTime(against) => Some(ours.cpu_ratios_to(against.entry(contest)?)),
            Self::RateOfSingleThread => Some(ours.ratios_to(contest.find(Role::SingleThread)?)),
            Self::Cpus => Some(all(cpus)),
            Self::MinMax => Some(ours.min_max.clone()),
            Self::LongestWait(against) => waits(against, |waits| waits.max()),
            Self::Wait999(against) => waits(against, |waits| waits.quantile(999)),
        }
    }
    /// True if it depends on which peers take part.
    pub fn needs_all_peers(self) -> bool {
        match self {
            Self::PairTime(against) | Self::Rate(against) | Self::CpuTime(against) => {
                matches!(against, Against::BestPeer | Against::ParkingLot)
            }
            _ => false,
        }
    }
}

/// Which of our locks a goal is about.
#[derive(Clone, Copy)]
pub enum Whose {
    /// The one that is compared in the cell.
    Ours,
    /// The one of that name.
    OurLock(&'static str),
}

impl Whose {
    fn entry(self, contest: &Contest) -> Option<&ContestEntry> {
        match self {
            Self::Ours => contest.ours(),
            Self::OurLock(name) => contest.our(name),
        }
    }
}

/// Some cells of the matrix.
#[derive(Clone)]
pub struct GoalCells {
    kind: CellKind,
    readers: RangeInclusive<u32>,
    cs_load: RangeInclusive<u32>,
    threads: RangeInclusive<usize>,
}

impl GoalCells {
    /// True if `cell` is one of them.
    pub fn has(&self, cell: &CompareCell) -> bool {
        cell.kind() == self.kind
            && !cell.has_neighbours
            && self.readers.contains(&cell.readers())
            && self.cs_load.contains(&cell.loads().0)
            && self.threads.contains(&cell.threads)
    }
}

/// What is measured.
#[derive(Clone)]
pub enum GoalMeasure {
    /// The worst of some cells.
    GoalCells { cells: GoalCells, whose: Whose, figure: Figure },
    /// The geometric mean of all cells of a group.
    GeometricMean(CellGroup),
    /// The worst of all cells of a group.
    Worst(CellGroup),
    /// The geometric mean of the CPU times per operation in all cells of a group, in terms of the best peers'.
    CpuPerOp(CellGroup),
}

/// A goal.
pub struct Goal {
    /// What is measured, in words.
    pub what: &'static str,
    /// What is measured.
    pub measure: GoalMeasure,
    /// The limit.
    pub bound: GoalBound,
    /// True if it has to be met.
    pub gated: bool,
}

/// The time of a pair of one thread.
fn pair(what: &'static str, against: Against, limit: f64) -> Goal {
    let cells = GoalCells { kind: CellKind::Pair, readers: 0..=0, cs_load: 0..=0, threads: 1..=1 };
    let (whose, figure) = (Whose::Ours, Figure::PairTime(against));
    let measure = GoalMeasure::GoalCells { cells, whose, figure };
    Goal { what, measure, bound: GoalBound::AtMost(limit), gated: true }
}

/// The time of a read lock/unlock pair with that many threads, of our lock for reading.
fn read_pair(what: &'static str, threads: usize, limit: f64) -> Goal {
    let threads = threads..=threads;
    let cells = GoalCells { kind: CellKind::Pair, readers: 100..=100, cs_load: 0..=0, threads };
    let (whose, figure) = (Whose::OurLock(OURS_READING), Figure::PairTime(Against::ParkingLot));
    let measure = GoalMeasure::GoalCells { cells, whose, figure };
    Goal { what, measure, bound: GoalBound::AtMost(limit), gated: true }
}

/// A figure of the worst of some cells.
fn counter(
    what: &'static str,
    (cs_load, threads): (u32, RangeInclusive<usize>),
    figure: Figure,
    bound: GoalBound,
) -> Goal {
    let cs_load = cs_load..=cs_load;
    let cells = GoalCells { kind: CellKind::Exclusive, readers: 0..=0, cs_load, threads };
    Goal {
        what,
        measure: GoalMeasure::GoalCells { cells, whose: Whose::Ours, figure },
        bound,
        gated: true,
    }
}

/// The goals.
pub fn goals(has_membarrier: bool) -> Vec<Goal> {
    let pairs = if has_membarrier { pairs() } else { pairs_without_membarrier() };
    let counters = pairs.into_iter().chain(contended()).chain(with_readers());
    counters.chain(real_use()).chain(stretch()).collect()
}

fn pairs() -> Vec<Goal> {
    vec![
        pair("pair: time relative to the floor", Against::Floor, 1.15),
        pair("pair: time relative to parking_lot", Against::ParkingLot, 0.75),
        pair("pair: time relative to std", Against::Peer("std"), 0.65),
        pair("pair: time relative to pthread", Against::Peer("pthread"), 0.55),
        read_pair("read pair, 1 thread: time relative to parking_lot", 1, 0.12),
        read_pair("read pair, 2 threads: time relative to parking_lot", 2, 0.03),
    ]
}

/// An unlock costs more then.
fn pairs_without_membarrier() -> Vec<Goal> {
    vec![pair("pair without membarrier: time relative to parking_lot", Against::ParkingLot, 1.0)]
}

/// A number of all cells of a group.
fn overall(what: &'static str, measure: GoalMeasure, limit: f64) -> Goal {
    Goal { what, measure, bound: GoalBound::AtLeast(limit), gated: true }
}

fn contended() -> Vec<Goal> {
    use GoalBound::{AtLeast, AtMost};
    use GoalMeasure::{GeometricMean, Worst};
    let (oversubscribed, long_oversubscribed) = ((1, 8..=64), (100, 8..=64));
    vec![
        overall(
            "exclusive cells: geometric mean of the ratios",
            GeometricMean(CellGroup::Alone(CellKind::Exclusive)),
            1.0,
        ),
        overall("exclusive cells: worst ratio", Worst(CellGroup::Alone(CellKind::Exclusive)), 0.81),
        counter(
            "cs1, 8 to 64 threads: throughput relative to parking_lot",
            oversubscribed.clone(),
            Figure::Rate(Against::ParkingLot),
            AtLeast(1.3),
        ),
        counter(
            "cs1, 8 to 64 threads: CPU time relative to the best peer",
            oversubscribed,
            Figure::CpuTime(Against::BestPeer),
            AtMost(0.6),
        ),
        counter(
            "cs100, 8 to 64 threads: throughput relative to one thread",
            long_oversubscribed.clone(),
            Figure::RateOfSingleThread,
            AtLeast(0.95),
        ),
        counter(
            "cs100, 8 to 64 threads: CPUs in use",
            long_oversubscribed,
            Figure::Cpus,
            AtMost(1.1),
        ),
        counter(
            "cs20, 32 threads: min/max",
            (SHARES.0, SHARES.1..=SHARES.1),
            Figure::MinMax,
            AtLeast(0.6),
        ),
    ]
}

/// A rate of the worst of some cells with readers, in terms of the best peer's.
fn rw(
    what: &'static str,
    (readers, cs_load): (RangeInclusive<u32>, RangeInclusive<u32>),
    whose: Whose,
    limit: f64,
) -> Goal {
    let cells = GoalCells { kind: CellKind::Rw, readers, cs_load, threads: 2..=32 };
    let measure = GoalMeasure::GoalCells { cells, whose, figure: Figure::Rate(Against::BestPeer) };
    Goal { what, measure, bound: GoalBound::AtLeast(limit), gated: true }
}

fn with_readers() -> Vec<Goal> {
    use GoalMeasure::{GeometricMean, Worst};
    vec![
        rw(
            "100 % reads, cs1: throughput relative to the best peer",
            (100..=100, 1..=1),
            Whose::Ours,
            3.0,
        ),
        overall(
            "cells with readers: geometric mean of the ratios",
            GeometricMean(CellGroup::Alone(CellKind::Rw)),
            1.0,
        ),
        overall("cells with readers: worst ratio", Worst(CellGroup::Alone(CellKind::Rw)), 0.61),
    ]
}

/// What programs do: the mean and the worst ratio of each kind of cells, and the CPU time. Where the CPUs set a bound,
/// a lock that reaches 0.97 of it counts as equal to the best peer.
fn real_use() -> Vec<Goal> {
    use CellGroup::{Alone, Busy};
    use GoalMeasure::{CpuPerOp, GeometricMean, Worst};
    let [queues, blocking, work] = CellKind::REAL_USE.map(Alone);
    let cpu = |what, group| Goal {
        what,
        measure: CpuPerOp(group),
        bound: GoalBound::AtMost(1.05),
        gated: true,
    };
    vec![
        overall("queues: geometric mean of the ratios", GeometricMean(queues), 1.5),
        overall("queues: worst ratio", Worst(queues), 0.9),
        cpu("queues: CPU time per operation relative to the best peer", queues),
        overall("blocking cells: geometric mean of the ratios", GeometricMean(blocking), 1.0),
        overall("blocking cells: worst ratio", Worst(blocking), 0.9),
        cpu("blocking cells: CPU time per operation relative to the best peer", blocking),
        overall("work cells: geometric mean of the ratios", GeometricMean(work), 1.0),
        overall("work cells: worst ratio", Worst(work), 0.9),
        cpu("work cells: CPU time per operation relative to the best peer", work),
        overall("busy neighbours: geometric mean of the ratios", GeometricMean(Busy), 1.0),
        overall("busy neighbours: worst ratio", Worst(Busy), 0.8),
        cpu("busy neighbours: CPU time per operation relative to the best peer", Busy),
    ]
}

/// What is reported and need not be met.
fn stretch() -> Vec<Goal> {
    const LONGEST: Figure = Figure::LongestWait(Against::Peer("parking_lot-0.12"));
    const RARE: Figure = Figure::Wait999(Against::Peer("parking_lot-0.12"));
    let stretch = |what, threads: usize, figure, limit| {
        let goal = counter(what, (1, threads..=threads), figure, GoalBound::AtMost(limit));
        Goal { gated: false, ..goal }
    };
    let mixed = rw(
        "50 to 99 % reads, our lock for mixed loads: throughput relative to the best peer",
        (50..=99, 1..=100),
        Whose::OurLock(OURS_MIXED),
        0.95,
    );
    vec![
        Goal { gated: false, ..mixed },
        stretch("cs1, 8 threads: longest wait relative to parking_lot 0.12", 8, LONGEST, 1.0),
        stretch("cs1, 8 threads: p99.9 wait relative to parking_lot 0.12", 8, RARE, 0.1),
        stretch("cs1, 32 threads: longest wait relative to parking_lot 0.12", 32, LONGEST, 1.0),
        stretch("cs1, 32 threads: p99.9 wait relative to parking_lot 0.12", 32, RARE, 0.1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::compare::cells::MATRIX;

    #[test]
    fn every_goal_is_about_cells_of_the_matrix() {
        let count = |what: &str| {
            let all = goals(true).into_iter().chain(goals(false));
            let goal = all.into_iter().find(|goal| goal.what == what).expect("a goal");
            match goal.measure {
                GoalMeasure::GoalCells { cells, .. } => {
                    MATRIX.iter().filter(|c| cells.has(c)).count()
                }
                _ => 0,
            }
        };
        for goal in goals(true).into_iter().chain(goals(false)) {
            let is_of_cells = matches!(goal.measure, GoalMeasure::GoalCells { .. });
            assert_eq!(is_of_cells, count(goal.what) > 0, "{}", goal.what);
        }
        assert_eq!(count("100 % reads, cs1: throughput relative to the best peer"), 3);
        assert_eq!(
            count(
                "50 to 99 % reads, our lock for mixed loads: throughput relative to the best peer"
            ),
            27
        );
        assert_eq!(count("read pair, 2 threads: time relative to parking_lot"), 1);
        assert_eq!(count("cs1, 8 to 64 threads: throughput relative to parking_lot"), 4);
    }
}
