//! Waiting: in the queue of spinners, and in the list.

use super::list::ASLEEP;
use super::{KernelMutex, thread_in};
use crate::events::Event;
use crate::platform::{Atomic, Bound};
use crate::qspinlock::pv::PvPlatform;
use crate::queue::{NodeId, Patience, UNTIL_OVER, node};
use core::sync::atomic::Ordering::Relaxed;

/// A spinner asks once in this many looks if it still should spin.
const FOR_NEWS: Bound = Bound::until_stopped(16);
/// The time for which a thread without a queue node sleeps between its attempts, in nanoseconds.
const NAP_NS: u64 = 1_000_000;

/// The end of a spin: it tells a spinner to stop, whatever the lock says.
struct Over<P: PvPlatform>(Option<Patience<P>>);

impl<P: PvPlatform> Over<P> {
    const BOUND: Bound = if P::KNOWS_WHO_RUNS { FOR_NEWS } else { UNTIL_OVER };

    fn new() -> Self {
        Self((!P::KNOWS_WHO_RUNS).then(Patience::long))
    }
    /// Returns `true` if it should stop; if the platform does not know which threads run, after a pause.
    fn is_over(&mut self) -> bool {
        match &mut self.0 {
            Some(patience) => patience.pause(),
            None => P::need_resched(),
        }
    }
}

impl<P: PvPlatform> KernelMutex<P> {
    /// Takes the lock after the first attempt has failed.
    #[doc(alias = "__mutex_lock_common")]
    #[cold]
    pub(super) fn lock_slowpath(&self) {
        loop {
            if self.try_take(false).is_none() {
                return;
            }
            if let Some(id) = P::claim_node() {
                if !self.spin_in_queue(id) {
                    self.wait(id);
                }
                // SAFETY: claimed above. It is in no queue and no list, and a thread that wakes it by its address
                // touches nothing of it.
                return unsafe { P::release_node(id) };
            }
            // ordering: Relaxed; nothing is read through it.
            let first = self.first.load(Relaxed);
            P::futex_wait(&self.first, first, Some(P::now_ns().saturating_add(NAP_NS)));
        }
    }

    /// Spins in the queue and at its head, if the owner runs. Returns `true` if it got the lock.
    #[doc(alias = "mutex_optimistic_spin")]
    fn spin_in_queue(&self, id: NodeId) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
        let owner = thread_in(self.owner.load(Relaxed));
        if P::need_resched() || owner != 0 && !P::is_thread_running(owner) {
            return false;
        }
        let mut over = Over::new();
        // SAFETY: the caller's node, which is in no queue yet.
        if !unsafe { self.spinners.lock(id, || over.is_over()) } {
            return false;
        }
        let is_ours = self.spin(&mut over);
        // SAFETY: queued above, and at the head since.
        unsafe { self.spinners.unlock(id) };
        is_ours
    }

    /// Tries again and again while the owner runs. Returns `true` if it got the lock.
    fn spin(&self, over: &mut Over<P>) -> bool {
        while let Some(owner) = self.try_take(false) {
            let is_another = |word| thread_in(word) != owner;
            let stops = || !P::is_thread_running(owner) || over.is_over();
            // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
            let news = self.owner.cond_load_bounded(Relaxed, Over::<P>::BOUND, is_another, stops);
            if news.is_err() || !P::KNOWS_WHO_RUNS && over.is_over() {
                return false;
            }
        }
        true
    }

    /// Waits in the list until the lock is ours.
    fn wait(&self, id: NodeId) {
        let kick = &node::<P>(id).kick;
        let mut list = self.locked_list();
        if self.try_take(false).is_none() {
            return;
        }
        if list.push(id) {
            self.set_waiters();
        }
        loop {
            // ordering: Relaxed; guarded by the lock of the list.
            kick.store(ASLEEP, Relaxed);
            // A release hands the lock over and wakes this thread in a locked section before this one or after it.
            if self.try_take(false).is_none() {
                break;
            }
            drop(list);
            P::count(Event::mutex_sleep);
            P::futex_wait(kick, ASLEEP, None);
            let is_first = self.first() == Some(id);
            let is_ours =
                self.try_take(is_first).is_none() || is_first && self.spin(&mut Over::new());
            list = self.locked_list();
            if is_ours {
                break;
            }
        }
        if list.remove(id) {
            self.clear_flags();
        }
    }
}
