//! The published tables in numbers, from the document of `lockwright reproduce --all`.

use crate::numbers::{list, plain};
use crate::rounds::{median, sorted};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The kinds of columns, the roles of the entries that count for each, and where a table has its score.
const KINDS: [(&str, &[&str], &str); 3] = [
    ("baseline", &["fitted", "baseline"], "score"),
    ("predicted", &["predicted"], "predicted_score"),
    ("derived", &["derived"], "derived_score"),
];

/// By name, what the document says about each table, with the numbers of its columns in the place of its rows.
pub fn numbers(document: &Value) -> Value {
    let mut tables = json!({});
    for table in list(&document["tables"]) {
        let mut columns: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, entry) in entries(table) {
            let column = format!("{name}, {}", plain(&entry["role"]));
            columns.entry(column).or_default().push(entry);
        }
        let mut numbers = table.clone();
        for (name, entries) in columns {
            numbers["columns"][name] = spread(&entries);
        }
        numbers["missed_goals"] = missed_goals(table).into();
        numbers.as_object_mut().and_then(|it| it.remove("rows"));
        tables[plain(&table["table"])] = numbers;
    }
    tables
}

/// By kind of column, how well the published entries of all tables are met.
pub fn kinds(document: &Value) -> Value {
    let tables = || list(&document["tables"]).iter();
    let mut kinds = json!({});
    for (kind, roles, score) in KINDS {
        let is_its = |it: &&Value| roles.contains(&&*plain(&it["role"]));
        let entries: Vec<_> = tables().flat_map(entries).map(|(_, it)| it).filter(is_its).collect();
        kinds[kind] = spread(&entries);
        for key in ["pairs", "pairs_right"] {
            let count = tables().filter_map(|table| table[score][key].as_u64()).sum::<u64>();
            kinds[kind][key] = count.into();
        }
    }
    kinds
}

/// The entries of a table, each with the name of its column.
fn entries(table: &Value) -> impl Iterator<Item = (&String, &Value)> {
    list(&table["rows"]).iter().filter_map(|row| row["columns"].as_object()).flatten()
}

/// How many entries there are, how many can be compared with a published number, and how far these are off.
fn spread(entries: &[&Value]) -> Value {
    let compared = || entries.iter().filter(|it| it["error_percent"].is_number());
    let errors = sorted(compared().filter_map(|it| it["error_percent"].as_f64()));
    let absolute = sorted(errors.iter().map(|error| error.abs()));
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    let is_inside = |it: &&&Value| {
        let [low, high] = [0, 1].map(|end| it["interval"][end].as_f64());
        low <= it["published"].as_f64() && it["published"].as_f64() <= high
    };
    json!({
        "entries": entries.len(),
        "compared": errors.len(),
        "median_error_percent": errors.first().map(|_| median(&absolute)),
        "rms_percent": (squares / errors.len() as f64).sqrt(),
        "errors_percent": [errors.first(), errors.last()],
        "inside_interval": compared().filter(is_inside).count(),
    })
}

/// The goals that the baseline columns of a table miss.
fn missed_goals(table: &Value) -> &'static str {
    let score = &table["score"];
    let goal = if plain(&table["table"]).contains("locktorture") { 10.0 } else { 15.0 };
    let is_far = score["rms_percent"].as_f64().is_some_and(|rms| rms > goal);
    match (is_far, score["pairs_right"] != score["pairs"]) {
        (true, true) => "error, order",
        (true, false) => "error",
        (false, true) => "order",
        (false, false) => "-",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_kinds_of_columns_are_scored() {
        let score =
            |rms: f64, right: u64| json!({"rms_percent": rms, "pairs": 3, "pairs_right": right});
        let row = |role: &str, error: Option<f64>| json!({"columns": {"a": {"interval": [4.0, 5.0], "published": error, "role": role, "error_percent": error}}});
        let document = json!({"tables": [
            {"table": "t", "score": score(14.0, 2), "predicted_score": score(16.0, 3),
             "rows": [row("predicted", Some(-12.0)), row("predicted", Some(16.0)), row("fitted", Some(4.0))]},
            {"table": "u", "score": score(30.0, 3), "rows": [row("baseline", Some(2.0)), row("baseline", None)]},
        ]});
        let numbers = json!({"tables": numbers(&document), "kinds": kinds(&document)});
        for (place, expected) in [
            ("/tables/t/score/rms_percent", json!(14.0)),
            ("/tables/t/missed_goals", json!("order")),
            ("/tables/u/missed_goals", json!("error")),
            ("/tables/t/columns/a, predicted/errors_percent", json!([-12.0, 16.0])),
            ("/tables/t/columns/a, predicted/median_error_percent", json!(14.0)),
            ("/tables/u/columns/a, baseline/entries", json!(2)),
            ("/tables/u/columns/a, baseline/compared", json!(1)),
            ("/kinds/baseline/rms_percent", json!(10.0_f64.sqrt())),
            ("/kinds/baseline/inside_interval", json!(1)),
            ("/kinds/baseline/pairs_right", json!(5)),
            ("/kinds/derived/rms_percent", json!(null)),
        ] {
            assert_eq!(numbers.pointer(place), Some(&expected), "{place}");
        }
    }
}
