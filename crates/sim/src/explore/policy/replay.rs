//! A schedule again.

use super::pick::SchedulePolicy;
use crate::explore::choice::{Choice, Move};

/// Moves to be done again.
pub enum Replayed {
    /// Giving up at one that is not possible.
    Exactly(Vec<Move>),
    /// Leaving out what is not possible.
    AsFarAsPossible(Vec<Move>),
}

impl Replayed {
    pub fn len(&self) -> usize {
        let (Self::Exactly(moves) | Self::AsFarAsPossible(moves)) = self;
        moves.len()
    }
}

/// The moves of a list; after its end, whatever keeps switches few.
pub struct Replay {
    moves: Vec<Move>,
    is_strict: bool,
    at: usize,
    last: usize,
}

impl Replay {
    pub fn new(moves: Replayed) -> Self {
        let is_strict = matches!(moves, Replayed::Exactly(_));
        let (Replayed::Exactly(moves) | Replayed::AsFarAsPossible(moves)) = moves;
        Self { moves, is_strict, at: 0, last: 0 }
    }
    /// Goes on with the same actor, or with the next one that can.
    fn by_itself(&self, choices: &[Choice]) -> Option<usize> {
        let distance = |choice: &Choice| {
            let is_last = choice.actor() == self.last && !choice.is_yield;
            let turn = choice.actor().wrapping_sub(self.last + 1);
            (!choice.action().is_regular(), !is_last, turn)
        };
        let possible = choices.iter().enumerate().filter(|(_, choice)| !choice.action().is_fault());
        possible.min_by_key(|(_, choice)| distance(choice)).map(|(index, _)| index)
    }
}

impl SchedulePolicy for Replay {
    fn begin(&mut self) -> bool {
        (self.at, self.last) = (0, 0);
        true
    }
    fn pick(&mut self, choices: &[Choice], _step: u64) -> Option<usize> {
        while let Some(&wanted) = self.moves.get(self.at) {
            self.at += 1;
            if let Some(chosen) = choices.iter().position(|choice| choice.what == wanted) {
                self.last = choices[chosen].actor();
                return Some(chosen);
            }
            if self.is_strict {
                return None;
            }
        }
        let chosen = self.by_itself(choices)?;
        self.last = choices[chosen].actor();
        Some(chosen)
    }
}
