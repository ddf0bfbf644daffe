//! Links between the nodes of a queue, and what a waiter waits for: a link, or a grant.
//!
//! The rows of the table in [`qspinlock`](crate::qspinlock) that these waits belong to:
//!
//! | id | store | read by | carries |
//! |----|-------|---------|---------|
//! | Q2 | the link, Release | `wait_for_link`, Acquire | the init of the linked node |
//! | Q3 | the grant, Release | `look_for_grant`, Acquire | the links behind the new head, and what the old head did |

use super::{NodeId, QNode, QueuePlatform, TailCode};
use crate::platform::{Atomic, Bound, Sleeping};
use core::sync::atomic::Ordering::Acquire;

/// In a link, above the tail code: the waiter that it names may leave.
const MAY_LEAVE: u32 = 1 << 16;

/// Reads a link: the waiter it names.
#[inline]
pub fn linked(link: u32) -> Option<NodeId> {
    let id = TailCode::from_bits(link as u16).node()?;
    Some(if link & MAY_LEAVE == 0 { id } else { id.that_may_leave() })
}

/// Reads a link that is known to be set.
#[inline]
pub fn named(link: u32) -> NodeId {
    debug_assert!(linked(link).is_some(), "qspinlock: a link was lost");
    let id = TailCode::from_bits(link as u16).node_or_first();
    if link & MAY_LEAVE == 0 { id } else { id.that_may_leave() }
}

/// What a link to `id` holds.
#[inline]
pub fn link_to(id: NodeId) -> u32 {
    u32::from(id.code().bits()) | if id.may_leave() { MAY_LEAVE } else { 0 }
}

/// Looks whether `me` was granted, until the bound is reached or `is_over`.
pub fn look_for_grant<P: QueuePlatform>(
    me: &QNode<P>,
    bound: Bound,
    is_over: impl FnMut() -> bool,
) -> Result<u32, u32> {
    // ordering: Acquire; Q3.
    me.locked.cond_load_bounded(Acquire, bound, |granted| granted != 0, is_over)
}

/// Looks of the head for the link of the next waiter, before it naps: the two stores between which a
/// thread may be preempted are next to each other.
const LINK_LOOKS: u32 = 1 << 10;
/// How long it naps between looks for that link, which no thread tells it of.
const LINK_NAP_NS: u64 = 50_000;

/// Waits, for as long as it takes and asleep if it takes long, until a waiter has linked itself behind
/// `me`.
pub fn wait_for_link<P: QueuePlatform + Sleeping>(me: &QNode<P>) {
    let look = |looks| {
        // ordering: Acquire; Q2.
        me.next.cond_load_bounded(Acquire, Bound::looks(looks), |link| link != 0, || false)
    };
    while look(LINK_LOOKS).is_err() {
        P::futex_wait(&me.next, 0, Some(P::now_ns().saturating_add(LINK_NAP_NS)));
    }
}
