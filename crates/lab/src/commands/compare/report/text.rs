//! The results of a comparison for people.

use super::document::{CellResult, CompareDocument};
use super::tables::{self, interval};
use crate::commands::compare::cells::{CellKind, GROUPS};
use crate::commands::compare::effort::CompareEffort;
use crate::commands::compare::locks::OURS_MIXED;
use crate::commands::compare::overall::Overall;
use crate::commands::compare::rw_section::{RwGroup, RwSection};
use lockwright_measure::trial::On;
use lockwright_sheets::{digits, duration, hanging, plural, provenance, rate, warned, wrapped};

/// Everything, with units.
pub fn text(document: &CompareDocument) -> String {
    let effort = match document.effort {
        CompareEffort::Quick => "quick",
        CompareEffort::Full => "full",
    };
    let of_kind = |kind: CellKind| -> Vec<&CellResult> {
        document.cells.iter().filter(|result| result.cell.kind == kind).collect()
    };
    let of_rw = match of_kind(CellKind::Rw).is_empty() {
        false => format!(" (with readers {} and {})", document.rw_runs, document.rw_wait_runs),
        true => String::new(),
    };
    let is_real_use = |result: &CellResult| result.cell.kind.is_real_use();
    let of_real_use = match document.cells.iter().any(is_real_use) {
        true => {
            format!(", {} of cells in which threads do what programs do", document.real_use_runs)
        }
        false => String::new(),
    };
    let mut text = wrapped(&format!(
        "{} against peers on {}{}, {} CPUs{}\n{effort}: {} runs for throughput and {} for \
         waits{of_rw}{of_real_use}, seed {}{}",
        our_locks(document).join(", "),
        if document.on.is_simulated() { "simulated " } else { "" },
        document.on.machine(),
        document.on.cpus(),
        document.foreign_load_percent.map_or_else(String::new, used_by_others),
        document.runs,
        document.wait_runs,
        document.seed,
        if document.membarrier { "" } else { ", without membarrier" },
    ));
    for pair in of_kind(CellKind::Pair) {
        text = text + "\n" + &tables::pairs(pair);
    }
    let mut chosen = [CellKind::Exclusive, CellKind::Rw].map(of_kind);
    // The section says the same and more.
    if document.ours_rw == [OURS_MIXED] && document.rwlock.is_some() {
        chosen[1].clear();
    }
    // One legend is enough for both.
    for (at, cells) in chosen.into_iter().filter(|cells| !cells.is_empty()).enumerate() {
        text = text + "\n" + &tables::contended(&cells, at == 0);
    }
    let real_use = CellKind::REAL_USE.map(of_kind);
    for (at, cells) in real_use.iter().filter(|cells| !cells.is_empty()).enumerate() {
        text = text + "\n" + &tables::real_use(cells, at == 0);
    }
    let overall = GROUPS.iter().filter_map(|group| {
        let all = document.together.get(group.key)?.as_ref()?;
        Some(together(group.noun, all, &interval(Some(all.worst_ci95)), &at_bound(all)))
    });
    let overall: String = overall.collect();
    if !overall.is_empty() {
        text = text + "\n" + &overall;
    }
    if let Some(section) = &document.rwlock {
        text = text + "\n" + &rw_section(document, section);
    }
    text + &conclusion(document) + &warned(&document.warnings)
}

/// The part of the machine that others had meanwhile.
fn used_by_others(percent: f64) -> String {
    format!(", of which other processes used {percent:.1} %")
}

/// Where simulated numbers come from.
fn conclusion(document: &CompareDocument) -> String {
    match &document.on {
        On::Native { .. } => String::new(),
        On::Simulated { machine, calibration, .. } => {
            let provenance = provenance(machine, calibration.as_ref());
            "\n".to_string()
                + &wrapped(&format!(
                    "-: not known where each thread has a simulated CPU. {provenance}"
                ))
        }
    }
}

/// Our lock for any mixture of readers and writers.
fn rw_section(document: &CompareDocument, section: &RwSection) -> String {
    let group = |RwGroup { what, all, below_0_95, below_0_9 }: &RwGroup| {
        let below = format!("; {below_0_95} wholly below 0.95, {below_0_9} wholly below 0.9");
        together(["cell", &format!(" {what}")], all, "", &below)
    };
    let groups: String = section.groups.iter().map(group).collect();
    let table = tables::rw_section(document, section);
    format!("{} against reader-writer locks of others\n{table}\n{groups}", section.lock)
}

/// Cells in a sentence: what they are called, the numbers, the interval of the worst ratio, and what else there is to
/// say.
fn together([cell, kind]: [&str; 2], all: &Overall, worst_ci95: &str, more: &str) -> String {
    let cells = plural(all.cells as u64, cell);
    let mean =
        format!("{} {}", digits(all.geometric_mean), interval(Some(all.geometric_mean_ci95)));
    let worst = format!("{} {worst_ci95}", digits(all.worst));
    let (worst, worst_cell) = (worst.trim_end(), all.worst_cell);
    hanging(
        &format!(
            "{cells}{kind}: geometric mean of the ratios {mean}, worst {worst} in {worst_cell}{more}"
        ),
        "  ",
    )
}

/// In how many cells the CPUs set the bound, and the CPU time of an operation.
fn at_bound(all: &Overall) -> String {
    let bound = match all.at_bound {
        0 => String::new(),
        count => format!("; {count} of them at the bound that the CPUs set"),
    };
    let cpu = all.cpu_per_op;
    let cpu = cpu.map_or_else(String::new, |cpu| {
        format!("; CPU time per operation {} {}", digits(cpu), interval(all.cpu_per_op_ci95))
    });
    bound + &cpu
}

/// A cell in a sentence.
pub fn sentence(result: &CellResult) -> String {
    let figure = |name: &str| match result.locks.get(name) {
        Some(lock) => match lock.pair_ns {
            Some(ns) => format!("{name} {}", duration(ns)),
            None => format!("{name} {}", rate(lock.ops_per_s)),
        },
        None => format!("{name} -"),
    };
    let (cell, compared) = (result.cell.name, &result.compared);
    match (compared.best_peer, compared.ratio) {
        (Some(best), Some(ratio)) => format!(
            "{cell}: {}, best peer {}: ratio {} {}",
            figure(result.ours),
            figure(best),
            digits(ratio),
            interval(compared.ratio_ci95)
        ),
        _ => format!("{cell}: too few runs for a ratio"),
    }
}

/// Our locks in the cells that were run.
fn our_locks(document: &CompareDocument) -> Vec<&'static str> {
    let runs =
        |name: &&'static str| document.cells.iter().any(|cell| cell.locks.contains_key(name));
    let mut ours: Vec<&'static str> =
        document.ours.iter().chain(&document.ours_rw).copied().filter(|name| runs(name)).collect();
    ours.dedup();
    ours
}
