//! Links between the nodes of a queue, and the waits for a link or a grant.
//!
//! These waits belong to two rows of the table in [`qspinlock`](crate::qspinlock):
//!
//! | id | store | read by | carries |
//! |----|-------|---------|---------|
//! | Q2 | the link, Release | `wait_for_link`, Acquire | the init of the linked node |
//! | Q3 | the grant, Release | `look_for_grant`, Acquire | the links behind the new head, and the old head's writes |

use super::{NodeId, QNode, QueuePlatform, TailCode};
use crate::platform::{Atomic, Bound, Sleeping};
use core::sync::atomic::Ordering::Acquire;

/// A bit of a link, above the tail code: the waiter that the link names may leave.
const MAY_LEAVE: u32 = 1 << 16;

/// Returns the waiter that a link names, if any.
#[inline]
pub fn linked(link: u32) -> Option<NodeId> {
    let id = TailCode::from_bits(link as u16).node()?;
    Some(if link & MAY_LEAVE == 0 { id } else { id.that_may_leave() })
}

/// Returns the waiter that a link names. The link is known to be set.
#[inline]
pub fn named(link: u32) -> NodeId {
    debug_assert!(linked(link).is_some(), "qspinlock: a link was lost");
    let id = TailCode::from_bits(link as u16).node_or_first();
    if link & MAY_LEAVE == 0 { id } else { id.that_may_leave() }
}

/// Returns the value of a link to `id`.
#[inline]
pub fn link_to(id: NodeId) -> u32 {
    u32::from(id.code().bits()) | if id.may_leave() { MAY_LEAVE } else { 0 }
}

/// Looks if `me` was granted, until the bound is reached or `is_over` says so. Returns the grant's value, or an error
/// if there was none.
pub fn look_for_grant<P: QueuePlatform>(
    me: &QNode<P>,
    bound: Bound,
    is_over: impl FnMut() -> bool,
) -> Result<u32, u32> {
    // ordering: Acquire; Q3.
    me.locked.cond_load_bounded(Acquire, bound, |granted| granted != 0, is_over)
}

/// The number of times that the head looks for the link of the next waiter before it naps. The link is late only if its
/// thread was preempted between two stores, which are next to each other.
const LINK_LOOKS: u32 = 1 << 10;
/// The time that the head naps between looks for that link, in nanoseconds. No thread tells it that the link is there.
const LINK_NAP_NS: u64 = 50_000;

/// Waits until a waiter has linked itself behind `me`, for as long as that takes. If it takes long, the caller sleeps.
pub fn wait_for_link<P: QueuePlatform + Sleeping>(me: &QNode<P>) {
    let look = |looks| {
        // ordering: Acquire; Q2.
        me.next.cond_load_bounded(Acquire, Bound::looks(looks), |link| link != 0, || false)
    };
    while look(LINK_LOOKS).is_err() {
        P::futex_wait(&me.next, 0, Some(P::now_ns().saturating_add(LINK_NAP_NS)));
    }
}
