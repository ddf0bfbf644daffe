//! All cells of a group together.

use super::score::{CellScores, Contest, Estimate};
use lockwright_measure::stats::median;
use serde::Serialize;

/// All cells of a group in two numbers.
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
    /// In how many of them ours is at the bound that the CPUs set.
    #[serde(skip_serializing_if = "is_zero")]
    pub at_bound: usize,
    /// The geometric mean of the CPU times per operation, in terms of the best peers'; `None` where that is not known.
    pub cpu_per_op: Option<f64>,
    /// Low and high of its 95 % interval.
    pub cpu_per_op_ci95: Option<[f64; 2]>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Overall {
    /// Of those of these cells that have a ratio; `None` if there are none. `scores` are those of the lock of ours that
    /// is meant.
    pub fn of<'a>(
        contests: impl Iterator<Item = &'a Contest>,
        scores: impl Fn(&'a Contest) -> Option<CellScores<'a>>,
        seed: u64,
    ) -> Option<Self> {
        let contests: Vec<&Contest> = contests.collect();
        let scored: Vec<CellScores<'_>> = contests.iter().filter_map(|it| scores(it)).collect();
        let together = |get: for<'s> fn(&'s CellScores<'a>) -> &'s Vec<f64>| {
            let all = scored.iter().map(get).filter(|ratios| !ratios.is_empty());
            Estimate::together(&all.collect::<Vec<_>>(), seed)
        };
        let (mean, cpu) = (together(|it| &it.ratios)?, together(|it| &it.cpu_per_op));
        let compared = scored.iter().filter(|it| !it.ratios.is_empty());
        let worst_cell =
            compared.clone().min_by(|a, b| median(&a.ratios).total_cmp(&median(&b.ratios)))?;
        let worst = Estimate::of(&worst_cell.ratios, seed)?;
        Some(Self {
            geometric_mean: mean.value,
            geometric_mean_ci95: mean.ci95,
            worst: worst.value,
            worst_ci95: worst.ci95,
            worst_cell: worst_cell.cell,
            cells: compared.count(),
            at_bound: contests.iter().filter(|contest| contest.is_at_bound()).count(),
            cpu_per_op: cpu.map(|cpu| cpu.value),
            cpu_per_op_ci95: cpu.map(|cpu| cpu.ci95),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::compare::cells::GROUPS;
    use crate::commands::compare::score::tests::contest;

    #[test]
    fn the_mean_is_geometric_over_the_cells_of_a_kind_and_the_worst_is_named() {
        let cells = [
            contest("r50-cs1-t2", &[("mutex", &[1.0, 7.0]), ("std-rwlock", &[1.0, 1.0])]),
            contest("pair", &[("mutex", &[1.0, 100.0]), ("std", &[1.0, 1.0])]),
            contest("cs1-t2", &[("mutex", &[1.0, 2.0]), ("std", &[1.0, 1.0])]),
            contest("cs1-t4", &[("mutex", &[1.0, 1.0]), ("std", &[1.0, 2.0])]),
            contest("cs1-t8", &[("mutex", &[1.0]), ("std", &[1.0])]),
        ];
        let of = |cells: &[Contest], key| {
            let group = GROUPS.iter().find(|group| group.key == key).expect("a known group");
            let cells = cells.iter().filter(|contest| group.has(&contest.cell));
            Overall::of(cells, Contest::scores, 1)
        };
        let overall = of(&cells, "exclusive").expect("two cells have a ratio");
        assert!((overall.geometric_mean - 1.0).abs() < 1e-12);
        assert_eq!((overall.worst, overall.worst_cell, overall.cells), (0.5, "cs1-t4", 2));
        assert_eq!(of(&cells, "rw").map(|all| all.worst), Some(7.0));
        assert!(of(&cells[..1], "exclusive").is_none());
    }
}
