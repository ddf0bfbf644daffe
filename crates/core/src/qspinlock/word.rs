//! The lock word: its layout, its constants and its legal states. Raw masks appear only here.

use crate::queue::TailCode;
use core::fmt;

/// The width of the locked byte.
const LOCKED_BITS: u32 = 8;
/// The width of the pending byte. It has one bit of information, and is a byte so that it can be stored alone.
const PENDING_BITS: u32 = 8;
/// The width of the tail: 2 bits of nesting index, 14 bits of CPU + 1.
const TAIL_BITS: u32 = 16;

const PENDING_SHIFT: u32 = LOCKED_BITS;
const TAIL_SHIFT: u32 = LOCKED_BITS + PENDING_BITS;
const LOCKED_MASK: u32 = (1 << LOCKED_BITS) - 1;
const PENDING_MASK: u32 = ((1 << PENDING_BITS) - 1) << PENDING_SHIFT;
const LOCKED_PENDING_MASK: u32 = LOCKED_MASK | PENDING_MASK;

const _: () = assert!(TAIL_SHIFT + TAIL_BITS == u32::BITS, "the parts tile the word");

/// The value of the locked byte while a thread holds the lock.
pub const LOCKED: u8 = 1;
/// The value of the locked byte while a thread holds the lock and the head of the queue sleeps. Only waiting policies
/// that sleep write it.
pub const SLOW: u8 = 3;
/// The pending bit, in place.
pub const PENDING: u32 = 1 << PENDING_SHIFT;
/// `(*, 0, 1)`: the lower half of a held lock without a pending waiter.
pub const LOCKED_HALF: u16 = LOCKED as u16;

/// A value of the lock word: `(tail, pending, locked)`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Word(u32);

impl Word {
    /// `(0, 0, 0)`: free.
    pub const FREE: Self = Self(0);
    /// `(0, 0, 1)`: held, and no thread waits.
    pub const HELD: Self = Self(LOCKED as u32);
    /// `(0, 1, 0)`: the owner has gone, and the pending waiter is about to take over.
    pub(crate) const HANDED_TO_PENDING: Self = Self(PENDING);

    /// Returns the word with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
    /// Returns the bits of this word.
    pub const fn bits(self) -> u32 {
        self.0
    }
    /// Returns the word with this queue and this lower half.
    pub(crate) const fn with_tail(tail: TailCode, lower_half: u16) -> Self {
        Self((tail.bits() as u32) << TAIL_SHIFT | lower_half as u32)
    }
    /// Returns the lower half, `(pending, locked)`.
    pub(crate) const fn lower_half(self) -> u16 {
        self.0 as u16
    }
    /// Returns the newest waiter in the queue.
    pub const fn tail(self) -> TailCode {
        TailCode::from_bits((self.0 >> TAIL_SHIFT) as u16)
    }
    /// Returns `true` if the pending bit is set.
    pub const fn is_pending(self) -> bool {
        self.0 & PENDING_MASK != 0
    }
    /// Returns `true` if a thread holds the lock.
    pub const fn is_locked(self) -> bool {
        self.0 & LOCKED_MASK != 0
    }
    /// Returns `true` if this is `(*, 0, 0)`: the head of the queue may take the lock.
    pub const fn is_free_for_head(self) -> bool {
        self.0 & LOCKED_PENDING_MASK == 0
    }
    /// Returns `true` if this is `(0, 0, *)`: no thread waits.
    pub const fn has_no_waiter(self) -> bool {
        self.0 & !LOCKED_MASK == 0
    }
    /// Returns the word without the queue and the pending bit, and so without a head that sleeps.
    pub(crate) const fn without_waiters(self) -> Self {
        if self.is_locked() { Self::HELD } else { Self::FREE }
    }
    /// Returns the word without the pending bit.
    pub(crate) const fn without_pending(self) -> Self {
        Self(self.0 & !PENDING_MASK)
    }
    /// Returns `true` if this is a row of the state table.
    pub const fn is_legal(self) -> bool {
        let locked = (self.0 & LOCKED_MASK) as u8;
        let tail = self.tail();
        (locked == 0 || locked == LOCKED || locked == SLOW)
            && self.0 & PENDING_MASK & !PENDING == 0
            && (tail.bits() == 0 || tail.node().is_some())
            && (locked != SLOW || tail.bits() != 0)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        match self.tail().node() {
            Some(id) => {
                let per_cpu = crate::queue::NODES_PER_CPU;
                write!(f, "tail {}.{}", id.number() / per_cpu, id.number() % per_cpu)?;
            }
            None => write!(f, "tail {}", self.tail().bits())?,
        }
        f.write_str(if self.is_pending() { ", pending" } else { ", -" })?;
        match (self.0 & LOCKED_MASK) as u8 {
            0 => f.write_str(", -)"),
            LOCKED => f.write_str(", locked)"),
            SLOW => f.write_str(", slow)"),
            other => write!(f, ", locked byte {other})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::NodeId;

    #[test]
    fn the_layout_is_the_kernels_bit_for_bit() {
        let id = NodeId::new(3 * 4 + 2);
        let word = Word::with_tail(id.code(), LOCKED.into());
        assert_eq!(word.bits(), 4 << 18 | 2 << 16 | 1);
        assert_eq!(word.tail().node(), Some(id));
        assert_eq!(PENDING, 1 << 8);
        assert_eq!(Word::HANDED_TO_PENDING.bits(), 0x100);
    }

    #[test]
    fn legality_is_the_state_table() {
        let tail = 1 << 18;
        for legal in [0, 1, PENDING, PENDING | 1, tail, tail | 1, tail | PENDING | 1, tail | 3] {
            assert!(Word::from_bits(legal).is_legal(), "{legal:#x}");
        }
        for illegal in [2, 3, 4, 0x200, 0x201, 1 << 16, 3 << 16 | 1, tail | 0xff] {
            assert!(!Word::from_bits(illegal).is_legal(), "{illegal:#x}");
        }
    }

    #[test]
    fn debug_prints_the_fields() {
        extern crate std;
        let word = Word::with_tail(NodeId::new(12).code(), LOCKED.into());
        assert_eq!(std::format!("{word:?}"), "(tail 3.0, -, locked)");
        assert_eq!(std::format!("{:?}", Word::HANDED_TO_PENDING), "(tail 0, pending, -)");
    }
}
