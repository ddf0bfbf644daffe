//! A list in each format.

use lockwright_sheets::{Grid, Report, hanging, text_table, to_json, width};
use serde::Serialize;
use serde_json::{Map, Value};

/// A list of things with names. A column has a title for people, if it is for them, and a key for
/// documents.
pub struct ListReport<const N: usize> {
    pub schema: &'static str,
    pub columns: [(&'static str, &'static str); N],
    pub items: Vec<[Value; N]>,
    /// For people: words that stand for the last items, which have no lines of their own.
    pub rest: Option<Rest>,
}

/// The last items of a list, and the words that stand for them.
pub struct Rest {
    pub count: usize,
    pub words: String,
}

#[derive(Serialize)]
struct ListDocument<'a> {
    schema: &'a str,
    items: Vec<Map<String, Value>>,
}

/// A value in a cell of a table.
fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::Object(parts) => parts.values().map(in_words).collect::<Vec<_>>().join(" "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl<const N: usize> Report for ListReport<N> {
    fn is_measured(&self) -> bool {
        false
    }
    fn text(&self) -> String {
        let mut rows = self.grid().rows;
        let rest = self.rest.as_ref();
        rows.truncate(rows.len() - rest.map_or(0, |rest| rest.count));
        let for_people = |row: Vec<String>| {
            let cells = row.into_iter().zip(self.columns);
            cells.filter_map(|(cell, (title, _))| (!title.is_empty()).then_some(cell)).collect()
        };
        let titles = self.columns.iter().map(|(title, _)| (*title).into()).collect();
        let header: Vec<String> = for_people(titles);
        let lines = rows.iter().cloned().map(for_people).collect();
        let table = Grid { header: header.clone(), rows: lines };
        let text = if table.width() <= width() {
            text_table(&table, N)
        } else {
            rows.iter_mut().for_each(|row| self.in_full(row));
            entries(&Grid { header, rows: rows.into_iter().map(for_people).collect() })
        };
        text + rest.map_or("", |rest| &rest.words)
    }
    fn json(&self) -> String {
        let keys = || self.columns.iter().map(|(_, key)| (*key).to_string());
        let items = self.items.iter().map(|item| keys().zip(item.iter().cloned()).collect());
        to_json(&ListDocument { schema: self.schema, items: items.collect() })
    }
    fn grid(&self) -> Grid {
        Grid {
            header: self.columns.iter().map(|(_, key)| (*key).into()).collect(),
            rows: self.items.iter().map(|item| item.iter().map(in_words).collect()).collect(),
        }
    }
}

impl<const N: usize> ListReport<N> {
    /// Where an item has lines of its own, there is room for the whole text and not only for its headline.
    fn in_full(&self, row: &mut [String]) {
        let at = |key: &str| self.columns.iter().position(|column| column.1 == key);
        if let (Some(short), Some(whole)) = (at("headline"), at("is")) {
            row.swap(short, whole);
        }
    }
}

/// Titles of the columns that say what an item is.
const ABOUT: [&str; 5] = ["is", "what goes wrong", "checks that", "asks", "counts"];

/// A list for a page that is too narrow for a table: each item in some lines. What an item is stands below its
/// name, the other columns next to the name if they are short.
fn entries(table: &Grid) -> String {
    const SHORT: usize = 30;
    let about = table.header.iter().position(|title| ABOUT.contains(&title.as_str()));
    let about = about.unwrap_or(table.header.len() - 1);
    let entry = |row: &Vec<String>| {
        let is = &row[about];
        let others = row.iter().zip(&table.header).enumerate();
        let others = others.filter(|&(at, (cell, _))| at > 0 && at != about && !cell.is_empty());
        let others = others.map(|(_, other)| other);
        let (short, long): (Vec<_>, Vec<_>) = others.partition(|(cell, _)| cell.len() <= SHORT);
        let short: Vec<_> = short.iter().map(|(cell, title)| next_to_name(cell, title)).collect();
        let head = match short.is_empty() {
            true => row[0].clone(),
            false => format!("{}  ({})", row[0], short.join("; ")),
        };
        let long = long.iter().map(|(cell, title)| format!("{title}: {cell}"));
        let lines = std::iter::once(is.clone()).filter(|is| !is.is_empty()).chain(long);
        let lines: String = lines.map(|line| format!("    {}", hanging(&line, "    "))).collect();
        hanging(&head, "    ") + &lines
    };
    table.rows.iter().map(entry).collect()
}

/// A cell that stands next to the name of its item.
fn next_to_name(cell: &str, title: &str) -> String {
    match title {
        "aliases" | "must be found by" | "predictions" => format!("{title} {cell}"),
        _ if cell == "1" => format!("{cell} {}", title.trim_end_matches('s')),
        _ if cell.parse::<u64>().is_ok() => format!("{cell} {title}"),
        _ => cell.into(),
    }
}
