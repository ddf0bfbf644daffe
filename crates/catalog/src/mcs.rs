//! `McsLock`: a queue in which each waiter spins on its own node.
//!
//! This is the textbook lock that the queued spinlock squeezes into four bytes (Mellor-Crummey and Scott, 1991). It is
//! a pointer to the newest node, and each node links to the one behind it.
//!
//! ```text
//!   tail ────────────────────────────────┐
//!                                        v
//!   [owner] ─next─> [waiter] ─next─> [newest]
//! ```
//!
//! | tail | means | moved by |
//! |---|---|---|
//! | null | free | a newcomer, to its node |
//! | node | held; that node is the newest | a newcomer, to its node; the owner, if the node is its own, to null |
//!
//! The owner's node stays in use between lock and unlock, and its number is kept in the lock. So a thread may hold as
//! many of these locks as there are queue nodes, and lock and unlock may happen on different threads. A thread that
//! finds no node waits until there is one: unlike the queued spinlock this lock cannot be taken without a node. It is
//! not usable in a forked child if it was contended at the fork. Fairness: first come, first served.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | M1 | `swap` in `lock`, Release half; `replace` in `try_lock` | the next `swap`, Acquire half | the init of the node |
//! | M2 | `next.store`, Release | `next.cond_load` in `unlock`, Acquire | the init of the successor's node |
//! | M3 | `locked.store` in `unlock`, Release | `locked.cond_load` in `lock`, Acquire | the owner's work |
//! | M4 | `replace` in `unlock`, Release | `swap` in `lock`, Acquire half; `replace` in `try_lock`, Acquire | the owner's work |

use crate::platform::{
    Atomic, Barriers, Cells, ConstCells, Guarded, NodePtr, QueueNodes, barrier_before_look,
};
use crate::queue::{NodeId, QNode, TailCode, claim_patiently, node};
use crate::raw::{Order, RawLock};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// An MCS lock.
pub struct McsLock<P: Cells> {
    tail: NodePtr<P, QNode<P>>,
    /// The number of the owner's node. The lock itself guards it.
    holder: Guarded<P, u16>,
}

impl<P: ConstCells> McsLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { tail: NodePtr::NULL, holder: Guarded::const_new(0) };
}

impl<P: QueueNodes<Node = QNode<P>> + Barriers> McsLock<P> {
    fn prepare(id: NodeId) -> *mut QNode<P> {
        let me = node::<P>(id);
        // ordering: Relaxed; published by M1.
        me.next.store(TailCode::NONE.bits().into(), Relaxed);
        // ordering: Relaxed; published by M1.
        me.locked.store(0, Relaxed);
        P::node(id).as_ptr()
    }
}

impl<P: QueueNodes<Node = QNode<P>> + Barriers> RawLock for McsLock<P> {
    const ORDER: Order = Order::Fifo;

    fn new() -> Self {
        Self { tail: NodePtr::null(), holder: Guarded::new(0) }
    }
    fn lock(&self) {
        let id = claim_patiently::<P>();
        let me = Self::prepare(id);
        // ordering: AcqRel; M1 both ways, M4 when the lock is free.
        let prev = self.tail.swap(me, AcqRel);
        if !prev.is_null() {
            // SAFETY: nodes live as long as the machine, and the predecessor does not leave the queue before it has
            // seen this link.
            let prev = unsafe { &*prev };
            // ordering: Release; M2.
            prev.next.store(id.code().bits().into(), Release);
            // ordering: Acquire; M3.
            node::<P>(id).locked.cond_load(Acquire, |locked| locked != 0);
        }
        // SAFETY: the lock is ours.
        unsafe { self.holder.set(id.code().bits()) };
    }
    fn try_lock(&self) -> bool {
        let Some(id) = P::claim_node() else { return false };
        let me = Self::prepare(id);
        // ordering: AcqRel; M1, M4. On failure Relaxed: the failure value is not used.
        let taken = self.tail.replace(core::ptr::null_mut(), me, AcqRel, Relaxed);
        if taken {
            // SAFETY: the lock is ours.
            unsafe { self.holder.set(id.code().bits()) };
        } else {
            // SAFETY: claimed above and never published.
            unsafe { P::release_node(id) };
        }
        taken
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        let id = TailCode::from_bits(unsafe { self.holder.get() }).node_or_first();
        // ordering: Release; M4. On failure Relaxed: the failure value is not used.
        let alone =
            self.tail.replace(P::node(id).as_ptr(), core::ptr::null_mut(), Release, Relaxed);
        if !alone {
            // ordering: Acquire; M2.
            let next = node::<P>(id).next.cond_load(Acquire, |next| next != 0);
            if let Some(next) = TailCode::from_bits(next as u16).node() {
                // ordering: Release; M3.
                node::<P>(next).locked.store(1, Release);
            }
        }
        // SAFETY: claimed in `lock` or `try_lock`; no thread can reach it now.
        unsafe { P::release_node(id) };
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(self.tail.cell());
        // ordering: Relaxed; nothing is read through it.
        !self.tail.load(Relaxed).is_null()
    }
}
