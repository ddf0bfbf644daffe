//! Waiters without a thread that sleep; see [`testing`](crate::qspinlock::testing) of the queued spinlock.

use super::policy::{HALTED, HASHED, RUNNING};
use super::wait::KICKED;
use super::{PvPlatform, hash};
use crate::platform::{Atomic, LockWordOps};
use crate::qspinlock::{QSpinlock, SLOW, Succession, Waiting};
use crate::queue::{NodeId, node};
use core::sync::atomic::Ordering::Relaxed;

/// Puts an absent waiter of a complete queue to sleep. No thread acts for it before it is kicked. If it is the head of
/// the queue, it has an entry then, and the lock, which a thread holds, is slow.
///
/// # Safety
/// `id` is an absent waiter of this lock.
pub unsafe fn put_to_sleep<P: PvPlatform, S: Succession<P>, W: Waiting<P>>(
    lock: &QSpinlock<P, S, W>,
    id: NodeId,
) {
    let is_head = QSpinlock::<P, S, W>::is_granted(id);
    let state = if is_head { HASHED } else { HALTED };
    // ordering: Relaxed; published when the test starts its threads.
    node::<P>(id).state.store(state, Relaxed);
    if is_head {
        hash::insert::<P>(lock.word(), id);
        // ordering: Relaxed; as above.
        lock.word().store_byte0(SLOW, Relaxed);
    }
}

/// Returns `true` if no thread has to kick an absent waiter: it is awake, or was kicked. Only the thread that has
/// kicked it can be sure to see that.
pub fn is_awake<P: PvPlatform>(id: NodeId) -> bool {
    let node = node::<P>(id);
    // ordering: Relaxed; only hints.
    node.state.load(Relaxed) == RUNNING || node.kick.load(Relaxed) == KICKED
}
