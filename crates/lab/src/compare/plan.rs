//! What a comparison runs, and for how long.

use super::args::{PEERS, bears_a_crowd, label};
use super::matrix::{Cell, Kind};
use crate::cell::Purpose;
use crate::subject::{Asked, Subject};
use serde::Serialize;

/// How much time there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Under three minutes.
    Quick,
    /// Under twenty.
    Full,
}

impl Effort {
    /// Repetitions in which operations are counted.
    pub const fn runs(self) -> u32 {
        match self {
            Self::Quick => 6,
            Self::Full => 10,
        }
    }
    /// Repetitions in which waits are timed.
    pub const fn wait_runs(self) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Full => 2,
        }
    }
    /// What all of it may take by the estimate: less than what was promised, because threads that spin
    /// without a CPU come back late.
    const fn budget_s(self) -> f64 {
        match self {
            Self::Quick => 140.0,
            Self::Full => 960.0,
        }
    }
    /// No repetition is longer than this because there is time left.
    const fn longest_s(self) -> f64 {
        match self {
            Self::Quick => 0.1,
            Self::Full => 0.3,
        }
    }
}

/// From so many threads on a repetition is longer: all of them have to have their slices in it.
const MANY_THREADS: usize = 16;
/// So many times as long.
const MANY_THREADS_FACTOR: u32 = 2;

/// Window for each thread where shares are compared: some seventy slices of each on two CPUs. Threads that
/// share nothing but the CPUs have had at least 0.7 of each other then; with a fifth of it, 0.4.
const SHARE_NS: u64 = 125_000_000;
/// But no more than this part of the time.
const SHARE_PART: f64 = 0.25;

/// What a repetition takes beside its window, at most: the warm-up, in parts of the window, ...
const WARM_UP: f64 = 0.25;
/// ... and starting and ending it, and each of its threads.
const RUN_S: f64 = 0.01;
const THREAD_S: f64 = 0.000_5;

/// A comparison to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Our lock.
    pub ours: Subject,
    /// Those it is compared with.
    pub peers: Vec<Asked>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// How much time there is.
    pub effort: Effort,
    /// Repetitions in which operations are counted.
    pub runs: u32,
    /// How long each repetition is, if that was asked for.
    pub asked_window_ns: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// CPUs of the machine.
    pub cpus: usize,
}

impl Plan {
    /// The peers that take part in a cell.
    pub fn peers_in(&self, cell: Cell) -> impl Iterator<Item = Asked> + '_ {
        let is_crowded = cell.threads > self.cpus;
        self.peers.iter().copied().filter(move |&peer| !is_crowded || bears_a_crowd(peer))
    }
    /// Whether all peers take part that the goals are about, and no other.
    pub fn has_usual_peers(&self) -> bool {
        let is_usual = |peer: &Asked| PEERS.contains(&peer.subject.name());
        self.peers.len() == PEERS.len() && self.peers.iter().all(is_usual)
    }
    /// How long a repetition of `cell` is.
    pub fn window_ns(&self, cell: Cell, purpose: Purpose) -> u64 {
        self.fixed_window_ns(cell, purpose).unwrap_or_else(|| {
            let base_s = self.base_window_s().min(self.effort.longest_s());
            (base_s * f64::from(factor(cell)) * 1e9) as u64
        })
    }
    /// How long it is if that does not depend on how much time there is.
    fn fixed_window_ns(&self, cell: Cell, purpose: Purpose) -> Option<u64> {
        let is_for_shares = purpose == Purpose::Latency && cell.is_for_shares();
        let for_shares_ns = || {
            let turns =
                (self.peers_in(cell).count() + 1) as f64 * f64::from(self.effort.wait_runs());
            let longest_ns = self.effort.budget_s() * SHARE_PART / turns * 1e9;
            (cell.threads as u64 * SHARE_NS).min(longest_ns as u64)
        };
        self.asked_window_ns.or_else(|| is_for_shares.then(for_shares_ns))
    }
    /// How long all of it takes.
    pub fn estimate_s(&self) -> f64 {
        let turn_s = |turn: Turn| {
            let window_s = self.window_ns(turn.cell, turn.purpose) as f64 * 1e-9;
            turn.count * (window_s * (1.0 + WARM_UP) + around_s(turn.cell))
        };
        self.turns().map(turn_s).sum()
    }
    /// The length of a repetition with few threads that would use up the time.
    fn base_window_s(&self) -> f64 {
        let (mut fixed_s, mut windows) = (0.0, 0.0);
        for turn in self.turns() {
            let window_s = match self.fixed_window_ns(turn.cell, turn.purpose) {
                Some(ns) => ns as f64 * 1e-9,
                None => {
                    windows += turn.count * f64::from(factor(turn.cell)) * (1.0 + WARM_UP);
                    0.0
                }
            };
            fixed_s += turn.count * (window_s * (1.0 + WARM_UP) + around_s(turn.cell));
        }
        (self.effort.budget_s() - fixed_s).max(1.0) / windows
    }
    /// Who has a turn how often.
    fn turns(&self) -> impl Iterator<Item = Turn> + '_ {
        self.cells.iter().flat_map(|&cell| {
            let is_pair = cell.kind() == Kind::Pair;
            let locks = self.peers_in(cell).count() + 1;
            // The floor beside the pairs, and one thread alone beside the cells that are compared with it.
            let beside = usize::from(is_pair || cell.has_single_thread());
            let wait_runs = if is_pair { 0 } else { self.effort.wait_runs() };
            let counted = (locks + beside) as f64 * f64::from(self.runs);
            let timed = locks as f64 * f64::from(wait_runs);
            [(counted, Purpose::Throughput), (timed, Purpose::Latency)]
                .map(|(count, purpose)| Turn { cell, purpose, count })
        })
    }
    /// In a sentence.
    pub fn described(&self) -> String {
        let peers: Vec<&str> = self.peers.iter().map(|peer| label(peer.subject)).collect();
        let windows =
            self.cells.iter().map(|&cell| self.window_ns(cell, Purpose::Throughput) as f64 * 1e-9);
        let (shortest, longest) =
            windows.fold((f64::MAX, 0.0), |(low, high), s| (f64::min(low, s), f64::max(high, s)));
        let seconds = match shortest == longest {
            true => format!("{shortest:.3} s"),
            false => format!("{shortest:.3} to {longest:.3} s"),
        };
        format!(
            "{} against {} in {} cells: {} repetitions of {seconds}, {} for waits; about {:.1} minutes",
            self.ours.name(),
            peers.join(", "),
            self.cells.len(),
            self.runs,
            self.effort.wait_runs(),
            self.estimate_s() / 60.0
        )
    }
}

/// Repetitions of a cell.
struct Turn {
    cell: Cell,
    purpose: Purpose,
    /// Of all locks together.
    count: f64,
}

/// How many times as long as with few threads.
fn factor(cell: Cell) -> u32 {
    if cell.threads >= MANY_THREADS { MANY_THREADS_FACTOR } else { 1 }
}

/// What starting and ending a repetition takes.
fn around_s(cell: Cell) -> f64 {
    RUN_S + THREAD_S * cell.threads as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::mock::MockMachine;
    use clap::Parser;

    fn plan(line: &str) -> Plan {
        let words = format!("lockwright compare {line}");
        let Some(Command::Compare(args)) = Cli::parse_from(words.split_whitespace()).command else {
            panic!("`compare` is a command");
        };
        args.plan(&MockMachine::default()).expect("a sound plan")
    }

    fn peers(plan: &Plan, cell: usize) -> Vec<&'static str> {
        plan.peers_in(plan.cells[cell]).map(|peer| label(peer.subject)).collect()
    }

    #[test]
    fn quick_is_under_three_minutes_and_full_under_twenty_with_any_number_of_peers() {
        for line in ["", "--peer *"] {
            assert!(plan(&format!("--quick {line}")).estimate_s() <= 150.0, "{line}");
            assert!(plan(line).estimate_s() <= 1_000.0, "{line}");
        }
    }

    #[test]
    fn a_small_selection_is_not_stretched_to_fill_the_time() {
        let small = plan("--cells cs1-t2 --peer std");
        assert!(small.estimate_s() < 15.0, "{}", small.estimate_s());
        let windows = ["cs1-t2", "cs1-t32"].map(|cell| {
            let plan = plan(&format!("--cells {cell} --peer std"));
            plan.window_ns(plan.cells[0], Purpose::Throughput)
        });
        assert!(windows[1] > windows[0], "{windows:?}");
    }

    #[test]
    fn parking_lot_is_two_versions_and_each_has_a_name_of_its_own() {
        assert_eq!(peers(&plan("--peer parking_lot"), 0), ["parking_lot-0.12", "parking_lot-0.13"]);
        assert_eq!(peers(&plan("--peer parking_lot-0.12"), 0), ["parking_lot-0.12"]);
        assert!(plan("").has_usual_peers() && !plan("--peer std").has_usual_peers());
    }

    #[test]
    fn in_a_crowd_a_queue_takes_part_only_if_it_was_named() {
        assert_eq!(peers(&plan("--peer tick*,std --cells cs1-t2"), 0), ["ticket", "std"]);
        assert_eq!(peers(&plan("--peer tick*,std --cells cs1-t4"), 0), ["std"]);
        assert_eq!(peers(&plan("--peer ticket --cells cs1-t4"), 0), ["ticket"]);
    }
}
