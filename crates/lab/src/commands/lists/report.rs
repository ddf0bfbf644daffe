//! A list in each format.

use lockwright_sheets::{Grid, Report, hanging, text_table, to_json, width};
use serde_json::{Map, Value, json};

/// A column: a title for people, if it is for them; a key for documents; and what is in it for an item.
pub type ListColumn<'a, T> = (&'static str, &'static str, &'a dyn Fn(&T) -> Value);

/// A list of things with names.
pub struct ListReport {
    name: &'static str,
    /// Titles and keys.
    columns: Vec<(&'static str, &'static str)>,
    items: Vec<Vec<Value>>,
    /// For people: how many of the last items have no lines of their own, and the words that stand for them.
    pub rest: (usize, String),
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

impl ListReport {
    /// A list of `items` with these columns.
    pub fn of<T>(
        name: &'static str,
        items: impl IntoIterator<Item = T>,
        columns: &[ListColumn<'_, T>],
    ) -> Self {
        let row = |item: T| columns.iter().map(|(_, _, cell)| cell(&item)).collect();
        Self {
            name,
            columns: columns.iter().map(|&(title, key, _)| (title, key)).collect(),
            items: items.into_iter().map(row).collect(),
            rest: (0, String::new()),
        }
    }
    /// The table for people. Where an item has lines of its own, there is room for the whole text and not only for its
    /// headline.
    fn table(&self, has_room: bool) -> Grid {
        let shown = |(at, (title, key)): (usize, &(&'static str, &str))| {
            let whole = self.columns.iter().position(|&(_, key)| key == "is");
            let whole = whole.filter(|_| has_room && *key == "headline");
            (!title.is_empty()).then_some((*title, whole.unwrap_or(at)))
        };
        let columns: Vec<_> = self.columns.iter().enumerate().filter_map(shown).collect();
        let row = |item: &Vec<Value>| columns.iter().map(|&(_, at)| in_words(&item[at])).collect();
        Grid {
            header: columns.iter().map(|(title, _)| (*title).into()).collect(),
            rows: self.items[..self.items.len() - self.rest.0].iter().map(row).collect(),
        }
    }
}

impl Report for ListReport {
    fn is_measured(&self) -> bool {
        false
    }
    fn text(&self) -> String {
        let table = self.table(false);
        let text = match table.width() <= width() {
            true => text_table(&table, table.header.len()),
            false => entries(&self.table(true)),
        };
        text + &self.rest.1
    }
    fn json(&self) -> String {
        let keys = || self.columns.iter().map(|(_, key)| (*key).to_string());
        let items = self.items.iter().map(|item| keys().zip(item.iter().cloned()).collect());
        let items: Vec<Map<String, Value>> = items.collect();
        to_json(&json!({"schema": format!("lockwright.{}/1", self.name), "items": items}))
    }
    fn grid(&self) -> Grid {
        Grid {
            header: self.columns.iter().map(|(_, key)| (*key).into()).collect(),
            rows: self.items.iter().map(|item| item.iter().map(in_words).collect()).collect(),
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
