//! How well the published cells of a table are met.

use super::cell::{CellRole, ReproducedRow};
use crate::published::Published;
use crate::tables::{Quantity, SimulatedTable, TableColumn, TableRow};
use serde::Serialize;

/// Without a published standard deviation a number is taken to be this uncertain, so that two cells of
/// the same size have to differ by 3 % to be judged.
const UNKNOWN_STDDEV: f64 = 0.03 / (2.0 * std::f64::consts::SQRT_2);

/// How well published cells are met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Cells that were published and of which an error can be taken.
    pub cells: usize,
    /// Root mean square of their relative errors.
    pub rms_percent: f64,
    /// How many published values are inside the interval of the simulated ones.
    pub inside_interval: usize,
    /// Pairs of them that are about the same quantity, in one unit, and differ by more than two combined
    /// standard deviations, 3 % where none was published.
    pub pairs: usize,
    /// How many of these have the same order here.
    pub pairs_right: usize,
}

/// True if some cell of a predicted column of the table was published in this repository.
pub fn has_published_predictions(table: &SimulatedTable) -> bool {
    let Some(published) = Published::named(table.name) else { return false };
    let is_one = |column: &TableColumn, row: &TableRow| {
        let is_published = published.at(&table.key_of(row), column.name).is_some();
        is_published && CellRole::of(table, column, row) == CellRole::Predicted
    };
    table.columns.iter().any(|column| table.rows.iter().any(|row| is_one(column, row)))
}

/// Scores of a table by the kind of column; `None` where nothing was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Scores {
    /// Unpatched code.
    #[serde(rename = "score")]
    pub baseline: Option<Score>,
    /// True if the machine was fitted to some of it.
    #[serde(skip)]
    pub is_fitted: bool,
    /// Patched code.
    #[serde(rename = "predicted_score", skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Score>,
    /// Quotients of the two. Differences in percent are not scored: the error of one that is near 0 says
    /// nothing.
    #[serde(rename = "derived_score", skip_serializing_if = "Option::is_none")]
    pub derived: Option<Score>,
}

impl Scores {
    pub(super) fn of(
        table: &SimulatedTable,
        rows: &[ReproducedRow],
        published: Option<&Published>,
    ) -> Self {
        let Some(published) = published else { return Self::default() };
        let mut cells: Vec<(CellRole, Pair)> = Vec::new();
        let is_scored = |it: &&TableColumn| !matches!(it.quantity, Quantity::Change(..));
        for column in table.columns.iter().filter(is_scored) {
            let spread = stddev_column(column.name);
            for row in rows {
                let Some(cell) = row.columns.get(column.name) else { continue };
                let Some(value) = cell.published.filter(|_| cell.published_is.is_measured()) else {
                    continue;
                };
                let stddev =
                    spread.as_ref().and_then(|name| published.at(&table.key_of(row.of), name));
                let pair = Pair {
                    column,
                    published: value,
                    stddev: stddev.unwrap_or(value * UNKNOWN_STDDEV),
                    simulated: cell.simulated,
                    interval: cell.interval,
                };
                cells.push((cell.role, pair));
            }
        }
        let score = |kinds: &[CellRole]| {
            let chosen = cells.iter().filter(|(kind, _)| kinds.contains(kind));
            Score::of_cells(&chosen.map(|&(_, pair)| pair).collect::<Vec<_>>())
        };
        Self {
            baseline: score(&[CellRole::Fitted, CellRole::Baseline]),
            is_fitted: cells.iter().any(|(kind, _)| *kind == CellRole::Fitted),
            predicted: score(&[CellRole::Predicted]),
            derived: score(&[CellRole::Derived]),
        }
    }
}

/// A published cell and the simulated one.
#[derive(Clone, Copy)]
struct Pair {
    column: &'static TableColumn,
    published: f64,
    stddev: f64,
    simulated: f64,
    interval: [f64; 2],
}

impl Score {
    fn of_cells(cells: &[Pair]) -> Option<Self> {
        if cells.is_empty() {
            return None;
        }
        let error = |cell: &Pair| (cell.simulated / cell.published - 1.0) * 100.0;
        let squares: f64 = cells.iter().map(|cell| error(cell).powi(2)).sum();
        let pairs = cells.iter().enumerate();
        let pairs = pairs.flat_map(|(at, a)| cells[..at].iter().map(move |b| (a, b)));
        let pairs = pairs.filter(|(a, b)| a.column.is_comparable(b.column));
        let judged: Vec<_> = pairs.filter(|(a, b)| is_certain(a, b)).collect();
        let is_right =
            |(a, b): &&(&Pair, &Pair)| (a.published < b.published) == (a.simulated < b.simulated);
        let is_inside = |cell: &&Pair| {
            let [low, high] = cell.interval;
            (low..=high).contains(&cell.published)
        };
        Some(Self {
            cells: cells.len(),
            rms_percent: (squares / cells.len() as f64).sqrt(),
            inside_interval: cells.iter().filter(is_inside).count(),
            pairs: judged.len(),
            pairs_right: judged.iter().filter(is_right).count(),
        })
    }
}

/// True if the published cells differ by more than chance.
fn is_certain(a: &Pair, b: &Pair) -> bool {
    (a.published - b.published).abs() > 2.0 * a.stddev.hypot(b.stddev)
}

/// The column with the standard deviations of a column, if its table has some.
fn stddev_column(name: &str) -> Option<String> {
    ["stock_", "patch_cna_"].iter().find_map(|prefix| {
        let rest = name.strip_prefix(prefix)?;
        Some(format!("{prefix}stddev_{rest}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::Standing;
    use crate::reproduce::cell::TableCell;

    fn pair(published: f64, simulated: f64) -> Pair {
        let (stddev, interval) = (published * UNKNOWN_STDDEV, [simulated - 1.0, simulated + 1.0]);
        Pair {
            column: column("unfair_lock_avg_ops_per_thread_in_5_s"),
            published,
            stddev,
            simulated,
            interval,
        }
    }

    fn column(name: &str) -> &'static TableColumn {
        let table = SimulatedTable::named("pvqspinlock_microbenchmark_min_avg_max_e5_2699_v3");
        table.and_then(|table| table.column(name)).expect("it is in the table")
    }

    #[test]
    fn only_entries_of_the_same_quantity_have_an_order() {
        let least = |it| Pair { column: column("unfair_lock_min_ops_per_thread_in_5_s"), ..it };
        let pairs = |cells: [Pair; 2]| Score::of_cells(&cells).map(|score| score.pairs);
        assert_eq!(pairs([pair(100.0, 1.0), pair(200.0, 2.0)]), Some(1));
        assert_eq!(pairs([pair(100.0, 1.0), least(pair(200.0, 2.0))]), Some(0));
        assert_eq!(pairs([least(pair(100.0, 1.0)), least(pair(200.0, 2.0))]), Some(1));
    }

    #[test]
    fn a_lower_bound_and_a_doubtful_number_have_no_error() {
        let published =
            Published::named("rwsem_handoff_fairness_2s40c80t").expect("it is built in");
        let cell = |column: &str| {
            let standing = published.standing(column);
            TableCell::new(2.0, [1.0, 3.0], CellRole::Fitted).next_to(Some(1.0), standing)
        };
        assert_eq!(cell("threads_with_one_operation").error_percent, Some(100.0));
        for column in ["max_ops_per_thread", "reported_locking_rate_kops_per_s"] {
            assert_eq!(cell(column).error_percent, None);
            assert_eq!(cell(column).published, Some(1.0));
        }
        assert_eq!(Standing::LowerBound.told(646_000.0), ">646000");
    }

    #[test]
    fn errors_are_relative_and_pairs_within_three_percent_are_not_judged() {
        let cells = [pair(100.0, 110.0), pair(102.0, 91.8), pair(200.0, 100.0)];
        let score = Score::of_cells(&cells).expect("there are cells");
        assert_eq!((score.cells, score.pairs, score.pairs_right), (3, 2, 1));
        let rms = ((10.0f64.powi(2) + 10.0f64.powi(2) + 50.0f64.powi(2)) / 3.0).sqrt();
        assert!((score.rms_percent - rms).abs() < 1e-9, "{score:?}");
    }

    #[test]
    fn a_published_spread_decides_which_pairs_are_judged() {
        let noisy = |published, simulated| Pair { stddev: 3.0, ..pair(published, simulated) };
        let pairs = |cells: [Pair; 2]| Score::of_cells(&cells).map(|score| score.pairs);
        assert_eq!(pairs([noisy(100.0, 1.0), noisy(108.0, 2.0)]), Some(0));
        assert_eq!(pairs([noisy(100.0, 1.0), noisy(109.0, 2.0)]), Some(1));
        let column = stddev_column("stock_ops_per_us");
        assert_eq!(column.as_deref(), Some("stock_stddev_ops_per_us"));
        assert_eq!(stddev_column("pvqlock_build_time_s"), None);
    }

    #[test]
    fn only_published_values_between_the_ends_of_the_interval_are_inside() {
        let cells = [pair(100.0, 101.0), pair(100.0, 98.9), pair(100.0, 99.0)];
        assert_eq!(Score::of_cells(&cells).map(|score| score.inside_interval), Some(2));
        assert_eq!(Score::of_cells(&[]), None);
    }

    #[test]
    fn a_cell_is_what_its_column_and_row_are() {
        let kind = |table: &str, column: &str, row: usize| {
            let table = SimulatedTable::named(table).expect("a table");
            CellRole::of(table, table.column(column).expect("a column"), &table.rows[row])
        };
        let locktorture = "cna_v10_locktorture_x5_4";
        assert_eq!(kind(locktorture, "stock_ops_1e7", 0), CellRole::Fitted);
        assert_eq!(kind(locktorture, "patch_cna_ops_1e7", 0), CellRole::Predicted);
        assert_eq!(kind(locktorture, "speedup_patch_cna_over_stock", 0), CellRole::Derived);
        let fairness = "rwsem_handoff_fairness_2s40c80t";
        assert_eq!(kind(fairness, "max_ops_per_thread", 0), CellRole::Fitted);
        assert_eq!(kind(fairness, "min_ops_per_thread", 0), CellRole::Baseline);
        assert_eq!(kind(fairness, "max_ops_per_thread", 1), CellRole::Predicted, "a patched row");
        let has = |name: &str| SimulatedTable::named(name).is_some_and(has_published_predictions);
        assert_eq!([locktorture, fairness].map(has), [true, false]);
    }
}
