//! An attempt to read that succeeds reads; one that fails leaves the lock alone.

use crate::Client;
use crate::shared::Twins;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "try-shared";

/// The first thread writes, those with an odd number only try to read, the others read.
pub struct TryShared<P: Platform, L> {
    lock: L,
    twins: Twins<P>,
    rounds: u32,
}

impl<P: Platform, L: RawLock> TryShared<P, L> {
    fn write(&self) {
        self.lock.lock();
        // SAFETY: this thread owns the lock that guards the counters.
        unsafe { self.twins.increment() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
    }
    /// Reads, by an attempt if `tries`.
    fn read(&self, tries: bool) {
        if !tries {
            self.lock.lock_shared();
        } else if !self.lock.try_lock_shared() {
            return;
        }
        // SAFETY: this thread reads under the lock that guards the counters.
        unsafe { self.twins.read_twice() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock_shared() };
    }
}

impl<P: Platform, L: RawLock> Client for TryShared<P, L> {
    const NAME: &'static str = NAME;

    fn new(_threads: usize) -> Self {
        Self { lock: L::new(), twins: Twins::new(), rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            match thread {
                0 => self.write(),
                other => self.read(other % 2 == 1),
            }
        }
    }
    fn finish(&self) {
        let lock = &self.lock;
        assert!(!lock.is_locked(), "the lock is held when nobody holds it");
        for _ in 0..2 {
            assert!(lock.try_lock_shared(), "a lock without owner cannot be read");
        }
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { self.twins.read() };
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
