//! This computer next to its own machine file.

use super::tables::list;
use crate::markdown;
use serde_json::Value;

/// What the document says about one computer.
pub struct Compared {
    /// A summary, and a line for each setting.
    pub settings: String,
    /// A line for each lock in each setting, as CSV; nothing if the document keeps what was measured before.
    pub locks: Option<String>,
    /// What is not as it should be, a line each.
    pub unmet: String,
}

impl Compared {
    /// From what `lockwright machines check` measured.
    pub fn of(document: &Value, date: &str) -> Result<Self, String> {
        let locks = Some(locks(document, date)?);
        Ok(Self { settings: settings(document, date)?, locks, unmet: unmet(document)? })
    }
    /// From a document that was written before: what was measured then.
    pub fn of_text(text: &str) -> Result<Self, String> {
        let after = text.split_once(BEGIN).ok_or("the document has no measured part to keep")?.1;
        let settings = after.split_once(END).ok_or("the measured part does not end")?.0;
        let mut unmet = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if line.starts_with(ITEM) {
                unmet += line;
                while let Some(rest) = lines.next_if(|line| line.starts_with("  ")) {
                    unmet += &format!(" {}", rest.trim_start());
                }
                unmet.push('\n');
            }
        }
        Ok(Self { settings: settings.trim().to_string() + "\n", locks: None, unmet })
    }
}

/// What stands around the measured part in the document.
const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";
/// How a line about this computer begins.
const ITEM: &str = "- the measured computer, ";

fn settings(document: &Value, date: &str) -> Result<String, String> {
    let row = |cell: &Value| {
        let (right, judged) = (&cell["order"]["right"], &cell["order"]["judged"]);
        let error = cell["median_error_percent"].as_f64();
        vec![
            format!("cs {}, think {}", cell["cs_load"], cell["think_load"]),
            cell["threads"].to_string(),
            cell["locks"].as_array().map_or(0, Vec::len).to_string(),
            error.map_or("-".into(), |error| format!("{error:.0}")),
            format!("{right} of {judged}"),
        ]
    };
    let rows: Vec<_> = list(document, "cells")?.iter().map(row).collect();
    let header = ["pauses", "threads", "locks", "median error %", "clear pairs in order"];
    Ok(format!("{}\n{}", summary(document, date), markdown::table(&header, 1, &rows)))
}

fn locks(document: &Value, date: &str) -> Result<String, String> {
    let mut lines = format!(
        "# {}, {date}; the columns simulated_mops and error_percent are simulated\n",
        machine(document)
    );
    lines += "cs_load,think_load,threads,lock,native_mops,simulated_mops,error_percent\n";
    let mops = |value: &Value| {
        value.as_f64().map_or(String::new(), |ops_per_s| format!("{:.3}", ops_per_s / 1e6))
    };
    for cell in list(document, "cells")? {
        for entry in list(cell, "locks")? {
            let error = entry["error_percent"].as_f64();
            lines += &format!(
                "{},{},{},{},{},{},{}\n",
                cell["cs_load"],
                cell["think_load"],
                cell["threads"],
                entry["lock"].as_str().unwrap_or_default(),
                mops(&entry["native_ops_per_s"]["median"]),
                mops(&entry["simulated_ops_per_s"]),
                error.map_or(String::new(), |error| format!("{error:.0}")),
            );
        }
    }
    Ok(lines)
}

fn machine(document: &Value) -> &str {
    document["native"]["machine"].as_str().unwrap_or("this computer")
}

fn unmet(document: &Value) -> Result<String, String> {
    let mut lines = String::new();
    for cell in list(document, "cells")? {
        for pair in cell["order"]["wrong"].as_array().into_iter().flatten() {
            let lock = |key: &str| pair[key].as_str().unwrap_or_default().to_string();
            let noise = match pair["ranges_overlap"].as_bool() {
                Some(true) => "; the native ranges overlap",
                _ => "",
            };
            lines += &format!(
                "{ITEM}{} threads, cs {}, think {}: natively `{}` is faster than `{}`, simulated it is not{noise}\n",
                cell["threads"],
                cell["cs_load"],
                cell["think_load"],
                lock("faster"),
                lock("slower")
            );
        }
    }
    Ok(lines)
}

fn summary(document: &Value, date: &str) -> String {
    let summary = &document["summary"];
    let number = |key: &str| summary[key].as_u64().unwrap_or_default();
    format!(
        "{}, {date}: of {} pairs of locks with a clear native order, {} have the same order in the simulation. \
         In {} of the {} settings all such pairs have. The median error of the simulated numbers is {:.1} %.\n",
        machine(document),
        number("pairs_judged"),
        number("pairs_right"),
        number("cells_with_right_order"),
        number("cells"),
        summary["median_error_percent"].as_f64().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_what_was_measured() {
        let text =
            format!("## In short\n\n{ITEM}x\n  y\n- other\n\n{BEGIN}\nA\n\n| b |\n{END}\n\n## C\n");
        let kept = Compared::of_text(&text).expect("it has a measured part");
        assert_eq!((&*kept.settings, &*kept.unmet), ("A\n\n| b |\n", &*format!("{ITEM}x y\n")));
        assert!(Compared::of_text("## In short\n").is_err());
        assert!(super::super::TEMPLATE.contains(&format!("{BEGIN}\n{{here}}{END}")));
    }
}
