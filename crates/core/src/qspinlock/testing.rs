//! Entry points for tests that skip a phase, or start in the middle of a queue.
//!
//! A checker can afford two or three threads, and the interesting states of a queue need more. With these functions a
//! test builds such a state by hand. Its waiters have no threads and are called *absent*. A thread that finds one of
//! them granted acts for it ([`QSpinlock::act_for`]).

use super::{Grant, QSpinlock, Succession, Waiting, Word};
use crate::platform::{Atomic, Cells, LockWordOps};
use crate::queue::{NodeId, QueuePlatform, link_to, node};
use crate::raw::{Order, RawLock};
use core::sync::atomic::Ordering::Relaxed;

impl<P: QueuePlatform, S: Succession<P>, W: Waiting<P>> QSpinlock<P, S, W> {
    /// Leaves the next node of the calling CPU as an earlier use may have left it: linked, and granted. If a thread
    /// uses the node now and another thread reads it too early, it is mistaken for that earlier use.
    ///
    /// # Panics
    /// Panics if there is no node.
    pub fn soil_node() {
        let id = P::claim_node().expect("a node to soil");
        // ordering: Relaxed; published when the test starts its threads.
        node::<P>(id).next.store(link_to(id), Relaxed);
        // ordering: Relaxed; as above.
        node::<P>(id).locked.store(Grant::PLAIN, Relaxed);
        // SAFETY: claimed above, and no other thread knows it.
        unsafe { P::release_node(id) };
    }
    /// Adds a waiter on the calling CPU that has linked itself at the end of the queue. It is the head if the queue was
    /// empty.
    ///
    /// # Panics
    /// Panics if there is no node.
    pub fn enqueue_absent(&self) -> NodeId {
        let id = P::claim_node().expect("a node for an absent waiter");
        let me = Self::prepare(id);
        if super::queue::join::<P>(&self.word, id).is_none() {
            // ordering: Relaxed; published when the test starts its threads.
            me.locked.store(Grant::PLAIN, Relaxed);
        }
        id
    }
    /// Adds a waiter on the calling CPU that has been set aside behind `tail`, the tail of the secondary queue. Without
    /// a `tail` it is the first one there. The head gets the secondary queue by
    /// [`give_secondary`](Self::give_secondary).
    ///
    /// # Panics
    /// Panics if there is no node.
    ///
    /// # Safety
    /// This function returned `tail`, which is the last one, and no head has its queue yet.
    pub unsafe fn set_aside_absent(tail: Option<NodeId>) -> NodeId {
        let id = P::claim_node().expect("a node for an absent waiter");
        let me = Self::prepare(id);
        let mut close_with = link_to(id);
        if let Some(tail) = tail.map(node::<P>) {
            // ordering: Relaxed; published when the test starts its threads.
            close_with = tail.next.load(Relaxed);
            // ordering: Relaxed; as above.
            tail.next.store(link_to(id), Relaxed);
        }
        // ordering: Relaxed; as above.
        me.next.store(close_with, Relaxed);
        id
    }
    /// Makes the secondary queue with this tail come with the grant of the absent head.
    ///
    /// # Safety
    /// Both are absent waiters: the head of a queue, and the last one that was set aside. No waiter was granted
    /// anything since.
    pub unsafe fn give_secondary(head: NodeId, tail: NodeId) {
        // ordering: Relaxed; published when the test starts its threads.
        node::<P>(head).locked.store(link_to(tail) << 16, Relaxed);
    }
    /// Makes the absent head of the queue pending.
    ///
    /// # Safety
    /// The head of the queue is absent, and no other thread uses the lock yet.
    pub unsafe fn reserve_for_absent(&self) {
        // (n,0,*) -> (n,1,*)
        // ordering: Relaxed; published when the test starts its threads.
        self.word.store_byte1(1, Relaxed);
    }
    /// Takes the lock as a thread that looked at the word when no thread waited yet, no matter what the word holds now.
    /// It may set the pending bit while there is a queue, and then has to take it back.
    pub fn lock_late(&self) {
        self.lock_slowpath(Word::HELD);
    }
    /// Returns `true` if an absent waiter is the head of the queue. Only the thread that has granted it can
    /// be sure to see that.
    pub fn is_granted(id: NodeId) -> bool {
        // ordering: Relaxed; only a hint, acquired in `act_for`.
        node::<P>(id).locked.load(Relaxed) != 0
    }
    /// Acts as the thread of an absent waiter would from here on: waits for the grant, then for the lock. The caller
    /// holds the lock afterwards.
    ///
    /// # Safety
    /// `id` is an absent waiter of this lock, and no other thread acts for it.
    pub unsafe fn act_for(&self, id: NodeId) {
        // No thread has seen its predecessor; its own node is used instead.
        // SAFETY: by the law above.
        unsafe { self.act_for_behind(id, id) };
    }
    /// As [`act_for`](Self::act_for), but the waiter is behind `prev`.
    ///
    /// # Safety
    /// As for [`act_for`](Self::act_for), and `prev` is in front of it.
    pub unsafe fn act_for_behind(&self, id: NodeId, prev: NodeId) {
        let me = node::<P>(id);
        let granted = W::wait_node(me, prev);
        self.wait_as_head(id, me, granted);
        // SAFETY: claimed when the waiter was built; as in `lock_queue`, no thread reaches it now.
        unsafe { P::release_node(id) };
    }
}

/// A queued spinlock whose waiters go straight to the queue.
pub struct QueueOnly<P: Cells, S, W>(QSpinlock<P, S, W>);

impl<P: QueuePlatform, S: Succession<P>, W: Waiting<P>> RawLock for QueueOnly<P, S, W> {
    const ORDER: Order = if W::KEEPS_ORDER { S::ORDER } else { Order::None };
    const WAITERS_SLEEP: bool = W::SLEEPS;

    fn new() -> Self {
        Self(QSpinlock::new())
    }
    fn lock(&self) {
        self.0.lock_queue();
    }
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}
