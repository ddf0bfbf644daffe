//! The policy that chooses the next head of the queue.

use super::Word;
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::queue::{NodeId, QNode, QueuePlatform, named, node};
use crate::raw::{FairnessThreshold, Order};
use crate::tunables::Tunable;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// The order to make a waiter the head of the queue. It names the waiter and the value for its `locked` word.
///
/// A succession *returns* its choice. The queue delivers it and tells the waiting policy, which so kicks the waiter
/// that was granted, and never the one that was next before a reordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The new head.
    pub to: NodeId,
    /// [`Grant::PLAIN`], or the secondary queue that comes with the head.
    pub value: u32,
}

impl Grant {
    /// The waiter is the head, and no waiter is set aside.
    pub const PLAIN: u32 = 1;
    /// The waiter is the head of a queue that dissolves. It leaves, and grants the next one with this value, too.
    pub const DISSOLVES: u32 = 2;

    /// Returns the grant that makes `to` the head, with no waiter set aside.
    pub const fn plain(to: NodeId) -> Self {
        Self { to, value: Self::PLAIN }
    }
    /// Returns this grant as a head makes it that leaves without the lock and was granted with `value` itself.
    pub const fn after(self, value: u32) -> Self {
        if value == Self::DISSOLVES { Self { value, ..self } } else { self }
    }
}

/// The result of an attempt to leave the queue as its only waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// The queue is empty, and the lock is taken if that was wanted.
    Left,
    /// As `Left`, but a waiter that was set aside is the head.
    Granted(Grant),
    /// The word has changed to this: another thread has joined, or has set the pending bit and will take it back. The
    /// lock is not taken yet.
    Joined(Word),
}

/// The order in which waiters become the head of the queue.
///
/// It is stateless. `Turn` holds what the head has to remember from one phase of its turn to the next. Only the head of
/// the queue calls functions other than `enter`. So no other thread uses the links of waiters that have linked
/// themselves, except the last one's link.
///
/// # Safety
/// The lock excludes only if there is never more than one head. So `choose` and `try_clear_tail` name a waiter of this
/// lock that is linked or set aside and was not granted before. `try_clear_tail` says `Left` or `Granted` only if it
/// has changed the word from `seen` to one with the lower half `after`. And no waiter is lost from both queues.
pub unsafe trait Succession<P: QueuePlatform>: Send + Sync + 'static {
    /// The order to which a checker may hold the lock.
    const ORDER: Order;
    /// True if [`step`](Self::step) does anything.
    const STEPS: bool;
    /// The data that the head remembers during its turn.
    type Turn;

    /// Returns how long it lets waiters be overtaken; see [`RawLock`](crate::raw::RawLock::fairness_threshold).
    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let _ = (numa_nodes, set);
        FairnessThreshold::default()
    }
    /// Prepares the caller's node, before it is published.
    fn enter(me: &QNode<P>);
    /// Begins the turn of `me`, which has become the head by a grant of `granted` and does not wait for the lock yet.
    fn become_head(id: NodeId, me: &QNode<P>, granted: u32) -> Self::Turn;
    /// Does a part of the head's work. It is called again and again while the head waits for the lock, until it returns
    /// `false`.
    fn step(id: NodeId, me: &QNode<P>, turn: &mut Self::Turn) -> bool;
    /// Does the head's last work before it takes the lock, which it has seen free. Only a spinlock that is taken
    /// through the queue calls it.
    fn before_taking(id: NodeId, me: &QNode<P>, turn: &mut Self::Turn) {
        let _ = (id, me, turn);
    }
    /// Tries to leave as the only waiter: changes the word from `seen`, whose tail it is, to one whose lower half is
    /// `after`. This takes the lock if the wait has not, unless the head leaves without the lock.
    fn try_clear_tail(word: &P::Word, seen: Word, after: u16, turn: &mut Self::Turn) -> Alone;
    /// Chooses the next head. The lock is taken, or `me` leaves without it, and a waiter is linked behind `me`.
    fn choose(id: NodeId, me: &QNode<P>, turn: Self::Turn) -> Grant;
}

/// The succession in the order of arrival (Mellor-Crummey and Scott, 1991).
///
/// Fairness bound: once the node of a waiter is in the word, no thread that comes later passes it, except the one
/// thread that may already have set the pending bit. Before that there is no bound.
pub struct Fifo;

// SAFETY: names the waiter linked behind the head; takes the lock only by clearing the tail.
unsafe impl<P: QueuePlatform> Succession<P> for Fifo {
    const ORDER: Order = Order::FifoAfterPending;
    const STEPS: bool = false;
    type Turn = ();

    #[inline]
    fn enter(_me: &QNode<P>) {}
    #[inline]
    fn become_head(_id: NodeId, _me: &QNode<P>, _granted: u32) {}
    #[inline]
    fn step(_id: NodeId, _me: &QNode<P>, _turn: &mut ()) -> bool {
        false
    }
    #[inline]
    fn try_clear_tail(word: &P::Word, seen: Word, after: u16, _turn: &mut ()) -> Alone {
        clear_tail(word, seen, after)
    }
    #[inline]
    fn choose(_id: NodeId, me: &QNode<P>, _turn: ()) -> Grant {
        // ordering: Relaxed; acquired when the link was first seen, Q2.
        Grant::plain(named(me.next.load(Relaxed)))
    }
}

/// Leaves as the only waiter, with no waiter set aside.
#[inline]
pub fn clear_tail<W: LockWordOps>(word: &W, seen: Word, after: u16) -> Alone {
    // (n,0,0) or (n,0,1) -> (0,0,1); in the mutex (n,p,l) -> (0,p,l)
    // ordering: Relaxed; the lock was acquired where it was seen free, Q4, and no thread reads anything through an
    // empty tail. Of the failure value only the waiters are used.
    match word.compare_exchange(seen.bits(), after.into(), Relaxed, Relaxed) {
        Ok(_) => Alone::Left,
        Err(now) => Alone::Joined(Word::from_bits(now)),
    }
}

/// Leaves as the only waiter of the queue, with a circle of waiters set aside: they become the queue. `last` is the
/// waiter that links to the first one, which is returned. If another thread has joined meanwhile, the circle stays as
/// it was.
#[inline]
pub fn queue_circle<P: QueuePlatform>(
    word: &P::Word,
    seen: Word,
    after: u16,
    last: NodeId,
) -> Result<NodeId, Alone> {
    let last_node = node::<P>(last);
    // ordering: Relaxed; written by this head or an earlier one, Q3.
    let first = last_node.next.load(Relaxed);
    // Cut the circle: from the exchange on, this link belongs to the next newcomer.
    // ordering: Relaxed; published by Q5.
    last_node.next.store(0, Relaxed);
    let left = Word::with_tail(last.code(), after).bits();
    // (n,0,0) or (n,0,1) -> (s,0,1); in the mutex (n,p,l) -> (s,p,l)
    // ordering: Release; Q5. On failure Relaxed: only the tail of the failure value is used.
    if let Err(now) = word.compare_exchange(seen.bits(), left, Release, Relaxed) {
        // ordering: Relaxed; only heads read it, Q3.
        last_node.next.store(first, Relaxed);
        return Err(Alone::Joined(Word::from_bits(now)));
    }
    P::count(Event::cna_flush);
    P::count(Event::cna_handoff_remote);
    Ok(named(first))
}
