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
use lockwright_measure::native::churn::ChurnParams;
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::attempts::AttemptsParams;
use lockwright_measure::workload::counter::ReaderOrder;
use lockwright_measure::workload::handoff::Section;
use lockwright_measure::workload::lru::LruParams;
use lockwright_measure::workload::map::MapParams;
use lockwright_measure::workload::pingpong::PingPongParams;
use lockwright_measure::workload::queue::{QueueNotify as Notify, QueueParams};
use lockwright_measure::workload::sections::SectionsParams;
use lockwright_measure::workload::shards::ShardsParams;
use std::sync::LazyLock;

const fn queue(producers: u32, capacity: u32, notify: Notify) -> Workload {
    queue_with(producers, capacity, notify, 0)
}

/// A queue whose waits on condition variables last a millisecond at most.
const fn timed(producers: u32, capacity: u32, notify: Notify) -> Workload {
    queue_with(producers, capacity, notify, 1_000_000)
}

const fn queue_with(producers: u32, capacity: u32, notify: Notify, timeout_ns: u64) -> Workload {
    Workload::Queue(QueueParams { producers, capacity, notify, timeout_ns, ..QueueParams::USUAL })
}

/// A thread that hands out jobs, and workers.
const POOL: Workload =
    Workload::Queue(QueueParams { capacity: 100, job_ns: 10_000, ..QueueParams::USUAL });

/// A section that computes, and that many times as much thinking.
const fn computes(section_us: u64, think: u64) -> Workload {
    let section_ns = section_us * 1_000;
    Workload::Sections(SectionsParams::alike(Section::Spin, section_ns, section_ns * think, 0))
}

/// A section that sleeps.
const fn sleeps(section_us: u64, readers: u32) -> Workload {
    Workload::Sections(SectionsParams::alike(Section::Sleep, section_us * 1_000, 0, readers))
}

const fn map(write_percent: u32) -> Workload {
    Workload::Map(MapParams { write_percent, shared: false })
}

/// A map whose lock readers share.
const fn rw_map(write_percent: u32) -> Workload {
    Workload::Map(MapParams { write_percent, shared: true })
}

const fn shards(shards: u32) -> Workload {
    Workload::Shards(ShardsParams { shards })
}

/// All of them: those of each kind alone, and then the same with busy neighbours.
pub fn real_use() -> impl Iterator<Item = CompareCell> {
    let halves = REAL_USE.iter().flat_map(|&of_kind| [(of_kind, false), (of_kind, true)]);
    halves.flat_map(|((kind, cells), has_neighbours)| {
        cells.iter().map(move |&(name, threads, workload)| {
            // As long as the process.
            let name = if has_neighbours { format!("{name}+busy").leak() } else { name };
            CompareCell { name, workload, threads, kind, has_neighbours }
        })
    })
}

/// The cells of kind `sleep`. The end of a name says when and how threads write, and that there are neighbours.
pub static SLEEPERS: LazyLock<Vec<CompareCell>> = LazyLock::new(|| {
    let ends = ["", "-random", "-both", "-both-random"];
    let ends = ends.iter().flat_map(|end| ["", "+busy"].map(|busy| format!("{end}{busy}")));
    let mut all = Vec::new();
    for end in ends {
        for us in [20, 100, 1_000] {
            for writes in [5, 20, 50] {
                all.extend([8, 16, 64].map(|threads| sleeper(us, writes, threads, &end)));
            }
        }
    }
    all
});

/// The cell with that end of its name.
fn sleeper(us: u64, writes: u32, threads: usize, end: &str) -> CompareCell {
    let has = |what| end.contains(what);
    let section_ns = us * 1_000;
    let workload = Workload::Sections(SectionsParams {
        section: Section::Sleep,
        section_ns,
        write_ns: if has("both") { section_ns } else { 0 },
        think_ns: 0,
        read_percent: 100 - writes,
        reader_order: if has("random") { ReaderOrder::Random } else { ReaderOrder::Alternate },
    });
    let name = format!("sleep{us}us-w{writes}-t{threads}{end}").leak();
    CompareCell { name, workload, threads, kind: CellKind::Sleep, has_neighbours: has("busy") }
}

/// A kind, and the names, threads and workloads of its cells.
type OfKind = (CellKind, &'static [(&'static str, usize, Workload)]);

/// Of each kind: the name, the number of threads, what they do.
const REAL_USE: &[OfKind] = &[
    (
        CellKind::Queue,
        &[
            ("q1/1/1-one", 2, queue(1, 1, Notify::One)),
            ("q1/1/100-one", 2, queue(1, 100, Notify::One)),
            ("q1/1/1000-one", 2, queue(1, 1_000, Notify::One)),
            ("q2/2/10-one", 4, queue(2, 10, Notify::One)),
            ("q4/4/10-all", 8, queue(4, 10, Notify::All)),
            ("q10/1/1-all", 11, queue(10, 1, Notify::All)),
            ("q1/10/1-all", 11, queue(1, 1, Notify::All)),
            ("q1/20/10-one", 21, queue(1, 10, Notify::One)),
            ("q20/1/10-one", 21, queue(20, 10, Notify::One)),
            ("q10/10/1-one", 20, queue(10, 1, Notify::One)),
            ("q10/10/1-all", 20, queue(10, 1, Notify::All)),
            ("q10/10/100-one", 20, queue(10, 100, Notify::One)),
            ("q10/10/100-all", 20, queue(10, 100, Notify::All)),
            ("q20/20/1-one", 40, queue(20, 1, Notify::One)),
            ("q20/20/10-all", 40, queue(20, 10, Notify::All)),
            ("q20/20/1000-one", 40, queue(20, 1_000, Notify::One)),
            ("q1/1/1-one-timed", 2, timed(1, 1, Notify::One)),
            ("q10/10/10-one-timed", 20, timed(10, 10, Notify::One)),
            ("q10/10/1-all-timed", 20, timed(10, 1, Notify::All)),
            ("pool-t4", 5, POOL),
            ("pool-t16", 17, POOL),
            ("pingpong", 2, Workload::PingPong(PingPongParams {})),
        ],
    ),
    (
        CellKind::Blocking,
        &[
            ("cs2us-x1-t2", 2, computes(2, 1)),
            ("cs2us-x1-t16", 16, computes(2, 1)),
            ("cs5us-x1-t8", 8, computes(5, 1)),
            ("cs20us-x1-t4", 4, computes(20, 1)),
            ("cs20us-x1-t64", 64, computes(20, 1)),
            ("cs50us-x1-t8", 8, computes(50, 1)),
            ("cs200us-x1-t4", 4, computes(200, 1)),
            ("cs2us-x4-t4", 4, computes(2, 4)),
            ("cs2us-x4-t64", 64, computes(2, 4)),
            ("cs5us-x4-t2", 2, computes(5, 4)),
            ("cs5us-x4-t8", 8, computes(5, 4)),
            ("cs5us-x4-t16", 16, computes(5, 4)),
            ("cs20us-x4-t8", 8, computes(20, 4)),
            ("cs20us-x4-t32", 32, computes(20, 4)),
            ("cs50us-x4-t4", 4, computes(50, 4)),
            ("cs50us-x4-t8", 8, computes(50, 4)),
            ("cs200us-x4-t8", 8, computes(200, 4)),
            ("io100us-t8", 8, sleeps(100, 0)),
            ("io1ms-t32", 32, sleeps(1_000, 0)),
            ("read80-io100us-t16", 16, sleeps(100, 80)),
        ],
    ),
    (
        CellKind::Work,
        &[
            ("map-w10-t2", 2, map(10)),
            ("map-w10-t16", 16, map(10)),
            ("rwmap-w1-t16", 16, rw_map(1)),
            ("rwmap-w10-t2", 2, rw_map(10)),
            ("rwmap-w10-t16", 16, rw_map(10)),
            ("rwmap-w50-t16", 16, rw_map(50)),
            ("lru-t2", 2, Workload::Lru(LruParams {})),
            ("lru-t8", 8, Workload::Lru(LruParams {})),
            ("shards16-t16", 16, shards(16)),
            ("shards1000-t16", 16, shards(1_000)),
            ("churn-t4", 4, Workload::Churn(ChurnParams::USUAL)),
            ("timed-t8", 8, Workload::Attempts(AttemptsParams::USUAL)),
            ("cs1-t1000", 1_000, Workload::counter(1, 0)),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The name that a cell ought to have.
    fn name(cell: &CompareCell) -> String {
        let threads = cell.threads;
        let us = |ns: u64| match ns / 1_000 {
            1_000 => "1ms".into(),
            us => format!("{us}us"),
        };
        match cell.workload {
            Workload::Queue(it) if it.job_ns > 0 => {
                format!("pool-t{}", threads as u32 - it.producers)
            }
            Workload::Queue(it) => {
                let (consumers, notify) = (threads as u32 - it.producers, it.notify.name());
                let timed = if it.timeout_ns > 0 { "-timed" } else { "" };
                format!("q{}/{consumers}/{}-{notify}{timed}", it.producers, it.capacity)
            }
            Workload::Sections(it) if it.section == Section::Spin => {
                format!("cs{}-x{}-t{threads}", us(it.section_ns), it.think_ns / it.section_ns)
            }
            Workload::Sections(it) if it.read_percent == 0 => {
                format!("io{}-t{threads}", us(it.section_ns))
            }
            Workload::Sections(it) => {
                format!("read{}-io{}-t{threads}", it.read_percent, us(it.section_ns))
            }
            Workload::Map(it) => {
                let rw = if it.shared { "rw" } else { "" };
                format!("{rw}map-w{}-t{threads}", it.write_percent)
            }
            Workload::Shards(it) => format!("shards{}-t{threads}", it.shards),
            Workload::PingPong(_) => "pingpong".into(),
            Workload::Attempts(_) => format!("timed-t{threads}"),
            Workload::Lru(_) | Workload::Churn(_) => format!("{}-t{threads}", cell.workload.name()),
            _ => format!("cs1-t{threads}"),
        }
    }

    #[test]
    fn a_name_says_what_programs_do_in_the_cell() {
        for cell in real_use() {
            let busy = if cell.has_neighbours { "+busy" } else { "" };
            assert_eq!(cell.name, format!("{}{busy}", name(&cell)));
        }
    }

    #[test]
    fn every_cell_is_there_alone_and_with_neighbours_and_once() {
        let all: Vec<_> = real_use().collect();
        let alone: Vec<_> = all.iter().filter(|cell| !cell.has_neighbours).collect();
        assert_eq!(alone.len() * 2, all.len());
        for cell in alone {
            let twins = all.iter().filter(|twin| twin.name == format!("{}+busy", cell.name));
            let has_twin = |twin: &CompareCell| {
                (twin.workload, twin.threads, twin.kind) == (cell.workload, cell.threads, cell.kind)
            };
            assert_eq!(twins.filter(|twin| has_twin(twin)).count(), 1, "{}", cell.name);
        }
    }
}
