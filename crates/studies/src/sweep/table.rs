//! Merged results as a table with a column for each number.

use lockwright_measure::error::Error;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;

/// Fields of a line that no table needs.
const LEFT_OUT: [&str; 2] = ["sum", "record"];
/// The first columns.
const FIRST: [&str; 2] = ["key", "code"];

/// The values of a line by column: `set.pause` is `pause` in `set`.
pub(crate) fn flat(line: &str) -> Vec<(String, Value)> {
    let object: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let mut values = Vec::new();
    for (key, value) in object.into_iter().filter(|(key, _)| !LEFT_OUT.contains(&&**key)) {
        match value {
            Value::Object(inner) => {
                values.extend(inner.into_iter().map(|(name, it)| (format!("{key}.{name}"), it)));
            }
            value => values.push((key, value)),
        }
    }
    values
}

/// A value as a person writes it.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What all values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Truth,
    /// Whole numbers of 64 bits with a sign.
    Whole,
    Number,
    Text,
}

impl ColumnKind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Bool(_) => Self::Truth,
            Value::Number(number) if number.is_i64() => Self::Whole,
            Value::Number(number) if number.is_f64() => Self::Number,
            _ => Self::Text,
        }
    }

    /// What both are.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Whole, Self::Number) | (Self::Number, Self::Whole) => Self::Number,
            _ => Self::Text,
        }
    }
}

/// The columns of merged results: sorted by name, but for the key and the code, which are the first.
pub(crate) struct TableColumns(Vec<(String, ColumnKind)>);

impl TableColumns {
    pub(crate) fn of(lines: impl BufRead) -> Result<Self, Error> {
        let mut kinds = BTreeMap::new();
        for line in lines.lines() {
            for (column, value) in flat(&line.map_err(cannot)?) {
                let kind = ColumnKind::of(&value);
                kinds
                    .entry(column)
                    .and_modify(|it: &mut ColumnKind| *it = it.and(kind))
                    .or_insert(kind);
            }
        }
        let first = FIRST.map(|name| kinds.remove(name).map(|kind| (name.to_string(), kind)));
        Ok(Self(first.into_iter().flatten().chain(kinds).collect()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, ColumnKind)> {
        self.0.iter().map(|(name, kind)| (name.as_str(), *kind))
    }

    /// A line's value in each column, if it has one.
    pub(crate) fn row(&self, line: &str) -> Vec<Option<Value>> {
        let mut values = flat(line);
        let mut value = |name: &str| {
            let at = values.iter().position(|(column, _)| column == name)?;
            Some(values.swap_remove(at).1)
        };
        self.iter().map(|(name, _)| value(name)).collect()
    }
}

pub(crate) fn cannot(source: std::io::Error) -> Error {
    Error::output(Path::new("the table"), source)
}

/// Writes merged results as CSV. `open` opens them, twice: the first time for the names of the columns. Columns are
/// sorted by name, but for the key and the code, which are the first.
///
/// # Errors
/// If something cannot be read or written.
pub fn to_csv<R: BufRead>(
    open: impl Fn() -> Result<R, Error>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let columns = TableColumns::of(open()?)?;
    let mut table = csv::Writer::from_writer(out);
    let of_table = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(source) => cannot(source),
        other => Error::Measurement(format!("{other:?}")),
    };
    table.write_record(columns.iter().map(|(name, _)| name)).map_err(of_table)?;
    for line in open()?.lines() {
        let row = columns.row(&line.map_err(cannot)?);
        let texts = row.iter().map(|value| value.as_ref().map(text).unwrap_or_default());
        table.write_record(texts).map_err(of_table)?;
    }
    table.flush().map_err(cannot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_a_number_and_lines_may_lack_some() {
        let lines = concat!(
            "{\"key\":\"1\",\"code\":\"c\",\"set\":{\"pause\":45},\"lock\":\"cna\",\"sum\":\"x\"}\n",
            "{\"key\":\"2\",\"code\":\"c\",\"lock\":\"fifo, or so\",\"ops_per_s\":1.5,\"sum\":\"y\"}\n",
        );
        let mut out = Vec::new();
        to_csv(|| Ok(lines.as_bytes()), &mut out).expect("written");
        let expected = "key,code,lock,ops_per_s,set.pause\n1,c,cna,,45\n2,c,\"fifo, or so\",1.5,\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn a_column_has_the_kind_of_all_its_values() {
        let lines = concat!(
            "{\"a\":1,\"b\":1,\"c\":true,\"d\":18446744073709551615,\"e\":1}\n",
            "{\"a\":-2,\"b\":1.5,\"c\":false,\"e\":\"all\"}\n",
        );
        let columns = TableColumns::of(lines.as_bytes()).expect("read");
        let kinds: Vec<_> = columns.iter().map(|(_, kind)| kind).collect();
        use ColumnKind::{Number, Text, Truth, Whole};
        assert_eq!(kinds, [Whole, Number, Truth, Text, Text]);
    }
}
