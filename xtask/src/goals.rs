//! `cargo xtask goals`: the goals of the project, and what a document of `lockwright compare` says of them.

use crate::disk;
use crate::rounds::{median, sorted};
use clap::Parser;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What this reads.
const SCHEMA: &str = "lockwright.compare/1";

/// Compare a result with the goals of the project.
///
/// The result is a JSON document of `lockwright compare`, and the goals are in xtask/goals.toml. Prints each goal that
/// is about a cell of the document. The exit code is 1 if one is missed that has to be met.
#[derive(Parser)]
pub struct Request {
    /// What `lockwright compare --json RESULT.json` wrote.
    #[arg(value_parser = read)]
    result: Value,
}

/// Reads a document.
fn read(path: &str) -> Result<Value, String> {
    let read = disk::read(Path::new(path))?;
    let document: Option<Value> = serde_json::from_str(&read).ok();
    let known = document.filter(|document| document["schema"] == SCHEMA);
    known.ok_or_else(|| {
        format!("write a file that `lockwright compare --json FILE` made ({SCHEMA})")
    })
}

/// A goal. The head of the file says what its keys mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Goal {
    what: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    names: Vec<String>,
    cells: usize,
    figure: String,
    #[serde(default = "ours")]
    of: String,
    against: Option<String>,
    #[serde(default)]
    take: Take,
    at_most: Option<f64>,
    at_least: Option<f64>,
    #[serde(default)]
    reported: bool,
    membarrier: Option<bool>,
}

/// What several cells come to.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Take {
    #[default]
    Worst,
    Mean,
}

/// What was measured of a goal.
struct Judged<'a> {
    /// The cells in which it was measured.
    cells: usize,
    /// The number, and the cell if it is of one.
    measured: f64,
    cell: Option<&'a str>,
    verdict: &'static str,
}

fn ours() -> String {
    "ours".into()
}

/// Reads both, and prints what comes of the goals. Returns false if one is missed that has to be met.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let (mut is_met, mut silent) = (true, 0);
    println!("{:<82} {:>8} {:>8} {:>6}  verdict", "goal", "limit", "measured", "cells");
    for goal in &goals(root)? {
        let Some(Judged { cells, measured, cell, verdict }) = goal.judge(&request.result) else {
            silent += 1;
            continue;
        };
        let mark = if goal.reported { " *" } else { "" };
        let cell = cell.map_or_else(String::new, |cell| format!(" ({cell})"));
        let (what, limit, measured) = (&goal.what, goal.limit(), significant(measured));
        let cells = format!("{cells}/{}", goal.cells);
        println!("{what:<82} {limit:>8} {measured:>8} {cells:>6}  {verdict}{mark}{cell}");
        is_met &= goal.reported || verdict != "missed";
    }
    println!(
        "\npartly: not all of its cells or peers were measured; *: reported, and need not be met"
    );
    if silent > 0 {
        println!("{silent} goals are about cells that did not run");
    }
    Ok(is_met)
}

fn goals(root: &Path) -> Result<Vec<Goal>, String> {
    let text = disk::read(&root.join("xtask/goals.toml"))?;
    let read: Result<BTreeMap<String, Vec<Goal>>, _> = toml::from_str(&text);
    let mut tables = read.map_err(|error| format!("xtask/goals.toml: {error}"))?;
    Ok(tables.remove("goal").unwrap_or_default())
}

/// With three digits.
fn significant(value: f64) -> String {
    let digits = 2 - value.abs().max(1e-9).log10().floor() as i32;
    format!("{value:.0$}", digits.max(0) as usize)
}

impl Goal {
    fn limit(&self) -> String {
        let at_least = || format!(">= {}", self.at_least.unwrap_or(0.0));
        self.at_most.map_or_else(at_least, |limit| format!("<= {limit}"))
    }
    fn has(&self, cell: &Value) -> bool {
        let (name, is_busy) = (text(&cell["name"]), cell["has_neighbours"] == true);
        let is_named = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => *pattern == name,
        };
        match self.kind.as_str() {
            "" => self.names.iter().any(is_named),
            "busy" => is_busy && cell["kind"] != "sleep",
            kind => !is_busy && cell["kind"] == kind,
        }
    }
    /// What the document says of it; `None` if it was not measured.
    fn judge<'a>(&self, document: &'a Value) -> Option<Judged<'a>> {
        if self.membarrier.is_some_and(|is_on| document["membarrier"] != is_on) {
            return None;
        }
        let cells = document["cells"].as_array()?.iter().filter(|cell| self.has(cell));
        let measured: Vec<(&str, f64)> =
            cells.filter_map(|cell| Some((text(&cell["name"]), self.of_cell(cell)?))).collect();
        let (worst, value) = *measured.iter().reduce(|a, b| match self.at_most {
            Some(_) if b.1 > a.1 => b,
            None if b.1 < a.1 => b,
            _ => a,
        })?;
        let cells = measured.len();
        let logarithms: f64 = measured.iter().map(|(_, value)| value.ln()).sum();
        let (measured, cell) = match self.take {
            Take::Worst => (value, Some(worst)),
            Take::Mean => ((logarithms / cells as f64).exp(), None),
        };
        let needs_all_peers = self.figure.ends_with("ratio")
            || matches!(self.against.as_deref(), Some("best_peer" | "parking_lot"));
        let has_all_peers = document["usual_peers"] == true || !needs_all_peers;
        let holds = self.at_most.is_none_or(|limit| measured <= limit)
            && self.at_least.is_none_or(|limit| measured >= limit);
        let verdict = match (cells == self.cells && has_all_peers, holds) {
            (false, _) => "partly",
            (true, true) => "met",
            (true, false) => "missed",
        };
        Some(Judged { cells, measured, cell, verdict })
    }
    /// The figure in a cell.
    fn of_cell(&self, cell: &Value) -> Option<f64> {
        let called = |name: &str| cell[name].as_str().unwrap_or(name).to_string();
        let lock = |name: &str| &cell["locks"][called(name)];
        let (mine, against) = (lock(&self.of), self.against.as_deref());
        match self.figure.as_str() {
            "rate" if against == Some("single_thread") => {
                Some(mine["ops_per_s"].as_f64()? / cell["single_thread_ops_per_s"].as_f64()?)
            }
            "rate" => scored(mine, lock(against?)),
            "time" => scored(mine, lock(against?)).map(f64::recip),
            "ratio" if cell["at_bound"] == true => Some(cell["ratio"].as_f64()?.max(1.0)),
            key => match (cell[key].as_f64(), against) {
                (Some(of_cell), _) => Some(of_cell),
                (_, None) => mine[key].as_f64(),
                (_, Some(name)) => Some(mine[key].as_f64()? / lock(name)[key].as_f64()?.max(1.0)),
            },
        }
    }
}

/// The median ratio over the even repetitions: the opponent is chosen on the others.
fn scored(mine: &Value, theirs: &Value) -> Option<f64> {
    let rates = |lock: &Value| -> Option<Vec<Option<f64>>> {
        Some(lock["per_repetition"].as_array()?.iter().map(Value::as_f64).collect())
    };
    let pairs = rates(mine)?.into_iter().zip(rates(theirs)?).skip(1).step_by(2);
    let ratios = sorted(pairs.filter_map(|(mine, theirs)| Some(mine? / theirs?)));
    (!ratios.is_empty()).then(|| median(&ratios))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(what: &str, cells: &Value, usual_peers: bool) -> Option<(f64, &'static str)> {
        let document = json!({"membarrier": true, "usual_peers": usual_peers, "cells": cells});
        let goals = goals(&crate::root()).expect("the file");
        let goal = goals.iter().find(|goal| goal.what == what).expect("a goal");
        goal.judge(&document).map(|judged| (judged.measured, judged.verdict))
    }

    fn cell(name: &str, kind: &str, ours: [f64; 4], ratio: f64) -> Value {
        json!({
            "name": name, "kind": kind, "ours": "mutex", "parking_lot": "parking_lot-0.12", "ratio": ratio,
            "floor": "floor-8", "locks": {
                "mutex": {"per_repetition": ours, "cpus": 2.0},
                "parking_lot-0.12": {"per_repetition": [1.0, 1.0, 1.0, 1.0]},
                "floor-8": {"per_repetition": [4.0, 4.0, null, 4.0]},
            }
        })
    }

    #[test]
    fn a_goal_of_several_cells_is_judged_by_the_worst_of_them_on_the_even_repetitions() {
        let what = "cs1, 8 to 64 threads: throughput relative to parking_lot";
        let names = ["cs1-t8", "cs1-t16", "cs1-t32", "cs1-t64"];
        let cells = |worst: f64| -> Value {
            let rates = names.map(|name| if name == "cs1-t16" { worst } else { 2.0 });
            let all = names.iter().zip(rates);
            all.map(|(name, rate)| cell(name, "exclusive", [9.0, rate, 9.0, rate], 1.0)).collect()
        };
        assert_eq!(verdict(what, &cells(1.25), true), Some((1.25, "missed")));
        assert_eq!(verdict(what, &cells(1.3), true), Some((1.3, "met")));
        assert_eq!(verdict(what, &cells(1.3), false), Some((1.3, "partly")));
        let fewer = cells(1.3).as_array().expect("cells")[1..].to_vec();
        assert_eq!(verdict(what, &fewer.into(), true), Some((1.3, "partly")));
        assert_eq!(verdict(what, &json!([]), true), None);
    }

    #[test]
    fn a_time_is_the_inverse_of_a_rate_and_another_figure_is_of_our_lock() {
        let pair = json!([cell("pair", "pair", [2.0; 4], 1.0)]);
        assert_eq!(
            verdict("pair: time relative to the floor", &pair, false),
            Some((2.0, "missed"))
        );
        assert_eq!(verdict("pair: time relative to pthread", &pair, true), None);
        let long = json!([cell("cs100-t8", "exclusive", [1.0; 4], 1.0)]);
        let cpus = verdict("cs100, 8 to 64 threads: CPUs in use", &long, true);
        assert_eq!(cpus, Some((2.0, "partly")));
    }

    #[test]
    fn the_mean_is_geometric_and_a_cell_at_the_bound_counts_as_equal() {
        let mut cells =
            json!([cell("a", "blocking", [1.0; 4], 4.0), cell("b", "blocking", [1.0; 4], 0.5)]);
        let mean = "blocking cells: geometric mean of the ratios";
        let (all, worst) = (verdict(mean, &cells, true), "blocking cells: worst ratio");
        assert!((all.expect("two cells").0 - 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(verdict(worst, &cells, true).map(|it| it.0), Some(0.5));
        cells[1]["at_bound"] = true.into();
        assert_eq!(verdict(worst, &cells, true).map(|it| it.0), Some(1.0));
        cells[1]["has_neighbours"] = true.into();
        assert_eq!(verdict(worst, &cells, true).map(|it| it.0), Some(4.0));
    }

    #[test]
    fn each_goal_has_one_limit_and_is_about_cells() {
        for goal in goals(&crate::root()).expect("the file") {
            assert!(goal.at_most.is_some() != goal.at_least.is_some(), "{}", goal.what);
            assert!(goal.names.is_empty() != goal.kind.is_empty(), "{}", goal.what);
        }
    }
}
