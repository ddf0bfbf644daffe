//! The results of a benchmark for people.

use super::document::{BenchDocument, BenchResult, Ratio};
use crate::cell::{On, Scheduled, Workload};
use crate::kbuild;
use crate::report::{self, Grid, Waits};
use lockwright::events::Event;
use std::fmt::Write;

/// What ran, and where.
pub fn title(document: &BenchDocument) -> String {
    let simulated = if document.on.is_simulated() { "simulated " } else { "" };
    let guest = if document.on.is_guest() { "a guest of " } else { "" };
    let mut described = document.workload.described();
    if let (Some(first), [_, ..]) = (document.workload.cs_load(), &document.cs_loads[..]) {
        let all: Vec<_> = document.cs_loads.iter().map(ToString::to_string).collect();
        let (one, all) = (format!("--cs-load {first} "), format!("--cs-load {} ", all.join(",")));
        described = described.replacen(&one, &all, 1);
    }
    format!("{described} on {guest}{simulated}{}", document.on.machine())
}

/// Everything, with units.
pub fn text(document: &BenchDocument) -> String {
    let mut text = title(document);
    if let On::Simulated { placement, calibration, scheduled, cpus, .. } = &document.on {
        let _ = match (scheduled, placement) {
            (Some(scheduled), _) => write!(text, "\nsimulated; {}; ", shared(*scheduled, *cpus)),
            (None, Some(placement)) => write!(text, "\nsimulated; placement {placement}; "),
            (None, None) => write!(text, "\nsimulated; "),
        };
        let _ = match calibration {
            Some(fitted) => write!(text, "{fitted}"),
            None => write!(text, "nothing was fitted"),
        };
    }
    let runs = document.results.iter().map(|result| result.runs).max().unwrap_or(0);
    let (secs, seed) = (document.secs, document.seed);
    let _ = match document.workload {
        Workload::Kbuild(knobs) => {
            let (ops, typed) = (knobs.ops(), kbuild::typed(&knobs));
            writeln!(
                text,
                "\n{typed}\n\
                 {runs} x all of {ops} lock operations, at most {secs} s, seed {seed}; a real build is \
                 a thousand times as much\n"
            )
        }
        _ => writeln!(text, "\n{runs} x {secs} s, seed {seed}\n"),
    };
    text + &match document.workload {
        Workload::Uncontended => pairs(document),
        _ => contended(document),
    }
}

/// Who shares the CPUs.
fn shared(scheduled: Scheduled, cpus: usize) -> String {
    match scheduled {
        Scheduled::Guest { virtual_numa: false } => format!("a guest without NUMA on {cpus} CPUs"),
        Scheduled::Guest { virtual_numa: true } => format!("a guest with NUMA on {cpus} CPUs"),
        Scheduled::Program => format!("more than {cpus} threads are not pinned, the others are"),
        Scheduled::Kernel => format!("tasks of a kernel on {cpus} CPUs"),
    }
}

fn pairs(document: &BenchDocument) -> String {
    let mut grid = Grid::new(["lock", "ns per pair", "min", "max", "of the floor", "min", "max"]);
    for result in &document.results {
        let pair = result.pair_ns.unwrap_or_default();
        let ratio = |get: fn(&Ratio) -> f64| {
            result.ratio_to_floor.as_ref().map_or(String::new(), |r| format!("{:.2}", get(r)))
        };
        grid.push([
            result.lock.into(),
            format!("{:.2}", pair.median),
            format!("{:.2}", pair.min),
            format!("{:.2}", pair.max),
            ratio(|r| r.median),
            ratio(|r| r.min),
            ratio(|r| r.max),
        ]);
    }
    report::text_table(&grid, 1)
}

/// The title of columns that say something about several repetitions only.
const SPREAD: &str = "+-";

/// A column of the table: its title, and its cell for a result.
struct Column<'a> {
    title: String,
    cell: Box<dyn Fn(&BenchResult) -> String + 'a>,
}

fn column<'a>(title: impl Into<String>, cell: impl Fn(&BenchResult) -> String + 'a) -> Column<'a> {
    Column { title: title.into(), cell: Box::new(cell) }
}

/// Columns that say something about these results; the first `left` are words.
fn contended(document: &BenchDocument) -> String {
    let is_shared = document.results.iter().any(|result| result.start_state.is_some());
    let has_modes = document.results.iter().any(|result| result.mode_shares.is_some());
    let mut columns = vec![column("lock", |result| result.lock.into())];
    if is_shared {
        columns.push(column("start state", |r| r.start_state.unwrap_or("pinned").into()));
    }
    let left = columns.len();
    let has_spread = document.results.iter().any(|result| result.runs > 1);
    if !document.cs_loads.is_empty() {
        let load = |result: &BenchResult| result.cs_load.unwrap_or_default().to_string();
        columns.push(column("cs load", load));
    }
    columns.push(column(document.noun(), |result| result.threads.to_string()));
    if document.workload.is_fixed_work() {
        columns.extend(wall_time(document));
    }
    let is_about_threads = is_shared || matches!(document.workload, Workload::Handoff { .. });
    columns.extend(throughput(document, is_about_threads));
    columns.extend(waits());
    if document.results.iter().any(|result| result.reader_wait_ns.is_some()) {
        columns.extend(longest_by_kind());
    }
    columns.extend(switches(document.on.is_simulated(), is_shared));
    if document.workload.is_in_kernel() {
        columns.extend(wait_lock());
    }
    if has_modes {
        columns.extend(modes());
    }
    columns.retain(|column| has_spread || column.title != SPREAD);
    let rows = document.results.iter().map(|r| columns.iter().map(|c| (c.cell)(r)).collect());
    let grid =
        Grid { rows: rows.collect(), header: columns.iter().map(|c| c.title.clone()).collect() };
    report::text_table(&grid, left)
}

fn wall_time(document: &BenchDocument) -> [Column<'_>; 2] {
    let limit_s = document.secs;
    [
        column("wall s", move |result| match result.wall_s.flatten() {
            Some(wall) => format!("{:.4}", wall.median),
            None => format!("over {limit_s}"),
        }),
        column(SPREAD, |result| match result.wall_s.flatten() {
            Some(wall) => format!("{:.4}", wall.stddev),
            None => "-".into(),
        }),
    ]
}

fn throughput(document: &BenchDocument, is_about_threads: bool) -> Vec<Column<'_>> {
    let mut columns = vec![
        column("Mops/s", |result| format!("{:.3}", result.ops_per_s.median / 1e6)),
        column(SPREAD, |result| format!("{:.3}", result.ops_per_s.stddev / 1e6)),
    ];
    if is_about_threads {
        // Of one thread or vCPU, within the window.
        let one = document.noun().trim_end_matches('s');
        columns.extend([
            column(format!("{one} min"), |result| result.per_thread_ops.min.to_string()),
            column("avg", |result| result.per_thread_ops.avg.to_string()),
            column("max", |result| result.per_thread_ops.max.to_string()),
        ]);
        if matches!(document.workload, Workload::Handoff { .. }) {
            columns.push(column("with 0 or 1", |result| {
                result.per_thread_ops.threads_with_at_most_one.to_string()
            }));
        }
    } else {
        columns.push(column("thread min/max", |result| {
            let per_thread = result.per_thread_ops;
            format!("{:.2}", per_thread.min as f64 / per_thread.max.max(1) as f64)
        }));
    }
    columns
}

fn waits<'a>() -> [Column<'a>; 3] {
    let wait = |get: fn(&Waits) -> u64| {
        move |result: &BenchResult| {
            result.wait_ns.as_ref().map_or(String::new(), |waits| duration(get(waits)))
        }
    };
    [
        column("wait p50", wait(|waits| waits.p50)),
        column("p99.9", wait(|waits| waits.p999)),
        column("max", wait(|waits| waits.max)),
    ]
}

/// The longest waits of those who read and of those who wrote.
fn longest_by_kind<'a>() -> [Column<'a>; 2] {
    let longest = |waits: Option<Waits>| waits.map_or("-".into(), |waits| duration(waits.max));
    [
        column("reader max", move |result| longest(result.reader_wait_ns)),
        column("writer max", move |result| longest(result.writer_wait_ns)),
    ]
}

/// How many CPUs were used, and how often threads lost theirs. Simulated threads with a CPU each keep
/// it.
fn switches<'a>(is_simulated: bool, is_shared: bool) -> Vec<Column<'a>> {
    let known = move |result: &BenchResult, text: String| {
        let keeps_cpu = is_simulated && result.start_state.is_none();
        if keeps_cpu { "-".into() } else { text }
    };
    let rate = |result: &BenchResult, count: u64| format!("{:.0}", count as f64 / result.secs);
    let mut columns = vec![column("CPUs", move |result| {
        known(result, format!("{:.2}", result.cpu_s / result.secs))
    })];
    if is_shared {
        columns.extend([
            column("sleeps/s", move |result| {
                known(result, rate(result, result.voluntary_switches))
            }),
            column("preempted/s", move |result| {
                known(result, rate(result, result.involuntary_switches))
            }),
        ]);
    } else {
        columns.push(column("switches/s", move |result| {
            let switches = result.voluntary_switches + result.involuntary_switches;
            known(result, rate(result, switches))
        }));
    }
    columns
}

/// Which part of the CPU time went into waiting for the internal lock of a semaphore.
fn wait_lock<'a>() -> [Column<'a>; 3] {
    let percent = |event: Event| {
        move |result: &BenchResult| {
            let ns = result.events.get(event.name()).copied().unwrap_or_default() as f64;
            format!("{:.2}", ns / (result.cpu_s * 1e9) * 100.0)
        }
    };
    [
        column("wait lock % wake", percent(Event::rwsem_wait_lock_wake_ns)),
        column("write", percent(Event::rwsem_wait_lock_write_ns)),
        column("read", percent(Event::rwsem_wait_lock_read_ns)),
    ]
}

/// In which mode those got the lock who had to wait.
fn modes<'a>() -> [Column<'a>; 2] {
    let percent = |share: Option<f64>| share.map_or("-".into(), |s| format!("{:.1}", s * 100.0));
    [
        column("queued %", move |result| percent(result.mode_shares.map(|shares| shares.queued))),
        column("unfair %", move |result| percent(result.mode_shares.map(|shares| shares.unfair))),
    ]
}

/// A time with a unit that fits.
pub fn duration(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}
