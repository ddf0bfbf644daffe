//! What the measurements are in terms of the simulator's rules.

use super::lines::{LINES, PairCosts};
use super::measured::Measured;
use super::samples::{grouped, spread};
use super::shares;
use super::sourced::{SourcedNumber, factor, fraction, ns, plain};
use lockwright_measure::stats::median;

/// All numbers of the file.
pub struct Numbers {
    /// Distance classes of the sockets.
    pub classes: Vec<Vec<u32>>,
    /// Where they come from.
    pub classes_source: &'static str,
    /// The section `costs`.
    pub costs: Vec<SourcedNumber>,
    /// The section `scheduler`.
    pub scheduler: Vec<SourcedNumber>,
}

/// Sockets whose transfers differ by less than this factor are equally far.
const SAME_CLASS: f64 = 1.15;

/// Transfers within a socket and between sockets.
struct Distances {
    local: Option<f64>,
    /// By distance class from 1.
    remote: Vec<f64>,
    classes: Vec<Vec<u32>>,
}

impl Distances {
    fn of(measured: &Measured) -> Self {
        let sockets = measured.shape.sockets.len();
        let between = |a: usize, b: usize| {
            let is_there = |pair: &&PairCosts| pair.couple.sockets == [a.min(b), a.max(b)];
            middle_of(measured.pairs.iter().filter(is_there).map(|pair| median(&pair.hop)))
        };
        let local = middle_of((0..sockets).filter_map(|socket| between(socket, socket)));
        let far: Vec<f64> = (0..sockets)
            .flat_map(|a| (a + 1..sockets).map(move |b| (a, b)))
            .filter_map(|(a, b)| between(a, b))
            .collect();
        let groups = grouped(&far, SAME_CLASS);
        let class =
            |hop: f64| 1 + groups.iter().filter(|group| hop > group[group.len() - 1]).count();
        let class_of = |a: usize, b: usize| match a == b {
            true => 0,
            false => between(a, b).map_or(1, class) as u32,
        };
        let row = |a: usize| (0..sockets).map(|b| class_of(a, b)).collect();
        let floor = local.unwrap_or(0.0);
        let remote = groups.iter().map(|group| median(group).max(floor)).collect();
        Self { local, remote, classes: (0..sockets).map(row).collect() }
    }
}

impl Numbers {
    /// The numbers that follow from the measurements.
    pub fn of(measured: &Measured) -> Self {
        let distances = Distances::of(measured);
        let mut costs = own(measured);
        costs.extend(transfers(measured, &distances));
        costs.extend(contention(measured, &distances));
        costs.extend(software(measured));
        Self {
            classes_source: match distances.remote.is_empty() {
                true => "derived from the number of sockets",
                false => {
                    "measured in this computer by `lockwright machines probe`: sockets grouped by \
                          the time of a hop between their cores"
                }
            },
            classes: distances.classes,
            costs,
            scheduler: shares::numbers(measured),
        }
    }
}

/// What a core does alone.
fn own(m: &Measured) -> Vec<SourcedNumber> {
    let own = &m.own;
    vec![
        ns("load_hit", own.load).measured("a chain of loads of one line"),
        ns("store_issue", own.store).measured("stores to one line, one after the other"),
        ns("rmw_extra", (own.rmw - own.load).max(0.0))
            .measured("fetch-and-adds to one line, less a load"),
        ns("width_mismatch", m.widths.mismatch_ns()).measured(
            "compare-exchanges that are wider than the store before them, less those with a store of their own \
             width; the median over the widths",
        ),
        ns("pause", own.pause).measured("pauses, one after the other"),
        ns("spin_reaction", (own.load + own.pause) / 2.0)
            .derived("a load and a pause: a polling loop is in the middle of one on average"),
    ]
}

/// What lines of others cost.
fn transfers(m: &Measured, distances: &Distances) -> Vec<SourcedNumber> {
    let local_ns = distances.local.unwrap_or(50.0).max(m.own.load);
    let list = distances.remote.iter().map(|&ns| plain(ns)).collect::<Vec<_>>().join(", ");
    let remote = ns("transfer_remote", 0.0);
    let remote = match distances.remote.is_empty() {
        true => remote.derived("the number of sockets: there is one"),
        false => remote.measured("as in a socket, for each distance class"),
    };
    vec![
        ns("transfer_local", distances.local)
            .measured("one way of a value that two cores pass back and forth on a line")
            .or_guess(
                local_ns,
                "one core only, so no line could be passed; 50 is usual in a socket",
            ),
        SourcedNumber { value: Some(format!("[{list}]")), ..remote },
        upgrade(m),
        factor("upgrade_remote", 1.0).derived("nothing: sockets were not told apart in this"),
        ns("shared_load", local_ns)
            .derived("transfer_local: with the other copies clean it was not told apart"),
        ns("dram_local", m.own.dram)
            .measured("loads of lines that were flushed")
            .or_guess(100.0, "lines cannot be flushed by this program here"),
        ns("dram_remote", m.own.dram.unwrap_or(100.0))
            .guess("as local; memory of other nodes was not measured, and is touched once"),
        migratory(m),
        fraction("remote_inflation", 0.0)
            .guess("none; more than two cores at once were not measured"),
    ]
}

/// The median of some numbers, if there are any.
fn middle_of(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let numbers: Vec<f64> = numbers.collect();
    (!numbers.is_empty()).then(|| median(&numbers))
}

/// The median of something of each pair: of those in a socket, or of all if there are none.
fn over_pairs(m: &Measured, of: impl Fn(&PairCosts) -> f64) -> Option<f64> {
    let is_near = |pair: &&PairCosts| pair.couple.sockets[0] == pair.couple.sockets[1];
    let near = middle_of(m.pairs.iter().filter(is_near).map(&of));
    near.or_else(|| middle_of(m.pairs.iter().map(&of)))
}

/// The chance that a line goes to its reader alone, so that the reader may write it at once.
fn migratory(m: &Measured) -> SourcedNumber {
    let chance = over_pairs(m, |pair| {
        let of_read = median(&pair.rmw_of_read) - m.own.rmw;
        let of_shared = median(&pair.rmw_of_shared) - m.own.rmw;
        1.0 - of_read / of_shared.max(1.0)
    });
    fraction("migratory", chance.map(|chance| chance.clamp(0.0, 1.0)))
        .measured(
            "how much less a read-modify-write costs of a line that this core has read since the other \
             one wrote it, than of a line that both have read since",
        )
        .or_guess(0.0, "one core only")
}

/// The chance that an atomic instruction that has begun is completed before other cores get the line.
fn shield() -> SourcedNumber {
    const SOURCE: &str = "from memory of Intel's and AMD's manuals: a locked instruction keeps its line \
                          until it is done (cache locking), and interrupts come between instructions";
    match cfg!(target_arch = "x86_64") {
        true => fraction("rmw_shield", 1.0).from(SOURCE),
        false => fraction("rmw_shield", 0.0).guess("this was not measured"),
    }
}

fn upgrade(m: &Measured) -> SourcedNumber {
    let extra = m.own.rmw - m.own.load;
    let ratio = over_pairs(m, |pair| {
        (median(&pair.rmw_of_shared) - extra) / (median(&pair.rmw_of_dirty) - extra).max(1.0)
    });
    factor("upgrade_local", ratio.map(|ratio| ratio.max(0.01)))
        .measured(
            "a read-modify-write of lines that both cores have read, as a part of one of lines that the \
             other has written",
        )
        .or_guess(1.0, "one core only; as much as a transfer")
}

/// What happens where several cores want a line.
fn contention(m: &Measured, distances: &Distances) -> Vec<SourcedNumber> {
    let local_ns = distances.local.unwrap_or(50.0);
    let kept = m.hammer.map(|contest| (contest.run_length - 1.0) * m.own.rmw / local_ns);
    let lost = m.turns.map(|contest| 1.0 / contest.run_length.max(1.0));
    let jitter = over_pairs(m, |pair| spread(&pair.transfer) * (LINES as f64).sqrt());
    vec![
        match m.sibling {
            Some(slower) => factor("smt", slower)
                .measured("arithmetic while the core's other thread does arithmetic"),
            None => factor("smt", 1.0).derived("the number of hardware threads: a core has one"),
        },
        fraction("owner_retention", kept.map(|kept| kept.clamp(0.0, 1.0)))
            .measured(
                "fetch-and-adds of two cores to one line: those in a row of one core after its first, in \
                 terms of a transfer",
            )
            .or_guess(0.5, "one core only; the snoop arrives half-way"),
        shield(),
        fraction("arbitration", lost.map(|lost| lost.clamp(0.0, 1.0)))
            .measured(
                "two cores that take a word, give it back and want it again at once: the part of the \
                 operations that follow one of the other core",
            )
            .or_guess(0.0, "one core only"),
        factor("arbitration_remote", 1.0).guess("all sockets are equal; this was not measured"),
        fraction("transfer_jitter", jitter.map(|jitter| jitter.clamp(0.02, 0.5)))
            .measured("quartiles of rounds of 64 loads of modified lines, times 8 for a single one")
            .or_guess(0.1, "one core only"),
        fraction("work_jitter", 0.1).guess("without any, simulated threads keep in step"),
    ]
}

/// System calls.
fn software(m: &Measured) -> Vec<SourcedNumber> {
    let per_cpu = m.barrier_in_company.map(|time| (time - m.barrier_alone).max(0.0));
    // The wake-up that the waiter of a lock in demand is likely to see: its CPU has just fallen idle.
    let typical = m.wake_ups.first();
    let (call, latency) = (typical.map(|it| it.1.call), typical.map(|it| it.1.latency));
    let idle_us = typical.map_or(0, |(idle, _)| idle.as_micros());
    let how = format!("a wake-up on a CPU that has been idle for {idle_us} us");
    vec![
        ns("heavy_barrier", m.barrier_alone)
            .measured("membarrier(PRIVATE_EXPEDITED) with no other thread running"),
        ns("heavy_barrier_per_cpu", per_cpu)
            .measured("membarrier(PRIVATE_EXPEDITED) with one other thread running, less one alone")
            .or_guess(2_000.0, "one core only; an interrupt"),
        ns("wake_call", call)
            .measured(&format!("futex, {how}"))
            .or_guess(m.round_trip / 4.0, "one core only; a quarter of a round trip on it"),
        ns("wake_latency", latency)
            .measured(&format!("until the thread runs, {how}"))
            .or_guess(0.0, "one core only: no thread is woken on another"),
        ns("sleep_call", m.refused_sleep)
            .measured("a futex call that does not sleep, because the word changed"),
    ]
}
