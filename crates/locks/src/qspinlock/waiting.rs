//! How does one wait?

use super::{Word, word};
use crate::node::QNode;
use crate::platform::{Atomic, LockWordOps, Platform};
use core::sync::atomic::Ordering::{Acquire, Release};

/// How waiters wait, how the next one is told, and how the owner releases.
///
/// Stateless. Only a policy under which nobody steals may let the head take the lock with a plain
/// store, which is what the queue does; a policy that steals will bring its own way to take it.
///
/// # Safety
/// The lock excludes only if the policy does what each function says: it returns from the waits no
/// earlier and with the ordering named, and writes nothing to the word but what `unlock` says.
pub unsafe trait Waiting<P: Platform>: Send + Sync + 'static {
    /// Whether a single waiter uses the pending bit instead of the queue.
    const USES_PENDING: bool;
    /// Whether a thread tries the lock once more before it queues.
    const TRIES_BEFORE_QUEUEING: bool;

    /// Waits until `me` is the head of the queue, behind `prev`. After a reordering `prev` may not
    /// be the predecessor any more, and may be a recycled node: it is a hint. Acquires the grant and
    /// returns its value.
    fn wait_node(me: &QNode<P>, prev: &QNode<P>) -> u32;
    /// Waits, as the head, until the lock may be taken; calls `step` meanwhile if `steps`. Acquires
    /// the release of the last owner and returns the word seen.
    fn wait_for_lock(word: &P::Word, steps: bool, step: impl FnMut() -> bool) -> Word;
    /// Called after every grant with the node that was granted, whatever way it was chosen.
    fn kick(granted: &QNode<P>);
    /// Releases the lock.
    fn unlock(word: &P::Word);
    /// Whether the word is legal under this policy.
    fn word_is_legal(word: Word) -> bool;
}

/// The native qspinlock: pending bit, then queue, spinning throughout.
///
/// For no more threads than CPUs: a waiter that is not running stalls everybody behind it.
pub struct Spin;

// SAFETY: the waits are acquiring `cond_load`s for exactly what they are to wait for, and only
// `unlock` writes.
unsafe impl<P: Platform> Waiting<P> for Spin {
    const USES_PENDING: bool = true;
    const TRIES_BEFORE_QUEUEING: bool = true;

    #[inline]
    fn wait_node(me: &QNode<P>, _prev: &QNode<P>) -> u32 {
        // ordering: Acquire; Q3.
        me.locked.cond_load(Acquire, |granted| granted != 0)
    }
    #[inline]
    fn wait_for_lock(word: &P::Word, steps: bool, step: impl FnMut() -> bool) -> Word {
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
    fn kick(_granted: &QNode<P>) {}
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
