//! No two threads hold the lock at once, and an owner sees what the owner before it wrote.

use crate::client::{Client, has_rounds};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;
use lockwright_core::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "exclusion";

/// Each thread increments a plain counter under the lock.
///
/// Two owners at once, or an acquire that does not see a release, are a race on the counter where
/// races are seen, and a lost increment where they are not, which the next owner sees.
pub struct MutualExclusion<P: Platform, L> {
    lock: L,
    count: Guarded<P, u64>,
    /// Owners, as the threads count them, unseen by the machine.
    owners: AtomicU64,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Client for MutualExclusion<P, L> {
    const NAME: &'static str = NAME;

    fn new(threads: usize) -> Self {
        let (count, owners) = (Guarded::new(0), AtomicU64::new(0));
        Self { lock: L::new(), count, owners, threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, _thread: usize) {
        for _ in 0..self.rounds {
            self.lock.lock();
            // SAFETY: this thread holds the lock that guards the counter.
            let count = unsafe { self.count.get() };
            assert_eq!(count, self.owners.load(Relaxed), "an owner does not see the one before");
            // SAFETY: as above.
            unsafe { self.count.set(count + 1) };
            self.owners.store(count + 1, Relaxed);
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
