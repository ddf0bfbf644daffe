//! Compact NUMA-aware succession (Dice and Kogan, EuroSys 2019; kernel postings v10 to v15).
//!
//! Waiters of the NUMA node that has the lock stay in the *primary* queue. Waiters of other nodes are set aside in a
//! *secondary* queue. So the lock and the data it guards stay in one node's caches for a while. A threshold ends that
//! while.
//!
//! ```text
//!   head ─> local ─> local ─> ... ─> newest            primary, in the word's tail
//!    │
//!    └ granted value: tail of   remote ─> ... ─> remote      secondary, circular
//!                                  ^                │
//!                                  └────────────────┘
//! ```
//!
//! The head of the queue does all of this alone. It inherits the queues through the grant that made it the head (Q3).
//! It may touch its own link, the links of all waiters that are followed by a linked one, and the secondary queue. It
//! may not touch the link of the newest waiter, which belongs to the next newcomer.
//!
//! The turn of a head:
//!
//! 1. *Before it waits* ([`Succession::become_head`]): if the threshold is reached, it will flush. Otherwise it looks
//!    for the next waiter of the preferred node, as far as the policy goes. All waiters passed on the way are set aside
//!    in one piece, in order.
//! 2. *While it waits* (`step`): v15 looks at one neighbour after another, until one is of the preferred node, or is
//!    the last, or there is none. v10 with a limit looks here for the next waiter of the preferred node, and not before
//!    it waits.
//! 3. *Alone in the primary queue* (`leave_alone`): if waiters are set aside, the lock's tail moves to the secondary
//!    tail and the secondary head is granted. The circle has to be cut *before* that, because a newcomer may link
//!    itself behind the secondary tail as soon as the word names it. The circle has to be closed again if the word has
//!    changed.
//! 4. *Handoff* (`choose`): see the table.
//!
//! | outlook | no waiter is set aside | waiters are set aside |
//! |---|---|---|
//! | `Local`: next is of the preferred node, or urgent, or v10 as posted takes it for one | grant next | grant next, which takes the secondary queue over |
//! | `Open`: next was not looked at | grant next | preference inherited: as `Local`; otherwise as `NoneUpTo` |
//! | `NoneUpTo`: looked, found none | grant next | put the secondary queue in front, grant its head |
//! | `Flush`: threshold reached, or switched off | grant next | put the secondary queue in front, grant its head |
//!
//! Fairness bound: waiters set aside are passed for at most one threshold (2^n handoffs, or a time and one turn) per
//! NUMA node that is represented in front of them. With two nodes that happens once. With more nodes they may be set
//! aside again when another node's waiters get their turn. Under v10 as posted the waiters set aside may be of the
//! preferred node, too, so the bound there is one threshold for each waiter that was in front. Urgent waiters are never
//! set aside.

mod policy;
mod secondary;

pub use policy::{
    CnaPolicy, Scan, Threshold, V10, V10Limited, V10Posted, V10Time, V11, V13, V15, V15TenMs,
    V15Unreduced,
};

use super::succession::{clear_tail, queue_circle};
use super::{Alone, Grant, QSpinlock, Spin, Succession, Word};
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, QNode, QueuePlatform, link_to, linked, named, node};
use crate::raw::{FairnessThreshold, Order};
use crate::tunables::{NumaSpinlock, Tunable};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The queued spinlock with NUMA-aware succession.
pub type CnaSpinlock<P, C = V10, W = Spin> = QSpinlock<P, Cna<C>, W>;

/// NUMA-aware succession with policy `C`.
pub struct Cna<C = V10>(PhantomData<fn() -> C>);

/// Stands in for the NUMA node of a waiter that must not be set aside.
const URGENT: u16 = u16::MAX;

/// The NUMA node of a waiter, and the one that it stands for: the two halves of the `numa` word of its queue node.
#[derive(Clone, Copy)]
struct Numa {
    /// The NUMA node as whose waiter it is treated, or [`URGENT`].
    stands_for: u16,
    /// The NUMA node it was on when it queued.
    real: u16,
}

impl Numa {
    const fn from_bits(bits: u32) -> Self {
        Self { stands_for: bits as u16, real: (bits >> 16) as u16 }
    }
    const fn bits(self) -> u32 {
        (self.real as u32) << 16 | self.stands_for as u32
    }
    fn of<P: QueuePlatform>(waiter: &QNode<P>) -> Self {
        // ordering: Relaxed; written before the waiter linked itself, Q2, or by a head before it
        // granted, Q3.
        Self::from_bits(waiter.numa.load(Relaxed))
    }
}

/// The head's knowledge about the waiter to grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outlook {
    /// The next waiter was not looked at.
    Open,
    /// The next waiter may be granted without giving up the preference.
    Local {
        /// True if it is of the preferred node; false if it is only urgent, or was passed and not set aside.
        is_preferred: bool,
    },
    /// No waiter up to and including this one, which may be the head, is of the preferred node.
    NoneUpTo(NodeId),
    /// The waiters set aside are due.
    Flush,
}

/// The state of the head of the queue during its turn.
pub struct Turn {
    id: NodeId,
    /// The preferred NUMA node.
    prefers: u16,
    outlook: Outlook,
    /// The number of waiters behind the head that were looked at and are not of the preferred node.
    passed: u32,
    /// The tail of the secondary queue.
    secondary: Option<NodeId>,
    /// The time at which a waiter was first set aside; 0 if the policy counts handoffs instead.
    since_ns: u64,
    /// True if `step` still has something to look at.
    steps: bool,
}

// SAFETY: a grant names the waiter linked behind the head, or the head of the secondary queue, which is then in front.
// Waiters move between the queues in one piece, their ends relinked.
unsafe impl<P: QueuePlatform, C: CnaPolicy> Succession<P> for Cna<C> {
    const ORDER: Order = Order::Grouped;
    const STEPS: bool = matches!(C::SCAN, Scan::WhileBusy | Scan::LimitedAfterTaking { .. });
    type Turn = Turn;

    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let none = FairnessThreshold::default();
        // The caller counts the nodes of a guest as one.
        if !NumaSpinlock::of(set(Tunable::numa_spinlock), || false, || numa_nodes).is_on() {
            return none;
        }
        match C::THRESHOLD {
            Threshold::Handoffs { log2 } => FairnessThreshold {
                handoffs_per_node: policy::handoffs_max(log2, set).into(),
                ..none
            },
            Threshold::Time { ns } => {
                FairnessThreshold { ns_per_node: policy::ns_max(ns, set), ..none }
            }
        }
    }
    fn enter(me: &QNode<P>) {
        let real = P::numa_node_of(P::this_cpu()) as u16;
        let stands_for = if P::is_urgent() { URGENT } else { real };
        // ordering: Relaxed; published by Q2.
        me.numa.store(Numa { stands_for, real }.bits(), Relaxed);
        match C::THRESHOLD {
            // ordering: Relaxed; published by Q2.
            Threshold::Handoffs { .. } => me.intra_count.store(0, Relaxed),
            // ordering: Relaxed; published by Q2.
            Threshold::Time { .. } => me.since_ns.store(0, Relaxed),
        }
    }

    fn become_head(id: NodeId, me: &QNode<P>, granted: u32) -> Turn {
        let numa = Numa::of(me);
        let prefers = if numa.stands_for == URGENT { numa.real } else { numa.stands_for };
        let since_ns = match C::THRESHOLD {
            Threshold::Handoffs { .. } => 0,
            // ordering: Relaxed; written by the last head before it granted, Q3.
            Threshold::Time { .. } => me.since_ns.load(Relaxed),
        };
        let secondary = linked(granted >> 16);
        let outlook = Outlook::Open;
        let mut turn = Turn { id, prefers, outlook, passed: 0, secondary, since_ns, steps: false };
        let setting = P::tunable(Tunable::numa_spinlock);
        if !NumaSpinlock::of(setting, P::is_guest, P::numa_nodes).is_on() {
            turn.outlook = Outlook::Flush;
        } else if turn.is_due::<P, C>(me) {
            turn.outlook = Outlook::Flush;
            P::count(Event::cna_flush_threshold);
        } else {
            turn.look_before_waiting::<P, C>(me);
        }
        turn
    }

    fn step(_id: NodeId, me: &QNode<P>, turn: &mut Turn) -> bool {
        if turn.steps {
            turn.steps = match C::SCAN {
                Scan::LimitedAfterTaking { .. } => turn.look_one_further::<P, C>(me),
                _ => turn.look_at_neighbour::<P, C>(me),
            };
        }
        turn.steps
    }

    fn leave_alone(word: &P::Word, seen: Word, after: u16, turn: &mut Turn) -> Alone {
        let Some(tail) = turn.secondary else { return clear_tail(word, seen, after) };
        match queue_circle::<P>(word, seen, after, tail) {
            Ok(first) => Alone::Granted(Grant::plain(first)),
            Err(joined) => joined,
        }
    }

    fn choose(_id: NodeId, me: &QNode<P>, mut turn: Turn) -> Grant {
        turn.look_after_taking::<P, C>(me);
        let next = behind(me);
        let keeps_preference = match turn.outlook {
            Outlook::Local { .. } => true,
            Outlook::Open => C::INHERITS,
            Outlook::NoneUpTo(_) | Outlook::Flush => false,
        };
        match turn.secondary {
            Some(tail) if !keeps_preference => turn.put_in_front::<P>(tail, next),
            secondary => {
                P::count(match turn.outlook {
                    Outlook::Local { is_preferred: true } => Event::cna_handoff_local,
                    Outlook::Open | Outlook::Flush => Event::cna_handoff_unseen,
                    _ => Event::cna_handoff_remote,
                });
                match secondary {
                    Some(tail) => turn.hand_over::<P, C>(me, tail, next),
                    None => Grant::plain(next),
                }
            }
        }
    }
}

/// Returns the waiter linked behind the head.
fn behind<P: QueuePlatform>(me: &QNode<P>) -> NodeId {
    // ordering: Relaxed; acquired when the link was first seen, Q2, or written by this head.
    named(me.next.load(Relaxed))
}

impl Turn {
    /// Returns `true` if the waiters set aside have waited long enough.
    fn is_due<P: QueuePlatform, C: CnaPolicy>(&self, me: &QNode<P>) -> bool {
        match C::THRESHOLD {
            Threshold::Handoffs { log2 } => {
                // ordering: Relaxed; written by the last head before it granted, Q3.
                me.intra_count.load(Relaxed) >= policy::handoffs_max(log2, P::tunable)
            }
            Threshold::Time { ns } => {
                self.secondary.is_some()
                    && P::now_ns().saturating_sub(self.since_ns) >= policy::ns_max(ns, P::tunable)
            }
        }
    }

    fn look_before_waiting<P: QueuePlatform, C: CnaPolicy>(&mut self, me: &QNode<P>) {
        match C::SCAN {
            Scan::Full | Scan::FullForgetful => self.scan::<P, C>(me, self.id, u32::MAX),
            Scan::LimitedAfterTaking { .. } => {
                self.outlook = Outlook::NoneUpTo(self.id);
                self.steps = true;
            }
            Scan::OneNeighbour => {
                if self.secondary.is_some() || looks_for_first::<P, C>(self.id, me) {
                    self.look_at_neighbour::<P, C>(me);
                }
            }
            Scan::WhileBusy => {
                self.steps = self.secondary.is_some() || looks_for_first::<P, C>(self.id, me);
            }
        }
    }

    fn look_after_taking<P: QueuePlatform, C: CnaPolicy>(&mut self, me: &QNode<P>) {
        let Outlook::NoneUpTo(last) = self.outlook else { return };
        match C::SCAN {
            Scan::Full | Scan::FullForgetful => self.scan::<P, C>(me, last, u32::MAX),
            Scan::LimitedAfterTaking { waiters_max } => self.scan::<P, C>(me, last, waiters_max),
            Scan::OneNeighbour | Scan::WhileBusy => {}
        }
    }

    /// Looks at up to `waiters_max` waiters behind `last` for one of the preferred node. Sets aside all waiters between
    /// the head and that one.
    fn scan<P: QueuePlatform, C: CnaPolicy>(
        &mut self,
        me: &QNode<P>,
        last: NodeId,
        waiters_max: u32,
    ) {
        let forgotten = if matches!(C::SCAN, Scan::FullForgetful) { self.passed } else { 0 };
        let mut last = last;
        for _ in 0..waiters_max {
            // ordering: Acquire; Q2.
            let Some(waiter) = linked(node::<P>(last).next.load(Acquire)) else { break };
            if self.is_kept::<P>(waiter) {
                if self.passed > forgotten {
                    self.set_aside::<P, C>(me, last, waiter);
                } else if forgotten > 0 {
                    self.outlook = Outlook::Local { is_preferred: false };
                }
                return;
            }
            self.passed += 1;
            last = waiter;
        }
        self.outlook = Outlook::NoneUpTo(last);
    }

    /// Looks at the next waiter that was not looked at, as `scan` does. Returns `true` if there may be another one to
    /// look at.
    fn look_one_further<P: QueuePlatform, C: CnaPolicy>(&mut self, me: &QNode<P>) -> bool {
        let Outlook::NoneUpTo(last) = self.outlook else { return false };
        self.scan::<P, C>(me, last, 1);
        matches!(self.outlook, Outlook::NoneUpTo(now) if now != last)
    }

    /// Looks at the waiter behind the head and sets it aside if it is remote and not the last one. Returns `true` if
    /// the head may look at the one behind it, too.
    fn look_at_neighbour<P: QueuePlatform, C: CnaPolicy>(&mut self, me: &QNode<P>) -> bool {
        // ordering: Acquire; Q2.
        let Some(next) = linked(me.next.load(Acquire)) else { return false };
        if self.is_kept::<P>(next) {
            return false;
        }
        // ordering: Acquire; Q2.
        let Some(behind) = linked(node::<P>(next).next.load(Acquire)) else {
            self.outlook = Outlook::NoneUpTo(next);
            return false;
        };
        self.passed = 1;
        self.set_aside::<P, C>(me, next, behind);
        true
    }

    /// Returns `true` if `waiter` may stay in front. If so, this becomes the outlook.
    fn is_kept<P: QueuePlatform>(&mut self, waiter: NodeId) -> bool {
        P::count(Event::cna_scanned);
        let numa = Numa::of(node::<P>(waiter));
        let is_kept = numa.stands_for == self.prefers || numa.stands_for == URGENT;
        if is_kept {
            let is_preferred = numa.stands_for == self.prefers || numa.real == self.prefers;
            self.outlook = Outlook::Local { is_preferred };
        }
        is_kept
    }
}

/// Returns `true` if the head, with no waiter set aside, looks for one to set aside in this turn.
fn looks_for_first<P: QueuePlatform, C: CnaPolicy>(id: NodeId, me: &QNode<P>) -> bool {
    const { assert!(C::SHUFFLE_REDUCTION_LOG2 < u32::BITS) };
    if C::SHUFFLE_REDUCTION_LOG2 == 0 {
        return true;
    }
    // Xorshift (Marsaglia, 2003).
    // ordering: Relaxed; only the thread that has claimed the node uses it.
    let mut random = match me.random.load(Relaxed) {
        0 => link_to(id).wrapping_mul(0x9e37_79b9) | 1,
        random => random,
    };
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    // ordering: Relaxed; as above.
    me.random.store(random, Relaxed);
    random >> (u32::BITS - C::SHUFFLE_REDUCTION_LOG2) == 0
}
