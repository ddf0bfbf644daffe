//! The columns of a benchmark in which threads compete.

use super::document::{BenchDocument, BenchResult};
use crate::options::written;
use lockwright_core::events::Event;
use lockwright_measure::workload::Workload;
use lockwright_sheets::{
    Column, Sheet, SheetOf, TrialWaits, Waits, count, digits, duration, known, percent, rate,
    setting,
};

type Table<'a> = SheetOf<'a, BenchResult>;

/// The columns that say something about these results.
pub fn contended(document: &BenchDocument) -> Sheet {
    let workload = document.workload();
    let is_starving = matches!(workload, Workload::Starve(_));
    let is_shared = !is_starving && document.has(|result| result.start_state.is_some());
    let mut table = keys(document, is_shared);
    if workload.is_fixed_work() {
        wall_time(&mut table, document);
    }
    throughput(&mut table, document);
    match workload {
        Workload::Starve(_) => starving(&mut table, document),
        Workload::Handoff(_) => threads(&mut table, document),
        _ if is_shared => threads(&mut table, document),
        _ => fewest_of_most(&mut table),
    }
    if !is_starving {
        waits(&mut table);
    }
    by_role(&mut table, document);
    switches(&mut table, document, is_shared);
    if workload.is_in_kernel() {
        wait_lock(&mut table);
    }
    if !is_starving && document.has(|result| result.mode_shares.is_some()) {
        modes(&mut table);
    }
    table.sheet
}

/// The columns that a person looks at first.
pub fn brief(document: &BenchDocument) -> Sheet {
    let mut table = keys(document, false);
    throughput(&mut table, document);
    table.number("longest wait", "", |it| wait(it, it.waits.wait_ns, |waits| waits.max));
    table.sheet
}

/// What a row is about.
fn keys(document: &BenchDocument, is_shared: bool) -> Table<'_> {
    let mut table = Table::new(&document.results);
    table.key(Column::name("lock"), |it| it.lock.into());
    if is_shared {
        table.key(Column::name("start state"), |it| it.start_state.unwrap_or("pinned").into());
    }
    let varied = document.asked.varied();
    for param in document.workload().table().iter().filter(|it| varied.contains(&it.name)) {
        let column = Column::number(param.name.replace('_', " ")).means(param.help);
        table.key(column, |it| known(it.parameters.get(param.name), |value| written(param, value)));
    }
    table.key(Column::number(document.noun()), |it| it.threads.to_string());
    table
}

/// The throughput of simulated locktorture.
const LONG_HOLD: &str = "with locktorture's rare long holds, whose time a formula adds; they are too rare to \
                         simulate, and the other columns are without them";

const SPREAD: &str = "standard deviation over the runs, as a percentage";

/// How long a fixed amount of work took.
fn wall_time(table: &mut Table<'_>, document: &BenchDocument) {
    let limit = setting(document.secs * 1e9);
    table.number("wall time", "", |it| match it.wall_s.flatten() {
        Some(wall) => duration(wall.median * 1e9),
        None => format!("over {limit}"),
    });
    if document.has(|result| result.runs > 1) {
        table.number("+-", SPREAD, |it| {
            known(it.wall_s.flatten(), |wall| spread(wall.stddev, wall.median))
        });
    }
}

fn spread(stddev: f64, median: f64) -> String {
    percent(stddev / median * 100.0)
}

fn throughput(table: &mut Table<'_>, document: &BenchDocument) {
    let workload = document.workload();
    let means = match workload {
        Workload::Locktorture(it) if it.long_hold && document.is_simulated() => LONG_HOLD,
        _ => "",
    };
    table.first("throughput", means, |it| rate(it.ops_per_s.median));
    if document.has(|result| result.runs > 1) {
        // The wall time has the same, and one legend is enough.
        let means = if workload.is_fixed_work() { "" } else { SPREAD };
        table.number("+-", means, |it| spread(it.ops_per_s.stddev, it.ops_per_s.median));
    }
}

/// A number about fairness, if the run was long enough for one.
fn if_fair(result: &BenchResult, cell: impl FnOnce() -> String) -> String {
    if result.fairness.is_none() { cell() } else { "-".into() }
}

fn fewest_of_most(table: &mut Table<'_>) {
    let means = "operations of the slowest thread divided by those of the fastest; 1 is fair, and with 0 \
                 a thread starved";
    table.number("min/max", means, |it| {
        let ops = it.per_thread_ops;
        if_fair(it, || digits(ops.min as f64 / ops.max.max(1) as f64))
    });
}

/// Operations of one thread or vCPU, within the window.
fn threads(table: &mut Table<'_>, document: &BenchDocument) {
    let noun = document.noun();
    let one = noun.trim_end_matches('s');
    let means = format!("in a run, of the slowest {one}, the mean, and of the fastest");
    let ops = |ops: u64| count(ops as f64);
    table.first(&format!("ops per {one}: min"), &means, |it| {
        if_fair(it, || ops(it.per_thread_ops.min))
    });
    table.number("mean", "", |it| ops(it.per_thread_ops.avg));
    table.number("max", "", |it| if_fair(it, || ops(it.per_thread_ops.max)));
    if matches!(document.workload(), Workload::Handoff(_)) {
        let means = format!("{noun} with one operation or none");
        table.number("starved", &means, |it| ops(it.per_thread_ops.threads_with_at_most_one));
    }
}

/// A rare wait, if the run was long enough for one.
fn wait(result: &BenchResult, waits: Option<Waits>, get: fn(Waits) -> u64) -> String {
    if_fair(result, || known(waits.map(get), |ns| duration(ns as f64)))
}

fn waits(table: &mut Table<'_>) {
    let rare = "of 1000 waits for the lock, 999 were not longer";
    table
        .first("median wait", "", |it| known(it.waits.wait_ns, |waits| duration(waits.p50 as f64)));
    table.number("p99.9 wait", rare, |it| wait(it, it.waits.wait_ns, |waits| waits.p999));
    table.number("longest wait", "", |it| wait(it, it.waits.wait_ns, |waits| waits.max));
}

/// A role, and the waits of threads in it.
type RoleWaits = (&'static str, fn(&TrialWaits) -> Option<Waits>);

/// The rare and the longest waits of each role, if there are several.
fn by_role(table: &mut Table<'_>, document: &BenchDocument) {
    const ROLES: [RoleWaits; 4] = [
        ("read", |waits| waits.reader_wait_ns),
        ("write", |waits| waits.writer_wait_ns),
        ("upgrade", |waits| waits.upgrader_wait_ns),
        ("notified", |waits| waits.notified_wait_ns),
    ];
    for (role, of_role) in ROLES {
        if document.has(|result| of_role(&result.waits).is_some()) {
            let shown = |get| move |it: &BenchResult| wait(it, of_role(&it.waits), get);
            table.number(&format!("{role} p99.9"), "", shown(|waits| waits.p999));
            table.number(&format!("longest {role} wait"), "", shown(|waits| waits.max));
        }
    }
}

/// Workload `starve`.
fn starving(table: &mut Table<'_>, document: &BenchDocument) {
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
    let some = document.results.iter().find_map(|result| result.starving);
    let items = some.map_or(Vec::new(), |it| it.items());
    for (at, ((title, _), means)) in items.iter().zip(MEANS).enumerate() {
        let title = if at == 9 { "in windows" } else { title };
        table.number(title, means, |it| known(it.starving, |it| it.items().swap_remove(at).1));
    }
}

/// How many CPUs were used, and how often threads lost theirs. Simulated threads with a CPU each keep
/// it.
fn switches(table: &mut Table<'_>, document: &BenchDocument, is_shared: bool) {
    let is_simulated = document.is_simulated();
    if is_simulated && !is_shared {
        return;
    }
    let keeps_cpu = |it: &BenchResult| is_simulated && it.start_state.is_none();
    let known = |it: &BenchResult, text: String| if keeps_cpu(it) { "-".into() } else { text };
    let per_s = |it: &BenchResult, number: u64| known(it, count(number as f64 / it.secs));
    table.first("CPUs", "CPUs in use, on average", |it| known(it, digits(it.cpu_s / it.secs)));
    if !is_shared {
        return table.number("switches /s", "context switches per second", |it| {
            per_s(it, it.voluntary_switches + it.involuntary_switches)
        });
    }
    let exits = |it: &BenchResult| it.host.map_or(0, |host| host.pause_loop_exits);
    table.number("sleeps /s", "a thread gave up its CPU to sleep", |it| {
        per_s(it, it.voluntary_switches.saturating_sub(exits(it)))
    });
    if document.on.is_guest() {
        let means = "the host took the CPU from a vCPU that spun for too long";
        table.number("pause-loop exits /s", means, |it| per_s(it, exits(it)));
    }
    let means = "another thread got the CPU of one that would have gone on";
    table.number("preempted /s", means, |it| per_s(it, it.involuntary_switches));
}

/// Which part of the CPU time went into waiting for the internal lock of a semaphore.
fn wait_lock(table: &mut Table<'_>) {
    let share = |event: Event| {
        move |it: &BenchResult| {
            let ns = it.events.get(event.name()).copied().unwrap_or_default() as f64;
            percent(ns / (it.cpu_s * 1e9) * 100.0)
        }
    };
    let means = "share of the CPU time that is spent on waiting for the semaphore's internal lock, in \
                 wake-ups, by writers and by readers";
    table.first("wait lock: wake", means, share(Event::wait_lock_wake_ns));
    table.number("write", "", share(Event::wait_lock_write_ns));
    table.number("read", "", share(Event::wait_lock_read_ns));
}

/// How the acquisitions that had to wait got the lock.
fn modes(table: &mut Table<'_>) {
    let means = "acquisitions through the queue, as a percentage of those that had to wait";
    table.first("queued", means, |it| known(it.mode_shares, |it| percent(it.queued * 100.0)));
    table.number("stolen", "the others, by lock stealing", |it| {
        known(it.mode_shares, |it| percent(it.unfair * 100.0))
    });
}
