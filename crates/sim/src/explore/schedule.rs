//! Schedules as text: one word of any shell.

use super::choice::{Action, Move};
use core::fmt;
use core::str::FromStr;

/// The moves of a run, and which of the settings of an exploration it had.
///
/// As text: the variation's number, a colon, and the moves in order.
///
/// | text | move |
/// |---|---|
/// | `a`, `b`, ... | a step of thread 0, 1, ... |
/// | `A`, `B`, ... | a commit of its store buffer |
/// | `_a` | its wait has run out of time |
/// | `.a` | it wakes up for no reason |
/// | `-a` | it loses its CPU |
/// | `+a` | it gets a CPU again |
/// | `@a` | a signal interrupts it |
/// | `%a` | it forks, and what follows is in the child |
///
/// A number after a move says how often it happens in a row: in `0:a12b3A` thread 0 takes 12 steps, thread 1 three, and
/// then a store of thread 0 becomes visible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Which settings, counted from 0.
    pub variation: usize,
    /// What happened, in order.
    pub moves: Vec<Move>,
}

/// Threads that have a letter.
pub const THREADS_MAX: usize = 26;

impl Schedule {
    /// How often another thread comes on than the one before.
    pub fn switches(&self) -> usize {
        switches(&self.moves)
    }
}

/// How often another thread comes on than the one before.
pub fn switches(moves: &[Move]) -> usize {
    moves.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}

fn sign(action: Action) -> Option<char> {
    match action {
        Action::Step | Action::Commit => None,
        Action::TimeOut => Some('_'),
        Action::WakeUp => Some('.'),
        Action::Preempt => Some('-'),
        Action::Dispatch => Some('+'),
        Action::Signal => Some('@'),
        Action::Fork => Some('%'),
    }
}

/// The letter of a thread in a schedule.
pub fn letter(thread: usize) -> char {
    char::from(b'a'.saturating_add(thread as u8))
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, action } = *self;
        if let Some(sign) = sign(action) {
            write!(f, "{sign}")?;
        }
        let letter = letter(thread.into());
        write!(f, "{}", if action == Action::Commit { letter.to_ascii_uppercase() } else { letter })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.variation)?;
        for run in self.moves.chunk_by(|one, next| one == next) {
            write!(f, "{}", run[0])?;
            if run.len() > 1 {
                write!(f, "{}", run.len())?;
            }
        }
        Ok(())
    }
}

/// Why a text is no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotASchedule {
    /// What stands where something else should.
    what: String,
}

impl fmt::Display for NotASchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not belong in a schedule, which looks like `0:a12b3A`", self.what)
    }
}

impl core::error::Error for NotASchedule {}

/// Moves of the longest schedule that is read.
const MOVES_MAX: usize = 10_000_000;

impl FromStr for Schedule {
    type Err = NotASchedule;

    fn from_str(text: &str) -> Result<Self, NotASchedule> {
        let wrong = |part: &str| {
            let at = part.as_ptr().addr() - text.as_ptr().addr();
            let number = text[..at].chars().count() + 1;
            let what = match part.chars().next() {
                None => "the end of the text".to_owned(),
                Some(c) if c.is_control() => format!("character {number}, a control character,"),
                Some(c) => format!("`{c}` (character {number})"),
            };
            NotASchedule { what }
        };
        let (variation, mut rest) = text.split_once(':').ok_or_else(|| wrong(text))?;
        let variation = variation.parse().map_err(|_| wrong(variation))?;
        let mut moves = Vec::new();
        while !rest.is_empty() {
            let (what, after) = one_move(rest).ok_or_else(|| wrong(rest))?;
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let count = match &after[..digits] {
                "" => 1,
                number => number.parse().map_err(|_| wrong(number))?,
            };
            if count == 0 || count > MOVES_MAX - moves.len() {
                return Err(wrong(after));
            }
            moves.extend(core::iter::repeat_n(what, count));
            rest = &after[digits..];
        }
        Ok(Self { variation, moves })
    }
}

/// The move at the beginning of `text`, and what follows.
fn one_move(text: &str) -> Option<(Move, &str)> {
    let first = text.chars().next()?;
    let signed = Action::ALL.iter().find(|action| sign(**action) == Some(first));
    let after = if signed.is_some() { &text[1..] } else { text };
    let letter = after.chars().next().filter(char::is_ascii_alphabetic)?;
    let action = match (signed, letter.is_ascii_uppercase()) {
        (Some(action), false) => *action,
        (None, false) => Action::Step,
        (None, true) => Action::Commit,
        (Some(_), true) => return None,
    };
    let thread = u16::from(letter.to_ascii_lowercase() as u8 - b'a');
    Some((Move { thread, action }, &after[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_as_it_was_written() {
        let mut moves = Vec::new();
        for &action in Action::ALL {
            for (thread, count) in [(0, 1), (25, 12), (3, 2)] {
                moves.extend([Move { thread, action }].repeat(count));
            }
        }
        let schedule = Schedule { variation: 7, moves };
        let text = schedule.to_string();
        assert_eq!(text.parse(), Ok(schedule));
        assert!(text.starts_with("7:az12d2AZ12D2_a_z12"), "{text}");
        assert!(text.chars().all(|c| c.is_alphanumeric() || "-_./+,:@%".contains(c)), "{text}");
    }

    #[test]
    fn a_garbled_schedule_is_refused() {
        for text in
            ["", "abc", ":a", "x:a", "0:a?", "0:12", "0:a0", "0:-A", "0:a99999999999", "0:é"]
        {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
        assert_eq!("3:".parse(), Ok(Schedule { variation: 3, moves: Vec::new() }));
    }
}
