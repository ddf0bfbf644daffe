//! The lock word: layout, constants, legality. Raw masks appear here only.

use crate::queue::TailCode;
use core::fmt;

/// Width of the locked byte.
const LOCKED_BITS: u32 = 8;
/// Width of the pending bit.
const PENDING_BITS: u32 = 1;
/// Width of the type bit.
const TYPE_BITS: u32 = 1;
/// Width of the mode.
const MODE_BITS: u32 = 2;
/// Bits that are never set.
const UNUSED_BITS: u32 = 4;
/// Width of the tail.
const TAIL_BITS: u32 = 16;

const PENDING_SHIFT: u32 = LOCKED_BITS;
const TYPE_SHIFT: u32 = PENDING_SHIFT + PENDING_BITS;
const MODE_SHIFT: u32 = TYPE_SHIFT + TYPE_BITS;
const UNUSED_SHIFT: u32 = MODE_SHIFT + MODE_BITS;
const TAIL_SHIFT: u32 = UNUSED_SHIFT + UNUSED_BITS;
const LOCKED_MASK: u32 = (1 << LOCKED_BITS) - 1;
const MODE_MASK: u32 = ((1 << MODE_BITS) - 1) << MODE_SHIFT;
const UNUSED_MASK: u32 = ((1 << UNUSED_BITS) - 1) << UNUSED_SHIFT;
const TAIL_MASK: u32 = ((1 << TAIL_BITS) - 1) << TAIL_SHIFT;

const _: () = assert!(TAIL_SHIFT + TAIL_BITS == u32::BITS, "the parts tile the word");

/// Value of the locked byte while a thread holds the lock.
pub const LOCKED: u8 = 1;
/// The pending bit, in place.
pub const PENDING: u32 = 1 << PENDING_SHIFT;
/// The type bit, in place.
const TYPE: u32 = 1 << TYPE_SHIFT;
/// The tail that says that a lock has left queued mode: bit 31 of the word alone. No waiter has this code.
pub const INVALID_TAIL: TailCode = TailCode::from_bits(1 << (TAIL_BITS - 1));
/// The bits that a free lock may have. The upper bit of the mode is not one of them: a lock in HQ mode is never free.
const SERVICE: u32 = TYPE | Mode::Queued.bits() | (INVALID_TAIL.bits() as u32) << TAIL_SHIFT;

/// A way in which newly arriving threads queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Not decided: the next thread that has to queue decides. The tail is invalid.
    None,
    /// In one queue. The tail names its newest waiter.
    Queued,
    /// In one queue for each NUMA node. The tail is invalid.
    Hq,
}

impl Mode {
    const fn bits(self) -> u32 {
        (self as u32) << MODE_SHIFT
    }
}

/// A value of the lock word: `(tail, mode, pending, locked)`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct HqWord(u32);

impl HqWord {
    /// `(0, queued, 0, 0)`: free, as the lock begins.
    pub const FREE: Self = Self(TYPE | Mode::Queued.bits());
    /// `(invalid, none, 0, 0)`: free, and the next thread that has to queue decides how.
    pub const WITHOUT_MODE: Self = Self(TYPE).with_tail(INVALID_TAIL);

    /// Returns the word with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
    /// Returns the bits of this word.
    pub const fn bits(self) -> u32 {
        self.0
    }
    /// Returns the way in which newly arriving threads queue.
    pub const fn mode(self) -> Mode {
        match (self.0 & MODE_MASK) >> MODE_SHIFT {
            0 => Mode::None,
            1 => Mode::Queued,
            _ => Mode::Hq,
        }
    }
    /// Returns `true` if a thread that sees the lock so is *aware*: it joins the queue of its NUMA node if it has to
    /// queue. Others exchange the tail of the word.
    pub const fn is_aware(self) -> bool {
        !matches!(self.mode(), Mode::Queued)
    }
    /// Returns `true` if a thread holds the lock.
    pub const fn is_locked(self) -> bool {
        self.0 & LOCKED_MASK != 0
    }
    /// Returns `true` if the pending bit is set.
    pub const fn is_pending(self) -> bool {
        self.0 & PENDING != 0
    }
    /// Returns `true` for `(*, *, 0, 0)`: the waiter whose turn it is may take the lock.
    pub const fn is_free_for_head(self) -> bool {
        self.0 & (LOCKED_MASK | PENDING) == 0
    }
    /// Returns `true` if a newcomer may take the lock.
    pub fn is_free(self) -> bool {
        self.0 & !SERVICE == 0
    }
    /// Returns `true` if a thread waits, or the lock is in HQ mode.
    pub const fn is_contended(self) -> bool {
        self.0 & !(SERVICE | LOCKED_MASK) != 0
    }
    /// Returns `true` if the owner has gone and the only waiter is about to take over.
    pub const fn is_handed_to_pending(self) -> bool {
        self.0 & !SERVICE == PENDING
    }
    /// Returns the tail: the newest waiter of the one queue, or the invalid tail.
    pub const fn tail(self) -> TailCode {
        TailCode::from_bits((self.0 >> TAIL_SHIFT) as u16)
    }
    /// Returns the word, held.
    pub const fn held(self) -> Self {
        Self(self.0 & !LOCKED_MASK | LOCKED as u32)
    }
    /// Returns the word with this tail.
    pub const fn with_tail(self, tail: TailCode) -> Self {
        Self(self.0 & !TAIL_MASK | (tail.bits() as u32) << TAIL_SHIFT)
    }
    /// Returns the word in this mode.
    pub const fn with_mode(self, mode: Mode) -> Self {
        Self(self.0 & !MODE_MASK | mode.bits())
    }
    /// Returns the word in queued mode: an invalid tail becomes none, that of a waiter stays.
    pub fn queued(self) -> Self {
        let tail = if self.tail() == INVALID_TAIL { TailCode::NONE } else { self.tail() };
        self.with_mode(Mode::Queued).with_tail(tail)
    }
    /// Returns byte 1 of the word without the pending bit: the type and the mode.
    pub const fn byte1_without_pending(self) -> u8 {
        ((self.0 & !PENDING) >> LOCKED_BITS) as u8
    }
    /// Returns the lower half of the word, held and without the pending bit.
    pub const fn half0_held(self) -> u16 {
        (self.held().0 & !PENDING) as u16
    }
    /// Returns `true` if this is a row of the state table.
    pub const fn is_legal(self) -> bool {
        let tail = self.tail();
        let has_legal_tail = match self.mode() {
            Mode::Queued => {
                tail.bits() == 0 || tail.node().is_some() && tail.bits() != INVALID_TAIL.bits()
            }
            // That of a late thread, until it repairs the word.
            Mode::None | Mode::Hq => tail.node().is_some(),
        };
        self.0 & LOCKED_MASK <= LOCKED as u32
            && self.0 & TYPE != 0
            && self.0 & UNUSED_MASK == 0
            && self.0 & MODE_MASK != MODE_MASK
            && has_legal_tail
    }
}

impl fmt::Debug for HqWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tail() {
            INVALID_TAIL => f.write_str("(invalid")?,
            tail => write!(f, "(tail {}", tail.bits())?,
        }
        write!(f, ", {:?}", self.mode())?;
        f.write_str(if self.is_pending() { ", pending" } else { ", -" })?;
        f.write_str(if self.is_locked() { ", locked)" } else { ", -)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::NodeId;

    fn word(bits: u32) -> HqWord {
        HqWord::from_bits(bits)
    }

    #[test]
    fn the_parts_are_where_they_were_posted() {
        assert_eq!(HqWord::FREE.bits(), 0x600);
        assert_eq!(HqWord::WITHOUT_MODE.bits(), 0x8000_0200);
        let id = NodeId::new(3 * 4 + 2);
        let queued = HqWord::FREE.held().with_tail(id.code());
        assert_eq!(queued.bits(), 4 << 18 | 2 << 16 | 0x601);
        assert_eq!(queued.tail().node(), Some(id));
        assert_eq!(HqWord::WITHOUT_MODE.with_mode(Mode::Hq).bits(), 0x8000_0a00);
    }

    #[test]
    fn a_lock_in_hq_mode_is_never_free_and_always_contended() {
        for bits in [0x600, 0x8000_0200] {
            assert!(word(bits).is_free() && !word(bits).is_contended());
            assert!(!word(bits | 1).is_free() && !word(bits | 1).is_contended());
            assert!(word(bits | 0x100).is_contended() && word(bits | 0x100).is_handed_to_pending());
        }
        let hq = word(0x8000_0a00);
        assert!(!hq.is_free() && hq.is_contended() && !hq.is_handed_to_pending());
        assert!(hq.is_aware() && word(0x8000_0200).is_aware() && !word(0x600).is_aware());
    }

    #[test]
    fn what_is_stored_keeps_type_and_mode_as_they_were_seen() {
        for (seen, half, byte) in
            [(0x700, 0x601, 6), (0x8000_0301, 0x201, 2), (0x8000_0b00, 0xa01, 10)]
        {
            assert_eq!(word(seen).half0_held(), half);
            assert_eq!(word(seen).byte1_without_pending(), byte);
        }
        assert_eq!(word(0x8000_0201).queued().bits(), 0x601);
        assert_eq!(word(0x4_0201).queued().bits(), 0x4_0601);
    }

    #[test]
    fn legality_is_the_state_table() {
        for legal in [0x600, 0x4_0600, 0x8000_0200, 0x8000_0a00, 0x4_0a00, 0x4_0200] {
            for legal in [legal, legal | 1, legal | PENDING] {
                assert!(word(legal).is_legal(), "{legal:#x}");
            }
        }
        for illegal in [0, 1, 0x602, 0x200, 0xa00, 0x8000_0600, 0x8000_0e00, 0x1600, 0x1_0600] {
            assert!(!word(illegal).is_legal(), "{illegal:#x}");
        }
    }

    #[test]
    fn debug_prints_the_fields() {
        extern crate std;
        assert_eq!(std::format!("{:?}", word(0x8_0701)), "(tail 8, Queued, pending, locked)");
        assert_eq!(std::format!("{:?}", HqWord::WITHOUT_MODE), "(invalid, None, -, -)");
    }
}
