//! An owner that becomes a reader lets readers in, and no writer before it has given that back.

use crate::client::{Client, has_rounds};
use crate::shared::WithTwins;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "downgrade";

/// The first thread writes, becomes a reader and finds what it wrote. Of the others those with an odd
/// number read and the rest write.
pub struct Downgrade<P: Platform, L> {
    object: WithTwins<P, L>,
    /// Writes, as their threads count them, unseen by the machine.
    writes: AtomicU64,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Downgrade<P, L> {
    fn write_and_read(&self) {
        let WithTwins { lock, twins } = &self.object;
        lock.lock();
        // SAFETY: this thread owns the lock that guards the counters.
        unsafe { twins.increment() };
        // SAFETY: as above.
        let written = unsafe { twins.read() };
        // SAFETY: taken above.
        unsafe { lock.downgrade() };
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { twins.read_twice() };
        assert_eq!(count, written, "a writer came in between");
        // SAFETY: downgraded above.
        unsafe { lock.unlock_shared() };
        self.writes.fetch_add(1, Relaxed);
    }
}

impl<P: Platform, L: RawLock> Client for Downgrade<P, L> {
    const NAME: &'static str = NAME;

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::new(), writes: AtomicU64::new(0), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            match thread {
                0 => self.write_and_read(),
                other if other % 2 == 1 => self.object.read(),
                _ => {
                    self.object.write();
                    self.writes.fetch_add(1, Relaxed);
                }
            }
        }
    }
    fn finish(&self) {
        let WithTwins { lock, twins } = &self.object;
        assert!(lock.try_lock(), "the lock is held when nobody holds it");
        // SAFETY: this thread owns the lock that guards the counters.
        let count = unsafe { twins.read() };
        // SAFETY: taken above.
        unsafe { lock.downgrade() };
        assert!(lock.try_lock_shared(), "an owner that became a reader keeps readers out");
        for _ in 0..2 {
            // SAFETY: downgraded and taken above.
            unsafe { lock.unlock_shared() };
        }
        assert!(!lock.is_locked(), "the lock is held when nobody holds it");
        assert_eq!(count, self.writes.load(Relaxed), "increments were lost");
    }
}
