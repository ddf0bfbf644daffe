//! The count word, in its two historical forms.

use super::policy::Format;

/// Bits: a writer holds the lock.
pub const WRITER: u64 = 1;
/// Bits: a thread is in the wait list.
pub const WAITERS: u64 = 1 << 1;
/// Bits: the handoff: the first waiter is the next owner.
#[doc(alias = "RWSEM_FLAG_HANDOFF")]
pub const HANDOFF: u64 = 1 << 2;
/// Bits: one reader. Readers are counted in bits 8 to 62.
pub const READER: u64 = 1 << READER_SHIFT;
const READER_SHIFT: u32 = 8;
/// Bits: more readers than can be counted.
pub const GUARD: u64 = 1 << 63;
/// Bits: readers hold the lock, or try to.
pub const READERS_MASK: u64 = !(READER - 1);
/// Bits: a thread holds the lock, or a reader tries to.
pub const HELD_MASK: u64 = WRITER | READERS_MASK;
/// Bits: a reader that finds one of these must not go on.
pub const READER_WAITS_MASK: u64 = WRITER | WAITERS | HANDOFF | GUARD;

const _: () = assert!((WRITER | WAITERS | HANDOFF) & READERS_MASK == 0);
const _: () = assert!(HELD_MASK & (WAITERS | HANDOFF) == 0);

/// Biased: a reader. The lower half counts the threads that hold the lock and the attempts under way.
pub const ACTIVE: u64 = 1;

/// Returns the number of readers in a count of bits.
#[inline]
pub fn readers_in(count: u64) -> u64 {
    (count & !GUARD) / READER
}

/// Returns `true` if the biased count is negative: there is a writer, or a wait list.
#[inline(always)]
pub fn is_negative(count: u64) -> bool {
    (count as i64) < 0
}

impl Format {
    /// Returns `true` if a thread holds the lock, or tries to in a way that shows.
    #[inline(always)]
    pub const fn is_held(self, count: u64) -> bool {
        match self {
            Self::Bits => count & HELD_MASK != 0,
            Self::Biased(_) => self.active_in(count) != 0,
        }
    }
    /// Returns the number that a reader adds to the count.
    #[inline(always)]
    pub fn reader(self) -> u64 {
        match self {
            Self::Bits => READER,
            Self::Biased(_) => ACTIVE,
        }
    }
    /// Returns `true` if a reader that is in this count, or would be, may go on at once.
    #[inline(always)]
    pub fn lets_reader(self, count: u64) -> bool {
        match self {
            Self::Bits => count & READER_WAITS_MASK == 0,
            // Compared without a sign, a negative count is above every limit.
            Self::Biased(_) => count < self.readers_limit(),
        }
    }
    /// Returns the part of the count that is there while the wait list is not empty.
    pub const fn waiters(self) -> u64 {
        match self {
            Self::Bits => WAITERS,
            Self::Biased(half) => 0_u64.wrapping_sub(1 << half),
        }
    }
    /// Returns the number that a writer adds to the count.
    pub const fn writer(self) -> u64 {
        match self {
            Self::Bits => WRITER,
            Self::Biased(_) => self.waiters().wrapping_add(ACTIVE),
        }
    }
    /// Returns the number of readers that is one too many.
    pub const fn readers_limit(self) -> u64 {
        match self {
            Self::Bits => GUARD / READER,
            Self::Biased(half) => 1 << (half - 1),
        }
    }
    /// Biased: returns the number of threads that hold the lock, and of attempts.
    pub const fn active_in(self, count: u64) -> u64 {
        count & !self.waiters()
    }
    /// Returns `true` if the biased count says, while there is a wait list, that readers hold the lock or try to, and
    /// no writer does.
    pub fn is_above_waiting(self, count: u64) -> bool {
        (count as i64) > self.waiters() as i64
    }
    /// Returns `true` if the biased count says, while there is a wait list, that a writer holds the lock or tries to.
    pub fn is_below_waiting(self, count: u64) -> bool {
        (count as i64) < self.waiters() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_biased_states_are_told_apart_as_the_table_says() {
        for format in [Format::Biased(32), Format::Biased(16)] {
            let (waiting, write) = (format.waiters(), format.writer());
            let (readers, write_waiting) = (waiting.wrapping_add(3), write.wrapping_add(waiting));
            assert!(format.is_above_waiting(readers) && is_negative(readers));
            assert!(format.is_below_waiting(write_waiting));
            assert!(!format.is_above_waiting(write_waiting));
            assert!(!format.is_above_waiting(waiting) && !format.is_below_waiting(waiting));
            assert!(format.is_held(write) && !format.is_held(waiting));
            // One writer without a list looks like one reader with a list.
            assert_eq!(write, waiting.wrapping_add(ACTIVE));
        }
    }

    #[test]
    fn waiters_and_handoff_do_not_hold_the_lock() {
        assert!(!Format::Bits.is_held(WAITERS | HANDOFF));
        assert!(Format::Bits.is_held(WRITER) && Format::Bits.is_held(READER));
    }
}
