//! Free-on-acquire: no thread touches an object after its last user has freed it.

use super::{Checkers, LINE_BYTES};
use crate::report::FailureKind;
use core::ops::Range;

/// What was freed.
pub struct Freed {
    /// Offsets into the arena.
    bytes: Range<usize>,
    /// The thread that did it: its earlier stores may still be on their way.
    by: usize,
}

impl Checkers {
    /// `thread` frees the bytes at these offsets into the arena.
    pub fn freed(&mut self, thread: usize, bytes: Range<usize>) {
        if !self.are_done {
            self.freed.push(Freed { bytes, by: thread });
        }
    }
    /// `thread` reads or exchanges the cell at `offset`.
    #[inline]
    pub fn touched(&mut self, at_ps: u64, thread: usize, offset: usize) {
        if !self.freed.is_empty() {
            self.touched_beside_freed(at_ps, thread, offset, false);
        }
    }
    /// A store of `thread` to the cell at `offset` becomes visible.
    #[inline]
    pub fn committed(&mut self, at_ps: u64, thread: usize, offset: usize) {
        if !self.freed.is_empty() {
            self.touched_beside_freed(at_ps, thread, offset, true);
        }
    }
    #[cold]
    fn touched_beside_freed(&mut self, at_ps: u64, thread: usize, offset: usize, is_late: bool) {
        let is_hit = |it: &Freed| it.bytes.contains(&offset) && !(is_late && it.by == thread);
        if self.freed.iter().any(is_hit) {
            self.failed(at_ps, thread, FailureKind::Freed { line: offset / LINE_BYTES });
        }
    }
}
