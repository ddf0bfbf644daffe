//! This computer beside its own description.

use super::markdown;
use super::tables::list;
use serde_json::Value;

/// What was compared, cell by cell, and lock by lock.
pub fn all(document: &Value) -> Result<String, String> {
    let cells = list(document, "cells")?;
    let mut rows = Vec::new();
    for cell in cells {
        for entry in list(cell, "locks")? {
            rows.push(row(cell, entry));
        }
    }
    let header = ["load", "threads", "lock", "native Mops/s", "simulated Mops/s", "error %"];
    Ok(format!("{}\n{}", summary(document), markdown(&header.map(String::from), 1, &rows)))
}

fn summary(document: &Value) -> String {
    let summary = &document["summary"];
    let number = |key: &str| summary[key].as_u64().unwrap_or_default();
    let machine = document["native"]["machine"].as_str().unwrap_or("this computer");
    format!(
        "{machine}: in {} of {} cells the order of the locks is right; {} of {} pairs whose native medians \
         differ by more than 25 % are in the native order; the median error is {:.1} %.\n",
        number("cells_with_right_order"),
        number("cells"),
        number("pairs_right"),
        number("pairs_judged"),
        summary["median_error_percent"].as_f64().unwrap_or_default()
    )
}

fn row(cell: &Value, entry: &Value) -> Vec<String> {
    let mops = |value: &Value| {
        value.as_f64().map_or("-".into(), |ops_per_s| format!("{:.3}", ops_per_s / 1e6))
    };
    vec![
        format!("cs {}, think {}", cell["cs_load"], cell["think_load"]),
        cell["threads"].to_string(),
        format!("`{}`", entry["lock"].as_str().unwrap_or_default()),
        mops(&entry["native_ops_per_s"]["median"]),
        mops(&entry["simulated_ops_per_s"]),
        entry["error_percent"].as_f64().map_or("-".into(), |error| format!("{error:+.0}")),
    ]
}
