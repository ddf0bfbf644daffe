//! Makes a schedule that fails easier to read.

use super::choice::{Action, Move};

/// How many schedules are tried.
const ATTEMPTS_MAX: u32 = 300;

/// A schedule that fails like `moves` with fewer disturbances, switches and moves, as far as that is
/// found with bounded effort.
///
/// `attempt` runs a schedule as far as it is possible, and on by itself; it returns the moves there
/// really were if they fail in the same way.
pub fn shortened(
    moves: Vec<Move>,
    mut attempt: impl FnMut(Vec<Move>) -> Option<Vec<Move>>,
) -> Vec<Move> {
    let mut left = ATTEMPTS_MAX;
    let mut best = moves;
    let mut improves = |best: &mut Vec<Move>, candidate: Vec<Move>| {
        if left == 0 {
            return false;
        }
        left -= 1;
        let better = attempt(candidate).filter(|moves| weight(moves) < weight(best));
        better.map(|moves| *best = moves).is_some()
    };
    let eighths: Vec<_> = eighths(&best).map(<[Move]>::to_vec).collect();
    eighths.into_iter().any(|beginning| improves(&mut best, beginning));
    loop {
        let mut has_improved = false;
        let mut at = 0;
        while at < blocks(&best).len() {
            let candidates = simpler(&blocks(&best), at);
            if candidates.into_iter().any(|candidate| improves(&mut best, candidate)) {
                has_improved = true;
            } else {
                at += 1;
            }
        }
        if !has_improved {
            return best;
        }
    }
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

/// Less is easier to read.
fn weight(moves: &[Move]) -> (usize, usize, usize) {
    let is_disturbance = |what: &&Move| !what.action.is_regular();
    (moves.iter().filter(is_disturbance).count(), blocks(moves).len(), moves.len())
}

/// The moves, cut where another actor comes on.
fn blocks(moves: &[Move]) -> Vec<&[Move]> {
    moves.chunk_by(|one, next| one == next).collect()
}

/// The schedule without block `at` (and what undoes it), and with the block moved to the next or the
/// previous one of its kind.
fn simpler(blocks: &[&[Move]], at: usize) -> Vec<Vec<Move>> {
    let what = blocks[at][0];
    let without = |gone: &dyn Fn(usize) -> bool| {
        let kept = blocks.iter().enumerate().filter(|(index, _)| !gone(*index));
        kept.flat_map(|(_, block)| block.iter().copied()).collect::<Vec<_>>()
    };
    if what.action == Action::Preempt {
        let end = Move { action: Action::Dispatch, ..what };
        let end = (at..blocks.len()).find(|&index| blocks[index][0] == end);
        return vec![without(&|index| index == at || Some(index) == end)];
    }
    let mut candidates = vec![without(&|index| index == at)];
    let joined = |order: Vec<usize>| {
        order.into_iter().flat_map(|index| blocks[index].iter().copied()).collect()
    };
    if let Some(later) = (at + 1..blocks.len()).find(|&index| blocks[index][0] == what) {
        let order = (0..at).chain(at + 1..later).chain([at]).chain(later..blocks.len());
        candidates.push(joined(order.collect()));
    }
    if let Some(earlier) = (0..at).rev().find(|&index| blocks[index][0] == what) {
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
