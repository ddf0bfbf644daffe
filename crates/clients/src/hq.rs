//! Clients of the hierarchical queued spinlock that begin where its threads queue by NUMA node.

use crate::client::has_rounds;
use crate::turns::Turns;
use crate::{Client, Migrate};
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;
use lockwright_linux::hq::HqPlatform;
use lockwright_linux::hq::testing::{Absent, QueuesAtOnce};

/// A lock, and what it guards.
struct Counter<P: HqPlatform, const IN_ORDER: bool = false> {
    lock: QueuesAtOnce<P, IN_ORDER>,
    turns: Turns<P>,
}

impl<P: HqPlatform, const IN_ORDER: bool> Counter<P, IN_ORDER> {
    fn new(lock: QueuesAtOnce<P, IN_ORDER>) -> Self {
        Self { lock, turns: Turns::new() }
    }
    /// One whose lock is held.
    fn held() -> Self {
        Self::new(QueuesAtOnce::held())
    }
    /// # Safety
    /// The caller holds the lock.
    unsafe fn increment_and_unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.turns.count_on() };
        // SAFETY: as above.
        unsafe { self.lock.unlock() };
    }
    fn lock_and_increment(&self) {
        self.lock.lock();
        // SAFETY: taken above.
        unsafe { self.increment_and_unlock() };
    }
    fn finish(&self, expected: u64) {
        assert!(self.lock.try_lock(), "the lock or one of its queues did not become empty");
        // SAFETY: taken above.
        let count = unsafe { self.turns.number() };
        // SAFETY: as above.
        unsafe { self.lock.unlock() };
        assert_eq!(count, expected, "increments were lost under the lock");
    }
}

/// Each thread increments a plain counter under a lock whose waiters queue by NUMA node from the start, or `IN_ORDER`
/// at first. The first thread begins as the owner, so that all of them may queue at once.
pub struct ByNode<P: Platform, const IN_ORDER: bool = false> {
    counter: Counter<P, IN_ORDER>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, const IN_ORDER: bool> Client for ByNode<P, IN_ORDER> {
    const NAME: &'static str = "hq-by-node";

    fn new(threads: usize) -> Self {
        Self { counter: Counter::held(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        if thread == 0 {
            // SAFETY: held from the start, for this thread.
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

/// The same, and the first thread and every second one, or `ALL` of them, are late: each time they believe that the
/// lock is in queued mode.
pub struct Late<P: Platform, const ALL: bool = false> {
    counter: Counter<P>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, const ALL: bool> Client for Late<P, ALL> {
    const NAME: &'static str = "hq-late";

    fn new(threads: usize) -> Self {
        Self { counter: Counter::held(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        if thread == 0 {
            // SAFETY: held from the start, for this thread.
            unsafe { self.counter.lock.unlock() };
        }
        for _ in 0..self.rounds {
            if !ALL && thread % 2 == 1 {
                self.counter.lock_and_increment();
                continue;
            }
            self.counter.lock.lock_late(|| {});
            // SAFETY: taken above.
            unsafe { self.counter.increment_and_unlock() };
        }
    }
    fn finish(&self) {
        self.counter.finish(self.threads as u64 * u64::from(self.rounds));
    }
}

/// More locks than a machine for checking has entries, so two of them share one.
const LOCKS: usize = 65;

/// The same with two such locks that use the same metadata, one after the other. The first thread begins as the owner
/// of both. It gives the first one back and takes it again: if it comes late to the queue, another thread waits for
/// the second lock, with the same metadata.
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
    const NAME: &'static str = "hq-shared-metadata";

    fn new(threads: usize) -> Self {
        Self { counters: core::array::from_fn(|_| Counter::held()), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        let pair = self.pair();
        for round in 0..self.rounds {
            for counter in pair {
                let is_held = thread == 0 && round == 0;
                if is_held {
                    // SAFETY: held from the start, for this thread.
                    unsafe { counter.lock.unlock() };
                }
                counter.lock_and_increment();
            }
        }
    }
    fn finish(&self) {
        let expected = self.threads as u64 * u64::from(self.rounds);
        self.pair().iter().for_each(|counter| counter.finish(expected));
    }
}

/// A queue comes to the end of a list of two. The first queue has an absent waiter. The turn is that of the only waiter
/// of the last queue, which is absent, too. Thread 0 acts for both. Thread 1 takes the lock, as
/// another waiter of one of these queues or with a queue of its own.
pub struct EndOfList<P: Platform> {
    counter: Box<Counter<P>>,
    /// In the order in which they are served.
    absent: [Absent; 2],
}

impl<P: Migrate> Client for EndOfList<P> {
    const NAME: &'static str = "hq-end-of-list";

    fn new(threads: usize) -> Self {
        assert_eq!(threads, 2, "two threads, and absent waiters on other CPUs");
        let counter = Box::new(Counter::new(QueuesAtOnce::new()));
        let on = |cpu| {
            P::run_on_cpu(cpu);
            counter.lock.enqueue_absent()
        };
        let (owner, of_first, of_last) = (on(2), on(3), on(4));
        P::run_on_cpu(0);
        // Its NUMA node has had as many handoffs as it may.
        owner.set_count::<P>(u16::MAX - 1);
        // SAFETY: built above.
        unsafe { counter.lock.act_for(owner) };
        Self { counter, absent: [of_last, of_first] }
    }
    fn body(&self, thread: usize) {
        if thread == 1 {
            return self.counter.lock_and_increment();
        }
        // SAFETY: held from the start, for this thread.
        unsafe { self.counter.lock.unlock() };
        for absent in self.absent {
            // SAFETY: built when the client was made, and no other thread acts for it.
            unsafe { self.counter.lock.act_for(absent) };
            // SAFETY: taken in its name.
            unsafe { self.counter.increment_and_unlock() };
        }
    }
    fn finish(&self) {
        self.counter.finish(3);
    }
}
