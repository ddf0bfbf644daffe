//! The secondary queue: circular, known by its tail.

use super::super::succession::{clear_tail, queue_circle};
use super::super::{Alone, Grant, Word};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, QNode, QueuePlatform, link_to, linked, named, node};
use core::sync::atomic::Ordering::Relaxed;

/// The secondary queue of a head, by its tail; `None` if it is empty.
#[derive(Clone, Copy)]
pub(super) struct Secondary(Option<NodeId>);

impl Secondary {
    /// Returns the queue that comes with a grant of this value.
    pub(super) fn of_grant(granted: u32) -> Self {
        Self(linked(granted >> 16))
    }
    pub(super) fn is_empty(self) -> bool {
        self.0.is_none()
    }

    /// Moves the waiters behind the head `me`, up to and including `last`, to the end of the queue, in order.
    /// `new_next` is linked behind `last`, so no other thread writes the link of `last`.
    #[doc(alias = "cna_splice_next")]
    #[doc(alias = "cna_splice_tail")]
    pub(super) fn append<P: QueuePlatform>(
        &mut self,
        me: &QNode<P>,
        last: NodeId,
        new_next: NodeId,
    ) {
        // ordering: Relaxed; acquired when the link was first seen, Q2, or written by this head.
        let first = me.next.load(Relaxed);
        // ordering: Relaxed; only this head reads it.
        me.next.store(link_to(new_next), Relaxed);
        let close_with = match self.0 {
            None => first,
            Some(tail) => {
                let tail = node::<P>(tail);
                // ordering: Relaxed; written by this head or an earlier one, Q3.
                let head = tail.next.load(Relaxed);
                // ordering: Relaxed; only heads read it, Q3.
                tail.next.store(first, Relaxed);
                head
            }
        };
        // ordering: Relaxed; only heads read it, Q3.
        node::<P>(last).next.store(close_with, Relaxed);
        self.0 = Some(last);
    }

    /// Leaves as the only waiter of the primary queue: clears the tail, or makes this queue the primary one.
    #[doc(alias = "cna_try_clear_tail")]
    pub(super) fn try_clear_tail<P: QueuePlatform>(
        self,
        word: &P::Word,
        seen: Word,
        after: u16,
    ) -> Alone {
        let Some(tail) = self.0 else { return clear_tail(word, seen, after) };
        match queue_circle::<P>(word, seen, after, tail) {
            Ok(first) => Alone::Granted(Grant::plain(first)),
            Err(joined) => joined,
        }
    }

    /// Grants `next` together with this queue.
    pub(super) fn grant_with(self, next: NodeId) -> Grant {
        match self.0 {
            Some(tail) => Grant { to: next, value: link_to(tail) << 16 },
            None => Grant::plain(next),
        }
    }

    /// Puts the queue in front of `next` and grants its head. If the queue is empty, grants `next`.
    #[doc(alias = "cna_splice_head")]
    pub(super) fn put_in_front<P: QueuePlatform>(self, next: NodeId) -> Grant {
        let Some(tail) = self.0 else { return Grant::plain(next) };
        let tail = node::<P>(tail);
        // ordering: Relaxed; written by this head or an earlier one, Q3.
        let head = tail.next.load(Relaxed);
        // ordering: Relaxed; its owner reads it after its own grant, Q3.
        tail.next.store(link_to(next), Relaxed);
        P::count(Event::cna_flush);
        P::count(Event::cna_handoff_remote);
        Grant::plain(named(head))
    }
}
