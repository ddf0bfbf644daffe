//! Rows and columns, as text and as CSV.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A header and rows of the same width.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// A grid without rows.
    pub fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { header: header.map(String::from).to_vec(), rows: Vec::new() }
    }
    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [String; N]) {
        debug_assert_eq!(N, self.header.len(), "a row is as wide as the header");
        self.rows.push(row.to_vec());
    }
    /// As CSV, header first.
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in std::iter::once(&self.header).chain(&self.rows) {
            // A vector takes everything, and rows are as wide as the header.
            let _ = writer.write_record(row);
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// A table for people: the first `left` columns are words, the others are numbers.
pub fn text_table(grid: &Grid, left: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(&grid.header);
    for row in &grid.rows {
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let alignment = if index < left { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
        column.set_padding((0, 2));
    }
    table.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(["lock", "ns"]);
        grid.push(["a, b".into(), "1".into()]);
        grid.push(["c".into(), "200".into()]);
        grid
    }

    #[test]
    fn csv_quotes_what_needs_quotes() {
        assert_eq!(grid().to_csv(), "lock,ns\n\"a, b\",1\nc,200\n");
    }

    #[test]
    fn numbers_are_aligned_to_the_right() {
        assert_eq!(text_table(&grid(), 1), "lock   ns\na, b    1\nc     200\n");
    }
}
