//! The link: the word by which a thread knows the waiter behind it.
//!
//! ```text
//!   31      30      29               17 16               0
//! +-------+---------+------------------+------------------+
//! | taken | leaving |        0         |       next       |
//! +-------+---------+------------------+------------------+
//! ```
//!
//! - `next`: the tail code of the waiter behind. It may be 0 while there is a waiter that has not linked itself yet. It
//!   never names a waiter that has left. While `leaving` is set, only the waiter that leaves can read it, because it
//!   may be the sum of two codes. That is why it has a bit more than a code.
//! - `leaving`: the waiter behind takes itself out. Only that waiter sets it, while it is linked and `taken` is clear.
//!   Only that waiter clears it, together with its code. Until then this node stays where it is.
//! - `taken`: the thread of this node is about to write to the node behind, which stays where it is. Only the thread of
//!   this node sets it, with or without a waiter behind. It is never cleared: the thread is done with the queue.
//!
//! | link | means | moved by |
//! |---|---|---|
//! | (0,0,0) | no waiter behind, or not linked yet | a newcomer, to (0,0,n); the thread of the node, to (1,0,0) |
//! | (0,0,n) | `n` waits behind | `n`, to (0,1,n); the thread of the node, to (1,0,n) |
//! | (\*,1,n) | `n` leaves | `n`, to (\*,0,0) if it was the newest and to (\*,0,m) if `m` is behind it; a newcomer `m`, to (\*,1,n+m), once `n` has left the tail |
//! | (\*,1,n+m) | `n` leaves, and `m` waits behind | `n`, to (\*,0,m) |
//! | (0,1,\*) | `leaving` as above | the thread of the node, to (1,1,\*) |
//! | (1,0,0) | not linked yet, or no waiter behind | a newcomer, to (1,0,n) |
//! | (1,0,n) | `n` is told which node is in front of it, or that it is the head | no thread |

use crate::queue::{NodeId, TailCode};

const NEXT_BITS: u32 = 17;
const UNUSED_BITS: u32 = 13;
const LEAVING_SHIFT: u32 = NEXT_BITS + UNUSED_BITS;
const TAKEN_SHIFT: u32 = LEAVING_SHIFT + 1;

const NEXT_MASK: u32 = (1 << NEXT_BITS) - 1;
const LEAVING: u32 = 1 << LEAVING_SHIFT;
/// The bit that the thread of a node sets in its link.
pub(super) const TAKEN: u32 = 1 << TAKEN_SHIFT;

const _: () = assert!(TAKEN_SHIFT + 1 == u32::BITS);
const _: () = assert!(2 * u16::MAX as u32 <= NEXT_MASK);

/// Returns the code of `id`, as it is in a tail, in a link and in the word of the waiter behind.
pub(super) fn code(id: NodeId) -> u32 {
    id.code().bits().into()
}

/// Returns the node that a tail, or the word of a waiter, names.
pub(super) fn named(code: u32) -> Option<NodeId> {
    TailCode::from_bits(code as u16).node()
}

/// The value of a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Link(u32);

impl Link {
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
    pub const fn is_leaving(self) -> bool {
        self.0 & LEAVING != 0
    }
    /// Returns the waiter behind. For the thread of the node, if no waiter leaves.
    pub fn next(self) -> Option<NodeId> {
        named(self.0 & NEXT_MASK)
    }
    /// Returns the value of the link to `me` while `me` takes itself out.
    pub fn of_leaving(me: NodeId) -> u32 {
        LEAVING | code(me)
    }
    /// Returns the number to add to a link so that `next` is in it and `me`, which leaves, is not.
    pub fn relinked(me: NodeId, next: NodeId) -> u32 {
        code(next).wrapping_sub(Self::of_leaving(me))
    }
}

impl core::fmt::Debug for Link {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (taken, leaving) = (u8::from(self.0 & TAKEN != 0), u8::from(self.is_leaving()));
        write!(f, "({taken},{leaving},{})", self.0 & NEXT_MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::NODES_MAX;

    /// Returns the first two and the last two nodes.
    fn nodes() -> [NodeId; 4] {
        [0, 1, NODES_MAX as u16 - 2, NODES_MAX as u16 - 1].map(NodeId::new)
    }

    #[test]
    fn a_waiter_that_leaves_is_replaced_by_the_one_behind_it_whether_the_link_is_taken_or_not() {
        for me in nodes() {
            for next in nodes() {
                for taken in [0, TAKEN] {
                    let leaving = taken | Link::of_leaving(me);
                    assert!(Link::from_bits(leaving).is_leaving());
                    let now = leaving.wrapping_add(Link::relinked(me, next));
                    assert_eq!(now, taken | code(next));
                    assert_eq!(Link::from_bits(now).next(), Some(next));
                }
            }
        }
    }

    #[test]
    fn a_newcomer_links_itself_beside_one_that_leaves_and_neither_is_lost() {
        for me in nodes() {
            for newcomer in nodes() {
                for taken in [0, TAKEN] {
                    let both = (taken | Link::of_leaving(me)) + code(newcomer);
                    assert!(Link::from_bits(both).is_leaving());
                    assert_eq!(both - Link::of_leaving(me), taken | code(newcomer));
                }
            }
        }
    }
}
