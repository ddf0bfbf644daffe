//! All cells of a group together.

use super::cells::CellGroup;
use super::score::{Contest, Estimate};
use lockwright_measure::stats::{Bootstrap, median};
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
    /// Of the cells of that group that have a ratio; `None` if there are none.
    pub fn of(contests: &[Contest], group: CellGroup, seed: u64) -> Option<Self> {
        let of_group = || contests.iter().filter(|contest| group.has(&contest.cell));
        let scored: Vec<(&'static str, Vec<f64>)> = of_group()
            .map(|contest| (contest.cell.name, contest.ratios()))
            .filter(|(_, ratios)| !ratios.is_empty())
            .collect();
        let cpu = of_group().map(Contest::cpu_per_op_ratios).filter(|ratios| !ratios.is_empty());
        let cpu: Vec<Vec<f64>> = cpu.collect();
        let cpu_ci95 = || {
            Bootstrap::new(seed).interval(|draw| {
                geometric_mean(cpu.iter().map(|ratios| median(&draw.resampled(ratios))))
            })
        };
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
            at_bound: of_group().filter(|contest| contest.is_at_bound()).count(),
            cpu_per_op: (!cpu.is_empty())
                .then(|| geometric_mean(cpu.iter().map(|ratios| median(ratios)))),
            cpu_per_op_ci95: (!cpu.is_empty()).then(cpu_ci95),
        })
    }
}

/// Of numbers above zero.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) =
        values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    f64::exp(sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::compare::cells::CellKind;
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
        let of = |cells: &[_], kind| Overall::of(cells, CellGroup::Alone(kind), 1);
        let overall = of(&cells, CellKind::Exclusive).expect("two cells have a ratio");
        assert!((overall.geometric_mean - 1.0).abs() < 1e-12);
        assert_eq!((overall.worst, overall.worst_cell, overall.cells), (0.5, "cs1-t4", 2));
        assert_eq!(of(&cells, CellKind::Rw).map(|all| all.worst), Some(7.0));
        assert!(of(&cells[..1], CellKind::Exclusive).is_none());
    }
}
