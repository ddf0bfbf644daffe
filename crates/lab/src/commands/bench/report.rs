//! The results of a benchmark, in each format.

mod chart;
mod columns;
mod document;
mod text;

pub use document::BenchDocument;

use document::CSV_COLUMNS;
use lockwright_report::{Chart, Grid, Report, to_json};

impl Report for BenchDocument {
    fn text(&self) -> String {
        text::text(self)
    }
    fn brief(&self) -> String {
        text::brief(self)
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = Grid::new(CSV_COLUMNS);
        self.results.iter().for_each(|result| grid.push(self.csv_row(result)));
        grid
    }
    fn chart(&self) -> Option<Chart> {
        chart::of(self)
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
