//! The cells that are fitted, and how well they are met.

use crate::tables;

/// A cell of a fitted column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedCell {
    /// The table.
    pub table: &'static str,
    /// Its row.
    pub of: &'static tables::TableRow,
    /// The column.
    pub column: &'static str,
    /// How much its squared error counts.
    pub weight: f64,
    /// Published, in the column's unit.
    pub published: f64,
    /// Simulated, in the column's unit.
    pub simulated: f64,
}

impl FittedCell {
    /// The simulated number relative to the published one, in percent.
    pub fn error_percent(&self) -> f64 {
        (self.simulated / self.published - 1.0) * 100.0
    }
    /// The error as it counts.
    pub fn weighted_error(&self) -> f64 {
        self.error_percent() * self.weight.sqrt()
    }
}

/// Root mean square of the relative errors, in percent.
pub fn rms_percent(rows: &[FittedCell]) -> f64 {
    let squares: f64 = rows.iter().map(|row| row.error_percent().powi(2)).sum();
    (squares / rows.len().max(1) as f64).sqrt()
}

/// The same by the weights of the columns: what is made small.
pub fn weighted_rms_percent(rows: &[FittedCell]) -> f64 {
    let squares: f64 = rows.iter().map(|row| row.weighted_error().powi(2)).sum();
    let weights: f64 = rows.iter().map(|row| row.weight).sum();
    if weights > 0.0 { (squares / weights).sqrt() } else { f64::INFINITY }
}

/// `value` with this number of decimals: what the file says is what is used.
pub fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}
