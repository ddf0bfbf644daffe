//! An attempt that succeeds owns the lock; one that fails leaves it alone.

use crate::client::{Client, has_rounds};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;
use lockwright_core::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "try-lock";

/// The first thread locks, the others only try. A thread that gets the lock increments a plain counter.
pub struct TryLock<P: Platform, L> {
    lock: L,
    count: Guarded<P, u64>,
    /// Acquisitions, as their threads count them, unseen by the machine.
    acquired: AtomicU64,
    rounds: u32,
}

impl<P: Platform, L: RawLock> TryLock<P, L> {
    /// # Safety
    /// The caller holds the lock.
    unsafe fn hold_and_unlock(&self) {
        // SAFETY: the caller holds the lock that guards the counter.
        let count = unsafe { self.count.get() };
        // SAFETY: as above.
        unsafe { self.count.set(count + 1) };
        self.acquired.fetch_add(1, Relaxed);
        // SAFETY: the caller holds the lock.
        unsafe { self.lock.unlock() };
    }
}

impl<P: Platform, L: RawLock> Client for TryLock<P, L> {
    const NAME: &'static str = NAME;

    fn new(_threads: usize) -> Self {
        let (count, acquired) = (Guarded::new(0), AtomicU64::new(0));
        Self { lock: L::new(), count, acquired, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            if thread == 0 {
                self.lock.lock();
            } else if !self.lock.try_lock() {
                continue;
            }
            // SAFETY: taken above.
            unsafe { self.hold_and_unlock() };
        }
    }
    fn finish(&self) {
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
        assert!(self.lock.try_lock(), "a free lock cannot be taken when nobody competes");
        assert!(!self.lock.try_lock(), "a held lock can be taken again");
        // SAFETY: this thread holds the lock that guards the counter.
        let count = unsafe { self.count.get() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
        let acquired = self.acquired.load(Relaxed);
        assert_eq!(count, acquired, "increments were lost under the lock");
        assert!(acquired >= u64::from(self.rounds), "the thread that locks did not get the lock");
    }
}
