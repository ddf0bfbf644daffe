//! Clients of the hierarchical queued spinlock that begin where its threads queue by NUMA node.

use crate::Client;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::hq::HqPlatform;
use lockwright::hq::testing::QueuesAtOnce;
use lockwright::platform::Guarded;
use lockwright::raw::RawLock;
use lockwright::registry::Platform;

/// A lock, and what it guards.
struct Counter<P: HqPlatform> {
    lock: QueuesAtOnce<P>,
    count: Guarded<P, u64>,
    /// Owners, as the threads count them, unseen by the machine.
    owners: AtomicU64,
}

impl<P: HqPlatform> Counter<P> {
    fn new() -> Self {
        let lock = QueuesAtOnce::new();
        Self { lock, count: Guarded::new(0), owners: AtomicU64::new(0) }
    }
    /// # Safety
    /// The caller holds the lock.
    unsafe fn increment(&self) {
        // SAFETY: the caller holds the lock that guards the counter.
        let count = unsafe { self.count.get() };
        assert_eq!(count, self.owners.load(Relaxed), "an owner does not see the one before");
        // SAFETY: as above.
        unsafe { self.count.set(count + 1) };
        self.owners.store(count + 1, Relaxed);
    }
    fn lock_and_increment(&self) {
        self.lock.lock();
        // SAFETY: taken above.
        unsafe { self.increment() };
        // SAFETY: as above.
        unsafe { self.lock.unlock() };
    }
    fn finish(&self, expected: u64) {
        assert!(self.lock.try_lock(), "the lock or one of its queues did not become empty");
        // SAFETY: taken above.
        let count = unsafe { self.count.get() };
        // SAFETY: as above.
        unsafe { self.lock.unlock() };
        assert_eq!(count, expected, "increments were lost under the lock");
    }
}

/// What [`ByNode`] is selected by.
pub const BY_NODE: &str = "hq-by-node";

/// Each thread increments a plain counter under a lock whose waiters queue by NUMA node from the start. The first
/// thread begins as the owner, so that all of them may queue at once.
pub struct ByNode<P: Platform> {
    counter: Counter<P>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform> Client for ByNode<P> {
    const NAME: &'static str = BY_NODE;

    fn new(threads: usize) -> Self {
        let counter = Counter::new();
        assert!(counter.lock.try_lock(), "a new lock is held");
        Self { counter, threads, rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        if thread == 0 {
            // SAFETY: taken in `new`, for this thread.
            unsafe { self.counter.lock.unlock() };
        }
        for _ in 0..self.rounds {
            self.counter.lock_and_increment();
        }
    }
    fn finish(&self) {
        self.counter.finish(self.threads as u64 * u64::from(self.rounds));
    }
}

/// What [`SharedMetadata`] is selected by.
pub const SHARED_METADATA: &str = "hq-shared-metadata";

/// More locks than a machine for checking has entries, so two of them share one.
const LOCKS: usize = 65;

/// The same with two such locks that use the same metadata, one after the other: a thread that comes late to the first
/// lock may find the metadata in use for the second one, or again for the first one.
pub struct SharedMetadata<P: Platform> {
    counters: [Counter<P>; LOCKS],
    threads: usize,
    rounds: u32,
}

impl<P: Platform> SharedMetadata<P> {
    /// The same two for every caller.
    fn pair(&self) -> [&Counter<P>; 2] {
        let later = |at: usize| self.counters[at + 1..].iter().map(move |other| (at, other));
        let mut pairs = (0..LOCKS).flat_map(later);
        let shares = |(at, other): &(usize, &Counter<P>)| {
            self.counters[*at].lock.shares_metadata_with(&other.lock)
        };
        let (first, second) = pairs.find(shares).expect("there are fewer entries than locks");
        [&self.counters[first], second]
    }
}

impl<P: Platform> Client for SharedMetadata<P> {
    const NAME: &'static str = SHARED_METADATA;

    fn new(threads: usize) -> Self {
        Self { counters: core::array::from_fn(|_| Counter::new()), threads, rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, _thread: usize) {
        let pair = self.pair();
        for _ in 0..self.rounds {
            pair.iter().for_each(|counter| counter.lock_and_increment());
        }
    }
    fn finish(&self) {
        let expected = self.threads as u64 * u64::from(self.rounds);
        self.pair().iter().for_each(|counter| counter.finish(expected));
    }
}
