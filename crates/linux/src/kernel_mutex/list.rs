//! The wait list, in order of arrival, and the lock that guards it.

use super::KernelMutex;
use crate::platform::Atomic;
use crate::qspinlock::pv::PvPlatform;
use crate::queue::{NodeId, QNode, TailCode, link_to, linked, node};
use crate::raw::RawLock;
use core::sync::atomic::Ordering::Relaxed;

/// `kick` of a waiter that sleeps or is about to.
pub(super) const ASLEEP: u32 = 0;
/// `kick` of a waiter that was woken.
const WOKEN: u32 = 1;

/// The wait list, while it is locked. Dropping it unlocks it.
pub(super) struct LockedList<'a, P: PvPlatform>(&'a KernelMutex<P>);

impl<P: PvPlatform> KernelMutex<P> {
    /// Locks the wait list.
    pub(super) fn locked_list(&self) -> LockedList<'_, P> {
        match P::KNOWS_WHO_RUNS {
            true => self.wait_lock.lock(),
            false => self.bounded_wait_lock.lock(),
        }
        LockedList(self)
    }
    /// Returns the first waiter. Without the lock of the list this is a hint.
    pub(super) fn first(&self) -> Option<NodeId> {
        // ordering: Relaxed; only a hint, re-checked with the list locked.
        linked(self.first.load(Relaxed))
    }
}

impl<P: PvPlatform> Drop for LockedList<'_, P> {
    fn drop(&mut self) {
        match P::KNOWS_WHO_RUNS {
            // SAFETY: the lock was taken when this guard was made, and a guard is never copied.
            true => unsafe { self.0.wait_lock.unlock() },
            // SAFETY: as above.
            false => unsafe { self.0.bounded_wait_lock.unlock() },
        }
    }
}

impl<P: PvPlatform> LockedList<'_, P> {
    /// The first waiter.
    pub fn first(&self) -> Option<NodeId> {
        self.0.first()
    }
    /// Returns the thread that waits as `id`.
    pub fn thread(&self, id: NodeId) -> u64 {
        // ordering: Relaxed; guarded by the lock of the list.
        node::<P>(id).thread.load(Relaxed)
    }
    /// Tells `id`, which waits, that it was woken. Returns the address to wake.
    pub fn mark_woken(&self, id: NodeId) -> *const P::U32 {
        let kick = &node::<P>(id).kick;
        // ordering: Relaxed; nothing is read through it: its thread tries again with the list locked.
        kick.store(WOKEN, Relaxed);
        kick
    }
    /// Appends the caller as waiter `id`. Returns `true` if it is the only one.
    pub fn push(&self, id: NodeId) -> bool {
        let me = node::<P>(id);
        let last = self.last();
        // ordering: Relaxed; guarded by the lock of the list.
        me.thread.store(P::this_thread(), Relaxed);
        set_next(me, None);
        set_prev(me, last);
        match last {
            Some(last) => set_next(node::<P>(last), Some(id)),
            None => self.set_first(Some(id)),
        }
        self.set_last(Some(id));
        last.is_none()
    }
    /// Takes `id`, which waits, out of the list. Returns `true` if the list is empty then.
    pub fn remove(&self, id: NodeId) -> bool {
        let me = node::<P>(id);
        // ordering: Relaxed; guarded by the lock of the list.
        let (next, prev) = (linked(me.next.load(Relaxed)), linked(me.prev.load(Relaxed)));
        match prev {
            Some(prev) => set_next(node::<P>(prev), next),
            None => self.set_first(next),
        }
        match next {
            Some(next) => set_prev(node::<P>(next), prev),
            None => self.set_last(prev),
        }
        next.is_none() && prev.is_none()
    }

    fn set_first(&self, first: Option<NodeId>) {
        // ordering: Relaxed; guarded by the lock of the list. A thread that reads it without takes it for a hint.
        self.0.first.store(first.map_or(0, link_to), Relaxed);
    }
    fn last(&self) -> Option<NodeId> {
        // SAFETY: the list is locked.
        unsafe { self.0.last.get() }.node()
    }
    fn set_last(&self, last: Option<NodeId>) {
        // SAFETY: the list is locked.
        unsafe { self.0.last.set(TailCode::of(last)) };
    }
}

fn set_next<P: PvPlatform>(of: &QNode<P>, next: Option<NodeId>) {
    // ordering: Relaxed; guarded by the lock of the list.
    of.next.store(next.map_or(0, link_to), Relaxed);
}
fn set_prev<P: PvPlatform>(of: &QNode<P>, prev: Option<NodeId>) {
    // ordering: Relaxed; guarded by the lock of the list.
    of.prev.store(prev.map_or(0, link_to), Relaxed);
}
