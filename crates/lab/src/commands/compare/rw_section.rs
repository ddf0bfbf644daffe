//! Our lock for any mixture of readers and writers next to the reader-writer locks of others. It has a section of its
//! own, because the other tables show the better of ours.

use super::cells::{CellKind, CompareCell};
use super::locks::OURS_MIXED;
use super::overall::Overall;
use super::score::{Compared, Contest};
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
    /// The lock next to the best reader-writer lock of others.
    #[serde(flatten)]
    pub compared: Compared,
}

/// Cells that are alike.
#[derive(Clone, Debug, Serialize)]
pub struct RwGroup {
    /// Which.
    pub what: &'static str,
    /// All of them together.
    #[serde(flatten)]
    pub all: Overall,
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
        let cells = contests.iter().filter_map(|contest| {
            let is_meant = matches!(contest.cell.kind(), CellKind::Rw | CellKind::Sleep);
            let scores = contest.scores_of(OURS_MIXED).filter(|_| is_meant)?;
            let compared = scores.compared(seed);
            compared.ratio.map(|_| (contest, RwCell { name: contest.cell.name, compared }))
        });
        let (meant, cells): (Vec<&Contest>, Vec<RwCell>) = cells.unzip();
        let groups = GROUPS.iter().filter_map(|&(what, kind, both, busy)| {
            let has = |cell: &CompareCell| {
                (cell.kind(), writers_sleep(cell), cell.has_neighbours) == (kind, both, busy)
            };
            let own = meant.iter().zip(&cells).filter(|(contest, _)| has(&contest.cell));
            let highs = own.clone().filter_map(|(_, cell)| Some(cell.compared.ratio_ci95?[1]));
            let below = |limit: f64| highs.clone().filter(|&high| high < limit).count();
            let contests = own.clone().map(|(contest, _)| *contest);
            Some(RwGroup {
                what,
                all: Overall::of(contests, |contest| contest.scores_of(OURS_MIXED), seed)?,
                below_0_95: below(0.95),
                below_0_9: below(0.9),
            })
        });
        let groups = groups.collect();
        (!cells.is_empty()).then_some(Self { lock: OURS_MIXED, cells, groups })
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
        assert_eq!((group.all.cells, group.below_0_95, group.below_0_9), (3, 2, 1));
        assert_eq!((group.all.worst, group.all.worst_cell), (0.8, "r99-cs1-t2"));
        assert_eq!(section.cells[1].compared.ratio_ci95, Some([0.94; 2]));
        assert!(RwSection::of(&cells[3..], 1).is_none());
    }
}
