//! Makes a schedule that fails easier to read.

use super::choice::{Action, Move};
use super::schedule::switches;

/// How many schedules are tried, and how many of those may fail (which costs memory).
const ATTEMPTS_MAX: u32 = 2_000;
const FAILURES_MAX: u32 = 200;

/// A schedule that fails like `moves` with fewer disturbances, switches and moves, as far as that is
/// found with bounded effort.
///
/// `attempt` runs a schedule as far as it is possible, and on by itself; it returns the moves there
/// really were if they fail in the same way.
pub fn shortened(
    moves: Vec<Move>,
    attempt: impl FnMut(Vec<Move>) -> Option<Vec<Move>>,
) -> Vec<Move> {
    let mut search = Search { best: moves, attempt, attempts: 0, failures: 0 };
    let beginnings: Vec<_> = eighths(&search.best).map(<[Move]>::to_vec).collect();
    beginnings.into_iter().any(|beginning| search.improves(beginning));
    while search.pass(same_thread) | search.pass(same_move) {}
    search.best
}

/// The beginning of a schedule that goes round in circles, as far as it decides that it does.
pub fn beginning(moves: Vec<Move>, mut fails: impl FnMut(&[Move]) -> bool) -> Vec<Move> {
    let decides = eighths(&moves).find(|beginning| fails(beginning));
    decides.map(<[Move]>::to_vec).unwrap_or(moves)
}

/// Beginnings, shortest first: often no more than that decides.
fn eighths(moves: &[Move]) -> impl Iterator<Item = &[Move]> {
    (0..8).map(|part| &moves[..moves.len() * part / 8])
}

/// Returns true if two moves in a row belong to one block.
type Joins = fn(&Move, &Move) -> bool;

fn same_thread(one: &Move, next: &Move) -> bool {
    one.thread == next.thread
}

fn same_move(one: &Move, next: &Move) -> bool {
    one == next
}

struct Search<F> {
    best: Vec<Move>,
    attempt: F,
    attempts: u32,
    failures: u32,
}

impl<F: FnMut(Vec<Move>) -> Option<Vec<Move>>> Search<F> {
    /// Tries a candidate, and keeps it if it is better than the best one.
    fn improves(&mut self, candidate: Vec<Move>) -> bool {
        if self.attempts == ATTEMPTS_MAX || self.failures == FAILURES_MAX {
            return false;
        }
        self.attempts += 1;
        let Some(moves) = (self.attempt)(candidate) else { return false };
        self.failures += 1;
        let is_better = weight(&moves) < weight(&self.best);
        if is_better {
            self.best = moves;
        }
        is_better
    }
    /// Tries to do without each block, and to join it to another one. Returns true if that helped.
    fn pass(&mut self, joins: Joins) -> bool {
        let mut has_improved = false;
        let mut at = 0;
        loop {
            let blocks: Vec<&[Move]> = self.best.chunk_by(joins).collect();
            if at >= blocks.len() {
                return has_improved;
            }
            if simpler(&blocks, at).into_iter().any(|candidate| self.improves(candidate)) {
                has_improved = true;
            } else {
                at += 1;
            }
        }
    }
}

/// Less is easier to read.
fn weight(moves: &[Move]) -> (usize, usize, usize, usize) {
    let is_disturbance = |what: &&Move| !what.action.is_regular();
    let disturbances = moves.iter().filter(is_disturbance).count();
    (disturbances, switches(moves), moves.chunk_by(same_move).count(), moves.len())
}

/// The schedule without block `at` (and what undoes it), and with the block moved to the next or the
/// previous one of its thread.
fn simpler(blocks: &[&[Move]], at: usize) -> Vec<Vec<Move>> {
    let what = blocks[at][0];
    let without = |gone: &dyn Fn(usize) -> bool| {
        let kept = blocks.iter().enumerate().filter(|(index, _)| !gone(*index));
        kept.flat_map(|(_, block)| block.iter().copied()).collect::<Vec<_>>()
    };
    let mut candidates = vec![without(&|index| index == at)];
    if what.action == Action::Preempt {
        let end = Move { action: Action::Dispatch, ..what };
        let end = (at..blocks.len()).find(|&index| blocks[index][0] == end);
        candidates.push(without(&|index| index == at || Some(index) == end));
    }
    let joined = |order: Vec<usize>| {
        order.into_iter().flat_map(|index| blocks[index].iter().copied()).collect()
    };
    let is_his = |&index: &usize| blocks[index][0].thread == what.thread;
    if let Some(later) = (at + 1..blocks.len()).find(is_his) {
        let order = (0..at).chain(at + 1..later).chain([at]).chain(later..blocks.len());
        candidates.push(joined(order.collect()));
    }
    if let Some(earlier) = (0..at).rev().find(is_his) {
        let order = (0..=earlier).chain([at]).chain(earlier + 1..at).chain(at + 1..blocks.len());
        candidates.push(joined(order.collect()));
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Schedule;

    fn moves(text: &str) -> Vec<Move> {
        text.parse::<Schedule>().expect("a schedule").moves
    }

    #[test]
    fn what_does_not_matter_is_dropped_and_switches_are_joined() {
        // Fails if thread 1 has done two steps before the first of thread 2.
        let fails = |moves: Vec<Move>| {
            let at = moves.iter().position(|what| what.thread == 2)?;
            let before = moves[..at].iter().filter(|what| what.thread == 1).count();
            (before >= 2).then_some(moves)
        };
        assert_eq!(shortened(moves("0:abab-d3+dcacb5"), fails), moves("0:b2c"));
    }

    #[test]
    fn the_effort_is_bounded() {
        let mut attempts = 0;
        let fails = |_: Vec<Move>| {
            attempts += 1;
            None
        };
        let long = moves(&format!("0:{}", "ab".repeat(1000)));
        assert_eq!(shortened(long.clone(), fails), long);
        assert_eq!(attempts, ATTEMPTS_MAX);
    }
}
