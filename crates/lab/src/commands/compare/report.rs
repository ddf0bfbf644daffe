//! The results of a comparison, in each format.

mod document;
mod text;

pub use document::CompareDocument;

use document::{CSV_COLUMNS, csv_row};
use lockwright_report::{Chart, Grid, Report, to_json};

impl Report for CompareDocument {
    fn text(&self) -> String {
        text::text(self)
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = Grid::new(CSV_COLUMNS);
        for cell in &self.cells {
            cell.locks.iter().for_each(|(name, lock)| grid.push(csv_row(cell, name, lock)));
        }
        grid
    }
    fn chart(&self) -> Option<Chart> {
        None
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
