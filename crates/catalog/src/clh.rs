//! `ClhLock`: a queue in which each waiter spins on the node of its predecessor.
//!
//! The links are implicit (Craig, 1993; Landin and Hagersten, 1994): a waiter knows only the node in front of it, and
//! takes that node over when it gets the lock.
//!
//! ```text
//!   tail ──> [newest] <─watches─ no thread
//!            its thread watches ──> [waiter]
//!                                   its thread watches ──> [owner]
//! ```
//!
//! | tail | that node's `locked` | means | moved by |
//! |---|---|---|---|
//! | null | | free | a newcomer, to its node |
//! | node | 1 | held or about to be | a newcomer, to its node; the owner, if it is its own, to null |
//!
//! The release first tries to take its own node out of the word, so that zero is unlocked, an idle lock keeps no node,
//! and the word never names a released one. As in [`McsLock`](crate::mcs::McsLock) the owner's node is kept in the
//! lock, with the same limits. Fairness: first come, first served.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | C1 | `swap` in `lock`, Release half; `replace` in `try_lock` | the next `swap`, Acquire half | the init of the node |
//! | C2 | `locked.store` in `unlock`, Release | `locked.cond_load` in `lock`, Acquire | the owner's work |
//! | C3 | `replace` in `unlock`, Release | `swap` in `lock`, Acquire half; `replace` in `try_lock`, Acquire | the owner's work |

use crate::platform::{
    Atomic, Barriers, Cells, ConstCells, Guarded, NodePtr, QueueNodes, barrier_before_look,
};
use crate::queue::claim_patiently;
use crate::queue::{NodeId, QNode, TailCode, node};
use crate::raw::{Order, RawLock};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const WANTED: u32 = 1;
const RELEASED: u32 = 0;

/// A CLH lock.
pub struct ClhLock<P: Cells> {
    tail: NodePtr<P, QNode<P>>,
    /// The number of the owner's node. The lock itself guards it.
    holder: Guarded<P, u16>,
}

impl<P: ConstCells> ClhLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { tail: NodePtr::NULL, holder: Guarded::const_new(0) };
}

impl<P: QueueNodes<Node = QNode<P>> + Barriers> ClhLock<P> {
    /// Marks a claimed node as wanting the lock, and stores the node's own number in it. The successor finds the number
    /// there, and releases the node.
    fn prepare(id: NodeId) -> *mut QNode<P> {
        let me = node::<P>(id);
        // ordering: Relaxed; published by C1.
        me.locked.store(WANTED, Relaxed);
        // ordering: Relaxed; published by C1.
        me.next.store(id.code().bits().into(), Relaxed);
        P::node(id).as_ptr()
    }
}

impl<P: QueueNodes<Node = QNode<P>> + Barriers> RawLock for ClhLock<P> {
    const ORDER: Order = Order::Fifo;

    fn new() -> Self {
        Self { tail: NodePtr::null(), holder: Guarded::new(0) }
    }
    fn lock(&self) {
        let id = claim_patiently::<P>();
        // ordering: AcqRel; C1 both ways, C3 when the lock is free.
        let prev = self.tail.swap(Self::prepare(id), AcqRel);
        if !prev.is_null() {
            // SAFETY: nodes live as long as the machine, and no other thread releases this one.
            let prev = unsafe { &*prev };
            // ordering: Acquire; C2.
            prev.locked.cond_load(Acquire, |locked| locked == RELEASED);
            // ordering: Relaxed; ordered by C1, and constant while the node is claimed.
            let code = TailCode::from_bits(prev.next.load(Relaxed) as u16);
            if let Some(prev) = code.node() {
                // SAFETY: its thread left it to us when it released the lock.
                unsafe { P::release_node(prev) };
            }
        }
        // SAFETY: the lock is ours.
        unsafe { self.holder.set(id.code().bits()) };
    }
    fn try_lock(&self) -> bool {
        let Some(id) = P::claim_node() else { return false };
        // ordering: AcqRel; C1, C3. On failure Relaxed: the failure value is not used.
        let taken = self.tail.replace(null_mut(), Self::prepare(id), AcqRel, Relaxed);
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
        // ordering: Release; C3. On failure Relaxed: the failure value is not used.
        if self.tail.replace(P::node(id).as_ptr(), null_mut(), Release, Relaxed) {
            // SAFETY: claimed in `lock` or `try_lock`; no other thread has seen it in the word.
            unsafe { P::release_node(id) };
        } else {
            // From here on the node belongs to the successor.
            // ordering: Release; C2.
            node::<P>(id).locked.store(RELEASED, Release);
        }
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(self.tail.cell());
        // ordering: Relaxed; nothing is read through it.
        !self.tail.load(Relaxed).is_null()
    }
}
