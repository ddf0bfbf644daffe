//! Waits with a deadline.
//!
//! Only a waiter of the policy [`Spin`] can have one. What such a waiter does when its time is over depends on its
//! place:
//!
//! | where | state of its node | leaves by |
//! |---|---|---|
//! | not in the lock: no node was left | - | going away |
//! | pending | - | taking its bit back: (\*,1,\*) -> (\*,0,\*) |
//! | in the queue, not the head | `locked` 0 | `locked` 0 -> 3 (`LEFT`); the node stays |
//! | head of the queue | `locked` 1, or a secondary queue | making the next waiter the head, without taking the lock |
//!
//! *Why the node stays.* A link belongs to the waiter that it names, and to the head that follows it. To take a node
//! out of the middle, a waiter would have to change the link in front of it while a head may follow it, and each head
//! would have to follow links by exchanges: that would make every handoff slower. So the node stays where it is, and
//! only its thread goes. The thread that grants the node finds 3 in it, acts for the waiter as a head that leaves at
//! once, and releases the node. A waiter without a deadline keeps its place, because nothing in front of it or behind
//! it changes.
//!
//! *Why plain waiters do not pay for it.* A link says if the waiter that it names may leave (bit 16, above the tail
//! code), and a head reads the link in any case. It delivers a grant by a store to a waiter that may not leave, and by
//! an exchange to one that may. No plain waiter reads, writes or waits for anything more than without deadlines.
//!
//! *How many nodes stay.* A thread that has left a node in a queue does not queue with a deadline before the node was
//! released: it competes for the word then, as if no node were left. So there is at most one such node for each thread.
//! All of them are behind a waiter that has not left: the head is never one of them. An owner that passes such nodes on
//! its way to the next head releases them when it has made that waiter the head. So it passes one node of each thread
//! at most: a thread that gives up again and again does not hold it up.
//!
//! A waiter looks at its deadline after every 64 looks at the lock, which take a few microseconds. A waiter that leaves
//! as the head waits for the link of the next waiter. The link comes at once if the next waiter's thread has a CPU.
//!
//! Orderings, in addition to those of the queue:
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | Q3 | `locked.compare_exchange` in `deliver_if_there`, Release | `locked` in `wait_for_grant`, Acquire | as for every grant |
//!
//! To leave orders nothing. Q1 and Q2 publish what the thread has written to its node. After it has left, it does not
//! touch the node, and what it read there before is no newer than its own exchange.

use super::queue::join;
use super::{Alone, Grant, QSpinlock, Spin, Succession, Waiting, Word};
use crate::events::Event;
use crate::platform::{Atomic, Bound, Clock};
use crate::queue::{NodeId, QNode, QueuePlatform, TailCode, count_nesting, look_for_grant, node};
use crate::raw::RawLock;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A value of a node's `locked` word: its waiter has left, and the thread that grants it releases the node.
const LEFT: u32 = 3;

impl<P: QueuePlatform, S: Succession<P>> QSpinlock<P, S, Spin> {
    /// Takes the lock before a deadline of the platform's clock. Returns `true` if it did.
    pub fn lock_until(&self, deadline_ns: u64) -> bool {
        match self.take_free() {
            Ok(()) => true,
            Err(seen) => self.lock_slowpath_until(seen, deadline_ns),
        }
    }

    #[cold]
    fn lock_slowpath_until(&self, seen: Word, deadline_ns: u64) -> bool {
        if P::is_over(deadline_ns) {
            return self.try_lock();
        }
        if P::has_forked() {
            self.bury_orphans();
        } else if let Some(seen) = self.become_pending(seen) {
            return self.wait_as_pending_until(seen, deadline_ns);
        }
        self.lock_queue_until(deadline_ns)
    }

    /// Waits as the pending waiter, which has found `seen`, and takes the lock. Returns `true` if it did.
    fn wait_as_pending_until(&self, seen: Word, deadline_ns: u64) -> bool {
        let is_free = |bits| !Word::from_bits(bits).is_locked();
        // (*,1,1) -> (*,1,0) by the owner
        // ordering: Acquire; Q4.
        let wait =
            || self.word.cond_load_bounded(Acquire, until::<P>(deadline_ns), is_free, || false);
        if seen.is_locked() && wait().is_err() {
            self.withdraw_pending();
            return false;
        }
        self.take_as_pending();
        true
    }

    fn lock_queue_until(&self, deadline_ns: u64) -> bool {
        P::count(Event::lock_slowpath);
        let id = if has_left_node::<P>() { None } else { P::claim_node() };
        let Some(id) = id else { return self.compete_until(deadline_ns) };
        match self.wait_in_queue_until(id.that_may_leave(), deadline_ns) {
            Some(is_ours) => {
                // SAFETY: claimed above, and no thread reaches it now, as in `lock_queue`.
                unsafe { P::release_node(id) };
                is_ours
            }
            None => {
                P::leave_node(id);
                false
            }
        }
    }

    /// Competes for the lock without a place in the queue. Returns `true` if it took the lock.
    #[cold]
    fn compete_until(&self, deadline_ns: u64) -> bool {
        P::count(Event::lock_no_node);
        let may_be_taken = |bits| Self::may_be_taken(Word::from_bits(bits));
        loop {
            if self.try_lock() {
                return true;
            }
            let bound = until::<P>(deadline_ns);
            // ordering: Relaxed; only a hint, re-checked by `try_lock`.
            if self.word.cond_load_bounded(Relaxed, bound, may_be_taken, || false).is_err() {
                return false;
            }
        }
    }

    /// Queues with node `id`. Returns `true` if the lock is taken, and `None` if the node stays in the queue.
    fn wait_in_queue_until(&self, id: NodeId, deadline_ns: u64) -> Option<bool> {
        count_nesting::<P>(id);
        let me = Self::prepare(id);
        if self.try_lock() {
            return Some(true);
        }
        let granted = match join::<P>(&self.word, id) {
            Some(_) => wait_for_grant(me, deadline_ns)?,
            None => Grant::PLAIN,
        };
        let mut turn = S::become_head(id, me, granted);
        let is_free = |bits| Word::from_bits(bits).is_free_for_head();
        let mut bound = until::<P>(deadline_ns);
        if S::STEPS {
            bound.stop_every = 1;
        }
        let step = || {
            S::step(id, me, &mut turn);
            false
        };
        // ordering: Acquire; Q4.
        let seen = self.word.cond_load_bounded(Acquire, bound, is_free, step);
        match seen {
            Ok(bits) => {
                S::before_taking(id, me, &mut turn);
                self.take(id, me, Word::from_bits(bits), turn);
            }
            Err(_) => {
                if let Some(grant) = self.leave_as_head(id, me, turn) {
                    self.deliver(grant);
                }
            }
        }
        Some(seen.is_ok())
    }
}

impl<P: QueuePlatform, S: Succession<P>, W: Waiting<P>> QSpinlock<P, S, W> {
    /// Leaves the queue as its head and does not take the lock. Returns the grant for the next waiter, if there is one.
    pub fn leave_as_head(&self, id: NodeId, me: &QNode<P>, turn: S::Turn) -> Option<Grant> {
        let mut turn = turn;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange in `try_clear_tail`.
        let mut seen = Word::from_bits(self.word.load(Relaxed));
        while seen.tail() == id.code() {
            // (n,p,l) -> (0,p,l), or (s,p,l) with waiters set aside
            match S::try_clear_tail(&self.word, seen, seen.lower_half(), &mut turn) {
                Alone::Left => return None,
                Alone::Granted(grant) => return Some(grant),
                Alone::Joined(now) => seen = now,
            }
        }
        W::wait_for_link(me);
        Some(S::choose(id, me, turn))
    }

    /// Delivers a grant to a waiter that may have left. If it has, acts for it as a head that leaves at once, and goes
    /// on with the grant that results.
    #[cold]
    pub(crate) fn deliver_if_there(&self, grant: Grant) {
        let mut next = Some(grant);
        // The last node that was passed. Each such node links to the one before.
        let mut passed = TailCode::NONE;
        while let Some(grant) = next {
            if !grant.to.may_leave() {
                self.deliver(grant);
                break;
            }
            let to = node::<P>(grant.to);
            // ordering: Release; Q3. On failure Relaxed: its thread has left, and published nothing.
            if to.locked.compare_exchange(0, grant.value, Release, Relaxed).is_ok() {
                W::kick(&self.word, grant.to);
                break;
            }
            let turn = S::become_head(grant.to, to, grant.value);
            next = self.leave_as_head(grant.to, to, turn).map(|next| next.after(grant.value));
            // ordering: Relaxed; no other thread reaches it now.
            to.next.store(passed.bits().into(), Relaxed);
            passed = grant.to.code();
        }
        while let Some(id) = passed.node() {
            // ordering: Relaxed; as above.
            passed = TailCode::from_bits(node::<P>(id).next.load(Relaxed) as u16);
            // Another lock may use the node without preparing it again.
            // ordering: Relaxed; as above.
            node::<P>(id).locked.store(0, Relaxed);
            // SAFETY: its thread has left it, and no thread reaches it now, as in `lock_queue`.
            unsafe { P::release_node(id) };
        }
    }
}

/// Waits for the grant. If the time is over first, leaves the node to the thread that grants it.
pub fn wait_for_grant<P: QueuePlatform>(me: &QNode<P>, deadline_ns: u64) -> Option<u32> {
    if let Ok(granted) = look_for_grant(me, until::<P>(deadline_ns), || false) {
        return Some(granted);
    }
    // ordering: Relaxed; nothing is read through it. On failure Acquire; Q3.
    me.locked.compare_exchange(0, LEFT, Relaxed, Acquire).err()
}

/// Returns `true` if the calling thread has a node in a queue that it has left. Another queue may use the node by now.
pub fn has_left_node<P: QueuePlatform>() -> bool {
    // ordering: Relaxed; only a hint.
    P::left_node().is_some_and(|id| node::<P>(id).locked.load(Relaxed) == LEFT)
}

/// Returns the bound of a wait until `deadline_ns`.
fn until<P: Clock>(deadline_ns: u64) -> Bound {
    Bound::nanoseconds(P::ns_until(deadline_ns))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::super::Fifo;
    use super::*;
    use crate::native::Native;
    use crate::platform::{Cells, QueueNodes};
    use crate::raw::Order;

    /// Serves waiters in the order of arrival. Each head looks if its thread has a node in a queue that it has left.
    struct Looks;

    // SAFETY: it does what `Fifo` does, which it calls.
    unsafe impl Succession<Native> for Looks {
        const ORDER: Order = Order::None;
        const STEPS: bool = false;
        type Turn = bool;

        fn enter(_me: &QNode<Native>) {}
        fn become_head(_id: NodeId, _me: &QNode<Native>, _granted: u32) -> bool {
            has_left_node::<Native>()
        }
        fn step(_id: NodeId, _me: &QNode<Native>, _turn: &mut bool) -> bool {
            false
        }
        fn try_clear_tail(
            word: &<Native as Cells>::Word,
            seen: Word,
            after: u16,
            turn: &mut bool,
        ) -> Alone {
            assert!(*turn, "it could queue again, and leave again");
            <Fifo as Succession<Native>>::try_clear_tail(word, seen, after, &mut ())
        }
        fn choose(id: NodeId, me: &QNode<Native>, turn: bool) -> Grant {
            assert!(turn, "it could queue again, and leave again");
            <Fifo as Succession<Native>>::choose(id, me, ())
        }
    }

    /// If it could, an owner on its way to the next head would meet such a thread again and again.
    #[test]
    fn a_thread_whose_node_was_passed_cannot_leave_another_one_before_there_is_a_head() {
        type Lock = QSpinlock<Native, Looks>;
        let lock = Lock::new();
        let claimed = || Native::claim_node().expect("a node");
        let owner = claimed();
        Lock::prepare(owner);
        assert!(join::<Native>(&lock.word, owner).is_none());
        let leaves = |id: NodeId| {
            let me = Lock::prepare(id);
            join::<Native>(&lock.word, id);
            assert!(wait_for_grant(me, 0).is_none());
        };
        let first = claimed().that_may_leave();
        leaves(first);
        leaves(claimed().that_may_leave());
        Native::leave_node(first);
        lock.wait_as_head(owner, node(owner), Grant::PLAIN);
        assert!(!has_left_node::<Native>() && lock.is_locked());
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        assert!(lock.try_lock());
        // SAFETY: claimed above, and in no queue.
        unsafe { Native::release_node(owner) };
    }
}
