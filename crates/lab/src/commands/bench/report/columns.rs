//! The columns of a benchmark in which threads compete.

use super::document::{BenchDocument, BenchResult};
use crate::options::written;
use lockwright_core::events::Event;
use lockwright_measure::workload::Workload;
use lockwright_sheets::{Column, Sheet, Waits, count, digits, duration, percent, rate, setting};

/// A column, and its cell for a result.
struct Filled<'a> {
    column: Column,
    cell: Box<dyn Fn(&BenchResult) -> String + 'a>,
}

impl<'a> Filled<'a> {
    fn new(column: Column, cell: impl Fn(&BenchResult) -> String + 'a) -> Self {
        Self { column, cell: Box::new(cell) }
    }
    fn number(title: &str, means: &str, cell: impl Fn(&BenchResult) -> String + 'a) -> Self {
        Self::new(Column::number(title).means(means), cell)
    }
    /// The first one of some that belong together.
    fn first(self) -> Self {
        Self { column: self.column.first(), ..self }
    }
}

/// The columns that say something about these results.
pub fn contended(document: &BenchDocument) -> Sheet {
    if let Workload::Starve(_) = document.workload {
        return starving(document);
    }
    let is_shared = document.results.iter().any(|result| result.start_state.is_some());
    let has_modes = document.results.iter().any(|result| result.mode_shares.is_some());
    let mut columns = keys(document, is_shared);
    let keys = columns.len();
    if document.workload.is_fixed_work() {
        columns.extend(wall_time(document));
    }
    columns.extend(throughput(document));
    let is_about_threads = is_shared || matches!(document.workload, Workload::Handoff(_));
    columns.extend(if is_about_threads { threads(document) } else { vec![fewest_of_most()] });
    columns.extend(waits());
    columns.extend(by_role(document));
    columns.extend(switches(document, is_shared));
    if document.workload.is_in_kernel() {
        columns.extend(wait_lock());
    }
    if has_modes {
        columns.extend(modes());
    }
    let rows = document.results.iter().map(|r| columns.iter().map(|c| (c.cell)(r)).collect());
    let rows = rows.collect();
    Sheet { columns: columns.into_iter().map(|filled| filled.column).collect(), keys, rows }
}

/// The columns that a person looks at first.
pub fn brief(document: &BenchDocument) -> Sheet {
    let mut columns = keys(document, false);
    let keys = columns.len();
    columns.extend(throughput(document));
    columns.extend(waits().pop());
    let rows = document.results.iter().map(|r| columns.iter().map(|c| (c.cell)(r)).collect());
    let rows = rows.collect();
    Sheet { columns: columns.into_iter().map(|filled| filled.column).collect(), keys, rows }
}

/// What a row is about.
fn keys(document: &BenchDocument, is_shared: bool) -> Vec<Filled<'_>> {
    let mut keys = vec![Filled::new(Column::name("lock"), |result| result.lock.into())];
    if is_shared {
        keys.push(Filled::new(Column::name("start state"), |result| {
            result.start_state.unwrap_or("pinned").into()
        }));
    }
    let varied = document.asked.varied();
    for param in document.workload.table().iter().filter(|it| varied.contains(&it.name)) {
        let cell = |result: &BenchResult| {
            result.parameters.get(param.name).map_or("-".into(), |value| written(param, value))
        };
        keys.push(Filled::number(&param.name.replace('_', " "), param.help, cell));
    }
    let threads = Column::number(document.noun());
    keys.push(Filled::new(threads, |result| result.threads.to_string()));
    keys
}

/// The throughput of simulated locktorture.
const LONG_HOLD: &str = "with locktorture's rare long holds, whose time a formula adds; they are too rare to \
                         simulate, and the other columns are without them";

const SPREAD: &str = "standard deviation over the runs, as a percentage";

/// How long a fixed amount of work took.
fn wall_time(document: &BenchDocument) -> Vec<Filled<'_>> {
    let limit = setting(document.secs * 1e9);
    let mut columns = vec![Filled::new(Column::number("wall time"), move |result| {
        match result.wall_s.flatten() {
            Some(wall) => duration(wall.median * 1e9),
            None => format!("over {limit}"),
        }
    })];
    if has_spread(document) {
        columns.push(Filled::number("+-", SPREAD, |result| {
            result.wall_s.flatten().map_or("-".into(), |wall| spread(wall.stddev, wall.median))
        }));
    }
    columns
}

fn has_spread(document: &BenchDocument) -> bool {
    document.results.iter().any(|result| result.runs > 1)
}

fn spread(stddev: f64, median: f64) -> String {
    percent(stddev / median * 100.0)
}

fn throughput(document: &BenchDocument) -> Vec<Filled<'_>> {
    let median = |result: &BenchResult| rate(result.ops_per_s.median);
    let is_simulated = document.on.is_simulated();
    let means = match document.workload {
        Workload::Locktorture(it) if it.long_hold && is_simulated => LONG_HOLD,
        _ => "",
    };
    let mut columns = vec![Filled::number("throughput", means, median).first()];
    if has_spread(document) {
        // The wall time has the same, and one legend is enough.
        let means = if document.workload.is_fixed_work() { "" } else { SPREAD };
        columns.push(Filled::number("+-", means, |result| {
            spread(result.ops_per_s.stddev, result.ops_per_s.median)
        }));
    }
    columns
}

/// A number about fairness, if the run was long enough for one.
fn if_fair(cell: impl Fn(&BenchResult) -> String) -> impl Fn(&BenchResult) -> String {
    move |result| if result.fairness.is_some() { "-".into() } else { cell(result) }
}

fn fewest_of_most<'a>() -> Filled<'a> {
    let means = "operations of the slowest thread divided by those of the fastest; 1 is fair, and with 0 \
                 a thread starved";
    Filled::number(
        "min/max",
        means,
        if_fair(|result| {
            let per_thread = result.per_thread_ops;
            digits(per_thread.min as f64 / per_thread.max.max(1) as f64)
        }),
    )
}

/// Operations of one thread or vCPU, within the window.
fn threads(document: &BenchDocument) -> Vec<Filled<'_>> {
    let noun = document.noun();
    let one = noun.trim_end_matches('s');
    let means = format!("in a run, of the slowest {one}, the mean, and of the fastest");
    let ops = |get: fn(&BenchResult) -> u64| move |result: &BenchResult| count(get(result) as f64);
    let mut columns = vec![
        Filled::number(
            &format!("ops per {one}: min"),
            &means,
            if_fair(ops(|result| result.per_thread_ops.min)),
        )
        .first(),
        Filled::number("mean", "", ops(|result| result.per_thread_ops.avg)),
        Filled::number("max", "", if_fair(ops(|result| result.per_thread_ops.max))),
    ];
    if matches!(document.workload, Workload::Handoff(_)) {
        columns.push(Filled::number(
            "starved",
            &format!("{noun} with one operation or none"),
            ops(|result| result.per_thread_ops.threads_with_at_most_one),
        ));
    }
    columns
}

fn waits<'a>() -> Vec<Filled<'a>> {
    let wait = |get: fn(&Waits) -> u64| {
        move |result: &BenchResult| {
            result.wait_ns.as_ref().map_or("-".into(), |waits| duration(get(waits) as f64))
        }
    };
    let rare = "of 1000 waits for the lock, 999 were not longer";
    vec![
        Filled::number("median wait", "", wait(|waits| waits.p50)).first(),
        Filled::number("p99.9 wait", rare, if_fair(wait(|waits| waits.p999))),
        Filled::number("longest wait", "", if_fair(wait(|waits| waits.max))),
    ]
}

/// A role, and the waits of threads in it.
type RoleWaits = (&'static str, fn(&BenchResult) -> Option<Waits>);

/// The rare and the longest waits of each role, if there are several.
fn by_role<'a>(document: &BenchDocument) -> Vec<Filled<'a>> {
    const ROLES: [RoleWaits; 4] = [
        ("read", |result| result.reader_wait_ns),
        ("write", |result| result.writer_wait_ns),
        ("upgrade", |result| result.upgrader_wait_ns),
        ("notified", |result| result.notified_wait_ns),
    ];
    let has = |(_, get): &RoleWaits| document.results.iter().any(|result| get(result).is_some());
    let columns = |(role, get): RoleWaits| {
        let wait = |of: fn(&Waits) -> u64| {
            if_fair(move |it| get(it).map_or("-".into(), |waits| duration(of(&waits) as f64)))
        };
        [
            Filled::number(&format!("{role} p99.9"), "", wait(|waits| waits.p999)),
            Filled::number(&format!("longest {role} wait"), "", wait(|waits| waits.max)),
        ]
    };
    ROLES.into_iter().filter(has).flat_map(columns).collect()
}

/// Workload `starve`.
fn starving(document: &BenchDocument) -> Sheet {
    const MEANS: [&str; 10] = [
        "",
        "",
        "`>`: the others had stopped before it ended, and it would have been longer",
        "of others in the longest wait, as far as the bound of a wait allows them: docs/lab.md",
        "the longest wait without these sections; the bound is 10 ms and wake-ups",
        "in these sections, while a thread had no CPU or overslept",
        "how long the thread was ready to run in the longest wait, and had none",
        "sections of threads that asked during the longest wait, and were served first",
        "of any wait",
        "the longest wait of each tenth of a run, and the median of them",
    ];
    let mut columns = keys(document, false);
    let keys = columns.len();
    columns.extend(throughput(document));
    let some = document.results.iter().find_map(|result| result.starving);
    let titles: Vec<&str> =
        some.map_or(Vec::new(), |it| it.items().iter().map(|it| it.0).collect());
    columns.extend(titles.iter().zip(MEANS).enumerate().map(|(at, (title, means))| {
        let cell = move |result: &BenchResult| {
            result.starving.map_or("-".into(), |it| it.items().swap_remove(at).1)
        };
        Filled::number(if at == 9 { "in windows" } else { title }, means, cell)
    }));
    columns.extend(by_role(document));
    columns.extend(switches(document, false));
    let rows = document.results.iter().map(|r| columns.iter().map(|c| (c.cell)(r)).collect());
    let rows = rows.collect();
    Sheet { columns: columns.into_iter().map(|filled| filled.column).collect(), keys, rows }
}

/// How many CPUs were used, and how often threads lost theirs. Simulated threads with a CPU each keep
/// it.
fn switches<'a>(document: &BenchDocument, is_shared: bool) -> Vec<Filled<'a>> {
    let (is_simulated, has_exits) = (document.on.is_simulated(), document.on.is_guest());
    if is_simulated && !is_shared {
        return Vec::new();
    }
    let known = move |result: &BenchResult, text: String| {
        let keeps_cpu = is_simulated && result.start_state.is_none();
        if keeps_cpu { "-".into() } else { text }
    };
    let per_s = |result: &BenchResult, number: u64| count(number as f64 / result.secs);
    let mut columns = vec![
        Filled::number("CPUs", "CPUs in use, on average", move |result| {
            known(result, digits(result.cpu_s / result.secs))
        })
        .first(),
    ];
    if is_shared {
        let exits = |result: &BenchResult| result.host.map_or(0, |host| host.pause_loop_exits);
        columns.push(Filled::number(
            "sleeps /s",
            "a thread gave up its CPU to sleep",
            move |result| {
                let sleeps = result.voluntary_switches.saturating_sub(exits(result));
                known(result, per_s(result, sleeps))
            },
        ));
        if has_exits {
            let means = "the host took the CPU from a vCPU that spun for too long";
            columns.push(Filled::number("pause-loop exits /s", means, move |result| {
                known(result, per_s(result, exits(result)))
            }));
        }
        let means = "another thread got the CPU of one that would have gone on";
        columns.push(Filled::number("preempted /s", means, move |result| {
            known(result, per_s(result, result.involuntary_switches))
        }));
    } else {
        columns.push(Filled::number("switches /s", "context switches per second", move |result| {
            let switches = result.voluntary_switches + result.involuntary_switches;
            known(result, per_s(result, switches))
        }));
    }
    columns
}

/// Which part of the CPU time went into waiting for the internal lock of a semaphore.
fn wait_lock<'a>() -> Vec<Filled<'a>> {
    let share = |event: Event| {
        move |result: &BenchResult| {
            let ns = result.events.get(event.name()).copied().unwrap_or_default() as f64;
            percent(ns / (result.cpu_s * 1e9) * 100.0)
        }
    };
    let means = "share of the CPU time that is spent on waiting for the semaphore's internal lock, in \
                 wake-ups, by writers and by readers";
    vec![
        Filled::number("wait lock: wake", means, share(Event::wait_lock_wake_ns)).first(),
        Filled::number("write", "", share(Event::wait_lock_write_ns)),
        Filled::number("read", "", share(Event::wait_lock_read_ns)),
    ]
}

/// How the acquisitions that had to wait got the lock.
fn modes<'a>() -> Vec<Filled<'a>> {
    let share = |share: Option<f64>| share.map_or("-".into(), |share| percent(share * 100.0));
    vec![
        Filled::number(
            "queued",
            "acquisitions through the queue, as a percentage of those that had to wait",
            move |result| share(result.mode_shares.map(|shares| shares.queued)),
        )
        .first(),
        Filled::number("stolen", "the others, by lock stealing", move |result| {
            share(result.mode_shares.map(|shares| shares.unfair))
        }),
    ]
}
