//! Word legality: every value a lock word ever has is a state of the lock's table.

use super::Checkers;
use crate::report::FailureKind;
use crate::switch::aside;

impl Checkers {
    /// `thread` has written `word` to a lock word in `line`.
    #[inline]
    pub fn word_written(&mut self, at_ps: u64, thread: usize, line: usize, word: u32) {
        if let Some(is_legal) = self.checks.word_is_legal
            && !aside(|| is_legal(word))
        {
            self.failed(at_ps, thread, FailureKind::IllegalWord { line, word });
        }
    }
}
