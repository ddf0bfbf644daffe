//! The published tables.

use super::predictions::FOLDER;
use crate::markdown;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The kinds of columns, and where the score of each stands in the document of a table.
const KINDS: [(&str, &str); 3] =
    [("baseline", "score"), ("predicted", "predicted_score"), ("derived", "derived_score")];

/// How well the published entries of one kind are met.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
struct Score {
    cells: u64,
    rms_percent: f64,
    /// Published values that are inside the simulated interval.
    inside_interval: u64,
    pairs: u64,
    pairs_right: u64,
}

impl Score {
    /// Both together.
    fn and(self, other: Self) -> Self {
        let cells = self.cells + other.cells;
        let squares = |it: Self| it.rms_percent * it.rms_percent * it.cells as f64;
        Self {
            cells,
            rms_percent: ((squares(self) + squares(other)) / cells as f64).sqrt(),
            inside_interval: self.inside_interval + other.inside_interval,
            pairs: self.pairs + other.pairs,
            pairs_right: self.pairs_right + other.pairs_right,
        }
    }
    fn row(self, table: &str, kind: &str) -> Vec<String> {
        let Self { cells, rms_percent, inside_interval, pairs, pairs_right } = self;
        let rms = format!("{rms_percent:.1}");
        let inside = format!("{inside_interval} of {cells}");
        let order = match pairs {
            0 => "-".to_string(),
            pairs => format!("{pairs_right} of {pairs}"),
        };
        vec![table.into(), kind.into(), cells.to_string(), rms, inside, order]
    }
}

/// The tables of which entries of a kind were published, and how well these are met.
fn scores_of(document: &Value, key: &str) -> Result<Vec<(String, Score)>, String> {
    let scored = list(document, "tables")?.iter().filter(|table| !table[key].is_null());
    let score = |table: &Value| {
        let score = Score::deserialize(&table[key]);
        Ok((text(table, "table")?, score.map_err(|e| format!("{key}: {e}; leave out `--keep`"))?))
    };
    scored.map(score).collect()
}

/// A line for each table and kind of column: how well its published entries are met; and the same of all tables.
pub fn scores(document: &Value) -> Result<String, String> {
    let tables = list(document, "tables")?;
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for (kind, key) in KINDS {
        let scores = scores_of(document, key)?;
        let of_all = scores.iter().map(|(_, score)| *score).reduce(Score::and);
        all.extend(of_all.map(|score| ("**all tables**".to_string(), kind, score)));
        rows.extend(scores.into_iter().map(|(name, score)| (name, kind, score)));
    }
    let at = |name: &str| tables.iter().position(|table| table["table"] == name);
    rows.sort_by_key(|(name, _, _)| at(name));
    let rows: Vec<_> =
        rows.iter().chain(&all).map(|(name, kind, score)| score.row(name, kind)).collect();
    let header =
        ["table", "columns", "entries", "RMS error %", "inside interval", "pairs in order"];
    Ok(markdown::table(&header, 2, &rows))
}

/// The roles of the entries that count for a kind of column.
fn roles(kind: &str) -> &'static [&'static str] {
    match kind {
        "baseline" => &["fitted", "baseline"],
        "predicted" => &["predicted"],
        _ => &["derived"],
    }
}

/// The median of the absolute errors of the entries of a kind.
fn median_error(tables: &[Value], kind: &str) -> Option<f64> {
    let rows = tables.iter().filter_map(|table| table["rows"].as_array()).flatten();
    let cells = rows.filter_map(|row| row["columns"].as_object()).flat_map(|cells| cells.values());
    let is_its = |cell: &&Value| cell["role"].as_str().is_some_and(|it| roles(kind).contains(&it));
    let errors = cells.filter(is_its).filter_map(|cell| cell["error_percent"].as_f64());
    median(&errors.collect::<Vec<_>>())
}

/// The median of the absolute values.
fn median(errors: &[f64]) -> Option<f64> {
    let mut errors: Vec<f64> = errors.iter().copied().map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    let (low, high) =
        (errors.get(errors.len().saturating_sub(1) / 2)?, errors.get(errors.len() / 2)?);
    Some((low + high) / 2.0)
}

/// Names the table that makes the error over all tables so large, if there is one.
fn outlier(scores: &[(String, Score)], all: f64) -> String {
    let [others @ .., (name, worst)] = scores else { return String::new() };
    let Some(without) = others.iter().map(|(_, score)| *score).reduce(Score::and) else {
        return String::new();
    };
    match without.rms_percent * 2.0 < all {
        true => format!(
            " One table, `{name}` ({:.1} %), makes it so large; without that table it is {:.1} %.",
            worst.rms_percent, without.rms_percent
        ),
        false => String::new(),
    }
}

/// A line for each kind of column: how well its published entries are met in all tables.
pub fn summary(document: &Value) -> Result<String, String> {
    let mut lines = String::new();
    for (kind, key) in KINDS {
        let mut scores = scores_of(document, key)?;
        scores.sort_by(|(_, a), (_, b)| a.rms_percent.total_cmp(&b.rms_percent));
        let Some(all) = scores.iter().map(|(_, score)| *score).reduce(Score::and) else { continue };
        let of = match scores.len() {
            1 => "one table".to_string(),
            count => format!("{count} tables"),
        };
        let missing = || format!("no entry of the {kind} columns has an error: leave out `--keep`");
        let median = median_error(list(document, "tables")?, kind).ok_or_else(missing)?;
        let Score { cells, inside_interval: inside, rms_percent: rms, .. } = all;
        lines += &format!(
            "- **{kind} columns**: the median error of an entry is {median:.1} %. The RMS error over all {cells} \
             entries of {of} is {rms:.1} %.{} {inside} of {cells} published numbers are inside the simulated \
             interval.\n",
            outlier(&scores, rms)
        );
    }
    Ok(lines)
}

/// The columns that were predicted and not compared, a line for each table that has some.
pub fn held_back(document: &Value) -> Result<String, String> {
    let mut lines = String::new();
    for table in list(document, "tables")? {
        let columns = predicted(table)?;
        if !columns.is_empty() {
            lines += &format!("- {}: {}\n", text(table, "table")?, columns.join(", "));
        }
    }
    Ok(if lines.is_empty() { "- none\n".into() } else { lines })
}

/// The goals that a table misses, a line each.
pub fn unmet(document: &Value) -> Result<String, String> {
    let mut lines = String::new();
    for table in list(document, "tables")? {
        let (name, score) = (text(table, "table")?, &table["score"]);
        let goal = if name.contains("locktorture") { 10.0 } else { 15.0 };
        if let Some(rms) = score["rms_percent"].as_f64().filter(|rms| *rms > goal) {
            lines += &format!("- `{name}`: baseline columns are {rms:.1} % RMS off\n");
        }
        let (right, all) = (score["pairs_right"].as_u64(), score["pairs"].as_u64());
        if let Some((right, all)) = right.zip(all).filter(|(right, all)| right < all) {
            lines += &format!(
                "- `{name}`: {} of {all} pairs of baseline entries are in another order\n",
                all - right
            );
        }
    }
    Ok(if lines.is_empty() { "- none\n".into() } else { lines })
}

/// The columns of which some published number is not in this repository.
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
    let file = FOLDER.trim_start_matches("docs/");
    Ok(section + &format!("[All entries]({file}/{name}.csv)\n\n{}\n", columns(table)?))
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
    let interval = match others {
        0.0 => "The interval spans these runs.".to_string(),
        others => format!(
            "The interval spans these runs and those of {others} other set{} of fitted numbers.",
            plural(others)
        ),
    };
    format!(
        "Simulated: {what}, {seeds} seed{}{starts}, placement {}. {interval}",
        plural(seeds),
        windows["placement"].as_str().unwrap_or_default(),
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
        true => "Nothing was fitted to this table".to_string(),
        false => format!(
            "In this table the fitted entries were {:.1} % RMS off in the runs that judged the fit",
            calibration["residual_percent"].as_f64().unwrap_or_default()
        ),
    };
    Ok(format!(
        "Fitted numbers: {}. {residual}. Calibration `{}`.",
        told.join(", "),
        text(calibration, "hash")?
    ))
}

/// A line for each column: how far its entries are off.
fn columns(table: &Value) -> Result<String, String> {
    let mut of_column: BTreeMap<(&str, &str), Vec<Option<f64>>> = BTreeMap::new();
    for row in list(table, "rows")? {
        for (name, cell) in row["columns"].as_object().ok_or("a row without columns")? {
            let role = cell["role"].as_str().unwrap_or_default();
            let error = cell["error_percent"].as_f64();
            of_column.entry((name, role)).or_default().push(error);
        }
    }
    let line = |((name, role), errors): (&(&str, &str), &Vec<Option<f64>>)| {
        let known: Vec<f64> = errors.iter().flatten().copied().collect();
        let least = known.iter().copied().reduce(f64::min);
        let range = least.zip(known.iter().copied().reduce(f64::max));
        let numbers = [
            errors.len().to_string(),
            median(&known).map_or("-".into(), |median| format!("{median:.1}")),
            range.map_or("-".into(), |(least, most)| format!("{least:+.1} to {most:+.1}")),
        ];
        [format!("`{name}`"), role.to_string()].into_iter().chain(numbers).collect()
    };
    let lines: Vec<_> = of_column.iter().map(line).collect();
    Ok(markdown::table(&["column", "is", "entries", "median error %", "errors %"], 2, &lines))
}

/// The names of the keys of a table.
pub fn keys_of(table: &Value) -> Result<Vec<String>, String> {
    let key = list(table, "rows")?[0]["key"].as_object().ok_or("a row without a key")?;
    Ok(key.keys().cloned().collect())
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
    fn an_entry_without_a_published_number_is_held_back() {
        let cell = |role: &str, error: Value| json!({"published": error, "error_percent": error, "role": role});
        let table = json!({"rows": [
            {"key": {"threads": 2}, "columns": {"a": cell("predicted", json!(null)), "b": cell("fitted", json!(50.0))}},
            {"key": {"threads": 4}, "columns": {"b": cell("fitted", json!(-4.0))}},
        ]});
        let text = columns(&table).expect("a table");
        assert!(text.contains("| `a` | predicted | 1 | - | - |"), "{text}");
        assert!(text.contains("| `b` | fitted | 2 | 27.0 | -4.0 to +50.0 |"), "{text}");
        assert_eq!(predicted(&table), Ok(vec!["`a`".to_string()]));
    }

    #[test]
    fn predicted_columns_are_scored_next_to_baseline_columns_and_over_all_tables() {
        let score = |cells: u64, rms_percent: f64, inside_interval: u64| {
            json!({"cells": cells,
            "rms_percent": rms_percent, "inside_interval": inside_interval, "pairs": 3, "pairs_right": 2})
        };
        let rows = |role: &str, errors: [f64; 2]| {
            let cell = |error| json!({"columns": {"a": {"role": role, "error_percent": error}}});
            errors.map(cell)
        };
        let document = json!({"tables": [
            {"table": "t", "score": score(10, 4.0, 5), "predicted_score": score(10, 16.0, 0),
             "rows": rows("predicted", [-12.0, 14.0])},
            {"table": "u", "score": score(10, 30.0, 9), "rows": rows("fitted", [2.0, -6.0])},
            {"table": "v", "score": null, "rows": rows("baseline", [1.0, 9.0])},
        ]});
        let expected = [
            "| t | baseline | 10 | 4.0 | 5 of 10 | 2 of 3 |",
            "| t | predicted | 10 | 16.0 | 0 of 10 | 2 of 3 |",
            "| u | baseline | 10 | 30.0 | 9 of 10 | 2 of 3 |",
            "| **all tables** | baseline | 20 | 21.4 | 14 of 20 | 4 of 6 |",
            "| **all tables** | predicted | 10 | 16.0 | 0 of 10 | 2 of 3 |",
        ];
        let text = scores(&document).expect("a table");
        assert_eq!(text.lines().skip(2).collect::<Vec<_>>(), expected);
        let text = summary(&document).expect("a summary");
        for words in [
            "- **predicted columns**: the median error of an entry is 13.0 %. The RMS error over all 10 entries of \
             one table is 16.0 %. 0 of 10 published",
            "- **baseline columns**: the median error of an entry is 4.0 %. The RMS error over all 20 entries of \
             2 tables is 21.4 %. One table, `u` (30.0 %), makes it so large; without that table it is 4.0 %. 14 of",
        ] {
            assert!(text.contains(words), "{text}");
        }
        let old = json!({"tables": [{"table": "t", "score": {"cells": 1, "rms_percent": 1.0}}]});
        assert!(scores(&old).is_err_and(|it| it.contains("leave out `--keep`")));
    }
}
