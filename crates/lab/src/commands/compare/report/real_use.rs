//! The table of the cells in which threads do what programs do.

use super::document::{CellResult, LockResult};
use super::figures::{interval, number};
use super::text::SPREAD;
use lockwright_sheets::{Column, Sheet, duration, rate};

/// The cells of one kind. A legend says what the columns mean.
pub fn table(cells: &[&CellResult], has_legend: bool) -> String {
    let has_bound = cells.iter().any(|cell| cell.bound_ops_per_s.is_some());
    let waits = |lock: &LockResult| lock.condvar_waits_per_op;
    let has_waits = cells.iter().flat_map(|cell| cell.locks.values()).any(|it| waits(it).is_some());
    let legend = |means| if has_legend { means } else { "" };
    let mut columns = vec![
        Column::name("cell").means(legend(
            "`+busy`: another thread computes on every CPU; docs/lab.md says what a name means",
        )),
        Column::name("ours"),
        Column::number("throughput").means(legend("the median over all repetitions")),
        Column::name("best peer").means(legend("chosen on one half of the repetitions")),
        Column::number("throughput"),
        Column::number("ratio")
            .means(legend(
                "ours divided by the best peer, on the other half; above 1, ours does more",
            ))
            .first(),
        Column::number("95 %").means(legend("confidence interval of the ratio")),
        Column::number("spread").means(legend(SPREAD)),
        Column::number("of peer").means(legend("the same of the best peer")),
        Column::number("CPU/op").means(legend("CPU time of ours for an operation")),
        Column::number("of peer").means(legend("the same, divided by the best peer's")),
        Column::number("switches").means(legend(
            "context switches of ours for an operation: those asked for by sleeping + the others",
        )),
        Column::number("of peer").means(legend("the same of the best peer")),
    ];
    if has_bound {
        columns.push(Column::number("of bound").means(
            "throughput of ours divided by the most that the CPUs and one lock let through",
        ));
    }
    if has_waits {
        columns.push(
            Column::number("waits").means("of ours on condition variables, for an operation"),
        );
        columns.push(
            Column::number("futile").means("those that were notified and found nothing to do"),
        );
        columns.push(Column::number("of peer").means("the same of the best peer"));
    }
    let rows = cells.iter().map(|cell| row(cell, has_bound, has_waits)).collect();
    Sheet { columns, keys: 1, rows }.text()
}

fn row(cell: &CellResult, has_bound: bool, has_waits: bool) -> Vec<String> {
    let ours = cell.lock(cell.ours);
    let best = cell.best_peer.and_then(|name| cell.lock(name));
    let of = |lock: Option<&LockResult>, show: &dyn Fn(&LockResult) -> String| {
        lock.map_or_else(|| "-".into(), show)
    };
    let throughput = |lock| of(lock, &|it| rate(it.ops_per_s));
    let switches = |lock| {
        of(lock, &|it| {
            let all = it.voluntary_switches_per_op.zip(it.involuntary_switches_per_op);
            all.map_or_else(|| "-".into(), |(asked, forced)| format!("{asked:.2} + {forced:.2}"))
        })
    };
    let futile = |lock: Option<&LockResult>| number(lock.and_then(|it| it.futile_wakeups_per_op));
    let mut row = vec![
        cell.name.into(),
        cell.ours.into(),
        throughput(ours),
        cell.best_peer.unwrap_or("-").into(),
        throughput(best),
        number(cell.ratio),
        interval(cell.ratio_ci95),
        interval(ours.and_then(LockResult::spread)),
        interval(best.and_then(LockResult::spread)),
        of(ours, &|it| it.cpu_ns_per_op.map_or_else(|| "-".into(), duration)),
        number(cell.cpu_per_op_ratio),
        switches(ours),
        switches(best),
    ];
    if has_bound {
        let part = ours.zip(cell.bound_ops_per_s).map(|(ours, bound)| ours.ops_per_s / bound);
        row.push(number(part));
    }
    if has_waits {
        row.push(number(ours.and_then(|it| it.condvar_waits_per_op)));
        row.push(futile(ours));
        row.push(futile(best));
    }
    row
}
