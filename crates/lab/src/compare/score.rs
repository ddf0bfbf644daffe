//! Who is best in a cell, and how ours compares with it.
//!
//! The best peer is chosen on the odd repetitions, the first among them, and scored on the even ones: noise
//! that helped to choose the opponent has no part in the score.

use super::args::VERSIONS;
use super::matrix::{Cell, Kind};
use crate::cell::Measurement;
use crate::stats::{Bootstrap, Histogram, median};
use serde::Serialize;

/// What a contestant takes part as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Our lock.
    Ours,
    /// Somebody else's.
    Peer,
    /// The least that a pair can cost: no lock.
    Floor,
    /// Our lock with one thread, beside cells with many.
    SingleThread,
}

impl Role {
    /// Whether it is a lock in this cell, as opposed to something to measure by.
    pub fn is_compared(self) -> bool {
        matches!(self, Self::Ours | Self::Peer)
    }
}

/// A repetition of a contestant.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Operations per second.
    pub ops_per_s: f64,
    /// CPU seconds.
    pub cpu_s: f64,
    /// CPU seconds per second.
    pub cpus: f64,
}

impl Run {
    /// What a comparison needs of a measurement.
    pub fn of(measured: &Measurement) -> Self {
        Self {
            ops_per_s: measured.ops_per_s,
            cpu_s: measured.cpu_s,
            cpus: measured.cpu_s / (measured.window_ns.max(1) as f64 * 1e-9),
        }
    }
}

/// A contestant and its repetitions.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it takes part as.
    pub role: Role,
    /// The repetitions, in order; nothing where Ctrl-C came first.
    pub runs: Vec<Option<Run>>,
    /// All waits that were timed.
    pub waits: Option<Histogram>,
    /// Of each repetition in which they were: the fewest operations of a thread, in parts of the most.
    pub min_max: Vec<f64>,
}

/// Which repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The first, the third, ...: to choose.
    Odd,
    /// The second, the fourth, ...: to score.
    Even,
}

impl Half {
    fn has(self, index: usize) -> bool {
        index.is_multiple_of(2) == (self == Self::Odd)
    }
}

impl Entry {
    /// A contestant that has not run.
    pub fn new(name: &'static str, role: Role) -> Self {
        Self { name, role, runs: Vec::new(), waits: None, min_max: Vec::new() }
    }
    /// Adds a repetition in which waits were timed.
    pub fn add_timed(&mut self, timed: Measurement) {
        let (min, max) = timed.min_max_ops();
        self.min_max.push(min as f64 / max.max(1) as f64);
        match (&mut self.waits, timed.waits) {
            (Some(all), Some(waits)) => all.merge(&waits),
            (all @ None, waits) => *all = waits,
            (Some(_), None) => {}
        }
    }
    /// The median of all repetitions; `None` if there are none.
    pub fn median(&self, get: fn(&Run) -> f64) -> Option<f64> {
        let values: Vec<f64> = self.runs.iter().flatten().map(get).collect();
        (!values.is_empty()).then(|| median(&values))
    }
    /// The median rate of one half; `None` if it has no repetition.
    fn rate_in(&self, half: Half) -> Option<f64> {
        let runs = self.runs.iter().enumerate().filter(|&(index, _)| half.has(index));
        let rates: Vec<f64> = runs.filter_map(|(_, run)| run.map(|run| run.ops_per_s)).collect();
        (!rates.is_empty()).then(|| median(&rates))
    }
    /// What `get` makes of the even repetitions that this one and `other` have.
    pub fn scored(&self, other: &Self, get: impl Fn(&Run, &Run) -> f64) -> Vec<f64> {
        let pairs = self.runs.iter().zip(&other.runs).enumerate();
        let even = pairs.filter(|&(index, _)| Half::Even.has(index));
        even.filter_map(|(_, (mine, theirs))| Some(get(mine.as_ref()?, theirs.as_ref()?))).collect()
    }
}

/// A median and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The median.
    pub value: f64,
    /// Low and high.
    pub ci95: [f64; 2],
}

impl Estimate {
    /// Of `values`; `None` if there are none.
    pub fn of(values: &[f64], seed: u64) -> Option<Self> {
        (!values.is_empty()).then(|| Self {
            value: median(values),
            ci95: Bootstrap::new(seed).interval(|draw| median(&draw.resampled(values))),
        })
    }
}

/// A cell that was run.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The cell.
    pub cell: Cell,
    /// Who took part.
    pub entries: Vec<Entry>,
    /// What others used of the machine meanwhile.
    pub foreign_load_percent: Option<f64>,
    /// What went wrong, if something did.
    pub failure: Option<String>,
}

impl Contest {
    /// A cell that was not run yet.
    pub fn new(cell: Cell, entries: Vec<Entry>) -> Self {
        Self { cell, entries, foreign_load_percent: None, failure: None }
    }
    /// Whether anything was measured.
    pub fn has_runs(&self) -> bool {
        self.entries.iter().any(|entry| entry.runs.iter().any(Option::is_some))
    }
    /// The one that takes part as `role`.
    pub fn find(&self, role: Role) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.role == role)
    }
    /// The peer of that name.
    pub fn peer(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.role == Role::Peer && entry.name == name)
    }
    /// The peer with the highest rate in the odd repetitions.
    pub fn best_peer(&self) -> Option<&Entry> {
        best(self.entries.iter().filter(|entry| entry.role == Role::Peer))
    }
    /// The better version of parking_lot in the odd repetitions.
    pub fn parking_lot(&self) -> Option<&Entry> {
        best(VERSIONS.iter().filter_map(|version| self.peer(version)))
    }
    /// Ours in terms of `other` in the even repetitions, one number for each; above 1 is better for ours.
    pub fn ratios_to(&self, other: &Entry) -> Vec<f64> {
        let ratio = |ours: &Run, other: &Run| ours.ops_per_s / other.ops_per_s;
        self.find(Role::Ours).map_or_else(Vec::new, |ours| ours.scored(other, ratio))
    }
    /// The CPU time of ours in terms of that of `other` in the same time; below 1 is better for ours.
    pub fn cpu_ratios_to(&self, other: &Entry) -> Vec<f64> {
        // A thread that slept all the time has used no measurable time.
        const LEAST_CPUS: f64 = 1e-6;
        let ratio = |ours: &Run, other: &Run| ours.cpus / other.cpus.max(LEAST_CPUS);
        self.find(Role::Ours).map_or_else(Vec::new, |ours| ours.scored(other, ratio))
    }
    /// Ours in terms of the best peer in the even repetitions.
    pub fn ratios(&self) -> Vec<f64> {
        self.best_peer().map_or_else(Vec::new, |best| self.ratios_to(best))
    }
}

fn best<'a>(entries: impl Iterator<Item = &'a Entry>) -> Option<&'a Entry> {
    let rated = entries.filter_map(|entry| Some((entry.rate_in(Half::Odd)?, entry)));
    rated.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, entry)| entry)
}

/// All exclusive cells in two numbers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Overall {
    /// The geometric mean of the cells' ratios.
    pub geometric_mean: f64,
    /// Low and high of its 95 % interval.
    pub geometric_mean_ci95: [f64; 2],
    /// The least ratio.
    pub worst: f64,
    /// Low and high of its 95 % interval.
    pub worst_ci95: [f64; 2],
    /// The cell that has it.
    pub worst_cell: &'static str,
    /// How many cells.
    pub cells: usize,
}

impl Overall {
    /// Of the exclusive cells that have a ratio; `None` if there are none.
    pub fn of<'a>(contests: impl IntoIterator<Item = &'a Contest>, seed: u64) -> Option<Self> {
        let exclusive =
            contests.into_iter().filter(|contest| contest.cell.kind() == Kind::Exclusive);
        let scored: Vec<(&'static str, Vec<f64>)> = exclusive
            .map(|contest| (contest.cell.name, contest.ratios()))
            .filter(|(_, ratios)| !ratios.is_empty())
            .collect();
        let (worst_cell, worst) =
            scored.iter().min_by(|(_, a), (_, b)| median(a).total_cmp(&median(b)))?;
        let worst = Estimate::of(worst, seed)?;
        let geometric_mean_ci95 = Bootstrap::new(seed).interval(|draw| {
            geometric_mean(scored.iter().map(|(_, ratios)| median(&draw.resampled(ratios))))
        });
        Some(Self {
            geometric_mean: geometric_mean(scored.iter().map(|(_, ratios)| median(ratios))),
            geometric_mean_ci95,
            worst: worst.value,
            worst_ci95: worst.ci95,
            worst_cell,
            cells: scored.len(),
        })
    }
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) =
        values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    f64::exp(sum / count)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::compare::matrix::MATRIX;

    /// A cell with made-up rates, the first of them ours.
    pub fn contest(cell: &str, entries: &[(&'static str, &[f64])]) -> Contest {
        let cell = MATRIX.iter().find(|known| known.name == cell).expect("a known cell");
        let role = |index| match index {
            0 => Role::Ours,
            _ => Role::Peer,
        };
        let run = |&ops_per_s: &f64| Some(Run { ops_per_s, cpu_s: 0.2, cpus: 2.0 });
        let entry = |(index, (name, rates)): (usize, &(&'static str, &[f64]))| Entry {
            runs: rates.iter().map(run).collect(),
            ..Entry::new(name, role(index))
        };
        Contest::new(*cell, entries.iter().enumerate().map(entry).collect())
    }

    #[test]
    fn the_best_peer_is_chosen_on_odd_and_scored_on_even_repetitions() {
        let contest = contest(
            "cs1-t8",
            &[
                ("mutex", &[1.0, 10.0, 1.0, 12.0, 1.0, 11.0]),
                // The best of the odd ones, and neither the best of the even ones nor of all.
                ("std", &[9.0, 5.0, 9.0, 10.0, 9.0, 2.0]),
                ("usync", &[8.0, 90.0, 8.0, 90.0, 8.0, 90.0]),
            ],
        );
        assert_eq!(contest.best_peer().map(|best| best.name), Some("std"));
        assert_eq!(contest.ratios(), [2.0, 1.2, 5.5]);
        let ratio = Estimate::of(&contest.ratios(), 1).expect("there are ratios");
        assert_eq!((ratio.value, ratio.ci95), (2.0, [1.2, 5.5]));
    }

    #[test]
    fn a_repetition_that_one_of_two_does_not_have_is_not_scored() {
        let mut contest =
            contest("cs1-t8", &[("mutex", &[1.0, 2.0, 1.0, 4.0]), ("std", &[1.0; 4])]);
        contest.entries[1].runs[1] = None;
        assert_eq!(contest.ratios(), [4.0]);
        contest.entries[1].runs = vec![None; 4];
        assert!(contest.best_peer().is_none() && contest.ratios().is_empty());
    }

    #[test]
    fn parking_lot_is_the_better_of_its_versions_in_the_cell() {
        let contest = contest(
            "cs1-t8",
            &[
                ("mutex", &[6.0, 6.0]),
                ("parking_lot-0.12", &[2.0, 2.0]),
                ("parking_lot-0.13", &[3.0, 1.0]),
                ("std", &[9.0, 9.0]),
            ],
        );
        let better = contest.parking_lot().expect("there are two");
        assert_eq!((better.name, contest.ratios_to(better)), ("parking_lot-0.13", vec![6.0]));
    }

    #[test]
    fn the_mean_is_geometric_over_exclusive_cells_and_the_worst_is_named() {
        let cells = [
            contest("pair", &[("mutex", &[1.0, 100.0]), ("std", &[1.0, 1.0])]),
            contest("cs1-t2", &[("mutex", &[1.0, 2.0]), ("std", &[1.0, 1.0])]),
            contest("cs1-t4", &[("mutex", &[1.0, 1.0]), ("std", &[1.0, 2.0])]),
            contest("cs1-t8", &[("mutex", &[1.0]), ("std", &[1.0])]),
        ];
        let overall = Overall::of(&cells, 1).expect("two cells have a ratio");
        assert!((overall.geometric_mean - 1.0).abs() < 1e-12);
        assert_eq!((overall.worst, overall.worst_cell, overall.cells), (0.5, "cs1-t4", 2));
        assert!(Overall::of(&cells[..1], 1).is_none());
    }

    #[test]
    fn a_timed_repetition_is_added_to_those_there_are() {
        let mut entry = Entry::new("std", Role::Peer);
        let waits = |ns| {
            let mut waits = Histogram::default();
            waits.record(ns);
            Some(waits)
        };
        for (waits, per_thread_ops) in [(waits(3), [1, 4]), (None, [5, 5]), (waits(9), [0, 0])] {
            let per_thread_ops = per_thread_ops.into();
            entry.add_timed(Measurement { waits, per_thread_ops, ..Measurement::default() });
        }
        assert_eq!(entry.min_max, [0.25, 1.0, 0.0]);
        assert_eq!(entry.waits.map(|waits| (waits.count(), waits.max())), Some((2, 9)));
    }
}
