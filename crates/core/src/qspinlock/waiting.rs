//! The policy by which a thread waits.

use super::{Word, word};
use crate::events::Event;
use crate::platform::{Atomic, LockWordOps};
use crate::queue::{NodeId, QNode, QueuePlatform};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A policy: it says how waiters wait, how the next one is told, and how the owner releases the lock.
///
/// It is stateless. A policy may let the head take the lock with a plain store, as [`Spin`] does, only if no thread
/// steals under it. Other policies take the lock where they wait.
///
/// # Safety
/// The lock excludes only if the policy does what each function says. It returns from the waits no earlier and with the
/// ordering named. No other thread holds the lock when [`before_queueing`](Self::before_queueing) says `true` or
/// [`take`](Self::take) returns. Nothing else in the word is changed except the pending byte, and only by the head.
pub unsafe trait Waiting<P: QueuePlatform>: Send + Sync + 'static {
    /// True if a single waiter uses the pending bit instead of the queue.
    const USES_PENDING: bool;
    /// True if a thread tries the lock once more before it queues.
    const TRIES_BEFORE_QUEUEING: bool;
    /// True if the first attempt takes a lock that is free and not pending, even if threads are queued.
    const BARGES: bool = false;
    /// True if an acquisition through the queue is counted when it begins. Otherwise the wait of the
    /// head counts it.
    const COUNTS_ENTRY: bool;
    /// True if waiters give up their CPU before long.
    const SLEEPS: bool;
    /// True if the order of the queue is the order in which the lock is taken.
    const KEEPS_ORDER: bool;
    /// The longest time that the head of the queue is overtaken, in nanoseconds; 0 if it is not overtaken, or without a
    /// bound.
    const UNFAIR_NS: u64 = 0;

    /// Competes for the lock without a place in the queue, for as long as the policy says. Returns `true` if the lock
    /// is taken. Then it acquires the release of the last owner.
    #[inline]
    fn before_queueing(word: &P::Word) -> bool {
        let _ = word;
        false
    }
    /// Prepares the caller's node, before it is published.
    #[inline]
    fn enter(me: &QNode<P>) {
        let _ = me;
    }

    /// Waits until `me` is the head of the queue, behind `prev`. After a reordering `prev` may
    /// no longer be the predecessor, and may be a recycled node: it is a hint. Acquires the grant and
    /// returns its value.
    fn wait_node(me: &QNode<P>, prev: NodeId) -> u32;
    /// Waits, as the head with this node, until the lock may be taken, and takes it unless [`take`](Self::take) does.
    /// Calls `step` meanwhile if `steps` is set. Acquires the release of the last owner and returns the word that it
    /// saw.
    fn wait_for_lock(
        word: &P::Word,
        head: (NodeId, &QNode<P>),
        steps: bool,
        step: impl FnMut() -> bool,
    ) -> Word;
    /// Takes the lock if the wait has not. The head calls it, unless it left the queue as the only waiter, which takes
    /// the lock, too.
    fn take(word: &P::Word);
    /// Waits, as the owner, until the waiter behind `me` has linked itself. Acquires the link.
    fn wait_for_link(me: &QNode<P>);
    /// Tells a waiter that it was granted. The owner calls it after every grant, no matter how the waiter was chosen.
    fn kick(word: &P::Word, granted: NodeId);
    /// Releases the lock.
    fn unlock(word: &P::Word);
    /// Returns `true` if the word is legal under this policy.
    fn word_is_legal(word: Word) -> bool;
    /// Forgets what was noted outside of the word about a waiter of this lock that `may_go`. It is called in a forked
    /// child.
    fn forget(word: &P::Word, may_go: impl Fn(NodeId) -> bool) {
        let _ = (word, may_go);
    }
}

/// The policy of the native qspinlock: first the pending bit, then the queue, and waiters always spin.
///
/// It is for no more threads than CPUs: a waiter that is not running stalls all waiters behind it.
pub struct Spin;

// SAFETY: the waits are acquiring `cond_load`s for exactly the state that they have to wait for; only the head takes
// the lock, which it has seen free of owner and pending waiter.
unsafe impl<P: QueuePlatform> Waiting<P> for Spin {
    const USES_PENDING: bool = true;
    const TRIES_BEFORE_QUEUEING: bool = true;
    const COUNTS_ENTRY: bool = true;
    const SLEEPS: bool = false;
    const KEEPS_ORDER: bool = true;

    #[inline]
    fn wait_node(me: &QNode<P>, _prev: NodeId) -> u32 {
        // ordering: Acquire; Q3.
        me.locked.cond_load(Acquire, |granted| granted != 0)
    }
    #[inline]
    fn wait_for_lock(
        word: &P::Word,
        _head: (NodeId, &QNode<P>),
        steps: bool,
        step: impl FnMut() -> bool,
    ) -> Word {
        let mut is_first = true;
        let is_free = |bits| {
            let is_free = Word::from_bits(bits).is_free_for_head();
            if is_first {
                is_first = false;
                P::count(if is_free { Event::head_found_free } else { Event::head_found_busy });
            }
            is_free
        };
        let seen = if steps {
            // ordering: Acquire; Q4.
            word.cond_load_stepping(Acquire, is_free, step)
        } else {
            // ordering: Acquire; Q4.
            word.cond_load(Acquire, is_free)
        };
        Word::from_bits(seen)
    }
    #[inline]
    fn take(word: &P::Word) {
        // (n,0,0) -> (n,0,1). A plain store: no thread steals.
        // ordering: Relaxed; the new head reads it after Q3, all other threads compete.
        word.store_byte0(word::LOCKED, Relaxed);
    }
    #[inline]
    fn wait_for_link(me: &QNode<P>) {
        // ordering: Acquire; Q2.
        me.next.cond_load(Acquire, |link| link != 0);
    }
    #[inline]
    fn kick(_word: &P::Word, _granted: NodeId) {}
    #[inline]
    fn unlock(word: &P::Word) {
        // (*,*,1) -> (*,*,0)
        // ordering: Release; Q4.
        word.store_byte0(0, Release);
    }
    fn word_is_legal(word: Word) -> bool {
        let is_slow = word.bits() as u8 == word::SLOW;
        word.is_legal() && !is_slow
    }
}
