//! Rows and columns, as text and as CSV.

use crate::page;
use serde_json::Value;

/// A header and rows of the same width.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// The rows of both, which have the same columns.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self
    }
    /// A row for each object. `columns` has words: paths to values, such as `wait_ns/max`, whose column is
    /// `wait_ns_max`; `name=path` gives it another name. What a row does not have is an empty cell.
    pub fn of_json(rows: impl IntoIterator<Item = Value>, columns: &str) -> Self {
        let columns = columns.split_whitespace().map(|column| match column.split_once('=') {
            Some((name, path)) => (name.into(), format!("/{path}")),
            None => (column.replace('/', "_"), format!("/{column}")),
        });
        let (header, paths): (Vec<String>, Vec<String>) = columns.unzip();
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(word) => word.clone(),
            Value::Number(number) if number.is_f64() => {
                number.as_f64().map_or_else(String::new, |number| number.to_string())
            }
            other => other.to_string(),
        };
        let row = |row: Value| {
            paths.iter().map(|path| row.pointer(path).map_or_else(String::new, cell)).collect()
        };
        Self { rows: rows.into_iter().map(row).collect(), header }
    }
    /// How many columns of text its table takes if nothing wraps.
    pub fn width(&self) -> usize {
        let longest = |at: usize| {
            let cells = std::iter::once(&self.header).chain(&self.rows);
            cells.filter_map(|row| row.get(at)).map(|cell| page::length(cell)).max()
        };
        let widths = (0..self.header.len()).filter_map(longest);
        widths.map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
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

/// A table for people: the first `left` columns are words, the others are numbers. Words wrap if the page
/// is too narrow; those of the first column are broken last.
pub fn text_table(grid: &Grid, left: usize) -> String {
    let columns = grid.header.iter().enumerate().map(|(at, title)| match at < left {
        true => Column::words(title),
        false => Column::number(title),
    });
    Sheet { columns: columns.collect(), keys: 1, rows: grid.rows.clone() }.text()
}

/// A column of a table for people.
#[derive(Clone, Debug)]
pub struct Column {
    title: String,
    means: String,
    is_number: bool,
    wraps: bool,
    starts_group: bool,
}

impl Column {
    fn new(title: impl Into<String>, is_number: bool, wraps: bool) -> Self {
        let (title, means) = (title.into(), String::new());
        Self { title, means, is_number, wraps, starts_group: false }
    }
    /// Names, which stay in one line.
    pub fn name(title: impl Into<String>) -> Self {
        Self::new(title, false, false)
    }
    /// Words, which wrap.
    pub fn words(title: impl Into<String>) -> Self {
        Self::new(title, false, true)
    }
    /// Numbers, which stay in one line; their title may wrap.
    pub fn number(title: impl Into<String>) -> Self {
        Self::new(title, true, false)
    }
    /// What the legend says about it.
    pub fn means(self, means: impl Into<String>) -> Self {
        Self { means: means.into(), ..self }
    }
    /// The first of some columns that stay together if the table is split.
    pub fn first(self) -> Self {
        Self { starts_group: true, ..self }
    }
}

/// A table for people, with a legend below it. If the page is too narrow, titles and words wrap; if that is
/// not enough, the table is split into several, each with the first `keys` columns.
pub struct Sheet {
    /// The columns.
    pub columns: Vec<Column>,
    /// How many of them say what a row is about.
    pub keys: usize,
    /// The rows, as wide as the columns.
    pub rows: Vec<Vec<String>>,
}

const GAP: usize = 2;

/// A table of items for people, made column by column.
pub struct SheetOf<'a, T> {
    items: Vec<&'a T>,
    /// What it has by now.
    pub sheet: Sheet,
}

impl<'a, T> SheetOf<'a, T> {
    /// A row for each item, and no column.
    pub fn new(items: impl IntoIterator<Item = &'a T>) -> Self {
        let items: Vec<&T> = items.into_iter().collect();
        let rows = vec![Vec::new(); items.len()];
        Self { items, sheet: Sheet { columns: Vec::new(), keys: 0, rows } }
    }
    /// Adds a column, with this cell for each item.
    pub fn add(&mut self, column: Column, cell: impl Fn(&'a T) -> String) {
        self.sheet.columns.push(column);
        for (row, item) in self.sheet.rows.iter_mut().zip(&self.items) {
            row.push(cell(item));
        }
    }
    /// Adds a column that says what a row is about.
    pub fn key(&mut self, column: Column, cell: impl Fn(&'a T) -> String) {
        self.add(column, cell);
        self.sheet.keys = self.sheet.columns.len();
    }
    /// Adds a column of numbers; the legend says what it means, unless that is empty.
    pub fn number(&mut self, title: &str, means: &str, cell: impl Fn(&'a T) -> String) {
        self.add(Column::number(title).means(means), cell);
    }
    /// As [`number`](Self::number), the first of some columns that stay together if the table is split.
    pub fn first(&mut self, title: &str, means: &str, cell: impl Fn(&'a T) -> String) {
        self.add(Column::number(title).means(means).first(), cell);
    }
}

/// A column for people, and what is in it for an item.
type SheetColumn<'a, T> = (Column, &'a dyn Fn(&T) -> String);

impl Sheet {
    /// A row for each item; the first `keys` of these columns say what it is about.
    pub fn of<T>(
        items: impl IntoIterator<Item = T>,
        keys: usize,
        columns: &[SheetColumn<'_, T>],
    ) -> Self {
        let row = |item: T| columns.iter().map(|(_, cell)| cell(&item)).collect();
        let rows = items.into_iter().map(row).collect();
        Self { columns: columns.iter().map(|(column, _)| column.clone()).collect(), keys, rows }
    }
    /// The table, and the legend if there is one.
    pub fn text(&self) -> String {
        self.text_within(page::width())
    }
    /// The table alone.
    pub fn without_legend(&self) -> String {
        self.tables(page::width())
    }
    /// The same in lines of at most this many characters, if the table can be that narrow.
    pub fn text_within(&self, width: usize) -> String {
        self.tables(width) + &self.legend(width)
    }
    fn tables(&self, width: usize) -> String {
        let tables: Vec<String> =
            self.parts(width).iter().map(|part| self.part(part, width)).collect();
        tables.join("\n")
    }
    fn legend(&self, width: usize) -> String {
        let told = self.columns.iter().filter(|column| !column.means.is_empty());
        // The legend of `group: column` is about the group.
        let subject = |title: &str| title.split(": ").next().unwrap_or(title).to_string();
        let told = told.map(|column| format!("{}: {}", subject(&column.title), column.means));
        let told: Vec<_> = told.collect();
        if told.is_empty() {
            return String::new();
        }
        format!("\n{}\n", page::lines(&(told.join("; ") + "."), width).join("\n"))
    }
    fn cells(&self, at: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row[at].as_str())
    }
    /// The width of a column in which nothing wraps.
    fn natural(&self, at: usize) -> usize {
        let longest = self.cells(at).map(page::length).max().unwrap_or(0);
        longest.max(page::length(&self.columns[at].title))
    }
    /// The least width of a column: titles and words wrap, names and numbers do not.
    fn least(&self, at: usize) -> usize {
        let longest = |words: &mut dyn Iterator<Item = &str>| words.map(page::length).max();
        let word = |text: &str| longest(&mut text.split(' ')).unwrap_or(0);
        let piece = |text: &str| longest(&mut text.split([' ', '_'])).map_or(0, |long| long + 1);
        let title = word(&self.columns[at].title);
        let cells = self.cells(at);
        let cell = match self.columns[at].wraps {
            true => cells.map(|cell| piece(cell).min(word(cell))).max(),
            false => cells.map(page::length).max(),
        };
        title.max(cell.unwrap_or(0))
    }
    /// The columns of each table.
    fn parts(&self, width: usize) -> Vec<Vec<usize>> {
        let total = |part: &[usize]| part.iter().map(|&at| self.least(at) + GAP).sum::<usize>();
        let fits = |part: &[usize]| total(part) <= width + GAP;
        let all: Vec<usize> = (0..self.columns.len()).collect();
        if fits(&all) {
            return vec![all];
        }
        let (keys, others) = all.split_at(self.keys);
        let mut parts = vec![keys.to_vec()];
        for group in others.chunk_by(|_, &next| !self.columns[next].starts_group) {
            let is_whole = fits(&[keys, group].concat());
            for piece in group.chunks(if is_whole { group.len() } else { 1 }) {
                let last = parts.len() - 1;
                match fits(&[&parts[last], piece].concat()) || parts[last].len() == keys.len() {
                    true => parts[last].extend(piece),
                    false => parts.push([keys, piece].concat()),
                }
            }
        }
        parts
    }
    /// One table.
    fn part(&self, part: &[usize], width: usize) -> String {
        let mut widths: Vec<usize> = part.iter().map(|&at| self.natural(at)).collect();
        let least: Vec<usize> = part.iter().map(|&at| self.least(at)).collect();
        while widths.iter().map(|width| width + GAP).sum::<usize>() > width + GAP {
            let can_wrap = (0..part.len()).filter(|&at| widths[at] > least[at]);
            // What a row is about stays whole as long as possible.
            let rank = |&at: &usize| (part[at] >= self.keys, widths[at], at);
            let Some(widest) = can_wrap.max_by_key(rank) else { break };
            widths[widest] -= 1;
        }
        let titles = part.iter().map(|&at| self.columns[at].title.as_str());
        let mut text = self.row(part, &widths, titles.collect(), true);
        for row in &self.rows {
            text +=
                &self.row(part, &widths, part.iter().map(|&at| row[at].as_str()).collect(), false);
        }
        text
    }
    /// A row in one or more lines; the lines of a header end together.
    fn row(&self, part: &[usize], widths: &[usize], cells: Vec<&str>, is_header: bool) -> String {
        let cells = cells.into_iter().zip(widths);
        let cells: Vec<_> = cells.map(|(cell, &width)| page::lines(cell, width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for line in 0..height {
            let mut all = String::new();
            for ((cell, &width), &at) in cells.iter().zip(widths).zip(part) {
                let above = if is_header { height - cell.len() } else { 0 };
                let cell = line.checked_sub(above).and_then(|line| cell.get(line));
                let cell = cell.map_or("", String::as_str);
                all += &match self.columns[at].is_number {
                    true => format!("{cell:>width$}"),
                    false => format!("{cell:<width$}"),
                };
                all += "  ";
            }
            text += all.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn grid() -> Grid {
        let items = [("a, b", 1), ("c", 200)];
        Grid::of_json(items.map(|(lock, ns)| json!({"lock": lock, "ns": ns})), "lock ns")
    }

    #[test]
    fn csv_quotes_what_needs_quotes() {
        assert_eq!(grid().to_csv(), "lock,ns\n\"a, b\",1\nc,200\n");
    }

    #[test]
    fn numbers_are_aligned_to_the_right() {
        assert_eq!(text_table(&grid(), 1), "lock   ns\na, b    1\nc     200\n");
    }

    #[test]
    fn a_column_of_json_is_a_path_and_what_is_not_there_is_empty() {
        let rows = [
            serde_json::json!({"lock": "mcs", "wait_ns": {"max": 3}, "ci": [1.0, 2.5]}),
            serde_json::json!({"lock": "clh", "wait_ns": null}),
        ];
        let grid = Grid::of_json(rows, "lock wait_ns/max\n low=ci/0 high=ci/1");
        assert_eq!(grid.to_csv(), "lock,wait_ns_max,low,high\nmcs,3,1,2.5\nclh,,,\n");
    }

    fn sheet() -> Sheet {
        let row = ["mcs", "words that wrap", "12.3 ns", "1.00"];
        Sheet {
            columns: vec![
                Column::name("lock"),
                Column::words("is"),
                Column::number("longest wait").means("of a thread").first(),
                Column::number("ratio").means("to the best").first(),
            ],
            keys: 1,
            rows: vec![row.map(String::from).to_vec()],
        }
    }

    #[test]
    fn words_and_titles_wrap_and_numbers_do_not() {
        let legend = "\nlongest wait: of a thread;\nratio: to the best.\n";
        let table = "              longest\n\
                     lock  is         wait  ratio\n\
                     mcs   words   12.3 ns   1.00\n      \
                           that\n      \
                           wrap\n";
        assert_eq!(sheet().text_within(28), table.to_string() + legend);
    }

    #[test]
    fn what_fits_is_one_table_and_what_does_not_is_split_between_groups() {
        let tables = |width| sheet().text_within(width).matches("lock").count();
        assert_eq!([80, 27, 22, 16].map(tables), [1, 1, 2, 3]);
        for width in [80, 27, 22, 16] {
            let text = sheet().text_within(width);
            let (table, _) = text.split_once("\n\n").unwrap_or((&text, ""));
            assert!(table.lines().all(|line| page::length(line) <= width), "{width}: {text}");
        }
    }
}
