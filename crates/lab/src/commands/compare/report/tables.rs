//! The tables of a comparison for people.

use super::document::{CellResult, CompareDocument, LockResult};
use crate::commands::compare::locks::Versions;
use crate::commands::compare::rw_section::RwSection;
use crate::commands::compare::score::Compared;
use lockwright_measure::subject::FLOOR;
use lockwright_sheets::{Column, SheetOf, digits, duration, known, plural, rate, wrapped};

/// A cell, and one of our locks next to the best peer in it.
struct CellRow<'a> {
    result: &'a CellResult,
    compared: Compared,
    ours: Option<&'a LockResult>,
    best: Option<&'a LockResult>,
}

impl<'a> CellRow<'a> {
    fn of(result: &'a CellResult, ours: &str, compared: Compared) -> Self {
        let lock = |name: &str| result.locks.get(name);
        Self { result, compared, ours: lock(ours), best: compared.best_peer.and_then(lock) }
    }
    fn all(results: &[&'a CellResult]) -> Vec<Self> {
        results.iter().map(|result| Self::of(result, result.ours, result.compared)).collect()
    }
}

/// An interval, if there is one.
pub fn interval(ci95: Option<[f64; 2]>) -> String {
    ci95.map_or_else(String::new, |[low, high]| format!("[{}, {}]", digits(low), digits(high)))
}

fn throughput(lock: Option<&LockResult>) -> String {
    known(lock, |lock| rate(lock.ops_per_s))
}

/// What a legend says about more than one table.
const ALL_RUNS: &str = "the median over all repetitions";
const CHOSEN: &str = "chosen on one half of the repetitions";
const SPREAD: &str = "the slowest and the fastest repetition, divided by the median";
const OF_PEER: &str = "the same of the best peer";

/// The columns that all tables of cells begin with: `means` are of the cell, the throughput of ours, the best peer and
/// the ratio. `lock` is the one of ours if there is one in all cells.
fn begun<'a>(
    rows: &'a [CellRow<'_>],
    lock: Option<&str>,
    means: [&str; 4],
) -> SheetOf<'a, CellRow<'a>> {
    let mut table = SheetOf::new(rows);
    let [cell, ours, best, ratio] = means;
    table.key(Column::name("cell").means(cell), |it| it.result.cell.name.into());
    if lock.is_none() {
        table.add(Column::name("ours"), |it| it.result.ours.into());
    }
    table.number(lock.unwrap_or("throughput"), ours, |it| throughput(it.ours));
    table.add(Column::name("best peer").means(best), |it| {
        it.compared.best_peer.unwrap_or("-").into()
    });
    table.number("throughput", "", |it| throughput(it.best));
    table.first("ratio", ratio, |it| known(it.compared.ratio, digits));
    let means = if ratio.is_empty() { "" } else { "confidence interval of the ratio" };
    table.number("95 %", means, |it| interval(it.compared.ratio_ci95));
    table
}

/// Cells in which threads compete for counters. A legend says what the columns mean.
pub fn contended(results: &[&CellResult], has_legend: bool) -> String {
    let legend = |means: &'static str| if has_legend { means } else { "" };
    let rows = CellRow::all(results);
    let mut table = begun(
        &rows,
        None,
        [
            &results.first().map_or_else(String::new, |result| example(result)),
            legend(ALL_RUNS),
            legend(CHOSEN),
            legend(
                "ours divided by the best peer; above 1, ours does more. It uses only the other half of the \
             repetitions, so it can differ from the quotient of the throughputs",
            ),
        ],
    );
    let means = legend("CPU time for an operation, ours divided by the best peer's");
    table.number("CPU/op", means, |it| known(it.compared.cpu_per_op_ratio, digits));
    table.number("spread", legend(SPREAD), |it| interval(it.ours.and_then(LockResult::spread)));
    table.number("of peer", legend(OF_PEER), |it| interval(it.best.and_then(LockResult::spread)));
    let shares = |lock: Option<&LockResult>| known(lock.and_then(|lock| lock.min_max), digits);
    let means =
        legend("operations of our slowest thread divided by those of the fastest; 1 is fair");
    table.number("min/max", means, |it| shares(it.ours));
    table.number("of peer", legend(OF_PEER), |it| shares(it.best));
    let wait = |ns: Option<u64>| known(ns, |ns| duration(ns as f64));
    let means = legend("of 1000 waits for our lock, 999 were not longer");
    table.number("p99.9 wait", means, |it| wait(it.ours.and_then(|lock| lock.wait_p999_ns)));
    table.number("longest wait", "", |it| wait(it.ours.and_then(|lock| lock.wait_max_ns)));
    table.sheet.text()
}

/// What the name of a cell says.
fn example(result: &CellResult) -> String {
    let cell = &result.cell;
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

/// The cells of one kind in which threads do what programs do. A legend says what the columns mean.
pub fn real_use(results: &[&CellResult], has_legend: bool) -> String {
    let legend = |means: &'static str| if has_legend { means } else { "" };
    let rows = CellRow::all(results);
    let mut table = begun(
        &rows,
        None,
        [
            legend(
                "`+busy`: another thread computes on every CPU; docs/lab.md says what a name means",
            ),
            legend(ALL_RUNS),
            legend(CHOSEN),
            legend("ours divided by the best peer, on the other half; above 1, ours does more"),
        ],
    );
    table.number("spread", legend(SPREAD), |it| interval(it.ours.and_then(LockResult::spread)));
    table.number("of peer", legend(OF_PEER), |it| interval(it.best.and_then(LockResult::spread)));
    table.number("CPU/op", legend("CPU time of ours for an operation"), |it| {
        known(it.ours.and_then(|lock| lock.cpu_ns_per_op), duration)
    });
    let means = legend("the same, divided by the best peer's");
    table.number("of peer", means, |it| known(it.compared.cpu_per_op_ratio, digits));
    let switches = |lock: Option<&LockResult>| {
        let asked = lock.and_then(|lock| lock.voluntary_switches_per_op);
        let both = asked.zip(lock.and_then(|lock| lock.involuntary_switches_per_op));
        known(both, |(asked, forced)| format!("{asked:.2} + {forced:.2}"))
    };
    let means =
        "context switches of ours for an operation: those asked for by sleeping + the others";
    table.number("switches", legend(means), |it| switches(it.ours));
    table.number("of peer", legend(OF_PEER), |it| switches(it.best));
    if rows.iter().any(|it| it.result.bound_ops_per_s.is_some()) {
        let means = "throughput of ours divided by the most that the CPUs and one lock let through";
        table.number("of bound", means, |it| {
            let both = it.ours.zip(it.result.bound_ops_per_s);
            known(both, |(ours, bound)| digits(ours.ops_per_s / bound))
        });
    }
    let waits = |lock: &LockResult| lock.condvar_waits_per_op;
    if rows.iter().flat_map(|it| it.result.locks.values()).any(|lock| waits(lock).is_some()) {
        let futile =
            |lock: Option<&LockResult>| known(lock.and_then(|it| it.futile_wakeups_per_op), digits);
        table.number("waits", "of ours on condition variables, for an operation", |it| {
            known(it.ours.and_then(waits), digits)
        });
        let means = "those that were notified and found nothing to do";
        table.number("futile", means, |it| futile(it.ours));
        table.number("of peer", OF_PEER, |it| futile(it.best));
    }
    table.sheet.text()
}

/// Our lock for any mixture of readers and writers.
pub fn rw_section(document: &CompareDocument, section: &RwSection) -> String {
    let lock = section.lock;
    let rows = section.cells.iter().filter_map(|cell| {
        let result = document.cells.iter().find(|known| known.cell.name == cell.name)?;
        Some(CellRow::of(result, lock, cell.compared))
    });
    let rows: Vec<CellRow<'_>> = rows.collect();
    let mut table = begun(
        &rows,
        Some(lock),
        [
            "docs/lab.md says what a name means",
            "throughput, the median over all repetitions",
            "the best reader-writer lock, chosen on one half of the repetitions",
            &format!(
                "{lock} divided by the best peer, on the other half; above 1, {lock} does more"
            ),
        ],
    );
    let means = "CPU time for an operation, divided by the best peer's";
    table.number("CPU/op", means, |it| known(it.compared.cpu_per_op_ratio, digits));
    table.sheet.text()
}

/// The cost of a pair, lock by lock, the cheapest first.
pub fn pairs(result: &CellResult) -> String {
    let (cell, ours) = (&result.cell, result.ours);
    let our_ns = result.locks.get(ours).and_then(|lock| lock.pair_ns);
    let costs = result.locks.iter().filter_map(|(name, lock)| Some((*name, lock.pair_ns?)));
    // The better of its versions is one of them, and the floor is one of the floors.
    let costs = costs.filter(|(name, _)| Versions::of(name).is_none() && *name != FLOOR);
    let mut costs: Vec<(&str, f64)> = costs.collect();
    costs.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let what = if cell.workload.name() == "uncontended" { "" } else { "read " };
    let mut table = SheetOf::new(&costs);
    table.key(Column::name("lock"), |it| it.0.into());
    let means = format!("time of a {what}lock/unlock pair of a thread");
    table.number("pair", &means, |it| duration(it.1));
    let means = format!("the time of {ours} divided by this lock's; below 1, {ours} is cheaper");
    table.number(&format!("{ours} / this"), &means, |it| known(our_ns, |ns| digits(ns / it.1)));
    let which_floor = result.floor.map_or_else(String::new, |fastest| {
        wrapped(&format!(
            "The floor is {fastest}, the fastest of one compare-exchange and one plain store of 8, of 16 and of 32 \
             bits in this run."
        ))
    });
    let threads = plural(cell.threads as u64, "thread");
    format!("{}: {threads}\n{}{which_floor}", cell.name, table.sheet.text())
}
