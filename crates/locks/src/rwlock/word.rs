//! The word of the lock.

use crate::line;
use crate::park::HoldMode;

/// A waiter may sleep that was not woken before.
pub(crate) const SLEEPERS: u32 = 1 << 0;
/// The lock is reserved for waiters. Under `Fair`: there is a waiter.
pub(crate) const RESERVED: u32 = 1 << 1;
/// Some of those that sleep may read.
pub(crate) const READERS_SLEEP: u32 = 1 << 2;
/// A waiter may sleep that was woken before, or has waited for long.
pub(crate) const WOKEN: u32 = 1 << 3;
/// A writer holds the lock.
pub(crate) const WRITER: u32 = 1 << 4;
/// A writer spins for the lock: newcomers that read let it in first, for a moment.
pub(crate) const PENDING: u32 = 1 << 5;
/// One reader. Readers are counted in bits 8 to 30.
pub(crate) const READER: u32 = 1 << 8;
/// More readers than can be counted.
pub(crate) const GUARD: u32 = 1 << 31;
/// Readers hold the lock.
pub(crate) const READERS: u32 = !(READER - 1);
/// Somebody holds the lock.
pub(crate) const HELD: u32 = WRITER | READERS;
/// A release that leaves the lock free has to wake a waiter. It need not do so again when the lock was taken since.
pub(crate) const WAKES: u32 = SLEEPERS | WOKEN;

const _: () = assert!(RESERVED == line::HEAD && line::FLAGS & (HELD | PENDING) == 0);

/// What the head of the line sleeps as, if it reads.
pub(crate) const HEAD_READS: u32 = line::LINE_KIND << 1;
/// The same, if it writes.
pub(crate) const HEAD_WRITES: u32 = line::LINE_KIND << 2;

impl HoldMode {
    /// What must not be in the word for a waiter to take the lock that was woken.
    #[inline(always)]
    pub(crate) const fn held_against(self) -> u32 {
        match self {
            Self::Reader => WRITER | GUARD,
            Self::Writer => HELD,
        }
    }
    /// What must not be in the word for a newcomer to take it.
    #[inline(always)]
    pub(crate) const fn against_newcomer(self) -> u32 {
        match self {
            Self::Reader => self.held_against() | RESERVED | PENDING,
            Self::Writer => self.held_against() | RESERVED,
        }
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
