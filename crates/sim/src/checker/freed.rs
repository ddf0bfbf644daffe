//! Free-on-acquire: no thread touches an object after its last user has freed it.

use core::ops::Range;

/// What was freed.
#[derive(Default)]
pub struct Freed(Vec<FreedObject>);

struct FreedObject {
    /// Offsets into the arena.
    bytes: Range<usize>,
    /// The thread that did it: its earlier stores may still be on their way.
    by: usize,
}

impl Freed {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// `thread` frees the bytes at these offsets into the arena.
    pub fn add(&mut self, thread: usize, bytes: Range<usize>) {
        self.0.push(FreedObject { bytes, by: thread });
    }
    /// Returns true if `thread` must not touch the byte at `offset`; `is_store` if it is a store that becomes visible.
    pub fn has(&self, thread: usize, offset: usize, is_store: bool) -> bool {
        self.0.iter().any(|it| it.bytes.contains(&offset) && !(is_store && it.by == thread))
    }
}
