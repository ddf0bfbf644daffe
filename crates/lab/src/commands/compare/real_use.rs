//! The cells of real use: what programs do with locks, each alone and with a busy neighbour on every CPU.
//!
//! - `queue`: a bounded queue. `q10/1/100-all` is 10 threads that put messages in, one that takes them out, 100
//!   messages at most, and every change tells all threads that wait; `-timed` waits have a deadline. `pool-t4` is a
//!   thread and four workers, and in `pingpong` two threads take turns.
//! - `blocking`: sections of microseconds. `cs5us-x4-t8` computes for 5 us with the lock and four times as long
//!   without it, with 8 threads. The owner sleeps in `io100us-t8`, and in `read80-io100us-t16`, where 80 % of the
//!   operations read.
//! - `work`: a hash map of 10,000 entries (`map-w10-t2`: 10 % of the operations write; `rwmap`: a lock that readers
//!   share), an LRU cache, sharded counters, threads that come and go, attempts with a deadline, 1,000 threads.
//! - `sleep`: readers sleep, for 100 us in `sleep100us-w20-t16`, where 20 % of the operations write and 16 threads run.
//!   Every fifth operation of a thread is one of them, or in `-random` each is drawn. Writers do not sleep, but they do
//!   in `-both`.

use super::cells::{CellKind, CompareCell};
use lockwright_measure::cell::QueueNotify as Notify;
use lockwright_measure::cell::{ReaderOrder, RealUse, Section, Workload};
use std::sync::LazyLock;

const fn queue(producers: u32, capacity: u32, notify: Notify) -> RealUse {
    RealUse::Queue { producers, capacity, notify, timeout_ns: 0, job_ns: 0 }
}

/// A queue whose waits have a deadline.
const fn timed(producers: u32, capacity: u32, notify: Notify) -> RealUse {
    RealUse::Queue { producers, capacity, notify, timeout_ns: TIMEOUT_NS, job_ns: 0 }
}

/// How long a timed wait on a condition variable lasts at most.
const TIMEOUT_NS: u64 = 1_000_000;

/// A thread that hands out jobs, and workers.
const POOL: RealUse = RealUse::Queue {
    producers: 1,
    capacity: 100,
    notify: Notify::One,
    timeout_ns: 0,
    job_ns: 10_000,
};

/// A section that computes, and that many times as much thinking.
const fn computes(section_us: u64, think: u64) -> RealUse {
    let section_ns = section_us * 1_000;
    RealUse::sections_of(Section::Spin, section_ns, section_ns * think, 0)
}

/// A section that sleeps.
const fn sleeps(section_us: u64, readers: u32) -> RealUse {
    RealUse::sections_of(Section::Sleep, section_us * 1_000, 0, readers)
}

const fn map(write_percent: u32) -> RealUse {
    RealUse::Map { write_percent, is_shared: false }
}

/// A map whose lock readers share.
const fn rw_map(write_percent: u32) -> RealUse {
    RealUse::Map { write_percent, is_shared: true }
}

/// Tries to get the lock for 200 us, and waits for it then.
const ATTEMPTS: RealUse =
    RealUse::Attempts { patience_ns: 200_000, section_ns: 50_000, think_ns: 50_000 };

macro_rules! cells {
    ($($kind:ident { $($name:literal, $threads:literal, $workload:expr;)+ })+) => {
        /// All of them: those of each kind alone, and then the same with busy neighbours.
        pub const REAL_USE: &[CompareCell] = &[$(
            $(CompareCell {
                name: $name,
                kind: CellKind::$kind,
                workload: $workload,
                threads: $threads,
                has_neighbours: false,
            },)+
            $(CompareCell {
                name: concat!($name, "+busy"),
                kind: CellKind::$kind,
                workload: $workload,
                threads: $threads,
                has_neighbours: true,
            },)+
        )+];
    };
}

/// The cells of kind `sleep`.
pub fn sleepers() -> &'static [CompareCell] {
    static ALL: LazyLock<Vec<CompareCell>> = LazyLock::new(|| {
        let mut all = Vec::new();
        for rest in [
            "",
            "+busy",
            "-random",
            "-random+busy",
            "-both",
            "-both+busy",
            "-both-random",
            "-both-random+busy",
        ] {
            for us in [20, 100, 1_000] {
                for writes in [5, 20, 50] {
                    all.extend([8, 16, 64].map(|threads| sleeper(us, writes, threads, rest)));
                }
            }
        }
        all
    });
    &ALL
}

/// The cell with that name, whose end says when and how threads write, and that there are neighbours.
fn sleeper(us: u64, writes: u32, threads: usize, rest: &str) -> CompareCell {
    let has = |what| rest.contains(what);
    let section_ns = us * 1_000;
    let order = if has("random") { ReaderOrder::Random } else { ReaderOrder::Alternate };
    let workload = Use(RealUse::Sections {
        section: Section::Sleep,
        section_ns,
        write_ns: if has("both") { section_ns } else { 0 },
        think_ns: 0,
        readers: 100 - writes,
        reader_order: order,
    });
    // As long as the process, as the names of the other cells.
    let name = format!("sleep{us}us-w{writes}-t{threads}{rest}").leak();
    CompareCell { name, workload, threads, kind: CellKind::Sleep, has_neighbours: has("busy") }
}

use Workload::RealUse as Use;

// The name, the number of threads, what they do.
cells! {
    Queue {
        "q1/1/1-one", 2, Use(queue(1, 1, Notify::One));
        "q1/1/100-one", 2, Use(queue(1, 100, Notify::One));
        "q1/1/1000-one", 2, Use(queue(1, 1_000, Notify::One));
        "q2/2/10-one", 4, Use(queue(2, 10, Notify::One));
        "q4/4/10-all", 8, Use(queue(4, 10, Notify::All));
        "q10/1/1-all", 11, Use(queue(10, 1, Notify::All));
        "q1/10/1-all", 11, Use(queue(1, 1, Notify::All));
        "q1/20/10-one", 21, Use(queue(1, 10, Notify::One));
        "q20/1/10-one", 21, Use(queue(20, 10, Notify::One));
        "q10/10/1-one", 20, Use(queue(10, 1, Notify::One));
        "q10/10/1-all", 20, Use(queue(10, 1, Notify::All));
        "q10/10/100-one", 20, Use(queue(10, 100, Notify::One));
        "q10/10/100-all", 20, Use(queue(10, 100, Notify::All));
        "q20/20/1-one", 40, Use(queue(20, 1, Notify::One));
        "q20/20/10-all", 40, Use(queue(20, 10, Notify::All));
        "q20/20/1000-one", 40, Use(queue(20, 1_000, Notify::One));
        "q1/1/1-one-timed", 2, Use(timed(1, 1, Notify::One));
        "q10/10/10-one-timed", 20, Use(timed(10, 10, Notify::One));
        "q10/10/1-all-timed", 20, Use(timed(10, 1, Notify::All));
        "pool-t4", 5, Use(POOL);
        "pool-t16", 17, Use(POOL);
        "pingpong", 2, Use(RealUse::PingPong);
    }
    Blocking {
        "cs2us-x1-t2", 2, Use(computes(2, 1));
        "cs2us-x1-t16", 16, Use(computes(2, 1));
        "cs5us-x1-t8", 8, Use(computes(5, 1));
        "cs20us-x1-t4", 4, Use(computes(20, 1));
        "cs20us-x1-t64", 64, Use(computes(20, 1));
        "cs50us-x1-t8", 8, Use(computes(50, 1));
        "cs200us-x1-t4", 4, Use(computes(200, 1));
        "cs2us-x4-t4", 4, Use(computes(2, 4));
        "cs2us-x4-t64", 64, Use(computes(2, 4));
        "cs5us-x4-t2", 2, Use(computes(5, 4));
        "cs5us-x4-t8", 8, Use(computes(5, 4));
        "cs5us-x4-t16", 16, Use(computes(5, 4));
        "cs20us-x4-t8", 8, Use(computes(20, 4));
        "cs20us-x4-t32", 32, Use(computes(20, 4));
        "cs50us-x4-t4", 4, Use(computes(50, 4));
        "cs50us-x4-t8", 8, Use(computes(50, 4));
        "cs200us-x4-t8", 8, Use(computes(200, 4));
        "io100us-t8", 8, Use(sleeps(100, 0));
        "io1ms-t32", 32, Use(sleeps(1_000, 0));
        "read80-io100us-t16", 16, Use(sleeps(100, 80));
    }
    Work {
        "map-w10-t2", 2, Use(map(10));
        "map-w10-t16", 16, Use(map(10));
        "rwmap-w1-t16", 16, Use(rw_map(1));
        "rwmap-w10-t2", 2, Use(rw_map(10));
        "rwmap-w10-t16", 16, Use(rw_map(10));
        "rwmap-w50-t16", 16, Use(rw_map(50));
        "lru-t2", 2, Use(RealUse::Lru);
        "lru-t8", 8, Use(RealUse::Lru);
        "shards16-t16", 16, Use(RealUse::Shards { count: 16 });
        "shards1000-t16", 16, Use(RealUse::Shards { count: 1_000 });
        "churn-t4", 4, Use(RealUse::Churn);
        "timed-t8", 8, Use(ATTEMPTS);
        "cs1-t1000", 1_000, Workload::counter(1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name that a cell ought to have.
    fn name(cell: &CompareCell) -> String {
        let threads = cell.threads;
        let Use(it) = cell.workload else { return format!("cs1-t{threads}") };
        let us = |ns: u64| match ns / 1_000 {
            1_000 => "1ms".into(),
            us => format!("{us}us"),
        };
        match it {
            RealUse::Queue { job_ns: 1.., producers, .. } => {
                format!("pool-t{}", threads as u32 - producers)
            }
            RealUse::Queue { producers, capacity, notify, timeout_ns, .. } => {
                let consumers = threads as u32 - producers;
                let notify = if notify == Notify::One { "one" } else { "all" };
                let timed = if timeout_ns > 0 { "-timed" } else { "" };
                format!("q{producers}/{consumers}/{capacity}-{notify}{timed}")
            }
            RealUse::Sections { section: Section::Spin, section_ns, think_ns, .. } => {
                format!("cs{}-x{}-t{threads}", us(section_ns), think_ns / section_ns)
            }
            RealUse::Sections { section_ns, readers: 0, .. } => {
                format!("io{}-t{threads}", us(section_ns))
            }
            RealUse::Sections { section_ns, readers, .. } => {
                format!("read{readers}-io{}-t{threads}", us(section_ns))
            }
            RealUse::Map { write_percent, is_shared } => {
                format!("{}map-w{write_percent}-t{threads}", if is_shared { "rw" } else { "" })
            }
            RealUse::Shards { count } => format!("shards{count}-t{threads}"),
            RealUse::PingPong => "pingpong".into(),
            RealUse::Attempts { .. } => format!("timed-t{threads}"),
            RealUse::Lru | RealUse::Churn => format!("{}-t{threads}", it.name()),
        }
    }

    #[test]
    fn a_name_says_what_programs_do_in_the_cell() {
        for cell in REAL_USE {
            let busy = if cell.has_neighbours { "+busy" } else { "" };
            assert_eq!(cell.name, format!("{}{busy}", name(cell)));
        }
    }

    #[test]
    fn every_cell_is_there_alone_and_with_neighbours_and_once() {
        let alone: Vec<_> = REAL_USE.iter().filter(|cell| !cell.has_neighbours).collect();
        assert_eq!(alone.len() * 2, REAL_USE.len());
        for cell in alone {
            let twins = REAL_USE.iter().filter(|twin| twin.name == format!("{}+busy", cell.name));
            let has_twin = |twin: &CompareCell| {
                (twin.workload, twin.threads, twin.kind) == (cell.workload, cell.threads, cell.kind)
            };
            assert_eq!(twins.filter(|twin| has_twin(twin)).count(), 1, "{}", cell.name);
        }
    }
}
