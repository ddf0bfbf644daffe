//! The results of a comparison for people.

use super::document::{CellResult, CompareDocument, LockResult};
use super::figures::{interval, number};
use super::{real_use, rw_section};
use crate::commands::compare::cells::{CellKind, CompareCell};
use crate::commands::compare::effort::CompareEffort;
use crate::commands::compare::locks::{OURS_MIXED, Versions};
use crate::commands::compare::overall::Overall;
use lockwright_measure::subject::FLOOR;
use lockwright_measure::trial::On;
use lockwright_sheets::{
    Column, Sheet, digits, duration, hanging, plural, provenance, rate, warned, wrapped,
};

/// The meaning of the column *spread*.
pub(super) const SPREAD: &str = "the slowest and the fastest repetition, divided by the median";

/// Everything, with units.
pub fn text(document: &CompareDocument) -> String {
    let effort = match document.effort {
        CompareEffort::Quick => "quick",
        CompareEffort::Full => "full",
    };
    let of_kind = |kind: CellKind| -> Vec<&CellResult> {
        document.cells.iter().filter(|cell| cell.kind == kind).collect()
    };
    let of_rw = match of_kind(CellKind::Rw).is_empty() {
        false => format!(" (with readers {} and {})", document.rw_runs, document.rw_wait_runs),
        true => String::new(),
    };
    let is_real_use = |cell: &CellResult| cell.kind.is_real_use();
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
    for cell in document.cells.iter().filter(|cell| cell.kind == CellKind::Pair) {
        text = text + "\n" + &pairs(cell);
    }
    let mut chosen = [CellKind::Exclusive, CellKind::Rw].map(of_kind);
    // The section says the same and more.
    if document.ours_rw == [OURS_MIXED] && document.rwlock.is_some() {
        chosen[1].clear();
    }
    // One legend is enough for both.
    for (at, cells) in chosen.into_iter().filter(|cells| !cells.is_empty()).enumerate() {
        text = text + "\n" + &contended(&cells, at == 0);
    }
    let real_use = CellKind::REAL_USE.map(of_kind);
    for (at, cells) in real_use.iter().filter(|cells| !cells.is_empty()).enumerate() {
        text = text + "\n" + &real_use::table(cells, at == 0);
    }
    let kinds = [
        (&document.exclusive, ["exclusive cell", ""]),
        (&document.rw, ["cell", " with readers"]),
        (&document.queue, ["queue cell", ""]),
        (&document.blocking, ["blocking cell", ""]),
        (&document.work, ["work cell", ""]),
        (&document.busy, ["cell", " with a busy neighbour on every CPU"]),
    ];
    let overall = kinds.into_iter().filter_map(|(all, kind)| Some(together(all.as_ref()?, kind)));
    let overall: String = overall.collect();
    if !overall.is_empty() {
        text = text + "\n" + &overall;
    }
    if let Some(section) = &document.rwlock {
        text = text + "\n" + &rw_section::text(document, section);
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

/// All cells of a kind in a sentence.
fn together(all: &Overall, [cell, kind]: [&str; 2]) -> String {
    hanging(
        &format!(
            "{}{kind}: geometric mean of the ratios {} {}, worst {} {} in {}{}",
            plural(all.cells as u64, cell),
            digits(all.geometric_mean),
            interval(Some(all.geometric_mean_ci95)),
            digits(all.worst),
            interval(Some(all.worst_ci95)),
            all.worst_cell,
            at_bound(all)
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
pub fn sentence(cell: &CellResult) -> String {
    let figure = |name: &str| match cell.lock(name) {
        Some(lock) => match lock.pair_ns {
            Some(ns) => format!("{name} {}", duration(ns)),
            None => format!("{name} {}", rate(lock.ops_per_s)),
        },
        None => format!("{name} -"),
    };
    match (cell.best_peer, cell.ratio) {
        (Some(best), Some(ratio)) => format!(
            "{}: {}, best peer {}: ratio {} {}",
            cell.name,
            figure(cell.ours),
            figure(best),
            digits(ratio),
            interval(cell.ratio_ci95)
        ),
        _ => format!("{}: too few runs for a ratio", cell.name),
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
    let our_ns = cell.lock(cell.ours).and_then(|lock| lock.pair_ns);
    let mut costs: Vec<(&str, f64)> =
        cell.locks.iter().filter_map(|(name, lock)| Some((*name, lock.pair_ns?))).collect();
    // The better of its versions is one of them, and the floor is one of the floors.
    costs.retain(|(name, _)| Versions::of(name).is_none() && *name != FLOOR);
    costs.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let row = |(name, ns): (&str, f64)| {
        let ratio = our_ns.map_or_else(|| "-".into(), |ours| digits(ours / ns));
        vec![name.into(), duration(ns), ratio]
    };
    let what = if cell.workload.name() == "uncontended" { "" } else { "read " };
    let means =
        format!("the time of {0} divided by this lock's; below 1, {0} is cheaper", cell.ours);
    let columns = vec![
        Column::name("lock"),
        Column::number("pair").means(format!("time of a {what}lock/unlock pair of a thread")),
        Column::number(format!("{} / this", cell.ours)).means(means),
    ];
    let plural = if cell.threads == 1 { "" } else { "s" };
    let heading = format!("{}: {} thread{plural}\n", cell.name, cell.threads);
    let sheet = Sheet { columns, keys: 1, rows: costs.into_iter().map(row).collect() };
    heading + &sheet.text() + &cell.floor.map_or_else(String::new, which_floor)
}

/// Which floor is the floor.
fn which_floor(fastest: &str) -> String {
    wrapped(&format!(
        "The floor is {fastest}, the fastest of one compare-exchange and one plain store of 8, of 16 and of 32 bits \
         in this run."
    ))
}

fn contended(cells: &[&CellResult], has_legend: bool) -> String {
    let row = |cell: &&CellResult| {
        let throughput = |name: Option<&str>| {
            let lock = name.and_then(|name| cell.lock(name));
            lock.map_or_else(|| "-".into(), |lock| rate(lock.ops_per_s))
        };
        let (our, best) = (cell.lock(cell.ours), cell.best_peer.and_then(|name| cell.lock(name)));
        let wait = |ns: Option<u64>| ns.map_or_else(|| "-".into(), |ns| duration(ns as f64));
        vec![
            cell.name.into(),
            cell.ours.into(),
            throughput(Some(cell.ours)),
            cell.best_peer.unwrap_or("-").into(),
            throughput(cell.best_peer),
            number(cell.ratio),
            interval(cell.ratio_ci95),
            number(cell.cpu_per_op_ratio),
            interval(our.and_then(LockResult::spread)),
            interval(best.and_then(LockResult::spread)),
            number(our.and_then(|lock| lock.min_max)),
            number(best.and_then(|lock| lock.min_max)),
            wait(our.and_then(|lock| lock.wait_p999_ns)),
            wait(our.and_then(|lock| lock.wait_max_ns)),
        ]
    };
    let legend = |means| if has_legend { means } else { "" };
    let columns = vec![
        Column::name("cell").means(cells.first().map_or(String::new(), |cell| example(cell))),
        Column::name("ours"),
        Column::number("throughput").means(legend("the median over all repetitions")),
        Column::name("best peer").means(legend("chosen on one half of the repetitions")),
        Column::number("throughput"),
        Column::number("ratio")
            .means(legend(
                "ours divided by the best peer; above 1, ours does more. It uses only the other half of the \
                 repetitions, so it can differ from the quotient of the throughputs",
            ))
            .first(),
        Column::number("95 %").means(legend("confidence interval of the ratio")),
        Column::number("CPU/op")
            .means(legend("CPU time for an operation, ours divided by the best peer's")),
        Column::number("spread").means(legend(SPREAD)),
        Column::number("of peer").means(legend("the same of the best peer")),
        Column::number("min/max").means(legend(
            "operations of our slowest thread divided by those of the fastest; 1 is fair",
        )),
        Column::number("of peer").means(legend("the same of the best peer")),
        Column::number("p99.9 wait")
            .means(legend("of 1000 waits for our lock, 999 were not longer")),
        Column::number("longest wait"),
    ];
    Sheet { columns, keys: 1, rows: cells.iter().map(row).collect() }.text()
}

/// What the name of a cell says.
fn example(cell: &CellResult) -> String {
    let cell = CompareCell {
        name: cell.name,
        workload: cell.workload,
        threads: cell.threads,
        kind: cell.kind,
        has_neighbours: cell.has_neighbours,
    };
    let (cs_load, think_load) = cell.loads();
    let mut said = format!("{} means ", cell.name);
    if cell.has_readers() {
        said += &format!("{} % reads, ", cell.readers());
    }
    said += &plural(cs_load.into(), "pause instruction");
    said += " in the critical section";
    if think_load > 0 {
        said += &format!(" and {think_load} between two of them");
    }
    said + ", " + &plural(cell.threads as u64, "thread")
}
