//! What a comparison runs, and for how long.

use super::cells::{CellKind, CompareCell};
use super::effort::CompareEffort;
use super::locks::{ABLE_PEER, OURS, OURS_MIXED, all_peers, bears_oversubscription, label};
use super::simulated;
use lockwright_measure::error::Error;
use lockwright_measure::native::locks::{has, readers_share};
use lockwright_measure::peers::{Comparison, usual_peers};
use lockwright_measure::subject::{Asked, Subject};
use lockwright_measure::trial::Purpose;
use lockwright_measure::workload::Needs;
use lockwright_sheets::plural;
use std::collections::BTreeSet;

/// No repetition should be shorter than this: rather there are fewer of them.
const SHORTEST_S: f64 = 0.005;
/// But not fewer than this: one to choose the best peer on, and one to score it on.
const FEWEST_RUNS: u32 = 2;

/// From this number of threads on, a repetition is longer, so that all of them have their slices in it.
const MANY_THREADS: usize = 16;
/// How many times as long it is.
const MANY_THREADS_FACTOR: u32 = 2;
/// So it is with this many, because starting them takes long, ...
const CROWD: usize = 500;
const CROWD_FACTOR: u32 = 8;
/// ... and with sections of which few fit into it.
const LONG_SECTION_NS: u64 = 100_000;
const LONG_SECTION_FACTOR: u32 = 4;

/// Window for each thread where shares are compared: some seventy slices of each on two CPUs. Threads that
/// share nothing but the CPUs have had at least 0.7 of each other then; with a fifth of it, 0.4.
const SHARE_NS: u64 = 125_000_000;
/// But no more than this part of the time.
const SHARE_PART: f64 = 0.25;

/// What a repetition takes in addition to its window, at most: the warm-up, in parts of the window, ...
const WARM_UP: f64 = 0.25;
/// ... and starting and ending it, and each of its threads.
const RUN_S: f64 = 0.005;
const THREAD_S: f64 = 0.000_5;

/// The locks in the cells with readers, or in those without.
#[derive(Clone, Debug)]
pub struct Side {
    /// Our locks.
    pub ours: Vec<Subject>,
    /// Those they are compared with.
    pub peers: Vec<Asked>,
}

/// A comparison to be run.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// The locks in cells without readers.
    pub exclusive: Side,
    /// The locks in cells with readers.
    pub rw: Side,
    /// The locks in cells of real use without readers.
    pub real_use: Side,
    /// The locks in cells of real use with readers.
    pub rw_real_use: Side,
    /// The cells.
    pub cells: Vec<CompareCell>,
    /// How much time there is.
    pub effort: CompareEffort,
    /// Repetitions in which operations are counted, if that was asked for.
    pub asked_runs: Option<u32>,
    /// True if the cells with busy neighbours would take too long.
    pub leaves_out_neighbours: bool,
    /// How many repetitions fewer there are than usual.
    pub spared_runs: u32,
    /// How long each repetition is, if that was asked for.
    pub asked_window_ns: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// CPUs of the machine.
    pub cpus: usize,
    /// True if the machine is a simulated one.
    pub is_simulated: bool,
    /// Which cells the machine cannot run and why, a sentence for each reason.
    pub left_out: Vec<String>,
}

impl ComparePlan {
    /// The locks in cells such as this one.
    fn side(&self, cell: CompareCell) -> &Side {
        match (cell.kind().is_real_use(), cell.has_readers()) {
            (false, false) => &self.exclusive,
            (false, true) => &self.rw,
            (true, false) => &self.real_use,
            (true, true) => &self.rw_real_use,
        }
    }
    /// Our locks in a cell: those that have what it needs.
    pub fn ours_in(&self, cell: CompareCell) -> impl Iterator<Item = Subject> + '_ {
        self.side(cell).ours.iter().copied().filter(move |&lock| can(lock, cell))
    }
    /// The peers that have what a cell needs.
    fn able_peers_in(&self, cell: CompareCell) -> impl Iterator<Item = Asked> + '_ {
        self.side(cell).peers.iter().copied().filter(move |peer| can(peer.subject, cell))
    }
    /// The peers that take part in a cell.
    pub fn peers_in(&self, cell: CompareCell) -> impl Iterator<Item = Asked> + '_ {
        // Neighbours leave no CPU to a waiter either.
        let is_oversubscribed = cell.threads > self.cpus || cell.has_neighbours;
        let peers = self.able_peers_in(cell);
        peers.filter(move |&peer| !is_oversubscribed || bears_oversubscription(peer))
    }
    /// All our locks that run.
    pub fn ours(&self) -> Vec<Subject> {
        let mut all: Vec<Subject> = Vec::new();
        for lock in self.cells.iter().flat_map(|&cell| self.ours_in(cell)) {
            if !all.contains(&lock) {
                all.push(lock);
            }
        }
        all
    }
    /// Leaves out the cells that lack a lock of ours or a peer; an error if nothing is left.
    pub fn leave_out_lonely_cells(&mut self) -> Result<(), Error> {
        let has_both = |&&cell: &&CompareCell| {
            self.ours_in(cell).next().is_some() && self.able_peers_in(cell).next().is_some()
        };
        let asked_for_readers = self.cells.iter().all(CompareCell::has_readers);
        let kept: Vec<CompareCell> = self.cells.iter().filter(has_both).copied().collect();
        let asked = std::mem::replace(&mut self.cells, kept);
        if !self.cells.is_empty() {
            return Ok(());
        }
        if let Some(error) = asked.first().and_then(|&cell| self.lacks(cell)) {
            return Err(error);
        }
        let side = if asked_for_readers { &self.rw } else { &self.exclusive };
        Err(Error::usage(match side.ours.first() {
            None => format!(
                "these cells have readers, and --ours names no lock that readers share: leave out --ours, \
                 or add one such as `{OURS_MIXED}`"
            ),
            Some(ours) => format!(
                "no peer to compare `{}` with: --peer takes {}{}",
                ours.name(),
                all_peers(),
                if asked_for_readers {
                    ", and these cells need one that readers share"
                } else {
                    ""
                }
            ),
        }))
    }
    /// The locks that lack what a cell needs.
    fn unable_in(&self, cell: CompareCell) -> impl Iterator<Item = Subject> {
        let Side { ours, peers } = self.side(cell);
        let all = ours.iter().copied().chain(peers.iter().map(|peer| peer.subject));
        all.filter(move |&lock| !can(lock, cell))
    }
    /// An error if the locks of a cell lack what it needs.
    fn lacks(&self, cell: CompareCell) -> Option<Error> {
        let side = self.side(cell);
        let names: Vec<_> = self.unable_in(cell).map(|lock| format!("`{}`", lock.name())).collect();
        let what = needed(cell.workload.needs()?);
        let option = match self.ours_in(cell).next() {
            None => format!("--ours, or name a lock that has one, such as `{OURS}`"),
            Some(_) => format!("--peer, or name one that has it, such as `{ABLE_PEER}`"),
        };
        (!names.is_empty() && !side.ours.is_empty() && !side.peers.is_empty()).then(|| {
            let names = names.join(" or ");
            Error::usage(format!(
                "these cells need {what}, which {names} lacks: leave out {option}"
            ))
        })
    }
    /// Returns true if the peers that take part where nothing is said do so in its cells, all of them and no other.
    pub fn has_usual_peers(&self) -> bool {
        let is_usual = |side: &Side, comparison, share: Option<bool>| {
            let is_used = self.cells.iter().any(|&cell| std::ptr::eq(self.side(cell), side));
            let shares = |name: &str| Subject::find(name).is_ok_and(readers_share);
            let is_of_side = |name: &&str| share.is_none_or(|share| shares(name) == share);
            let usual: Vec<&str> = usual_peers(comparison).filter(is_of_side).collect();
            let named = |name: &&str| side.peers.iter().any(|peer| peer.subject.name() == *name);
            !is_used || side.peers.len() == usual.len() && usual.iter().all(named)
        };
        is_usual(&self.exclusive, Comparison::Owning, None)
            && is_usual(&self.rw, Comparison::Reading, None)
            && is_usual(&self.real_use, Comparison::RealUse, Some(false))
            && is_usual(&self.rw_real_use, Comparison::RealUse, Some(true))
    }
    /// Repetitions of a cell in which operations are counted.
    pub fn runs(&self, kind: CellKind) -> u32 {
        let usual = || match self.is_simulated {
            true => simulated::runs(self.effort),
            false => self.effort.runs(kind).saturating_sub(self.spared_runs).max(FEWEST_RUNS),
        };
        self.asked_runs.unwrap_or_else(usual)
    }
    /// Takes away repetitions until each is long enough, if there are many locks. If that is not enough, the cells with
    /// busy neighbours go.
    pub fn spare_runs(&mut self) {
        if self.is_simulated {
            return;
        }
        while self.base_window_s() < SHORTEST_S
            && self.spared_runs < self.effort.runs(CellKind::Pair)
        {
            // One to choose the best peer on, and one to score it on.
            self.spared_runs += 2;
        }
        if self.base_window_s() < SHORTEST_S && self.cells.iter().any(|cell| !cell.has_neighbours) {
            self.cells.retain(|cell| !cell.has_neighbours);
            self.leaves_out_neighbours = true;
        }
    }
    /// Repetitions of a cell in which waits are timed.
    pub fn wait_runs(&self, kind: CellKind) -> u32 {
        self.effort.wait_runs(kind)
    }
    /// How long a repetition of `cell` is.
    pub fn window_ns(&self, cell: CompareCell, purpose: Purpose) -> u64 {
        self.fixed_window_ns(cell, purpose).unwrap_or_else(|| {
            let base_s = self.base_window_s().min(self.effort.longest_s());
            (base_s * f64::from(factor(cell)) * 1e9) as u64
        })
    }
    /// How long it is if that does not depend on how much time there is.
    fn fixed_window_ns(&self, cell: CompareCell, purpose: Purpose) -> Option<u64> {
        let is_for_shares = purpose == Purpose::Latency && cell.is_for_shares();
        let for_shares_ns = || {
            let turns = self.locks_in(cell) as f64 * f64::from(self.wait_runs(cell.kind()));
            let longest_ns = self.effort.budget_s() * SHARE_PART / turns * 1e9;
            (cell.threads as u64 * SHARE_NS).min(longest_ns as u64)
        };
        let simulated_ns = || {
            let shared = if cell.threads > self.cpus { simulated::SHARED_FACTOR } else { 1 };
            simulated::window_ns(self.effort) * u64::from(factor(cell) * shared)
        };
        let usual = || match self.is_simulated {
            true => Some(simulated_ns()),
            false => is_for_shares.then(for_shares_ns),
        };
        self.asked_window_ns.or_else(usual)
    }
    /// How long all of it takes, if that is the window of each turn.
    fn lasts_s(&self, window_s: impl Fn(&Turn) -> f64) -> f64 {
        let turn_s =
            |turn: Turn| turn.count * (window_s(&turn) * (1.0 + WARM_UP) + around_s(turn.cell));
        self.turns().map(turn_s).sum()
    }
    /// How long all of it takes.
    pub fn estimate_s(&self) -> f64 {
        self.lasts_s(|turn| self.window_ns(turn.cell, turn.purpose) as f64 * 1e-9)
    }
    /// The length of a repetition with few threads that would use up the time.
    fn base_window_s(&self) -> f64 {
        let fixed = |turn: &Turn| self.fixed_window_ns(turn.cell, turn.purpose);
        let fixed_s = self.lasts_s(|turn| fixed(turn).map_or(0.0, |ns| ns as f64 * 1e-9));
        let free = self.turns().filter(|turn| fixed(turn).is_none());
        let windows = free.map(|turn| turn.count * f64::from(factor(turn.cell)) * (1.0 + WARM_UP));
        // The sum of nothing is -0: all windows are fixed, and there is any amount of time.
        (self.effort.budget_s() - fixed_s).max(1.0) / windows.sum::<f64>().abs()
    }
    /// True if the floors are measured next to a cell. They are no locks of the simulator.
    pub fn has_floors(&self, cell: CompareCell) -> bool {
        cell.has_floors() && !self.is_simulated
    }
    /// How many locks take part in a cell.
    fn locks_in(&self, cell: CompareCell) -> usize {
        self.peers_in(cell).count() + self.ours_in(cell).count()
    }
    /// How many turns there are in each cell, and how long they are.
    fn turns(&self) -> impl Iterator<Item = Turn> + '_ {
        self.cells.iter().flat_map(|&cell| {
            let locks = self.locks_in(cell);
            // The floors next to the pairs, and one thread alone next to the cells that are compared with it.
            let beside = match self.has_floors(cell) {
                true => Subject::floors().count(),
                false => usize::from(cell.has_single_thread()),
            };
            let counted = (locks + beside) as f64 * f64::from(self.runs(cell.kind()));
            let timed = locks as f64 * f64::from(self.wait_runs(cell.kind()));
            [(counted, Purpose::Throughput), (timed, Purpose::Latency)]
                .map(|(count, purpose)| Turn { cell, purpose, count })
        })
    }
    /// In a sentence.
    pub fn described(&self) -> String {
        use CellKind::{Blocking, Exclusive, Pair, Queue, Rw, Sleep, Work};
        let parts: [&[CellKind]; 5] =
            [&[Pair, Exclusive, Rw], &[Queue], &[Blocking], &[Work], &[Sleep]];
        let parts = parts.iter().flat_map(|kinds| [(kinds, false), (kinds, true)]);
        let parts = parts.filter_map(|(kinds, has_readers)| {
            let cells =
                self.cells.iter().copied().filter(|cell| {
                    kinds.contains(&cell.kind()) && cell.has_readers() == has_readers
                });
            self.described_part(&cells.collect::<Vec<_>>())
        });
        let mut parts: Vec<String> = parts.collect();
        parts.extend(self.left_out());
        if self.leaves_out_neighbours {
            parts.push("cells with busy neighbours left out, because there are many locks".into());
        }
        parts.push(match self.estimate_s() {
            _ if self.is_simulated => "all of it simulated".into(),
            short if short < 60.0 => format!("about {:.0} s", short.ceil()),
            long => format!("about {:.1} minutes", long / 60.0),
        });
        parts.join("; ")
    }
    /// Which locks lack what some cells need, a sentence for each need.
    fn left_out(&self) -> impl Iterator<Item = String> {
        [Needs::Condvar, Needs::Deadline].into_iter().filter_map(|needs| {
            let cells = self.cells.iter().filter(|cell| cell.workload.needs() == Some(needs));
            let names: BTreeSet<_> =
                cells.flat_map(|&cell| self.unable_in(cell)).map(label).collect();
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            (!names.is_empty())
                .then(|| format!("{names} left out of cells that need {}", needed(needs)))
        })
    }
    /// The cells of one side; nothing if there are none.
    fn described_part(&self, cells: &[CompareCell]) -> Option<String> {
        let side = self.side(*cells.first()?);
        // Pairs are few, and are repeated as often as the others or more.
        let kind = cells.last()?.kind();
        let peers: Vec<&str> = side.peers.iter().map(|peer| label(peer.subject)).collect();
        let ours: Vec<&str> = side.ours.iter().map(|lock| lock.name()).collect();
        let noun = match kind.is_real_use() {
            true => format!("{} cell", kind.name()),
            false => "cell".into(),
        };
        let windows =
            cells.iter().map(|&cell| self.window_ns(cell, Purpose::Throughput) as f64 * 1e-9);
        let (shortest, longest) =
            windows.fold((f64::MAX, 0.0), |(low, high), s| (f64::min(low, s), f64::max(high, s)));
        let seconds = match shortest == longest {
            true => format!("{shortest:.3} s"),
            false => format!("{shortest:.3} to {longest:.3} s"),
        };
        Some(format!(
            "{} against {} in {}{}: {} of {seconds}, {} for waits",
            ours.join(" and "),
            peers.join(", "),
            plural(cells.len() as u64, &noun),
            if cells[0].has_readers() { " with readers" } else { "" },
            plural(self.runs(kind) as u64, "repetition"),
            self.wait_runs(kind),
        ))
    }
}

/// Repetitions of a cell.
struct Turn {
    cell: CompareCell,
    purpose: Purpose,
    /// Of all locks together.
    count: f64,
}

/// How many times as long as with few threads and short sections.
fn factor(cell: CompareCell) -> u32 {
    let by_threads = match cell.threads {
        CROWD.. => CROWD_FACTOR,
        MANY_THREADS.. => MANY_THREADS_FACTOR,
        _ => 1,
    };
    // A sleep of 20 us is longer than that with the system's timer.
    let has_long_sections =
        cell.workload.longest_section_ns() >= LONG_SECTION_NS || cell.kind() == CellKind::Sleep;
    by_threads.max(if has_long_sections { LONG_SECTION_FACTOR } else { 1 })
}

/// What starting and ending a repetition takes. At its end every thread has one more section.
fn around_s(cell: CompareCell) -> f64 {
    let each_s = THREAD_S + cell.workload.longest_section_ns() as f64 * 1e-9;
    RUN_S + each_s * cell.threads as f64
}

/// True if `lock` has what `cell` needs.
fn can(lock: Subject, cell: CompareCell) -> bool {
    cell.workload.needs().is_none_or(|needs| has(lock, needs))
}

/// What a lock has to have, in words.
fn needed(needs: Needs) -> &'static str {
    match needs {
        Needs::Condvar => "a condition variable",
        Needs::Deadline => "attempts with a deadline",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::compare::CompareArgs;
    use crate::commands::compare::locks::OURS_RW;
    use crate::mock::MockMachine;
    use crate::options;

    fn plan(line: &str) -> ComparePlan {
        let args: CompareArgs = options::read(line);
        args.plan(&MockMachine::default()).expect("a sound plan")
    }

    fn peers(plan: &ComparePlan, cell: usize) -> Vec<&'static str> {
        plan.peers_in(plan.cells[cell]).map(|peer| label(peer.subject)).collect()
    }

    #[test]
    fn quick_is_under_five_minutes_and_full_under_sixty_with_any_number_of_peers() {
        for line in ["", "--peer *", "--only rwlock"] {
            let estimates = ["--quick ", ""].map(|quick| plan(&format!("{quick}{line}")));
            let [quick_s, full_s] = estimates.map(|plan| plan.estimate_s());
            assert!(quick_s <= 270.0 && full_s <= 3_200.0, "{line}: {quick_s} and {full_s}");
        }
    }

    #[test]
    fn each_repetition_is_long_enough_for_threads_to_take_turns() {
        let all = [
            ("--quick", 5_000_000),
            ("", 40_000_000),
            ("--quick --peer *", 3_000_000),
            ("--quick --only rwlock", 5_000_000),
        ];
        for (line, least_ns) in all {
            let plan = plan(line);
            for &cell in &plan.cells {
                let window_ns = plan.window_ns(cell, Purpose::Throughput);
                // A thread alone takes no turns.
                let least_ns = if cell.threads > 1 { least_ns } else { 1_000_000 };
                assert!(window_ns >= least_ns, "{line} {}: {window_ns}", cell.name);
            }
        }
    }

    #[test]
    fn a_small_selection_is_not_stretched_to_fill_the_time() {
        let small = plan("--cell cs1-t2 --peer std");
        assert!(small.estimate_s() < 15.0, "{}", small.estimate_s());
        let windows = ["cs1-t2", "cs1-t32"].map(|cell| {
            let plan = plan(&format!("--cell {cell} --peer std"));
            plan.window_ns(plan.cells[0], Purpose::Throughput)
        });
        assert!(windows[1] > windows[0], "{windows:?}");
    }

    #[test]
    fn parking_lot_is_two_versions_and_each_has_a_name_of_its_own() {
        assert_eq!(peers(&plan("--peer parking_lot"), 0), ["parking_lot-0.12", "parking_lot-0.13"]);
        assert_eq!(peers(&plan("--peer parking_lot-0.12"), 0), ["parking_lot-0.12"]);
        let rw = peers(&plan("--peer parking_lot --kind rw"), 0);
        assert_eq!(rw, ["parking_lot-rwlock-0.12", "parking_lot-rwlock-0.13"]);
        assert_eq!(peers(&plan("--peer parking_lot-rwlock --kind rw"), 0), rw);
    }

    #[test]
    fn the_usual_peers_are_all_of_those_of_a_kind_of_cells_and_no_other() {
        let usual = |line| plan(line).has_usual_peers();
        assert!(usual("") && usual("--kind rw"));
        assert!(!usual("--peer std") && !usual("--peer std --kind rw"));
        let exclusive = usual_peers(Comparison::Owning).collect::<Vec<_>>().join(",");
        assert!(usual(&format!("--kind exclusive --peer {exclusive}")));
    }

    #[test]
    fn cells_with_readers_have_locks_that_readers_share_on_both_sides() {
        let of = |line: &str| {
            let plan = plan(line);
            let ours: Vec<_> = plan.ours_in(plan.cells[0]).map(Subject::name).collect();
            (ours, peers(&plan, 0))
        };
        let pthread = ["pthread-rwlock", "pthread-rwlock-writer"];
        let (ours, of_pthread) = of("--peer pthread --cell r50-cs1-t2");
        assert_eq!((&ours[..], &of_pthread[..]), (OURS_RW, &pthread[..]));
        assert_eq!(of("--peer std,pthread*rwlock* --cell read-pair-t2").1[0], "std-rwlock");
        let (ours, _) = of("--ours mutex,rwsem-v5_10,rwsem-v4_14 --kind rw");
        assert_eq!(ours, ["rwsem-v5_10", "rwsem-v4_14"]);
        assert_eq!(of("--ours rwsem-v5_10 --cell cs1-t2").0, ["rwsem-v5_10"]);
        assert_eq!(of("--peer std-rwlock --cell cs1-t2").1, ["std-rwlock"]);
    }

    #[test]
    fn cells_in_which_nobody_is_compared_are_left_out() {
        let kinds = |line: &str| {
            let plan = plan(line);
            let has = |readers| plan.cells.iter().any(|cell| cell.has_readers() == readers);
            (has(false), has(true))
        };
        assert_eq!(kinds(""), (true, true));
        assert_eq!(kinds("--peer std"), (true, true));
        assert_eq!(kinds("--peer pthread-adaptive"), (true, false));
        assert_eq!(kinds("--ours hybrid-lock"), (true, false));
        assert_eq!(kinds("--kind rw,pair --peer std-rwlock"), (true, true));
    }

    #[test]
    fn cells_with_readers_are_repeated_less_often_unless_it_is_said_how_often() {
        let runs = |line: &str| {
            let plan = plan(line);
            [CellKind::Exclusive, CellKind::Rw].map(|kind| (plan.runs(kind), plan.wait_runs(kind)))
        };
        assert_eq!(runs(""), [(10, 2), (6, 1)]);
        assert_eq!(runs("--quick"), [(6, 1), (4, 0)]);
        assert_eq!(runs("--quick --runs 3"), [(3, 1), (3, 0)]);
    }

    #[test]
    fn one_part_is_our_lock_for_any_mixture_against_reader_writer_locks_also_where_readers_sleep() {
        let plan = plan("--only rwlock --quick");
        assert_eq!(plan.ours().into_iter().map(Subject::name).collect::<Vec<_>>(), ["rwlock"]);
        let count = |kind| plan.cells.iter().filter(|cell| cell.kind() == kind).count();
        assert_eq!((count(CellKind::Rw), count(CellKind::Sleep)), (36, 216));
        assert_eq!(plan.cells.len(), 36 + 216);
        let shared = |at: usize| plan.peers_in(plan.cells[at]).all(|it| readers_share(it.subject));
        assert!((0..plan.cells.len()).all(shared));
        assert!(!super::tests::plan("").cells.iter().any(|cell| cell.kind() == CellKind::Sleep));
    }

    #[test]
    fn with_more_threads_than_cpus_a_queue_takes_part_only_if_it_was_named() {
        assert_eq!(peers(&plan("--peer tick*,std --cell cs1-t2"), 0), ["ticket", "std"]);
        assert_eq!(peers(&plan("--peer tick*,std --cell cs1-t4"), 0), ["std"]);
        assert_eq!(peers(&plan("--peer ticket --cell cs1-t4"), 0), ["ticket"]);
    }
}
