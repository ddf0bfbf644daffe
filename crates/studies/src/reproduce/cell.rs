//! A simulated number next to the published one.

use crate::published::{Standing, Unpatched};
use crate::tables::{Key, Quantity, SimulatedTable, TableColumn, TableRow};
use serde::Serialize;
use std::collections::BTreeMap;

/// A row.
#[derive(Clone, Debug, Serialize)]
pub struct ReproducedRow {
    pub(super) key: BTreeMap<&'static str, Key>,
    #[serde(skip)]
    pub(super) of: &'static TableRow,
    pub(super) columns: BTreeMap<&'static str, TableCell>,
}

impl ReproducedRow {
    /// What stands in a column of its key.
    pub(super) fn part(&self, key: &str) -> String {
        self.key.get(key).map_or("-".into(), Key::to_string)
    }
}

/// A simulated number next to the published one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TableCell {
    /// The mean over seeds, placements and start states.
    pub simulated: f64,
    /// The least and the greatest of all seeds, placements, start states and fits.
    pub interval: [f64; 2],
    /// What was published, if it was.
    pub published: Option<f64>,
    /// What the published number says.
    #[serde(skip_serializing_if = "Standing::is_measured")]
    pub published_is: Standing,
    /// How much more the simulated number is than the published one, if an error can be taken of that.
    pub error_percent: Option<f64>,
    /// What the cell is evidence of.
    pub role: CellRole,
}

impl TableCell {
    /// A simulated number that nothing was published next to.
    pub(super) fn new(simulated: f64, interval: [f64; 2], role: CellRole) -> Self {
        let (published, published_is, error_percent) = (None, Standing::Measured, None);
        Self { simulated, interval, published, published_is, error_percent, role }
    }
    /// The same next to what was published.
    pub(super) fn next_to(self, published: Option<f64>, published_is: Standing) -> Self {
        let error = |published: f64| (self.simulated / published - 1.0) * 100.0;
        let error_percent = published.filter(|_| published_is.is_measured()).map(error);
        Self { published, published_is, error_percent, ..self }
    }
}

/// What a cell is evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CellRole {
    /// Of unpatched code, and the machine was fitted to it.
    Fitted,
    /// Of unpatched code, and nothing was fitted to it.
    Baseline,
    /// Of patched code: never fitted.
    Predicted,
    /// Computed from other columns, at least one of them predicted.
    Derived,
}

impl CellRole {
    /// Of a column in a row.
    pub fn of(table: &SimulatedTable, column: &TableColumn, row: &TableRow) -> Self {
        if !matches!(column.quantity, Quantity::Of(..) | Quantity::OfRow(_)) {
            return Self::Derived;
        }
        let is_fitted = column.weight > 0.0 && table.fitted_rows.contains(row);
        let key = table.key_of(row);
        let unpatched = Unpatched::of(table.name);
        match unpatched.and_then(|unpatched| unpatched.at(&key, column.name)) {
            Some(_) if is_fitted => Self::Fitted,
            Some(_) => Self::Baseline,
            None => Self::Predicted,
        }
    }
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fitted => "baseline, fitted",
            Self::Baseline => "baseline, not fitted",
            Self::Predicted => "predicted",
            Self::Derived => "derived from other columns",
        }
    }
}
