//! A number under a lock, and how often threads have counted.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Cells, Guarded};
use lockwright_core::raw::RawLock;

/// The number of turns of owners, as the lock guards it and as the threads count them.
pub(crate) struct Turns<P: Cells> {
    number: Guarded<P, u64>,
    /// Unseen by the machine.
    taken: AtomicU64,
}

impl<P: Cells> Turns<P> {
    pub(crate) fn new() -> Self {
        Self { number: Guarded::new(0), taken: AtomicU64::new(0) }
    }
    /// # Safety
    /// The caller holds the lock.
    pub(crate) unsafe fn number(&self) -> u64 {
        // SAFETY: the caller holds the lock that guards the number.
        unsafe { self.number.get() }
    }
    /// How often threads have counted.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }
    /// Counts, and asserts that the owner before is seen.
    ///
    /// # Safety
    /// The caller holds the lock.
    pub(crate) unsafe fn count_on(&self) {
        // SAFETY: the caller holds the lock that guards the number.
        let number = unsafe { self.number.get() };
        assert_eq!(number, self.taken(), "an owner does not see the one before");
        // SAFETY: as above.
        unsafe { self.number.set(number + 1) };
        self.taken.store(number + 1, Relaxed);
    }
    /// Counts, and gives the lock back.
    ///
    /// # Safety
    /// The caller holds `lock`, and all callers pass the same.
    pub(crate) unsafe fn count_and_unlock<L: RawLock>(&self, lock: &L) {
        // SAFETY: the caller holds the lock that guards the number.
        let number = unsafe { self.number.get() };
        // SAFETY: as above.
        unsafe { self.number.set(number + 1) };
        self.taken.fetch_add(1, Relaxed);
        // SAFETY: the caller holds the lock.
        unsafe { lock.unlock() };
    }
    /// The lock is free and can be taken, and no increment was lost.
    pub(crate) fn check<L: RawLock>(&self, lock: &L) {
        assert!(lock.try_lock(), "the lock or its queue did not become empty");
        // SAFETY: taken above.
        let number = unsafe { self.number.get() };
        // SAFETY: as above.
        unsafe { lock.unlock() };
        assert_eq!(number, self.taken(), "two threads held the lock at once");
    }
}
