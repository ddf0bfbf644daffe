//! How well the columns of unpatched code are met.

use super::document::Row;
use crate::published::{Published, Unpatched};
use crate::tables::Table;
use serde::Serialize;

/// Without a published standard deviation a number is taken to be this uncertain, so that two cells of
/// the same size have to differ by 3 % to be judged.
const UNKNOWN_STDDEV: f64 = 0.03 / (2.0 * std::f64::consts::SQRT_2);

/// How well the cells of unpatched code are met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Cells of unpatched code.
    pub cells: usize,
    /// Root mean square of their relative errors.
    pub rms_percent: f64,
    /// Pairs of them that differ by more than two combined standard deviations, 3 % where none was
    /// published.
    pub pairs: usize,
    /// How many of these have the same order here.
    pub pairs_right: usize,
}

/// A published cell and the simulated one.
struct Pair {
    published: f64,
    stddev: f64,
    simulated: f64,
}

impl Score {
    /// `None` if no cell of unpatched code was published.
    pub(super) fn of(table: &Table, rows: &[Row], published: Option<&Published>) -> Option<Self> {
        let unpatched = Unpatched::of(table.name)?;
        let published = published?;
        let mut cells = Vec::new();
        for column in table.columns.iter().filter(|column| unpatched.column(column.name).is_some())
        {
            let spread = stddev_column(column.name);
            for row in rows {
                let Some(cell) = row.columns.get(column.name) else { continue };
                let Some(value) = cell.published else { continue };
                let stddev =
                    spread.as_ref().and_then(|name| published.at(&table.key_of(row.of), name));
                cells.push(Pair {
                    published: value,
                    stddev: stddev.unwrap_or(value * UNKNOWN_STDDEV),
                    simulated: cell.simulated,
                });
            }
        }
        (!cells.is_empty()).then(|| Self::of_cells(&cells))
    }

    fn of_cells(cells: &[Pair]) -> Self {
        let error = |cell: &Pair| (cell.simulated / cell.published - 1.0) * 100.0;
        let squares: f64 = cells.iter().map(|cell| error(cell).powi(2)).sum();
        let pairs = cells.iter().enumerate();
        let pairs = pairs.flat_map(|(at, a)| cells[..at].iter().map(move |b| (a, b)));
        let judged: Vec<_> = pairs.filter(|(a, b)| is_certain(a, b)).collect();
        let is_right =
            |(a, b): &&(&Pair, &Pair)| (a.published < b.published) == (a.simulated < b.simulated);
        Self {
            cells: cells.len(),
            rms_percent: (squares / cells.len() as f64).sqrt(),
            pairs: judged.len(),
            pairs_right: judged.iter().filter(is_right).count(),
        }
    }
}

/// Whether the published cells differ by more than chance.
fn is_certain(a: &Pair, b: &Pair) -> bool {
    (a.published - b.published).abs() > 2.0 * a.stddev.hypot(b.stddev)
}

/// The column with the standard deviations of a column, if its table has some.
fn stddev_column(name: &str) -> Option<String> {
    name.strip_prefix("stock_").map(|rest| format!("stock_stddev_{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(published: f64, simulated: f64) -> Pair {
        Pair { published, stddev: published * UNKNOWN_STDDEV, simulated }
    }

    #[test]
    fn errors_are_relative_and_pairs_within_three_percent_are_not_judged() {
        let score = Score::of_cells(&[pair(100.0, 110.0), pair(102.0, 91.8), pair(200.0, 100.0)]);
        assert_eq!((score.cells, score.pairs, score.pairs_right), (3, 2, 1));
        let rms = ((10.0f64.powi(2) + 10.0f64.powi(2) + 50.0f64.powi(2)) / 3.0).sqrt();
        assert!((score.rms_percent - rms).abs() < 1e-9, "{score:?}");
    }

    #[test]
    fn a_published_spread_decides_which_pairs_are_judged() {
        let noisy = |published, simulated| Pair { published, stddev: 3.0, simulated };
        assert_eq!(Score::of_cells(&[noisy(100.0, 1.0), noisy(108.0, 2.0)]).pairs, 0);
        assert_eq!(Score::of_cells(&[noisy(100.0, 1.0), noisy(109.0, 2.0)]).pairs, 1);
        let column = stddev_column("stock_ops_per_us");
        assert_eq!(column.as_deref(), Some("stock_stddev_ops_per_us"));
        assert_eq!(stddev_column("pvqlock_build_time_s"), None);
    }
}
