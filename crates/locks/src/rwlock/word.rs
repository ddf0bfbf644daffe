//! The word of the lock.

use crate::park::LockMode;

/// A writer holds the lock.
pub(crate) const WRITER: u32 = 1;
/// The first waiter sleeps: a release that leaves the lock free has to wake it.
pub(crate) const SLEEPER: u32 = 1 << 1;
/// The lock is reserved for the first waiter.
pub(crate) const RESERVED: u32 = 1 << 2;
/// A writer spins for the lock. Newly arriving readers let it in first, for a moment.
pub(crate) const PENDING: u32 = 1 << 3;
/// The thread that may become the writer reads, or waits until it can write. Meanwhile no thread writes, and no other
/// thread takes the lock in this way. While it reads, it is counted as one of the readers.
pub(crate) const UPGRADABLE: u32 = 1 << 4;
/// One reader. Readers are counted in bits 8 to 30.
pub(crate) const READER: u32 = 1 << 8;
/// More readers hold the lock than can be counted.
pub(crate) const GUARD: u32 = 1 << 31;
/// Any of these bits is set while readers hold the lock.
pub(crate) const READERS: u32 = !(READER - 1);
/// Any of these bits is set while a thread holds the lock.
pub(crate) const HELD: u32 = WRITER | UPGRADABLE | READERS;

/// The bits of the word that matter to a kind of holder.
pub(crate) trait InWord {
    /// Returns the bits that keep the first waiter from taking the lock.
    fn held_against(self) -> u32;
    /// Returns the bits that keep a newcomer from taking the lock.
    fn against_newcomer(self) -> u32;
    /// Returns the new word of the lock, after a thread took it that saw `word`.
    fn taken(self, word: u32) -> u32;
}

impl InWord for LockMode {
    #[inline(always)]
    fn held_against(self) -> u32 {
        match self {
            Self::Reader => WRITER | GUARD,
            Self::Upgradable => WRITER | UPGRADABLE | GUARD,
            Self::Upgrader => READERS,
            Self::Writer => HELD,
        }
    }
    #[inline(always)]
    fn against_newcomer(self) -> u32 {
        match self {
            Self::Reader | Self::Upgradable => self.held_against() | RESERVED | PENDING,
            Self::Upgrader | Self::Writer => self.held_against() | RESERVED,
        }
    }
    #[inline(always)]
    fn taken(self, word: u32) -> u32 {
        let word = word & !PENDING;
        match self {
            Self::Reader => word + READER,
            Self::Upgradable => (word + READER) | UPGRADABLE,
            Self::Upgrader => word & !UPGRADABLE | WRITER,
            Self::Writer => word | WRITER,
        }
    }
}
