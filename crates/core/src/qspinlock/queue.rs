//! The queue phase.

use super::word::LOCKED_HALF;
use super::{Alone, Grant, QSpinlock, Succession, Waiting, Word};
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::queue::{NodeId, QNode, QueuePlatform, TailCode, count_nesting, link_to, node};
use crate::raw::RawLock;
use core::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

impl<P: QueuePlatform, S: Succession<P>, W: Waiting<P>> QSpinlock<P, S, W> {
    /// Takes the lock through the queue.
    pub fn lock_queue(&self) {
        if W::COUNTS_ENTRY {
            P::count(Event::lock_slowpath);
        }
        let Some(id) = P::claim_node() else { return self.lock_without_node() };
        count_nesting::<P>(id);
        let me = Self::prepare(id);
        if !self.take_before_queueing() {
            self.wait_in_queue(id, me);
        }
        // SAFETY: claimed above. No thread reaches the node now: the word does not name it. If it was in the queue, its
        // predecessor has granted, its successor has been granted, and it is in no secondary queue.
        unsafe { P::release_node(id) };
    }

    /// Takes the lock in front of the queue, if the policy allows it and the lock is free or becomes free.
    fn take_before_queueing(&self) -> bool {
        W::before_queueing(&self.word) || W::TRIES_BEFORE_QUEUEING && self.try_lock()
    }

    /// Takes the lock when no node is left: competes for the word without a place in the queue.
    #[cold]
    fn lock_without_node(&self) {
        P::count(Event::lock_no_node);
        while !self.take_before_queueing() {
            let may_be_taken = |bits| {
                let seen = Word::from_bits(bits);
                Self::may_be_taken(seen) || !W::KEEPS_ORDER && seen.is_free_for_head()
            };
            // ordering: Relaxed; only a hint, re-checked by the attempt.
            self.word.cond_load(Relaxed, may_be_taken);
        }
    }

    /// Queues with node `id`, waits, takes the lock and passes the head of the queue on.
    fn wait_in_queue(&self, id: NodeId, me: &QNode<P>) {
        let granted = match join::<P>(&self.word, id) {
            Some(prev) => W::wait_node(me, prev),
            None => Grant::PLAIN,
        };
        self.wait_as_head(id, me, granted);
    }

    /// Makes `id` the node of a waiter that no other thread knows yet.
    pub fn prepare<'a>(id: NodeId) -> &'a QNode<P> {
        let me = prepare::<P, S>(id);
        W::enter(me);
        me
    }

    /// Waits for the lock as the head of the queue, which was granted with `granted`, and takes it.
    pub(crate) fn wait_as_head(&self, id: NodeId, me: &QNode<P>, granted: u32) {
        let mut turn = S::become_head(id, me, granted);
        // (*,*,*) -> (*,0,0) by the owner and the pending waiter
        let step = || S::step(id, me, &mut turn);
        let seen = W::wait_for_lock(&self.word, (id, me), S::STEPS, step);
        S::before_taking(id, me, &mut turn);
        self.take(id, me, seen, turn);
    }

    /// Takes the lock as the head of the queue, unless the wait for it did. Then makes the next waiter the head, if
    /// there is one.
    pub fn take(&self, id: NodeId, me: &QNode<P>, seen: Word, turn: S::Turn) {
        let (mut seen, mut turn) = (seen, turn);
        while seen.tail() == id.code() {
            match S::try_clear_tail(&self.word, seen, LOCKED_HALF, &mut turn) {
                Alone::Left => return,
                Alone::Granted(grant) => return self.deliver(grant),
                Alone::Joined(now) if now.is_pending() => {
                    // A thread that saw our queue too late takes its pending bit back and will join us. But it does not
                    // if it has no node, so look again and do not rely on it.
                    seen = W::wait_for_lock(&self.word, (id, me), false, || false);
                }
                Alone::Joined(now) => seen = now,
            }
        }
        W::take(&self.word);
        W::wait_for_link(me);
        self.deliver(S::choose(id, me, turn));
    }

    /// Grants a waiter and kicks it. All grants of the queued spinlock come through here.
    #[inline]
    pub fn deliver(&self, grant: Grant) {
        if grant.to.may_leave() {
            return self.deliver_if_there(grant);
        }
        make_head::<P>(grant);
        W::kick(&self.word, grant.to);
    }
}

/// Makes `id` the node of a waiter that no other thread knows yet.
pub fn prepare<'a, P: QueuePlatform, S: Succession<P>>(id: NodeId) -> &'a QNode<P> {
    let me = node::<P>(id);
    // ordering: Relaxed; published by Q1 and Q2.
    me.next.store(TailCode::NONE.bits().into(), Relaxed);
    // ordering: Relaxed; published by Q1 and Q2.
    me.locked.store(0, Relaxed);
    S::enter(me);
    me
}

/// Makes `id` the newest waiter in `word`. If there was a waiter before, links `id` behind it and returns that waiter,
/// which will grant `id`. Otherwise `id` is the head.
pub fn join<P: QueuePlatform>(word: &P::Word, id: NodeId) -> Option<NodeId> {
    // (p,*,*) -> (n,*,*)
    // ordering: AcqRel; Q1 both ways.
    let before = word.swap_half1(id.code().bits(), AcqRel);
    let prev = TailCode::from_bits(before).node()?;
    // ordering: Release; Q2.
    node::<P>(prev).next.store(link_to(id), Release);
    Some(prev)
}

/// Tells a waiter that it is the head.
pub fn make_head<P: QueuePlatform>(grant: Grant) {
    let to = node::<P>(grant.to);
    // ordering: Release; Q3.
    to.locked.store(grant.value, Release);
}
