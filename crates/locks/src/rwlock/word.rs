//! The word of the lock.

use crate::line;
use crate::park::HoldMode;

/// A writer holds the lock.
pub(crate) const WRITER: u32 = 1 << 4;
/// A writer spins for the lock: newcomers that read let it in first, for a moment.
pub(crate) const PENDING: u32 = 1 << 5;
/// The lock is reserved for the head of the line.
pub(crate) const RESERVED: u32 = 1 << 6;
/// One reader. Readers are counted in bits 8 to 30.
pub(crate) const READER: u32 = 1 << 8;
/// More readers than can be counted.
pub(crate) const GUARD: u32 = 1 << 31;
/// Readers hold the lock.
pub(crate) const READERS: u32 = !(READER - 1);
/// Somebody holds the lock.
pub(crate) const HELD: u32 = WRITER | READERS;

const _: () = assert!(line::FLAGS & (HELD | PENDING | RESERVED) == 0);

/// What the head of the line sleeps as, if it reads.
pub(crate) const HEAD_READS: u32 = line::LINE_KIND << 1;
/// The same, if it writes.
pub(crate) const HEAD_WRITES: u32 = line::LINE_KIND << 2;

impl HoldMode {
    /// What must not be in the word for the head of the line to take the lock.
    #[inline(always)]
    pub(crate) const fn held_against(self) -> u32 {
        match self {
            Self::Reader => WRITER | GUARD,
            Self::Writer => HELD,
        }
    }
    #[inline(always)]
    pub(crate) const fn is_reader(self) -> bool {
        matches!(self, Self::Reader)
    }
    /// The word when the lock is taken that had this one.
    #[inline(always)]
    pub(crate) const fn taken(self, word: u32) -> u32 {
        match self {
            Self::Reader => (word & !PENDING) + READER,
            Self::Writer => (word & !PENDING) | WRITER,
        }
    }
}
