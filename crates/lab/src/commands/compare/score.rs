//! Which peer is best in a cell, and how ours compares with it.
//!
//! The best peer is chosen on the odd repetitions, the first among them, and scored on the even ones: noise
//! that helped to choose the opponent has no part in the score. Ours is chosen on the odd ones, too, if there are
//! several: once for all cells of a reader share, because a program that chooses a lock knows how much is read,
//! and not how many threads there will be.

use super::cells::CompareCell;
use super::locks::Versions;
use lockwright_measure::record::TrialRecord;
use lockwright_measure::stats::{Bootstrap, Histogram, median};
use serde::Serialize;

/// What a contestant takes part as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Our lock.
    Ours,
    /// A lock to compare with.
    Peer,
    /// A floor: the least that a pair can cost with a word of its width.
    Floor,
    /// Our lock with one thread, next to cells with many.
    SingleThread,
}

impl Role {
    /// True for a lock that is compared in the cell, false for something to measure by.
    pub fn is_compared(self) -> bool {
        matches!(self, Self::Ours | Self::Peer)
    }
}

/// CPU seconds per second of a repetition.
pub fn cpus(run: &TrialRecord) -> f64 {
    run.cpu_s / (run.window_ns.max(1) as f64 * 1e-9)
}

/// CPU nanoseconds of an operation.
pub fn cpu_ns_per_op(run: &TrialRecord) -> f64 {
    run.cpu_s * 1e9 / run.total_ops().max(1) as f64
}

/// True if it is known how its threads used the CPUs: not if each of them had a simulated CPU.
fn has_usage(run: &TrialRecord) -> bool {
    run.digest.is_none() || run.host.is_some()
}

/// This part of the bound counts as the bound.
const AT_BOUND: f64 = 0.97;

/// A contestant and its repetitions.
#[derive(Clone, Debug)]
pub struct ContestEntry {
    /// Its name.
    pub name: &'static str,
    /// What it takes part as.
    pub role: Role,
    /// The repetitions, in order; nothing where Ctrl-C came first.
    pub runs: Vec<Option<TrialRecord>>,
    /// All waits that were timed.
    pub waits: Option<Histogram>,
    /// Of each repetition in which they were: the fewest operations of a thread, in parts of the most.
    pub min_max: Vec<f64>,
}

/// The median; `None` if there are no values.
fn median_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| median(&values))
}

impl ContestEntry {
    /// A contestant that has not run.
    pub fn new(name: &'static str, role: Role) -> Self {
        Self { name, role, runs: Vec::new(), waits: None, min_max: Vec::new() }
    }
    /// Adds a repetition in which waits were timed.
    pub fn add_timed(&mut self, timed: TrialRecord) {
        let (min, max) = timed.min_max_ops();
        self.min_max.push(min as f64 / max.max(1) as f64);
        timed.waits.iter().for_each(|waits| self.waits.get_or_insert_default().merge(waits));
    }
    /// The median of all repetitions; `None` if there are none.
    pub fn median(&self, get: fn(&TrialRecord) -> f64) -> Option<f64> {
        median_of(self.runs.iter().flatten().map(get))
    }
    /// The same of those that have it.
    pub fn median_known(&self, get: fn(&TrialRecord) -> Option<f64>) -> Option<f64> {
        median_of(self.runs.iter().flatten().filter_map(get))
    }
    /// The same of something about the use of the CPUs; `None` if that is not known either.
    pub fn median_usage(&self, get: fn(&TrialRecord) -> f64) -> Option<f64> {
        let is_known = self.runs.iter().flatten().all(has_usage);
        self.median(get).filter(|_| is_known)
    }
    /// The median rate of the odd repetitions; `None` if there are none.
    fn odd_rate(&self) -> Option<f64> {
        median_of(self.runs.iter().step_by(2).flatten().map(|run| run.ops_per_s))
    }
    /// This in terms of `best` in the even repetitions that both have.
    pub fn against<'a>(&self, best: &'a Self) -> CellScores<'a> {
        // A thread that slept all the time has used no measurable time.
        const LEAST_CPUS: f64 = 1e-6;
        let even = self.runs.iter().zip(&best.runs).skip(1).step_by(2);
        let even: Vec<(&TrialRecord, &TrialRecord)> =
            even.filter_map(|(mine, theirs)| mine.as_ref().zip(theirs.as_ref())).collect();
        let known = even.iter().filter(|(mine, theirs)| has_usage(mine) && has_usage(theirs));
        let cpu_per_op =
            known.clone().map(|(mine, theirs)| cpu_ns_per_op(mine) / cpu_ns_per_op(theirs));
        CellScores {
            cell: "",
            best,
            ratios: even.iter().map(|(mine, theirs)| mine.ops_per_s / theirs.ops_per_s).collect(),
            cpu: known.map(|(mine, theirs)| cpus(mine) / cpus(theirs).max(LEAST_CPUS)).collect(),
            cpu_per_op: cpu_per_op.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect(),
        }
    }
}

/// A lock in terms of the best peer in the even repetitions of a cell, one number for each.
#[derive(Clone, Debug)]
pub struct CellScores<'a> {
    /// The cell.
    pub cell: &'static str,
    /// The best peer.
    pub best: &'a ContestEntry,
    /// Operations; above 1 is better for the lock.
    pub ratios: Vec<f64>,
    /// CPU time in the same time; below 1 is better for the lock.
    pub cpu: Vec<f64>,
    /// CPU time for an operation; below 1 is better for the lock. Repetitions in which one of them got nowhere, or used
    /// no measurable time, are left out.
    pub cpu_per_op: Vec<f64>,
}

impl CellScores<'_> {
    /// What documents say about it.
    pub fn compared(&self, seed: u64) -> Compared {
        let ratio = Estimate::of(&self.ratios, seed);
        Compared {
            best_peer: Some(self.best.name),
            ratio: ratio.map(|ratio| ratio.value),
            ratio_ci95: ratio.map(|ratio| ratio.ci95),
            cpu_per_op_ratio: Estimate::of(&self.cpu_per_op, seed).map(|it| it.value),
        }
    }
}

/// A lock of ours next to the best peer in a cell.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Compared {
    /// The best peer.
    pub best_peer: Option<&'static str>,
    /// Throughput in terms of the best peer's; above 1 is better for ours.
    pub ratio: Option<f64>,
    /// Low and high of its 95 % interval.
    pub ratio_ci95: Option<[f64; 2]>,
    /// CPU time for an operation in terms of the best peer's, if it is known.
    pub cpu_per_op_ratio: Option<f64>,
}

/// A median and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The geometric mean of the medians of several cells; `None` if there are none.
    pub fn together(cells: &[&Vec<f64>], seed: u64) -> Option<Self> {
        (!cells.is_empty()).then(|| Self {
            value: geometric_mean(cells.iter().map(|values| median(values))),
            ci95: Bootstrap::new(seed).interval(|draw| {
                geometric_mean(cells.iter().map(|values| median(&draw.resampled(values))))
            }),
        })
    }
}

/// Of numbers above zero.
fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) =
        values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    f64::exp(sum / count)
}

/// A cell that was run.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The cell.
    pub cell: CompareCell,
    /// Who took part.
    pub entries: Vec<ContestEntry>,
    /// What others used of the machine meanwhile.
    pub foreign_load_percent: Option<f64>,
    /// What went wrong, if something did.
    pub failure: Option<String>,
    /// CPUs of the machine.
    pub cpus: usize,
    /// Which of ours it is that is compared, if there are several.
    ours: &'static str,
}

impl Contest {
    /// A cell that was not run yet.
    pub fn new(cell: CompareCell, entries: Vec<ContestEntry>) -> Self {
        let first = entries.iter().find(|entry| entry.role == Role::Ours);
        let ours = first.map_or("", |entry| entry.name);
        Self { cell, entries, foreign_load_percent: None, failure: None, cpus: 1, ours }
    }
    /// Those that take part as `role`.
    pub fn all(&self, role: Role) -> impl Iterator<Item = &ContestEntry> + Clone {
        self.entries.iter().filter(move |entry| entry.role == role)
    }
    /// The one of ours that is compared.
    pub fn ours(&self) -> Option<&ContestEntry> {
        self.our(self.ours)
    }
    /// The one of ours that has that name.
    fn our(&self, name: &str) -> Option<&ContestEntry> {
        self.all(Role::Ours).find(|entry| entry.name == name)
    }
    /// True if anything was measured.
    pub fn has_runs(&self) -> bool {
        self.entries.iter().any(|entry| entry.runs.iter().any(Option::is_some))
    }
    /// The peer with the highest rate in the odd repetitions.
    pub fn best_peer(&self) -> Option<&ContestEntry> {
        best(self.all(Role::Peer))
    }
    /// The floor with the highest rate in the odd repetitions: which width that is differs between processors.
    pub fn floor(&self) -> Option<&ContestEntry> {
        best(self.all(Role::Floor))
    }
    /// The better version of parking_lot in the odd repetitions.
    pub fn parking_lot(&self) -> Option<&ContestEntry> {
        let labels = Versions::of_parking_lot(self.cell.has_readers()).labels;
        best(self.all(Role::Peer).filter(|peer| labels.contains(&peer.name)))
    }
    /// The most operations per second that the CPUs and the lock let through, if that is known.
    pub fn bound(&self) -> Option<f64> {
        let foreign = self.foreign_load_percent.unwrap_or(0.0) / 100.0;
        self.cell.bound(self.cpus as f64 * (1.0 - foreign))
    }
    /// True if ours is as good as at the bound. With neighbours the bound is an estimate of the scheduler's shares, so
    /// nothing rests on it.
    pub fn is_at_bound(&self) -> bool {
        let rate = self.ours().and_then(|ours| ours.median(|run| run.ops_per_s));
        let reached = rate.zip(self.bound()).map(|(rate, bound)| rate / bound);
        !self.cell.has_neighbours && reached.is_some_and(|part| part >= AT_BOUND)
    }
    /// Ours in terms of the best peer.
    pub fn scores(&self) -> Option<CellScores<'_>> {
        self.scores_of(self.ours)
    }
    /// The same of the one of ours that has that name.
    pub fn scores_of(&self, name: &str) -> Option<CellScores<'_>> {
        let scores = self.our(name)?.against(self.best_peer()?);
        Some(CellScores { cell: self.cell.name, ..scores })
    }
}

fn best<'a>(entries: impl Iterator<Item = &'a ContestEntry>) -> Option<&'a ContestEntry> {
    let rated = entries.filter_map(|entry| Some((entry.odd_rate()?, entry)));
    rated.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, entry)| entry)
}

/// Chooses which of ours is compared in the cells that are like the one of that index: of the same kind and
/// with as many readers. It is the one with the highest rate in the odd repetitions, in the geometric mean over
/// these cells.
pub fn choose_ours(contests: &mut [Contest], like: usize) {
    let share = |contest: &Contest| (contest.cell.kind(), contest.cell.readers());
    let Some(wanted) = contests.get(like).map(share) else {
        return;
    };
    let alike = || contests.iter().filter(|contest| share(contest) == wanted);
    let mean = |name: &str| {
        let rates = alike().map(|contest| contest.our(name)?.odd_rate());
        // One that was not measured in all of them cannot be compared with the others.
        let rates: Option<Vec<f64>> = rates.collect();
        Some(geometric_mean(rates?.into_iter()))
    };
    let means =
        contests[like].all(Role::Ours).filter_map(|entry| Some((mean(entry.name)?, entry.name)));
    // The first of equals.
    let better = |a: (f64, &'static str), b: (f64, &'static str)| if b.0 > a.0 { b } else { a };
    if let Some((_, chosen)) = means.reduce(better) {
        let alike = contests.iter_mut().filter(|contest| share(contest) == wanted);
        alike.for_each(|contest| contest.ours = chosen);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::commands::compare::cells::MATRIX;

    /// A cell with made-up rates, the first of them ours, and those that a star comes after.
    pub fn contest(cell: &str, entries: &[(&'static str, &[f64])]) -> Contest {
        let cell = MATRIX.iter().find(|known| known.name == cell).expect("a known cell");
        let run = |&ops_per_s: &f64| {
            let (cpu_s, window_ns) = (0.2, 100_000_000);
            Some(TrialRecord { ops_per_s, cpu_s, window_ns, ..TrialRecord::default() })
        };
        let entry = |(index, (name, rates)): (usize, &(&'static str, &[f64]))| {
            let our_name = name.strip_suffix('*').or((index == 0).then_some(*name));
            let role = if our_name.is_some() { Role::Ours } else { Role::Peer };
            let runs = rates.iter().map(run).collect();
            ContestEntry { runs, ..ContestEntry::new(our_name.unwrap_or(name), role) }
        };
        Contest::new(*cell, entries.iter().enumerate().map(entry).collect())
    }

    fn ratios(contest: &Contest) -> Vec<f64> {
        contest.scores().map_or_else(Vec::new, |scores| scores.ratios)
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
        assert_eq!(ratios(&contest), [2.0, 1.2, 5.5]);
        let ratio = Estimate::of(&ratios(&contest), 1).expect("there are ratios");
        assert_eq!((ratio.value, ratio.ci95), (2.0, [1.2, 5.5]));
    }

    #[test]
    fn threads_that_have_a_simulated_cpu_each_have_no_cpu_time() {
        let mut contest = contest("cs1-t8", &[("mutex", &[1.0; 2]), ("futex3", &[1.0; 2])]);
        let cpu = |contest: &Contest| {
            contest.scores().map(|scores| (scores.cpu.len(), scores.cpu_per_op.len()))
        };
        assert_eq!(cpu(&contest), Some((1, 1)));
        let runs = contest.entries.iter_mut().flat_map(|entry| entry.runs.iter_mut().flatten());
        runs.for_each(|run| run.digest = Some("simulated".into()));
        assert_eq!(cpu(&contest), Some((0, 0)));
        assert_eq!(contest.entries[0].median_usage(cpus), None);
        assert_eq!(ratios(&contest), [1.0]);
    }

    #[test]
    fn a_repetition_that_one_of_two_does_not_have_is_not_scored() {
        let mut contest =
            contest("cs1-t8", &[("mutex", &[1.0, 2.0, 1.0, 4.0]), ("std", &[1.0; 4])]);
        contest.entries[1].runs[1] = None;
        assert_eq!(ratios(&contest), [4.0]);
        contest.entries[1].runs = vec![None; 4];
        assert!(contest.best_peer().is_none() && ratios(&contest).is_empty());
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
        let ours = contest.ours().expect("it is there");
        assert_eq!((better.name, ours.against(better).ratios), ("parking_lot-0.13", vec![6.0]));
    }

    #[test]
    fn the_floor_is_the_fastest_of_them_in_the_odd_repetitions_and_no_peer() {
        let mut contest = contest(
            "pair",
            &[
                ("mutex", &[6.0, 6.0]),
                ("floor-8", &[7.0, 7.0]),
                ("floor-16", &[9.0, 8.0]),
                ("floor-32", &[8.0, 9.0]),
                ("std", &[2.0, 3.0]),
            ],
        );
        let floors = contest.entries.iter_mut().filter(|entry| entry.name.starts_with("floor"));
        floors.for_each(|entry| entry.role = Role::Floor);
        let (floor, ours) = (contest.floor().expect("there are three"), contest.ours());
        assert_eq!(
            (floor.name, ours.expect("it is there").against(floor).ratios),
            ("floor-16", vec![0.75])
        );
        assert_eq!(contest.best_peer().map(|best| best.name), Some("std"));
    }

    #[test]
    fn ours_is_chosen_once_for_each_reader_share_on_the_odd_repetitions_of_all_its_cells() {
        let cell = |name, plain: &[f64], percpu: &[f64]| {
            contest(name, &[("plain", plain), ("percpu*", percpu), ("std-rwlock", &[1.0; 4])])
        };
        let mut cells = [
            // Better in one cell, and worse by more in another; the even ones would say otherwise.
            cell("r90-cs1-t2", &[2.0, 7.0, 2.0, 7.0], &[1.0, 9.0, 1.0, 9.0]),
            cell("r90-cs1-t8", &[1.0, 7.0, 1.0, 7.0], &[3.0, 1.0, 3.0, 1.0]),
            cell("r99-cs1-t2", &[2.0; 4], &[1.0; 4]),
            cell("read-pair-t1", &[1.0; 4], &[8.0; 4]),
        ];
        (0..cells.len()).for_each(|at| choose_ours(&mut cells, at));
        let chosen = cells.each_ref().map(|cell| cell.ours().expect("it is there").name);
        assert_eq!(chosen, ["percpu", "percpu", "plain", "percpu"]);
        assert_eq!((ratios(&cells[0]), ratios(&cells[1])), (vec![9.0; 2], vec![1.0; 2]));
    }

    #[test]
    fn one_of_ours_that_was_not_measured_in_all_cells_of_a_share_is_not_chosen() {
        let both = [("plain", &[1.0; 4][..]), ("percpu*", &[9.0; 4])];
        let mut cells = [contest("r90-cs1-t2", &both), contest("r90-cs1-t8", &both[..1])];
        choose_ours(&mut cells, 1);
        assert!(cells.iter().all(|cell| cell.ours().is_some_and(|ours| ours.name == "plain")));
    }

    #[test]
    fn a_timed_repetition_is_added_to_those_there_are() {
        let mut entry = ContestEntry::new("std", Role::Peer);
        let waits = |ns| {
            let mut waits = Histogram::default();
            waits.record(ns);
            Some(waits)
        };
        for (waits, per_thread_ops) in [(waits(3), [1, 4]), (None, [5, 5]), (waits(9), [0, 0])] {
            let per_thread_ops = per_thread_ops.into();
            entry.add_timed(TrialRecord { waits, per_thread_ops, ..TrialRecord::default() });
        }
        assert_eq!(entry.min_max, [0.25, 1.0, 0.0]);
        assert_eq!(entry.waits.map(|waits| (waits.count(), waits.max())), Some((2, 9)));
    }
}
