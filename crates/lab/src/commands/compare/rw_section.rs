//! Our lock for any mixture of readers and writers next to the reader-writer locks of others. It has a section of its
//! own, because the other tables show the better of ours.

use super::cells::{CellKind, CompareCell};
use super::locks::OURS_MIXED;
use super::overall::geometric_mean;
use super::score::{Contest, Estimate};
use lockwright_measure::stats::{Bootstrap, median};
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::sections::SectionsParams;
use serde::Serialize;

/// The lock in all cells with readers, and in those in which they sleep.
#[derive(Clone, Debug, Serialize)]
pub struct RwSection {
    /// The lock.
    pub lock: &'static str,
    /// The cells that were run.
    pub cells: Vec<RwCell>,
    /// Those that are alike together.
    pub groups: Vec<RwGroup>,
}

/// The lock in a cell.
#[derive(Clone, Debug, Serialize)]
pub struct RwCell {
    /// The cell.
    pub name: &'static str,
    /// The best reader-writer lock of others.
    pub best_peer: &'static str,
    /// Throughput in terms of the best peer.
    pub ratio: f64,
    /// Low and high of its 95 % interval.
    pub ratio_ci95: [f64; 2],
    /// CPU time for an operation in terms of the best peer, if it is known.
    pub cpu_per_op_ratio: Option<f64>,
}

/// Cells that are alike.
#[derive(Clone, Debug, Serialize)]
pub struct RwGroup {
    /// Which.
    pub what: &'static str,
    /// How many.
    pub cells: usize,
    /// The geometric mean of the ratios.
    pub geometric_mean: f64,
    /// Low and high of its 95 % interval.
    pub geometric_mean_ci95: [f64; 2],
    /// The least ratio.
    pub worst: f64,
    /// The cell that has it.
    pub worst_cell: &'static str,
    /// Cells whose interval is below 0.95, all of it.
    pub below_0_95: usize,
    /// The same below 0.9.
    pub below_0_9: usize,
}

/// What cells are called together, and which they are: of this kind, writers sleep, there are neighbours.
const GROUPS: [(&str, CellKind, bool, bool); 5] = [
    ("with short sections", CellKind::Rw, false, false),
    ("in which readers sleep", CellKind::Sleep, false, false),
    ("in which readers sleep, with busy neighbours", CellKind::Sleep, false, true),
    ("in which readers and writers sleep", CellKind::Sleep, true, false),
    ("in which readers and writers sleep, with busy neighbours", CellKind::Sleep, true, true),
];

fn writers_sleep(cell: &CompareCell) -> bool {
    matches!(cell.workload, Workload::Sections(SectionsParams { write_ns: 1.., .. }))
}

impl RwSection {
    /// Of these cells; `None` if the lock was compared in none of them.
    pub fn of(contests: &[Contest], seed: u64) -> Option<Self> {
        let is_meant = |contest: &&Contest| {
            matches!(contest.cell.kind(), CellKind::Rw | CellKind::Sleep)
                && !contest.ratios_of(OURS_MIXED).is_empty()
        };
        let meant: Vec<&Contest> = contests.iter().filter(is_meant).collect();
        let cells = meant.iter().filter_map(|contest| RwCell::of(contest, seed)).collect();
        let groups = GROUPS.iter().filter_map(|&(what, kind, both, busy)| {
            let has = |cell: &CompareCell| {
                (cell.kind(), writers_sleep(cell), cell.has_neighbours) == (kind, both, busy)
            };
            let of_group = meant.iter().copied().filter(|contest| has(&contest.cell));
            RwGroup::of(what, &of_group.collect::<Vec<_>>(), seed)
        });
        let groups = groups.collect();
        (!meant.is_empty()).then_some(Self { lock: OURS_MIXED, cells, groups })
    }
}

impl RwCell {
    fn of(contest: &Contest, seed: u64) -> Option<Self> {
        let (ours, best) = contest.our(OURS_MIXED).zip(contest.best_peer())?;
        let ratio = Estimate::of(&ours.ratios_to(best), seed)?;
        let cpu = Estimate::of(&ours.cpu_per_op_ratios_to(best), seed);
        Some(Self {
            name: contest.cell.name,
            best_peer: best.name,
            ratio: ratio.value,
            ratio_ci95: ratio.ci95,
            cpu_per_op_ratio: cpu.map(|it| it.value),
        })
    }
}

impl RwGroup {
    fn of(what: &'static str, contests: &[&Contest], seed: u64) -> Option<Self> {
        let ratios: Vec<Vec<f64>> =
            contests.iter().map(|contest| contest.ratios_of(OURS_MIXED)).collect();
        let highs: Vec<f64> =
            ratios.iter().filter_map(|ratios| Some(Estimate::of(ratios, seed)?.ci95[1])).collect();
        let below = |limit: f64| highs.iter().filter(|&&high| high < limit).count();
        let medians = contests.iter().zip(&ratios).map(|(it, all)| (median(all), it.cell.name));
        let (worst, worst_cell) = medians.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        Some(Self {
            what,
            cells: ratios.len(),
            geometric_mean: geometric_mean(ratios.iter().map(|ratios| median(ratios))),
            geometric_mean_ci95: Bootstrap::new(seed).interval(|draw| {
                geometric_mean(ratios.iter().map(|ratios| median(&draw.resampled(ratios))))
            }),
            worst,
            worst_cell,
            below_0_95: below(0.95),
            below_0_9: below(0.9),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::compare::score::tests::contest;

    #[test]
    fn the_lock_is_compared_whichever_of_ours_is_better_and_cells_wholly_below_are_counted() {
        let cell = |name, ours: [f64; 4]| {
            let locks =
                [("percpu-rwlock", &[9.0; 4][..]), ("rwlock*", &ours), ("std-rwlock", &[1.0; 4])];
            contest(name, &locks)
        };
        let cells = [
            cell("r50-cs1-t2", [1.0, 0.8, 1.0, 0.89]),
            cell("r90-cs1-t2", [1.0, 0.94, 1.0, 0.94]),
            // Not wholly.
            cell("r99-cs1-t2", [1.0, 0.5, 1.0, 1.1]),
            cell("cs1-t2", [1.0; 4]),
        ];
        let section = RwSection::of(&cells, 1).expect("three cells have readers");
        let [group] = &section.groups[..] else { panic!("one group: {section:?}") };
        assert_eq!((group.cells, group.below_0_95, group.below_0_9), (3, 2, 1));
        assert_eq!((group.worst, group.worst_cell), (0.8, "r99-cs1-t2"));
        assert_eq!(section.cells[1].ratio_ci95, [0.94; 2]);
        assert!(RwSection::of(&cells[3..], 1).is_none());
    }
}
