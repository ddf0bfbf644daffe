//! The published tables.

use super::{FIGURES, markdown};
use serde_json::Value;

/// A line for each table: how well its unpatched columns are met.
pub fn scores(document: &Value) -> Result<String, String> {
    let header =
        ["table", "machine", "unpatched cells", "RMS error %", "pairs in order", "held back"];
    let mut rows = Vec::new();
    for table in list(document, "tables")? {
        let score = &table["score"];
        let count = |key: &str| score[key].as_u64().map(|count| count.to_string());
        let none = || "-".to_string();
        let pairs = count("pairs_right").zip(count("pairs"));
        rows.push(vec![
            text(table, "table")?,
            text(table, "machine")?,
            count("cells").unwrap_or_else(none),
            score["rms_percent"].as_f64().map_or_else(none, |rms| format!("{rms:.1}")),
            pairs.map_or_else(none, |(right, all)| format!("{right} of {all}")),
            predicted(table)?.join(", "),
        ]);
    }
    Ok(markdown(&header.map(String::from), 2, &rows))
}

/// The goals that a table misses, a line each.
pub fn unmet(document: &Value) -> Result<String, String> {
    let mut lines = String::new();
    for table in list(document, "tables")? {
        let (name, score) = (text(table, "table")?, &table["score"]);
        let goal = if name.contains("locktorture") { 10.0 } else { 15.0 };
        if let Some(rms) = score["rms_percent"].as_f64().filter(|rms| *rms > goal) {
            lines += &format!("- `{name}`: {rms:.1} % RMS instead of at most {goal}\n");
        }
        let (right, all) = (score["pairs_right"].as_u64(), score["pairs"].as_u64());
        if let Some((right, all)) = right.zip(all).filter(|(right, all)| right < all) {
            lines += &format!("- `{name}`: {} of {all} pairs in another order\n", all - right);
        }
    }
    Ok(if lines.is_empty() { "- none\n".into() } else { lines })
}

/// The columns of which some cell was not published.
fn predicted(table: &Value) -> Result<Vec<String>, String> {
    let mut held_back = Vec::new();
    for row in list(table, "rows")? {
        let columns = row["columns"].as_object().ok_or("a row without columns")?;
        for (name, _) in columns.iter().filter(|(_, cell)| cell["published"].is_null()) {
            let name = format!("`{name}`");
            if !held_back.contains(&name) {
                held_back.push(name);
            }
        }
    }
    Ok(held_back)
}

/// A section for each table.
pub fn all(document: &Value) -> Result<String, String> {
    list(document, "tables")?.iter().map(section).collect()
}

fn section(table: &Value) -> Result<String, String> {
    let name = text(table, "table")?;
    let mut section = format!("### {name}\n\n{}\n\n", windows(table));
    if !table["calibration"].is_null() {
        section += &format!("{}\n\n", fitted(table)?);
    }
    let figures = FIGURES.trim_start_matches("docs/");
    if keys_of(table)?.iter().all(|key| NUMBERS.contains(&key.as_str())) {
        section += &format!("![{name}, simulated, and as published]({figures}/{name}.svg)\n\n");
    }
    Ok(section + &cells(table)? + "\n")
}

fn windows(table: &Value) -> String {
    let windows = &table["windows"];
    let number = |key: &str| windows[key].as_f64().unwrap_or_default();
    let what = match windows["units"].as_u64() {
        Some(units) => format!("{units} units of work"),
        None => format!("windows of {} ms", number("window_us") / 1e3),
    };
    let starts = windows["start_states"].as_array().map_or(0, Vec::len);
    let starts = if starts > 0 { format!(", {starts} start states") } else { String::new() };
    let plural = |count: f64| if count == 1.0 { "" } else { "s" };
    let (seeds, others) = (number("seeds"), number("fits") - 1.0);
    format!(
        "Simulated: {what}, {seeds} seed{}{starts}, placement {}; intervals are of these and of {others} other \
         set{} of numbers that fit{} as well.",
        plural(seeds),
        windows["placement"].as_str().unwrap_or_default(),
        plural(others),
        if others == 1.0 { "s" } else { "" }
    )
}

fn fitted(table: &Value) -> Result<String, String> {
    let calibration = &table["calibration"];
    let parameters = calibration["parameters"].as_object().ok_or("no parameters")?;
    let number = |value: &Value| match value.as_f64().unwrap_or_default() {
        large if large > 1e9 => format!("{:.1} s", large / 1e9),
        value => format!("{value}"),
    };
    let told: Vec<_> =
        parameters.iter().map(|(key, value)| format!("{key} = {}", number(value))).collect();
    let residual = match table["score"].is_null() {
        true => "nothing of this table was".to_string(),
        false => format!(
            "residual of the cells that were, in the runs that judged the fit: {:.1} % RMS",
            calibration["residual_percent"].as_f64().unwrap_or_default()
        ),
    };
    Ok(format!(
        "Fitted on unpatched columns: {}; {residual}; calibration `{}`.",
        told.join(", "),
        text(calibration, "hash")?
    ))
}

fn cells(table: &Value) -> Result<String, String> {
    let rows = list(table, "rows")?;
    let keys = keys_of(table)?;
    let mut columns = Vec::new();
    for row in rows {
        let of_row = row["columns"].as_object().ok_or("a row without columns")?;
        columns.extend(of_row.keys().filter(|name| !columns.contains(name)).collect::<Vec<_>>());
    }
    let mut lines = Vec::new();
    for column in columns {
        for row in rows.iter().filter(|row| !row["columns"][column].is_null()) {
            let cell = &row["columns"][column];
            let key = |name: &String| match &row["key"][name] {
                Value::String(word) => word.clone(),
                number => number.to_string(),
            };
            let number = |value: &Value| value.as_f64().map_or("-".into(), digits);
            let error = cell["error_percent"].as_f64();
            let numbers = vec![
                number(&cell["simulated"]),
                format!("{} to {}", number(&cell["interval"][0]), number(&cell["interval"][1])),
                number(&cell["published"]),
                error.map_or("predicted".into(), |error| format!("{error:+.1}")),
            ];
            let name = std::iter::once(format!("`{column}`"));
            lines.push(name.chain(keys.iter().map(key)).chain(numbers).collect());
        }
    }
    let numbers = ["simulated", "interval", "published", "error %"].map(String::from);
    let header = std::iter::once("column".to_string()).chain(keys).chain(numbers);
    Ok(markdown(&header.collect::<Vec<_>>(), 1, &lines))
}

/// Keys that are numbers: tables with others have no picture.
const NUMBERS: [&str; 3] = ["threads", "vcpus", "cs_load_pause_instructions"];

/// The names of the keys of a table.
fn keys_of(table: &Value) -> Result<Vec<String>, String> {
    let key = list(table, "rows")?[0]["key"].as_object().ok_or("a row without a key")?;
    Ok(key.keys().cloned().collect())
}

fn digits(value: f64) -> String {
    match value.abs() {
        large if large >= 1e4 => format!("{value:.0}"),
        large if large >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// A list that has something in it.
pub fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    match value[key].as_array() {
        Some(list) if !list.is_empty() => Ok(list),
        _ => Err(format!("the document has no {key}")),
    }
}

/// A text.
pub fn text(value: &Value, key: &str) -> Result<String, String> {
    value[key].as_str().map(String::from).ok_or_else(|| format!("the document has no {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cell_without_a_published_number_is_a_prediction() {
        let table = json!({
            "table": "t", "machine": "m", "score": null,
            "rows": [{"key": {"threads": 2}, "columns": {
                "a": {"simulated": 1.5, "interval": [1.0, 2.0], "published": null, "error_percent": null},
                "b": {"simulated": 3.0, "interval": [3.0, 3.0], "published": 2.0, "error_percent": 50.0},
            }}],
        });
        let text = cells(&table).expect("a table");
        assert!(text.contains("| `a` | 2 | 1.500 | 1.000 to 2.000 | - | predicted |"), "{text}");
        assert!(text.contains("| `b` | 2 | 3.000 | 3.000 to 3.000 | 2.000 | +50.0 |"), "{text}");
        assert_eq!(predicted(&table), Ok(vec!["`a`".to_string()]));
    }

    #[test]
    fn a_table_may_have_words_for_keys_and_then_it_has_no_picture() {
        let cell = json!({"simulated": 1.5, "interval": [1.0, 2.0], "published": null, "error_percent": null});
        let row = |kernel: &str, column: &str| json!({"key": {"kernel": kernel, "threads": 60}, "columns": {column: cell}});
        let table = json!({
            "table": "t", "machine": "m", "score": null, "calibration": null,
            "rows": [row("unpatched", "a"), row("patched", "b")],
        });
        let text = section(&table).expect("a section");
        assert!(text.contains("| column | kernel | threads | simulated |"), "{text}");
        assert!(text.contains("| `b` | patched | 60 | 1.500 |"), "{text}");
        assert!(!text.contains("| `b` | unpatched"), "{text}");
        assert!(!text.contains("!["), "{text}");
    }
}
