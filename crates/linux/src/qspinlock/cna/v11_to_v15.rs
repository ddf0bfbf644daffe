//! CNA v11 to v15 (2020 and 2021): the head looks at its neighbour only.
//!
//! The secondary queue is emptied by three events: its time is over, the primary queue is empty, or its own waiters are
//! granted one by one. A waiter of another node that is the last one gets the lock, and the secondary queue stays.
//!
//! The turn of a head, under v11 to v14 on the left and v15 on the right:
//!
//! | when | v11 to v14 | v15 |
//! |---|---|---|
//! | it becomes the head | waiters are in the secondary queue and their time is over: it will flush, and does not look | the same |
//! | | none is there, and the policy reduces shuffling: it does not look, but for one of 128 turns | the same |
//! | | otherwise it looks once | |
//! | it waits for the lock | | it looks again and again, until the next waiter may follow |
//! | handoff | no waiter was linked at that look: it looks now | it does not look |
//! | a look: no next | it looks in the handoff | it goes on |
//! | a look: next is of another node, and one is behind it | next moves to the secondary queue | the same, and it goes on |
//! | a look: next is of another node, and none is behind it | next stays | it goes on |
//! | a look: next is of the preferred node, or prioritized | next stays | it stops |
//! | the next waiter stands for the preferred node | after each look | at the handoff, if the secondary queue is not empty |
//! | no flush | grant next, with the secondary queue and its time | the same |
//! | flush | put the secondary queue in front, grant its head | the same |

use super::super::{Alone, Grant, Succession, Word};
use super::numa::{Numa, behind, is_switched_on, none_if_off};
use super::secondary::Secondary;
use super::threshold::Threshold;
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, QNode, QueuePlatform, link_to, linked, node};
use crate::raw::{FairnessThreshold, Order};
use crate::tunables::Tunable;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The rules in which these versions differ.
pub trait NeighbourRules: Send + Sync + 'static {
    /// The limit after which waiters in the secondary queue get their turn in any case. Its time begins when the
    /// secondary queue gets its first waiter.
    const THRESHOLD: Threshold = Threshold::Time { ns: 10_000_000 };
    /// True if only full jiffies count; see [`JIFFY_NS`](super::JIFFY_NS).
    const COUNTS_JIFFIES: bool = true;
    /// True if the head looks for as long as the lock is busy. False if it looks once.
    const LOOKS_WHILE_BUSY: bool = false;
    /// If no waiter is in the secondary queue, the head looks only in one of 2^n turns; 0 means always.
    const SHUFFLE_REDUCTION_LOG2: u32 = 0;
}

/// Incremental culling, the third attachment of the review of v10: v11 that counts handoffs.
pub struct Culling;
impl NeighbourRules for Culling {
    const THRESHOLD: Threshold = Threshold::Handoffs { log2: 16 };
}

/// v11, and v13 without shuffle reduction.
pub struct OneLook;
impl NeighbourRules for OneLook {}

/// v13 and v14.
pub struct SeldomOneLook;
impl NeighbourRules for SeldomOneLook {
    const SHUFFLE_REDUCTION_LOG2: u32 = 7;
}

/// v15, with a threshold of this many nanoseconds.
pub struct WhileBusy<const NS: u64>;
impl<const NS: u64> NeighbourRules for WhileBusy<NS> {
    const THRESHOLD: Threshold = Threshold::Time { ns: NS };
    const COUNTS_JIFFIES: bool = false;
    const LOOKS_WHILE_BUSY: bool = true;
    const SHUFFLE_REDUCTION_LOG2: u32 = 7;
}

/// v15 without shuffle reduction.
pub struct AlwaysWhileBusy;
impl NeighbourRules for AlwaysWhileBusy {
    const THRESHOLD: Threshold = Threshold::Time { ns: 1_000_000 };
    const COUNTS_JIFFIES: bool = false;
    const LOOKS_WHILE_BUSY: bool = true;
}

/// The succession of v11 to v15 with the rules `R`.
pub struct CnaByNeighbour<R = WhileBusy<1_000_000>>(PhantomData<fn() -> R>);

/// The head's knowledge about the next waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// The head has not looked, and does not look.
    Nothing,
    /// The head has not looked, or no waiter was linked when it did.
    NoNext,
    /// The next waiter may follow: it is of the preferred node or, if this is false, prioritized.
    MayFollow(bool),
    /// The next waiter is of another node, and is the last one.
    Remote,
    /// The next waiter was of another node and is in the secondary queue. The head has not looked at the one behind it.
    Moved,
    /// The waiters in the secondary queue are due.
    Flush,
}

impl Seen {
    /// Returns `true` if a head that looks for as long as the lock is busy looks again.
    fn may_change(self) -> bool {
        matches!(self, Self::NoNext | Self::Remote | Self::Moved)
    }
}

/// The state of the head of the queue during its turn.
pub struct NeighbourTurn {
    /// The preferred NUMA node.
    prefers: u16,
    seen: Seen,
    secondary: Secondary,
    /// The time at which the secondary queue got its first waiter; 0 if it is empty, or if handoffs are counted.
    since_ns: u64,
}

// SAFETY: a grant names the waiter linked behind the head, or the head of the secondary queue, which is then in front.
// Waiters move to the secondary queue one by one, their ends relinked.
unsafe impl<P: QueuePlatform, R: NeighbourRules> Succession<P> for CnaByNeighbour<R> {
    const ORDER: Order = Order::Grouped;
    const STEPS: bool = R::LOOKS_WHILE_BUSY;
    type Turn = NeighbourTurn;

    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        none_if_off(numa_nodes, set, |none| R::THRESHOLD.of_fairness(R::COUNTS_JIFFIES, set, none))
    }
    fn enter(me: &QNode<P>) {
        Numa::enter(me);
        R::THRESHOLD.enter(me);
    }

    fn become_head(id: NodeId, me: &QNode<P>, granted: u32) -> NeighbourTurn {
        let mut turn = NeighbourTurn {
            prefers: Numa::of(me).preferred(),
            seen: Seen::NoNext,
            secondary: Secondary::of_grant(granted),
            since_ns: R::THRESHOLD.since_ns(me),
        };
        let is_aside = !turn.secondary.is_empty();
        if !is_switched_on::<P>() {
            turn.seen = Seen::Flush;
        } else if is_aside && R::THRESHOLD.is_over(me, turn.since_ns, R::COUNTS_JIFFIES) {
            turn.seen = Seen::Flush;
            P::count(Event::cna_flush_threshold);
        } else if !is_aside && is_skipped::<P, R>(id, me) {
            turn.seen = Seen::Nothing;
        } else if !R::LOOKS_WHILE_BUSY {
            turn.look_and_pass_node_on::<P, R>(me);
        }
        turn
    }

    #[doc(alias = "cna_wait_head_or_lock")]
    fn step(_id: NodeId, me: &QNode<P>, turn: &mut NeighbourTurn) -> bool {
        if turn.seen.may_change() {
            turn.look::<P, R>(me);
        }
        turn.seen.may_change()
    }

    fn try_clear_tail(word: &P::Word, seen: Word, after: u16, turn: &mut NeighbourTurn) -> Alone {
        turn.secondary.try_clear_tail::<P>(word, seen, after)
    }

    #[doc(alias = "cna_lock_handoff")]
    fn choose(_id: NodeId, me: &QNode<P>, mut turn: NeighbourTurn) -> Grant {
        if turn.seen == Seen::NoNext && !R::LOOKS_WHILE_BUSY {
            turn.look_and_pass_node_on::<P, R>(me);
        }
        let next = behind(me);
        if turn.seen == Seen::Flush && !turn.secondary.is_empty() {
            return turn.secondary.put_in_front::<P>(next);
        }
        P::count(match turn.seen {
            Seen::MayFollow(true) => Event::cna_handoff_local,
            Seen::MayFollow(false) | Seen::Remote => Event::cna_handoff_remote,
            Seen::Nothing | Seen::NoNext | Seen::Moved | Seen::Flush => Event::cna_handoff_unseen,
        });
        if !turn.secondary.is_empty() {
            let next = node::<P>(next);
            R::THRESHOLD.pass_on(me, turn.since_ns, next);
            if R::LOOKS_WHILE_BUSY {
                Numa::inherit(next, turn.prefers);
            }
        }
        turn.secondary.grant_with(next)
    }
}

impl NeighbourTurn {
    /// Looks at the next waiter, and moves it to the secondary queue if it is of another node and not the last one.
    #[doc(alias = "cna_order_queue")]
    fn look<P: QueuePlatform, R: NeighbourRules>(&mut self, me: &QNode<P>) {
        // ordering: Acquire; Q2.
        let Some(next) = linked(me.next.load(Acquire)) else { return };
        P::count(Event::cna_scanned);
        let numa = Numa::of(node::<P>(next));
        if numa.may_follow(self.prefers) {
            self.seen = Seen::MayFollow(numa.is_of(self.prefers));
            return;
        }
        self.seen = Seen::Remote;
        // ordering: Acquire; Q2.
        if let Some(behind) = linked(node::<P>(next).next.load(Acquire)) {
            if self.secondary.is_empty() && matches!(R::THRESHOLD, Threshold::Time { .. }) {
                self.since_ns = P::now_ns().max(1);
            }
            self.seen = Seen::Moved;
            self.secondary.append(me, next, behind);
            P::count(Event::cna_set_aside);
        }
    }
    /// Looks once. Then the next waiter, of whatever node, stands for the preferred one.
    fn look_and_pass_node_on<P: QueuePlatform, R: NeighbourRules>(&mut self, me: &QNode<P>) {
        self.look::<P, R>(me);
        if self.seen != Seen::NoNext {
            Numa::inherit(node::<P>(behind(me)), self.prefers);
        }
    }
}

/// Returns `true` if the head, with no waiter in the secondary queue, does not look in this turn.
fn is_skipped<P: QueuePlatform, R: NeighbourRules>(id: NodeId, me: &QNode<P>) -> bool {
    const { assert!(R::SHUFFLE_REDUCTION_LOG2 < u32::BITS) };
    if R::SHUFFLE_REDUCTION_LOG2 == 0 {
        return false;
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
    random >> (u32::BITS - R::SHUFFLE_REDUCTION_LOG2) != 0
}
