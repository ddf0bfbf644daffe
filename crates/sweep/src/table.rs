//! Merged results as a table with a column for each number.

use lockwright_cells::error::Error;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::path::Path;

/// Fields of a line that no table needs.
const LEFT_OUT: [&str; 1] = ["sum"];

/// The values of a line by column: `set.pause` is `pause` in `set`.
pub(crate) fn flat(line: &str) -> Vec<(String, String)> {
    let object: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let mut values = Vec::new();
    for (key, value) in object.into_iter().filter(|(key, _)| !LEFT_OUT.contains(&&**key)) {
        match value {
            Value::Object(inner) => {
                values.extend(inner.iter().map(|(name, it)| (format!("{key}.{name}"), text(it))));
            }
            value => values.push((key, text(&value))),
        }
    }
    values
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
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
    let cannot = |source| Error::output(Path::new("the table"), source);
    let mut columns = BTreeSet::new();
    for line in open()?.lines() {
        columns.extend(flat(&line.map_err(cannot)?).into_iter().map(|(column, _)| column));
    }
    let is_first = |column: &str| matches!(column, "key" | "code");
    let mut names: Vec<_> = ["key", "code"].map(String::from).to_vec();
    names.extend(columns.into_iter().filter(|column| !is_first(column)));
    let mut table = csv::Writer::from_writer(out);
    let of_table = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(source) => cannot(source),
        other => Error::Measurement(format!("{other:?}")),
    };
    table.write_record(&names).map_err(of_table)?;
    for line in open()?.lines() {
        let values = flat(&line.map_err(cannot)?);
        let value = |name: &String| {
            values.iter().find(|(column, _)| column == name).map_or("", |(_, value)| value)
        };
        table.write_record(names.iter().map(value)).map_err(of_table)?;
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
}
