//! Succession in two levels: a list of waiters for each NUMA node, and a list of these lists.
//!
//! This is the idea of the hierarchical queued spinlock ([`hq`](crate::hq)), on the word of the queued spinlock: all
//! waiters join one queue, and its head sorts them, as in [CNA](super::cna). CNA has one queue for all waiters that it
//! sets aside. Here each NUMA node has its own queue, so a node's waiters follow each other without a search.
//!
//! ```text
//!   head ─> local ─> ... ─> newest                      the queue, in the word's tail
//!    │
//!    └ granted value: last of the first list
//!                             ┌───────────────────┐
//!      first list, node 2:    └> first ─> ... ─> last
//!                                  │ behind
//!      second list, node 0:        └> first ─> last     and so on
//! ```
//!
//! A list is circular: its last waiter links to its first one. The first one knows the last one, in its `prev` word,
//! and the first one of the list behind, in its `since_ns` word.
//!
//! The head does all of this alone. It inherits the lists through the grant that made it the head (Q3). It may touch
//! what the head may touch in CNA.
//!
//! | the head finds | are lists aside | it grants |
//! |---|---|---|
//! | a waiter of its own NUMA node, or an urgent one | yes or no | that one, with the lists |
//! | another one, with one behind it | yes or no | none yet: that one goes to the end of its list, and the head looks at the one behind it |
//! | another one or none, or the threshold is reached | yes | the first waiter of the first list, which is put in front of the queue |
//! | another one | no | that one |
//! | it is the last one in the queue | yes | the first waiter of the first list; the word's tail is then that list's last waiter |
//!
//! A turn is the time in which the lock stays in one NUMA node. Waiters of a node whose turn has ended come behind the
//! list that was put in front of them, and are set aside as new ones, at the end.
//!
//! Fairness bound: while lists are aside, a turn has at most [`HANDOFFS_MAX`] handoffs and the one that ends it. With n
//! NUMA nodes a list has its turn after at most n - 1 others. A waiter can see as many turns go by before it is
//! set aside. So at most 2(n - 1) turns pass before its list has one. The waiters of its own node that came before it
//! go first. Urgent waiters are never set aside, and are in no bound.
//!
//! The head looks at one waiter after another while the lock is busy, and at 512 at most once the lock is taken. It
//! need not look at a waiter again that is in a list. So each waiter is looked at about once in a turn. A lower limit
//! ends turns early: behind the list that a new turn takes stand the waiters of the last one, which may be all of a
//! NUMA node.

use super::succession::{clear_tail, queue_circle};
use super::{Alone, Grant, Succession, Word};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, QNode, QueuePlatform, link_to, linked, named, node};
use crate::raw::{FairnessThreshold, Order};
use crate::tunables::{NumaSpinlock, Tunable};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The most handoffs in a turn while lists are aside; run-time knob `hqlock_fairness_threshold`.
const HANDOFFS_MAX: u32 = 1000;
/// The most waiters that the head looks at once the lock is taken.
const LOOKS_AFTER_TAKING: u32 = 512;

/// Stands in for the NUMA node of a waiter that must not be set aside.
const URGENT: u32 = u32::MAX;

/// Succession in two levels: a list of waiters for each NUMA node, and a list of these lists. The idea is that of the
/// hierarchical queued spinlock (HQ, posted in November 2025).
///
/// Fairness bound: with n NUMA nodes the list of one is passed for at most 2(n - 1) turns of others. A turn has at most
/// 1,000 handoffs ([`hqlock_fairness_threshold`](Tunable::hqlock_fairness_threshold)) and one more. Within a node
/// waiters are served in order of arrival. Urgent waiters are in no bound.
pub struct TwoLevel;

/// The head's knowledge about the next waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outlook {
    /// It was not looked at, or is of another NUMA node.
    Open,
    /// It is of the own NUMA node, or urgent.
    Local,
    /// The turn is over.
    Over,
}

/// The state of the head of the queue.
pub struct NodeTurn {
    /// The NUMA node whose turn it is.
    numa: u32,
    outlook: Outlook,
    /// The last waiter of the first list.
    aside: Option<NodeId>,
}

// SAFETY: a grant names the waiter linked behind the head, or the first one of a list that is then in front. Waiters go
// to lists one by one. Lists go to the queue in one piece, their ends relinked.
unsafe impl<P: QueuePlatform> Succession<P> for TwoLevel {
    const ORDER: Order = Order::Grouped;
    const STEPS: bool = true;
    type Turn = NodeTurn;

    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let none = FairnessThreshold::default();
        // The caller counts the nodes of a guest as one.
        if !NumaSpinlock::of(set(Tunable::numa_spinlock), || false, || numa_nodes).is_on() {
            return none;
        }
        // The turns of the other NUMA nodes pass twice.
        FairnessThreshold { handoffs_per_node: 2 * (u64::from(handoffs_max(set)) + 1), ..none }
    }
    fn enter(me: &QNode<P>) {
        let numa = if P::is_urgent() { URGENT } else { P::numa_node_of(P::this_cpu()) };
        // ordering: Relaxed; published by Q2.
        me.numa.store(numa, Relaxed);
        // ordering: Relaxed; published by Q2.
        me.intra_count.store(0, Relaxed);
    }

    fn become_head(_id: NodeId, me: &QNode<P>, granted: u32) -> NodeTurn {
        // ordering: Relaxed; its own, or written by the last head before it granted, Q3.
        let numa = match me.numa.load(Relaxed) {
            URGENT => P::numa_node_of(P::this_cpu()),
            numa => numa,
        };
        let aside = linked(granted >> 16);
        let setting = P::tunable(Tunable::numa_spinlock);
        // ordering: Relaxed; written by the last head before it granted, Q3.
        let is_due = || aside.is_some() && me.intra_count.load(Relaxed) >= handoffs_max(P::tunable);
        let outlook = if !NumaSpinlock::of(setting, P::is_guest, P::numa_nodes).is_on() {
            Outlook::Over
        } else if is_due() {
            P::count(Event::cna_flush_threshold);
            Outlook::Over
        } else {
            Outlook::Open
        };
        NodeTurn { numa, outlook, aside }
    }

    fn step(_id: NodeId, me: &QNode<P>, turn: &mut NodeTurn) -> bool {
        turn.look::<P>(me, 1)
    }

    fn try_clear_tail(word: &P::Word, seen: Word, after: u16, turn: &mut NodeTurn) -> Alone {
        let Some(last) = turn.aside else { return clear_tail(word, seen, after) };
        match queue_circle::<P>(word, seen, after, last) {
            Ok(first) => Alone::Granted(first_of_list::<P>(first)),
            Err(joined) => joined,
        }
    }

    fn choose(_id: NodeId, me: &QNode<P>, mut turn: NodeTurn) -> Grant {
        turn.look::<P>(me, LOOKS_AFTER_TAKING);
        // ordering: Relaxed; acquired when the link was first seen, Q2, or written by this head.
        let next = named(me.next.load(Relaxed));
        let is_local = turn.outlook == Outlook::Local;
        P::count(if is_local { Event::cna_handoff_local } else { Event::cna_handoff_remote });
        let Some(last) = turn.aside else { return Grant::plain(next) };
        if is_local {
            return turn.hand_over::<P>(me, last, next);
        }
        let last = node::<P>(last);
        // ordering: Relaxed; written by this head or an earlier one, Q3.
        let first = named(last.next.load(Relaxed));
        // ordering: Relaxed; its owner reads it after its own grant, Q3.
        last.next.store(link_to(next), Relaxed);
        P::count(Event::cna_flush);
        first_of_list::<P>(first)
    }
}

/// Returns the number of handoffs after which a turn is over.
fn handoffs_max(set: impl Fn(Tunable) -> Option<u64>) -> u32 {
    set(Tunable::hqlock_fairness_threshold).map_or(HANDOFFS_MAX, |handoffs| handoffs as u32)
}

/// Grants the first waiter of the first list, with the lists behind that one.
fn first_of_list<P: QueuePlatform>(first: NodeId) -> Grant {
    let to = node::<P>(first);
    // ordering: Relaxed; published by the grant, Q3.
    to.intra_count.store(0, Relaxed);
    match list_behind::<P>(to) {
        Some(behind) => Grant { to: first, value: link_to(last_of::<P>(node::<P>(behind))) << 16 },
        None => Grant::plain(first),
    }
}

/// Returns the last waiter of the list that begins with this one.
fn last_of<P: QueuePlatform>(first: &QNode<P>) -> NodeId {
    // ordering: Relaxed; written by this head or an earlier one, Q3.
    named(first.prev.load(Relaxed))
}

/// Returns the first waiter of the list behind the one that begins with this waiter.
fn list_behind<P: QueuePlatform>(first: &QNode<P>) -> Option<NodeId> {
    // ordering: Relaxed; written by this head or an earlier one, Q3.
    linked(first.since_ns.load(Relaxed) as u32)
}

impl NodeTurn {
    /// Looks at up to `waiters_max` waiters for one of the own node. Each one in front of it goes to its list, unless
    /// it is the last one. Returns `true` if there is another one to look at.
    fn look<P: QueuePlatform>(&mut self, me: &QNode<P>, waiters_max: u32) -> bool {
        if self.outlook != Outlook::Open {
            return false;
        }
        for _ in 0..waiters_max {
            // ordering: Acquire; Q2.
            let Some(waiter) = linked(me.next.load(Acquire)) else { return false };
            P::count(Event::cna_scanned);
            // ordering: Relaxed; written before the waiter linked itself, Q2.
            let numa = node::<P>(waiter).numa.load(Relaxed);
            if numa == self.numa || numa == URGENT {
                self.outlook = Outlook::Local;
                return false;
            }
            // ordering: Acquire; Q2.
            let behind = node::<P>(waiter).next.load(Acquire);
            if behind == 0 {
                return false;
            }
            // ordering: Relaxed; only this head reads it.
            me.next.store(behind, Relaxed);
            self.set_aside::<P>(waiter, numa);
        }
        true
    }

    /// Appends a waiter to the list of its NUMA node. If there is no such list, appends a list with this waiter.
    fn set_aside<P: QueuePlatform>(&mut self, id: NodeId, numa: u32) {
        P::count(Event::cna_set_aside);
        // ordering: Relaxed; written by this head or an earlier one, Q3.
        let mut list = self.aside.map(|last| named(node::<P>(last).next.load(Relaxed)));
        let mut last_list = None;
        while let Some(first) = list {
            let first_node = node::<P>(first);
            // ordering: Relaxed; acquired with its link, Q2 or Q3.
            if first_node.numa.load(Relaxed) == numa {
                return self.append::<P>(id, first);
            }
            last_list = Some(first_node);
            list = list_behind::<P>(first_node);
        }
        let waiter = node::<P>(id);
        // ordering: Relaxed; only heads read it, Q3.
        waiter.next.store(link_to(id), Relaxed);
        // ordering: Relaxed; only heads read it, Q3.
        waiter.prev.store(link_to(id), Relaxed);
        // ordering: Relaxed; only heads read it, Q3.
        waiter.since_ns.store(0, Relaxed);
        match last_list {
            // ordering: Relaxed; only heads read it, Q3.
            Some(last_list) => last_list.since_ns.store(link_to(id).into(), Relaxed),
            None => self.aside = Some(id),
        }
    }

    /// Appends a waiter to the list that begins with `first`.
    fn append<P: QueuePlatform>(&mut self, id: NodeId, first: NodeId) {
        let first_node = node::<P>(first);
        let last = last_of::<P>(first_node);
        // ordering: Relaxed; only heads read it, Q3.
        node::<P>(last).next.store(link_to(id), Relaxed);
        // ordering: Relaxed; only heads read it, Q3.
        node::<P>(id).next.store(link_to(first), Relaxed);
        // ordering: Relaxed; only heads read it, Q3.
        first_node.prev.store(link_to(id), Relaxed);
        if self.aside.map(NodeId::code) == Some(last.code()) {
            self.aside = Some(id);
        }
    }

    /// Grants a waiter that may go on with the turn, and gives it the lists. The first list ends with `last`.
    fn hand_over<P: QueuePlatform>(&self, me: &QNode<P>, last: NodeId, next: NodeId) -> Grant {
        let new_head = node::<P>(next);
        // ordering: Relaxed; written by the last head before it granted, Q3.
        let handoffs = me.intra_count.load(Relaxed).saturating_add(1);
        // ordering: Relaxed; published by the grant, Q3.
        new_head.intra_count.store(handoffs, Relaxed);
        // An urgent waiter does not end the turn.
        // ordering: Relaxed; published by the grant, Q3.
        new_head.numa.store(self.numa, Relaxed);
        Grant { to: next, value: link_to(last) << 16 }
    }
}
