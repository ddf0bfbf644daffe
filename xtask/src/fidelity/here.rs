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

/// What is not as it should be, a line each.
pub fn unmet(document: &Value) -> Result<String, String> {
    let mut lines = String::new();
    for cell in list(document, "cells")? {
        for pair in cell["order"]["wrong"].as_array().into_iter().flatten() {
            let lock = |key: &str| pair[key].as_str().unwrap_or_default().to_string();
            let noise = match pair["ranges_overlap"].as_bool() {
                Some(true) => "; the native ranges overlap",
                _ => "",
            };
            lines += &format!(
                "- this computer, {}, {} threads: natively `{}` is faster than `{}`, simulated it is not{noise}\n",
                load(cell),
                cell["threads"],
                lock("faster"),
                lock("slower")
            );
        }
    }
    Ok(lines)
}

fn load(cell: &Value) -> String {
    format!("cs {}, think {}", cell["cs_load"], cell["think_load"])
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
        load(cell),
        cell["threads"].to_string(),
        format!("`{}`", entry["lock"].as_str().unwrap_or_default()),
        mops(&entry["native_ops_per_s"]["median"]),
        mops(&entry["simulated_ops_per_s"]),
        entry["error_percent"].as_f64().map_or("-".into(), |error| format!("{error:+.0}")),
    ]
}
