//! The results of a comparison for people.

use super::document::{CellResult, CompareDocument};
use super::effort::Effort;
use super::goals::{Bound, Judged};
use super::locks::Versions;
use super::matrix::Kind;
use crate::bench::duration;
use crate::report::{self, Grid};
use std::fmt::Write;

/// Everything, with units.
pub fn text(document: &CompareDocument) -> String {
    let effort = match document.effort {
        Effort::Quick => "quick",
        Effort::Full => "full",
    };
    let has = |has_readers: bool| {
        move |cell: &&CellResult| cell.kind == if has_readers { Kind::Rw } else { Kind::Exclusive }
    };
    let of_rw = match document.cells.iter().any(|cell| has(true)(&cell)) {
        true => format!("; with readers {} and {}", document.rw_runs, document.rw_wait_runs),
        false => String::new(),
    };
    let mut text = format!(
        "{} against peers on {}, {} CPUs\n{effort}: {} repetitions, {} for waits{of_rw}, seed {}{}\n",
        our_locks(document).join(", "),
        document.on.machine(),
        document.on.cpus(),
        document.runs,
        document.wait_runs,
        document.seed,
        if document.membarrier { "" } else { ", without membarrier" },
    );
    for cell in document.cells.iter().filter(|cell| cell.kind == Kind::Pair) {
        text = text + "\n" + &pairs(cell);
    }
    for has_readers in [false, true] {
        let chosen: Vec<&CellResult> = document.cells.iter().filter(has(has_readers)).collect();
        if !chosen.is_empty() {
            text = text + "\n" + &cells(&chosen);
        }
    }
    for (all, kind) in
        [(&document.exclusive, "exclusive cells"), (&document.rw, "cells with readers")]
    {
        let Some(all) = all else {
            continue;
        };
        let _ = writeln!(
            text,
            "\n{} {kind}: geometric mean {:.2} {}, worst {:.2} {} in {}",
            all.cells,
            all.geometric_mean,
            interval(Some(all.geometric_mean_ci95)),
            all.worst,
            interval(Some(all.worst_ci95)),
            all.worst_cell
        );
    }
    text + "\n" + &goals(&document.goals)
}

/// A cell in a sentence.
pub fn sentence(cell: &CellResult) -> String {
    let figure = |name: &str| match cell.lock(name) {
        Some(lock) => match lock.pair_ns {
            Some(ns) => format!("{name} {ns:.2} ns"),
            None => format!("{name} {:.3} Mops/s", lock.ops_per_s / 1e6),
        },
        None => format!("{name} -"),
    };
    match (cell.best_peer, cell.ratio) {
        (Some(best), Some(ratio)) => format!(
            "{}: {}, best peer {}: {ratio:.2} {}",
            cell.name,
            figure(cell.ours),
            figure(best),
            interval(cell.ratio_ci95)
        ),
        _ => format!("{}: too few repetitions for a ratio", cell.name),
    }
}

/// Our locks in the cells that were run.
fn our_locks(document: &CompareDocument) -> Vec<&'static str> {
    let runs = |name: &&'static str| document.cells.iter().any(|cell| cell.lock(name).is_some());
    let mut ours: Vec<&'static str> =
        document.ours.iter().chain(&document.ours_rw).copied().filter(|name| runs(name)).collect();
    ours.dedup();
    ours
}

/// The cost of a pair, lock by lock, the cheapest first.
fn pairs(cell: &CellResult) -> String {
    let mut grid = Grid::new([cell.name, "ns", &*format!("{} of it", cell.ours)]);
    let our_ns = cell.lock(cell.ours).and_then(|lock| lock.pair_ns);
    let mut costs: Vec<(&str, f64)> =
        cell.locks.iter().filter_map(|(name, lock)| Some((*name, lock.pair_ns?))).collect();
    // The better of its versions is one of them.
    costs.retain(|(name, _)| Versions::of(name).is_none());
    costs.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    for (name, ns) in costs {
        let ratio = our_ns.map_or_else(String::new, |ours| format!("{:.2}", ours / ns));
        grid.push([name.into(), format!("{ns:.2}"), ratio]);
    }
    report::text_table(&grid, 1)
}

fn cells(cells: &[&CellResult]) -> String {
    let mut grid = Grid::new([
        "cell",
        "ours",
        "Mops/s",
        "best peer",
        "Mops/s",
        "ratio",
        "95 %",
        "CPU time",
        "min/max",
        "wait p99.9",
        "max",
    ]);
    for cell in cells {
        let mops = |name: Option<&str>| {
            let lock = name.and_then(|name| cell.lock(name));
            lock.map_or_else(|| "-".into(), |lock| format!("{:.3}", lock.ops_per_s / 1e6))
        };
        let our = cell.lock(cell.ours);
        let wait = |ns: Option<u64>| ns.map_or_else(|| "-".into(), duration);
        grid.push([
            cell.name.into(),
            cell.ours.into(),
            mops(Some(cell.ours)),
            cell.best_peer.unwrap_or("-").into(),
            mops(cell.best_peer),
            number(cell.ratio),
            interval(cell.ratio_ci95),
            number(cell.cpu_ratio),
            number(our.and_then(|lock| lock.min_max)),
            wait(our.and_then(|lock| lock.wait_p999_ns)),
            wait(our.and_then(|lock| lock.wait_max_ns)),
        ]);
    }
    report::text_table(&grid, 1)
}

fn goals(judged: &[Judged]) -> String {
    let mut grid = Grid::new(["goal", "limit", "verdict", "measured", "95 %", "cell"]);
    for goal in judged {
        let bound = match goal.bound {
            Bound::AtMost(limit) => format!("at most {limit:.2}"),
            Bound::AtLeast(limit) => format!("at least {limit:.2}"),
        };
        let verdict = goal.verdict.word();
        grid.push([
            goal.what.into(),
            bound,
            if goal.gated { verdict.into() } else { format!("({verdict})") },
            number(goal.measured),
            interval(goal.ci95),
            goal.cell.unwrap_or_default().into(),
        ]);
    }
    report::text_table(&grid, 3)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.2}"))
}

fn interval(ci95: Option<[f64; 2]>) -> String {
    ci95.map_or_else(String::new, |[low, high]| format!("[{low:.2}, {high:.2}]"))
}
