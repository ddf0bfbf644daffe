//! No two threads hold the lock at once, and no update is lost.

use crate::Client;
use lockwright::platform::{Guarded, Platform};
use lockwright::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "exclusion";

/// Each thread increments a plain counter under the lock.
///
/// Two owners at once, or an acquire that does not see a release, are a race on the counter where
/// races are seen, and lost increments where they are not.
pub struct Exclusion<P: Platform, L> {
    lock: L,
    count: Guarded<P, u64>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Client for Exclusion<P, L> {
    const NAME: &'static str = NAME;

    fn new(threads: usize) -> Self {
        Self { lock: L::new(), count: Guarded::new(0), threads, rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, _thread: usize) {
        for _ in 0..self.rounds {
            self.lock.lock();
            // SAFETY: this thread holds the lock that guards the counter.
            let count = unsafe { self.count.get() };
            // SAFETY: as above.
            unsafe { self.count.set(count + 1) };
            // SAFETY: taken above.
            unsafe { self.lock.unlock() };
        }
    }
    fn finish(&self) {
        self.lock.lock();
        // SAFETY: this thread holds the lock that guards the counter.
        let count = unsafe { self.count.get() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
        let expected = self.threads as u64 * u64::from(self.rounds);
        assert_eq!(count, expected, "increments were lost under the lock");
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
    }
}
