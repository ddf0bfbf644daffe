//! An attempt to read that succeeds reads; one that fails leaves the lock alone.

use crate::client::{Client, has_rounds};
use crate::shared::WithTwins;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "try-shared";

/// The first thread writes, those with an odd number only try to read, the others read.
pub struct TryShared<P: Platform, L> {
    object: WithTwins<P, L>,
    rounds: u32,
}

impl<P: Platform, L: RawLock> TryShared<P, L> {
    /// Reads, by an attempt if `tries`.
    fn read(&self, tries: bool) {
        if !tries {
            self.object.read();
        } else if self.object.lock.try_lock_shared() {
            self.object.read_and_unlock();
        }
    }
}

impl<P: Platform, L: RawLock> Client for TryShared<P, L> {
    const NAME: &'static str = NAME;

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::new(), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            match thread {
                0 => self.object.write(),
                other => self.read(other % 2 == 1),
            }
        }
    }
    fn finish(&self) {
        let WithTwins { lock, twins } = &self.object;
        assert!(!lock.is_locked(), "the lock is held when nobody holds it");
        for _ in 0..2 {
            assert!(lock.try_lock_shared(), "a lock without owner cannot be read");
        }
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { twins.read() };
        assert!(lock.is_locked(), "a lock that is read is found free");
        assert!(!lock.try_lock(), "a lock that is read can be owned");
        for _ in 0..2 {
            // SAFETY: taken above.
            unsafe { lock.unlock_shared() };
        }
        assert!(lock.try_lock(), "a free lock cannot be taken when nobody competes");
        assert!(!lock.try_lock_shared(), "a lock that is owned can be read");
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        assert_eq!(count, u64::from(self.rounds), "increments were lost");
    }
}
