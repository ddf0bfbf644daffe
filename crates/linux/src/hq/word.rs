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
/// Width of the tail, which is two queues of eight bits each in HQ mode.
const TAIL_BITS: u32 = 16;
const QUEUE_BITS: u32 = 8;

const PENDING_SHIFT: u32 = LOCKED_BITS;
const TYPE_SHIFT: u32 = PENDING_SHIFT + PENDING_BITS;
const MODE_SHIFT: u32 = TYPE_SHIFT + TYPE_BITS;
const TAIL_SHIFT: u32 = MODE_SHIFT + MODE_BITS + UNUSED_BITS;
const HEAD_QUEUE_SHIFT: u32 = TAIL_SHIFT + QUEUE_BITS;
const LOCKED_MASK: u32 = (1 << LOCKED_BITS) - 1;
const MODE_MASK: u32 = ((1 << MODE_BITS) - 1) << MODE_SHIFT;
const UNUSED_MASK: u32 = ((1 << UNUSED_BITS) - 1) << (MODE_SHIFT + MODE_BITS);
const TAIL_MASK: u32 = ((1 << TAIL_BITS) - 1) << TAIL_SHIFT;

const _: () = assert!(TAIL_SHIFT + TAIL_BITS == u32::BITS, "the parts tile the word");
const _: () = assert!(HEAD_QUEUE_SHIFT + QUEUE_BITS == u32::BITS, "two queues are a tail");

/// Value of the locked byte while a thread holds the lock.
pub const LOCKED: u8 = 1;
/// The pending bit, in place.
pub const PENDING: u32 = 1 << PENDING_SHIFT;
/// The type bit, in place.
const TYPE: u32 = 1 << TYPE_SHIFT;
/// The tail of a lock without a mode, in place: bit 31 alone.
const INVALID_TAIL: u32 = 1 << 31;
/// The lower half of `(*, queued, 0, 1)`.
pub const QUEUED_HELD_HALF: u16 = HqWord::FREE.held().bits() as u16;
/// The number that is added to get from `(*, 1, 0)` to `(*, 0, 1)`.
pub const PENDING_TO_LOCKED: u32 = (LOCKED as u32).wrapping_sub(PENDING);

/// A way in which newly arriving threads queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In one queue. The tail names its newest waiter.
    Queued,
    /// Not decided yet: the next thread that has to queue decides. The tail is invalid.
    Undecided,
    /// In one queue for each NUMA node. The tail names the last and the first queue of the list.
    Hq,
}

impl Mode {
    const fn bits(self) -> u32 {
        (self as u32) << MODE_SHIFT
    }
}

/// Both ends of the list of queues. Queues are counted from 1; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// The last one.
    pub tail: u8,
    /// The first one, the *head queue*.
    pub head: u8,
}

impl Queues {
    /// Returns the list of this queue alone.
    pub const fn only(queue: u8) -> Self {
        Self { tail: queue, head: queue }
    }
}

/// A value of the lock word: `(tail, mode, pending, locked)`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct HqWord(u32);

impl HqWord {
    /// `(0, queued, 0, 0)`: free, as the lock begins. The type bit alone.
    pub const FREE: Self = Self(TYPE);
    /// `(invalid, undecided, 0, 0)`: free, and the next thread that has to queue decides how.
    pub const UNDECIDED: Self = Self(TYPE | Mode::Undecided.bits() | INVALID_TAIL);

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
            0 => Mode::Queued,
            1 => Mode::Undecided,
            _ => Mode::Hq,
        }
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
    /// Returns `true` if no thread is pending and none is queued.
    pub const fn has_no_waiter(self) -> bool {
        let is_empty = self.0 & TAIL_MASK == 0 || matches!(self.mode(), Mode::Undecided);
        !self.is_pending() && is_empty
    }
    /// Returns `true` if no thread holds the lock or waits. The mode does not matter.
    pub const fn is_free(self) -> bool {
        self.has_no_waiter() && !self.is_locked()
    }
    /// Returns `true` if the owner has gone and the only waiter is about to take over.
    pub const fn is_handed_to_pending(self) -> bool {
        self.is_pending() && Self(self.0 & !PENDING).is_free()
    }
    /// Returns the word, held.
    pub const fn held(self) -> Self {
        Self(self.0 & !LOCKED_MASK | LOCKED as u32)
    }
    /// Returns the newest waiter, in queued mode.
    pub const fn tail(self) -> TailCode {
        TailCode::from_bits((self.0 >> TAIL_SHIFT) as u16)
    }
    /// Returns the list of queues, in HQ mode.
    pub const fn queues(self) -> Queues {
        Queues { tail: (self.0 >> TAIL_SHIFT) as u8, head: (self.0 >> HEAD_QUEUE_SHIFT) as u8 }
    }
    /// Returns `(tail, queued, *, *)`: in queued mode, with this newest waiter.
    pub const fn queued(self, tail: TailCode) -> Self {
        self.with(Mode::Queued, (tail.bits() as u32) << TAIL_SHIFT)
    }
    /// Returns `(invalid, undecided, *, *)`: without a mode.
    pub const fn undecided(self) -> Self {
        self.with(Mode::Undecided, INVALID_TAIL)
    }
    /// Returns `(queues, hq, *, *)`: in HQ mode, with this list. 0 and 0 is an empty one.
    pub const fn hq(self, Queues { tail, head }: Queues) -> Self {
        self.with(Mode::Hq, (head as u32) << HEAD_QUEUE_SHIFT | (tail as u32) << TAIL_SHIFT)
    }
    /// Returns `(0 0, hq, *, *)`: in HQ mode, and no queue was appended yet.
    pub const fn hq_begins(self) -> Self {
        self.hq(Queues { tail: 0, head: 0 })
    }
    /// Returns `true` for `(0 0, hq, *, *)`: in HQ mode, and no queue is in the list.
    pub const fn is_unused_hq(self) -> bool {
        matches!(self.mode(), Mode::Hq) && self.0 & TAIL_MASK == 0
    }
    const fn with(self, mode: Mode, tail: u32) -> Self {
        Self(self.0 & !(MODE_MASK | TAIL_MASK) | mode.bits() | tail)
    }
    /// Returns `true` if this is a row of the state table.
    pub const fn is_legal(self) -> bool {
        let locked = self.0 & LOCKED_MASK;
        let has_legal_tail = match self.mode() {
            Mode::Queued => self.tail().bits() == 0 || self.tail().node().is_some(),
            Mode::Undecided => self.0 & TAIL_MASK == INVALID_TAIL,
            Mode::Hq => (self.queues().tail == 0) == (self.queues().head == 0),
        };
        locked <= LOCKED as u32
            && self.0 & TYPE != 0
            && self.0 & UNUSED_MASK == 0
            && self.0 & MODE_MASK != MODE_MASK
            && has_legal_tail
    }
}

impl fmt::Debug for HqWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode() {
            Mode::Queued => write!(f, "(tail {}, queued", self.tail().bits())?,
            Mode::Undecided => f.write_str("(-, undecided")?,
            Mode::Hq => {
                let Queues { tail, head } = self.queues();
                write!(f, "(queues {head} to {tail}, HQ")?;
            }
        }
        f.write_str(if self.is_pending() { ", pending" } else { ", -" })?;
        f.write_str(if self.is_locked() { ", locked)" } else { ", -)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::NodeId;

    #[test]
    fn unlocked_is_the_type_bit() {
        assert_eq!(HqWord::FREE.bits(), 1 << 9);
        assert_eq!(HqWord::FREE.mode(), Mode::Queued);
        assert!(HqWord::FREE.is_free() && HqWord::UNDECIDED.is_free());
        assert_eq!(HqWord::UNDECIDED.bits(), 1 << 31 | 1 << 10 | 1 << 9);
        assert!(!HqWord::from_bits(0).is_legal());
    }

    #[test]
    fn the_parts_are_where_they_were_posted() {
        let id = NodeId::new(3 * 4 + 2);
        let queued = HqWord::FREE.held().queued(id.code());
        assert_eq!(queued.bits(), 4 << 18 | 2 << 16 | 1 << 9 | 1);
        assert_eq!(queued.tail().node(), Some(id));
        let hq = queued.hq(Queues { tail: 2, head: 5 });
        assert_eq!(hq.bits(), 5 << 24 | 2 << 16 | 2 << 10 | 1 << 9 | 1);
        assert_eq!(hq.queues(), Queues { tail: 2, head: 5 });
        let undecided = hq.undecided();
        assert_eq!(undecided, HqWord::UNDECIDED.held());
        assert_eq!(HqWord::from_bits(HqWord::FREE.bits() | PENDING).bits() >> 8, 0b11);
    }

    #[test]
    fn a_pending_waiter_takes_over_by_an_addition() {
        let handed = HqWord::from_bits(HqWord::UNDECIDED.bits() | PENDING);
        assert!(handed.is_handed_to_pending() && handed.is_legal());
        let taken = HqWord::from_bits(handed.bits().wrapping_add(PENDING_TO_LOCKED));
        assert_eq!(taken, HqWord::UNDECIDED.held());
    }

    #[test]
    fn in_queued_mode_a_pending_waiter_takes_over_by_a_store_of_the_lower_half() {
        let queued = HqWord::FREE.queued(NodeId::new(5).code());
        let handed = HqWord::from_bits(queued.bits() | PENDING);
        let taken = handed.bits() >> 16 << 16 | u32::from(QUEUED_HELD_HALF);
        assert_eq!(HqWord::from_bits(taken), queued.held());
    }

    #[test]
    fn legality_is_the_state_table() {
        let (free, undecided) = (HqWord::FREE, HqWord::UNDECIDED);
        let tail = free.queued(NodeId::new(0).code());
        let hq = free.hq(Queues::only(3));
        let empty = free.hq(Queues { tail: 0, head: 0 });
        for legal in [free, undecided, tail, hq, empty].into_iter().flat_map(|it| [it, it.held()]) {
            let pending = HqWord::from_bits(legal.bits() | PENDING);
            assert!(legal.is_legal() && pending.is_legal(), "{legal:?}");
        }
        let one_end = free.hq(Queues { tail: 1, head: 0 });
        for illegal in [0, 1, free.bits() | 2, free.bits() | 3 << 10, free.bits() | 1 << 12] {
            assert!(!HqWord::from_bits(illegal).is_legal(), "{illegal:#x}");
        }
        for illegal in [one_end, HqWord::from_bits(undecided.bits() | 1 << 16)] {
            assert!(!illegal.is_legal(), "{illegal:?}");
        }
    }

    #[test]
    fn debug_prints_the_fields() {
        extern crate std;
        let hq = HqWord::FREE.held().hq(Queues { tail: 2, head: 1 });
        assert_eq!(std::format!("{hq:?}"), "(queues 1 to 2, HQ, -, locked)");
        assert_eq!(std::format!("{:?}", HqWord::UNDECIDED), "(-, undecided, -, -)");
    }
}
