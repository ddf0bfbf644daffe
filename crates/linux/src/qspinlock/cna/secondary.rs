//! The secondary queue: circular, known by its tail.

use super::super::Grant;
use super::{CnaPolicy, Numa, Threshold, Turn};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, QNode, QueuePlatform, link_to, named, node};
use core::sync::atomic::Ordering::Relaxed;

impl Turn {
    /// Moves the waiters behind the head, up to and including `last`, to the end of the secondary queue, in order.
    /// `new_next` is linked behind `last`, so no other thread writes the link of `last`.
    pub(super) fn set_aside<P: QueuePlatform, C: CnaPolicy>(
        &mut self,
        me: &QNode<P>,
        last: NodeId,
        new_next: NodeId,
    ) {
        // ordering: Relaxed; acquired when the link was first seen, Q2, or written by this head.
        let first = me.next.load(Relaxed);
        // ordering: Relaxed; only this head reads it.
        me.next.store(link_to(new_next), Relaxed);
        let close_with = match self.secondary {
            None => {
                if matches!(C::THRESHOLD, Threshold::Time { .. }) {
                    self.since_ns = P::now_ns();
                }
                first
            }
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
        self.secondary = Some(last);
        P::count_many(Event::cna_set_aside, self.passed.into());
        self.passed = 0;
    }

    /// Grants `next` together with the secondary queue whose tail is `tail`.
    pub(super) fn hand_over<P: QueuePlatform, C: CnaPolicy>(
        &self,
        me: &QNode<P>,
        tail: NodeId,
        next: NodeId,
    ) -> Grant {
        let new_head = node::<P>(next);
        match C::THRESHOLD {
            Threshold::Handoffs { .. } => {
                // ordering: Relaxed; written by the last head before it granted, Q3.
                let handoffs = me.intra_count.load(Relaxed).saturating_add(1);
                // ordering: Relaxed; published by the grant, Q3.
                new_head.intra_count.store(handoffs, Relaxed);
            }
            // ordering: Relaxed; published by the grant, Q3.
            Threshold::Time { .. } => new_head.since_ns.store(self.since_ns, Relaxed),
        }
        if C::INHERITS {
            let numa = Numa::of(new_head);
            if numa.stands_for != self.prefers {
                let inherited = Numa { stands_for: self.prefers, ..numa };
                // ordering: Relaxed; published by the grant, Q3.
                new_head.numa.store(inherited.bits(), Relaxed);
            }
        }
        Grant { to: next, value: link_to(tail) << 16 }
    }

    /// Puts the secondary queue in front of `next` and grants its head. After that no waiter is set aside.
    pub(super) fn put_in_front<P: QueuePlatform>(&self, tail: NodeId, next: NodeId) -> Grant {
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
