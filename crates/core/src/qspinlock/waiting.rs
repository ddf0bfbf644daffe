//! How does one wait?

use super::{Word, word};
use crate::platform::{Atomic, LockWordOps};
use crate::queue::{NodeId, QNode, QueuePlatform};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// How waiters wait, how the next one is told, and how the owner releases.
///
/// Stateless. Only a policy under which nobody steals may let the head take the lock with a plain
/// store, as [`Spin`] does; the others take it where they wait.
///
/// # Safety
/// The lock excludes only if the policy does what each function says: it returns from the waits no
/// earlier and with the ordering named, nobody else holds the lock when
/// [`before_queueing`](Self::before_queueing) says `true` or [`take`](Self::take) returns, and
/// nothing else in the word is changed but the pending byte, and that only by the head.
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
    /// How long the head of the queue is overtaken at most, in nanoseconds; 0 if it is not, or without end.
    const UNFAIR_NS: u64 = 0;

    /// Competes for the lock without a place in the queue, as long as the policy says. Returns `true` if it is
    /// taken. Acquires the release of the last owner if so.
    #[inline]
    fn before_queueing(word: &P::Word) -> bool {
        let _ = word;
        false
    }
    /// Prepares the own node, before it is published.
    #[inline]
    fn enter(me: &QNode<P>) {
        let _ = me;
    }

    /// Waits until `me` is the head of the queue, behind `prev`. After a reordering `prev` may
    /// no longer be the predecessor, and may be a recycled node: it is a hint. Acquires the grant and
    /// returns its value.
    fn wait_node(me: &QNode<P>, prev: &QNode<P>) -> u32;
    /// Waits, as the head with this node, until the lock may be taken, and takes it unless
    /// [`take`](Self::take) does; calls `step` meanwhile if `steps`. Acquires the release of the last
    /// owner and returns the word seen.
    fn wait_for_lock(
        word: &P::Word,
        head: (NodeId, &QNode<P>),
        steps: bool,
        step: impl FnMut() -> bool,
    ) -> Word;
    /// Takes the lock if the wait has not; called by the head unless it left the queue as the only
    /// waiter, which takes the lock too.
    fn take(word: &P::Word);
    /// Waits, as the owner, until the waiter behind `me` has linked itself. Acquires the link.
    fn wait_for_link(me: &QNode<P>);
    /// Called by the owner after every grant with the waiter that was granted, whatever way it was
    /// chosen.
    fn kick(word: &P::Word, granted: NodeId);
    /// Releases the lock.
    fn unlock(word: &P::Word);
    /// Returns `true` if the word is legal under this policy.
    fn word_is_legal(word: Word) -> bool;
    /// In a forked child: forgets what was noted outside of the word about a waiter of this lock
    /// that `may_go`.
    fn forget(word: &P::Word, may_go: impl Fn(NodeId) -> bool) {
        let _ = (word, may_go);
    }
}

/// The native qspinlock: pending bit, then queue, spinning throughout.
///
/// For no more threads than CPUs: a waiter that is not running stalls everybody behind it.
pub struct Spin;

// SAFETY: the waits are acquiring `cond_load`s for exactly what they are to wait for; only the head
// takes the lock, which it has seen free of owner and pending waiter.
unsafe impl<P: QueuePlatform> Waiting<P> for Spin {
    const USES_PENDING: bool = true;
    const TRIES_BEFORE_QUEUEING: bool = true;
    const COUNTS_ENTRY: bool = true;
    const SLEEPS: bool = false;
    const KEEPS_ORDER: bool = true;

    #[inline]
    fn wait_node(me: &QNode<P>, _prev: &QNode<P>) -> u32 {
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
        let is_free = |bits| Word::from_bits(bits).is_free_for_head();
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
        // (n,0,0) -> (n,0,1). A plain store: nobody steals.
        // ordering: Relaxed; the new head reads it after Q3, everybody else competes.
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
