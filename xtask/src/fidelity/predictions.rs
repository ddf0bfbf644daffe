//! The frozen predictions: what was simulated for each published table, a CSV file each.

use super::tables::{keys_of, list, text};
use serde_json::Value;
use std::path::Path;

/// Where they are, below the root of the repository.
pub const FOLDER: &str = "docs/predictions";

/// How the comment above the numbers ends.
const FROZEN: &str = "; frozen at commit ";

/// Writes the file of each table. One whose numbers are as they were keeps the name of the commit that froze them;
/// the others get `commit`. Returns the names of these others.
pub fn write(root: &Path, document: &Value, commit: &str) -> Result<Vec<String>, String> {
    let folder = root.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{FOLDER}: {error}"))?;
    let mut frozen = Vec::new();
    for table in list(document, "tables")? {
        let name = text(table, "table")?;
        let (header, rows) = (header(document, table)?, rows(table)?);
        let path = folder.join(format!("{name}.csv"));
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let kept = commit_of(&old, &header, &rows);
        if kept.is_none() {
            frozen.push(name);
        }
        let commit = kept.unwrap_or(commit);
        std::fs::write(&path, format!("{header}{FROZEN}{commit}\n{rows}"))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(frozen)
}

/// The commit that froze a file, if these are its numbers.
fn commit_of<'a>(file: &'a str, header: &str, rows: &str) -> Option<&'a str> {
    let (first, numbers) = file.split_once('\n')?;
    let (told, commit) = first.split_once(FROZEN)?;
    (told == header && numbers == rows).then_some(commit)
}

/// What the numbers are, in a line.
fn header(document: &Value, table: &Value) -> Result<String, String> {
    Ok(format!(
        "# simulated: {} on {}; calibration {}; effort {}, seed {}",
        text(table, "table")?,
        text(table, "machine")?,
        table["calibration"]["hash"].as_str().unwrap_or("none"),
        text(document, "effort")?,
        document["seed"]
    ))
}

/// The names of the columns, and a line for each entry.
fn rows(table: &Value) -> Result<String, String> {
    const NUMBERS: &str =
        "simulated,interval_low,interval_high,published,error_percent,role,published_is";
    let keys = keys_of(table)?;
    let mut lines = format!("column,{},{NUMBERS}\n", keys.join(","));
    for row in list(table, "rows")? {
        for (name, cell) in row["columns"].as_object().ok_or("a row without columns")? {
            let interval = &cell["interval"];
            let numbers = [
                &cell["simulated"],
                &interval[0],
                &interval[1],
                &cell["published"],
                &cell["error_percent"],
                &cell["role"],
                &cell["published_is"],
            ];
            let key = keys.iter().map(|key| &row["key"][key]);
            let cells: Vec<_> = key.chain(numbers).map(plain).collect();
            lines += &format!("{name},{}\n", cells.join(","));
        }
    }
    Ok(lines)
}

/// A value without quotes; nothing if there is none.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(word) => word.clone(),
        number => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_names_the_commit_until_its_numbers_change() {
        let document = |simulated| {
            json!({"effort": "full", "seed": 1, "tables": [{
                "table": "t", "machine": "m", "calibration": {"hash": "abc"},
                "rows": [{"key": {"kernel": "patched", "threads": 2}, "columns": {
                    "a": {"simulated": simulated, "interval": [1.0, 2.0], "published": null, "error_percent": null,
                          "role": "predicted"}}}]}]})
        };
        let root = std::env::temp_dir().join(format!("predictions-{}", std::process::id()));
        let write = |simulated, commit| write(&root, &document(simulated), commit).expect("a file");
        assert_eq!(write(1.5, "one"), ["t"]);
        assert!(write(1.5, "two").is_empty());
        let file = root.join(FOLDER).join("t.csv");
        let lines = "# simulated: t on m; calibration abc; effort full, seed 1; frozen at commit one\n\
            column,kernel,threads,simulated,interval_low,interval_high,published,error_percent,role,published_is\n\
            a,patched,2,1.5,1.0,2.0,,,predicted,\n";
        assert_eq!(std::fs::read_to_string(&file).expect("a text"), lines);
        assert_eq!(write(1.6, "two"), ["t"]);
        let text = std::fs::read_to_string(&file).expect("a text");
        assert!(
            text.contains("; frozen at commit two\n") && text.contains("\na,patched,2,1.6,"),
            "{text}"
        );
        std::fs::remove_dir_all(&root).expect("it is there");
    }
}
