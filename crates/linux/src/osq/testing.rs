//! The queue as a lock, for the checks that every lock has to pass.

use super::OsqLock;
use crate::platform::{Cells, Guarded, SchedulerHints, barrier_before_look};
use crate::queue::claim_patiently;
use crate::queue::{NodeId, QueuePlatform};
use crate::raw::{Order, RawLock};

/// The head of the queue owns this mutex. A thread that locks it waits for its turn. An attempt joins the queue, and
/// leaves it again unless it is the head at once.
///
/// As in the lock `mcs` of the catalog, the owner's node is kept in the lock, with the same limits.
pub struct OsqMutex<P: Cells> {
    queue: OsqLock<P>,
    /// The number of the owner's node. It is as wide as the tail, so that no byte is outside of a cell. The lock itself
    /// guards it.
    holder: Guarded<P, u32>,
}

impl<P: QueuePlatform + SchedulerHints> RawLock for OsqMutex<P> {
    const ORDER: Order = Order::Fifo;

    fn new() -> Self {
        Self { queue: OsqLock::new(), holder: Guarded::new(0) }
    }
    fn lock(&self) {
        let id = claim_patiently::<P>();
        // SAFETY: claimed above, and in no queue.
        unsafe { self.queue.lock_for_turn(id) };
        // SAFETY: the lock is ours.
        unsafe { self.holder.set(id.number().into()) };
    }
    fn try_lock(&self) -> bool {
        let Some(id) = P::claim_node() else { return false };
        // SAFETY: claimed above, and in no queue.
        let is_ours = unsafe { self.queue.lock(id, || true) };
        if is_ours {
            // SAFETY: the lock is ours.
            unsafe { self.holder.set(id.number().into()) };
        } else {
            // SAFETY: claimed above, and no longer in a queue.
            unsafe { P::release_node(id) };
        }
        is_ours
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        let id = NodeId::new(unsafe { self.holder.get() } as u16);
        // SAFETY: it is the head with this node.
        unsafe { self.queue.unlock(id) };
        // SAFETY: claimed in `lock` or `try_lock`, and no longer in a queue.
        unsafe { P::release_node(id) };
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.queue.tail);
        self.queue.is_locked()
    }
}
