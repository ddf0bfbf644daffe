//! The lock in the form that checkers use most.

use super::{RawPercpuRwLock, ReaderPlatform};
use crate::raw::{FairnessThreshold, Order, RawLock, Schedules};
use crate::tunables::Tunable;

/// A lock whose readers use slots from the beginning, and again after each write. A short run has no time to wait until
/// slots come into use.
#[repr(transparent)]
pub struct InSlots<P: ReaderPlatform>(RawPercpuRwLock<P>);

impl<P: ReaderPlatform> InSlots<P> {
    /// Returns a lock that the caller owns. Slots are used after its first release.
    pub fn begin_owned() -> Self {
        let lock = Self(RawLock::new());
        lock.0.lock();
        lock
    }
    /// See [`RawPercpuRwLock::lock_until`].
    pub fn lock_until(&self, deadline_ns: u64) -> bool {
        self.0.lock_until(deadline_ns)
    }
    /// See [`RawPercpuRwLock::lock_shared_until`].
    pub fn lock_shared_until(&self, deadline_ns: u64) -> bool {
        self.0.lock_shared_until(deadline_ns)
    }
    /// Returns `true` if no thread holds the lock or waits for it.
    pub fn is_untouched(&self) -> bool {
        self.0.is_untouched()
    }
    /// Begins the use of slots, if the machine has heavy barriers. The caller owns the lock.
    fn begin_slots(&self) {
        // Finds out if the machine has any.
        let _ = P::may_use_heavy_barrier();
        if P::has_heavy_barrier() {
            self.0.begin_slots();
        }
    }
}

impl<P: ReaderPlatform> RawLock for InSlots<P> {
    const ORDER: Order = Order::None;
    const SCHEDULES: Schedules = Schedules::OfRows;
    const WAITERS_SLEEP: bool = true;
    const READERS_SHARE: bool = true;

    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        RawPercpuRwLock::<P>::fairness_threshold(numa_nodes, set)
    }
    fn new() -> Self {
        let lock = Self(RawLock::new());
        lock.begin_slots();
        lock
    }
    fn lock(&self) {
        self.0.lock();
    }
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }
    unsafe fn unlock(&self) {
        self.begin_slots();
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() };
    }
    fn lock_shared(&self) {
        self.0.lock_shared();
    }
    fn try_lock_shared(&self) -> bool {
        self.0.try_lock_shared()
    }
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller is a reader.
        unsafe { self.0.unlock_shared() };
    }
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.downgrade() };
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}
