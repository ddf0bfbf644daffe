//! Clients of the resilient spinlock: deadlocks that it finds, and none where there are none.

use crate::client::{Client, has_rounds};
use crate::turns::Turns;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::resilient::{
    AcquireError, AcquireLimits, Form, Linux6_15, RawResilientSpinLock,
};

/// The kernel's limits with a shorter time: an explorer takes steps of the search for deadlocks in each millisecond.
const LIMITS: AcquireLimits = AcquireLimits::KERNEL.with_section_ns(10_000_000);

/// A lock, and a number under it.
struct Counter<P: Platform, F> {
    lock: RawResilientSpinLock<P, F>,
    turns: Turns<P>,
}

impl<P: Platform, F: Form> Counter<P, F> {
    fn new() -> Self {
        Self { lock: RawResilientSpinLock::new(), turns: Turns::new() }
    }
    fn acquire(&self) -> Result<(), AcquireError> {
        self.lock.acquire(LIMITS)
    }
    /// # Safety
    /// The caller holds the lock.
    unsafe fn count_and_unlock(&self) {
        // SAFETY: the caller holds this lock.
        unsafe { self.turns.count_and_unlock(&self.lock) };
    }
    fn check(&self) {
        self.turns.check(&self.lock);
    }
}

/// Panics if a thread was told of a deadlock.
fn is_no_deadlock(outcome: Result<(), AcquireError>) -> bool {
    match outcome {
        Ok(()) => true,
        Err(AcquireError::Held | AcquireError::Crossed { .. }) => {
            panic!("there is no deadlock, and a waiter is told of one: {outcome:?}")
        }
        Err(_) => false,
    }
}

/// The calling thread holds none of the locks any more, and its table says so.
fn is_empty_handed<P: Platform>() {
    if let Some(table) = P::held_table() {
        // SAFETY: by the contract of `HeldLocks` a table lives as long as locks are used.
        let count = unsafe { table.as_ref() }.count();
        assert_eq!(count, 0, "a thread without locks has some in its table");
    }
}

/// Each thread takes the lock and tries to take it again, which fails. Where a thread looks in its table at once, it is
/// told why. Elsewhere its time may be over before it has looked, or the head in front of it may have given up. A
/// thread is not told that it holds the lock when it does not.
pub struct HeldTwice<P: Platform, F = Linux6_15> {
    counter: Counter<P, F>,
    rounds: u32,
}

impl<P: Platform, F: Form> Client for HeldTwice<P, F> {
    const NAME: &'static str = "resilient-held";

    fn new(_threads: usize) -> Self {
        Self { counter: Counter::new(), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, _thread: usize) {
        for _ in 0..self.rounds {
            if !is_no_deadlock(self.counter.acquire()) {
                continue;
            }
            let again = self.counter.acquire();
            let is_told = again == Err(AcquireError::Held) || !F::ASKS_AT_ONCE;
            assert!(again.is_err(), "a thread takes a lock that it holds");
            assert!(
                is_told || P::held_table().is_none(),
                "a thread is not told that it holds the lock"
            );
            // SAFETY: taken above.
            unsafe { self.counter.count_and_unlock() };
        }
        is_empty_handed::<P>();
    }
    fn finish(&self) {
        self.counter.check();
    }
}

/// Two locks, which threads with an odd number take in the other order. A thread that does not get the second gives the
/// first back. No thread waits for ever, and none is told that it holds a lock that it has given up.
pub struct Crossed<P: Platform, F = Linux6_15> {
    counters: [Counter<P, F>; 2],
    rounds: u32,
}

impl<P: Platform, F: Form> Client for Crossed<P, F> {
    const NAME: &'static str = "resilient-crossed";

    fn new(_threads: usize) -> Self {
        Self { counters: [Counter::new(), Counter::new()], rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        let (first, second) = (&self.counters[thread % 2], &self.counters[(thread + 1) % 2]);
        for _ in 0..self.rounds {
            if !is_no_deadlock(first.acquire()) {
                continue;
            }
            for _ in 0..2 {
                match second.acquire() {
                    // SAFETY: taken above.
                    Ok(()) => unsafe { second.count_and_unlock() },
                    Err(AcquireError::Held) => panic!("a lock that was given up is taken for held"),
                    Err(_) => {}
                }
            }
            // SAFETY: taken above.
            unsafe { first.count_and_unlock() };
        }
        is_empty_handed::<P>();
    }
    fn finish(&self) {
        self.counters.iter().for_each(Counter::check);
    }
}

/// The first thread takes a lock and then another one. The second takes the other one, attempts the first without a
/// wait, gives both back, takes a third one and waits for the first. So no two threads wait for each other, and none is
/// told so. Further threads do as the first.
pub struct NeverCrossed<P: Platform, F = Linux6_15> {
    counters: [Counter<P, F>; 3],
    rounds: u32,
}

impl<P: Platform, F: Form> NeverCrossed<P, F> {
    /// Takes the first lock, then the second.
    fn nests(&self) {
        let [first, second, _] = &self.counters;
        if is_no_deadlock(first.acquire()) {
            if is_no_deadlock(second.acquire()) {
                // SAFETY: taken above.
                unsafe { second.count_and_unlock() };
            }
            // SAFETY: taken above.
            unsafe { first.count_and_unlock() };
        }
    }
    fn attempts(&self) {
        let [first, second, third] = &self.counters;
        if is_no_deadlock(second.acquire()) {
            if first.lock.try_lock() {
                // SAFETY: taken above.
                unsafe { first.count_and_unlock() };
            }
            // SAFETY: taken above.
            unsafe { second.count_and_unlock() };
        }
        if is_no_deadlock(third.acquire()) {
            if is_no_deadlock(first.acquire()) {
                // SAFETY: taken above.
                unsafe { first.count_and_unlock() };
            }
            // SAFETY: taken above.
            unsafe { third.count_and_unlock() };
        }
    }
}

impl<P: Platform, F: Form> Client for NeverCrossed<P, F> {
    const NAME: &'static str = "resilient-never-crossed";

    fn new(_threads: usize) -> Self {
        Self { counters: [Counter::new(), Counter::new(), Counter::new()], rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            if thread == 1 { self.attempts() } else { self.nests() }
        }
        is_empty_handed::<P>();
    }
    fn finish(&self) {
        self.counters.iter().for_each(Counter::check);
    }
}

/// Threads take the lock, and so do their handlers. A handler never waits for its own thread: no time is over while the
/// other threads are elsewhere. No thread is told of a deadlock.
pub struct ToldInHandler<P: Platform, F = Linux6_15> {
    counter: Counter<P, F>,
    /// How often each thread has begun to use the lock, and how often it was done, unseen by the machine.
    uses: Vec<[AtomicU64; 2]>,
    rounds: u32,
}

impl<P: Platform, F: Form> ToldInHandler<P, F> {
    /// How often the other threads have begun to use the lock, if they are done.
    fn others(&self, thread: usize) -> Option<u64> {
        let others = || (0..self.uses.len()).filter(|at| *at != thread);
        let sum = |what: usize| others().map(|at| self.uses[at][what].load(Relaxed)).sum::<u64>();
        let (begun, done) = (sum(0), sum(1));
        (begun == done).then_some(begun)
    }
    fn take_and_count(&self, thread: usize) -> Result<(), AcquireError> {
        self.uses[thread][0].fetch_add(1, Relaxed);
        let limits = AcquireLimits::IN_PROGRAMS.with_section_ns(10_000_000);
        let outcome = self.counter.lock.acquire(limits);
        if outcome.is_ok() {
            // SAFETY: taken above.
            unsafe { self.counter.count_and_unlock() };
        }
        self.uses[thread][1].fetch_add(1, Relaxed);
        outcome
    }
}

impl<P: Platform, F: Form> Client for ToldInHandler<P, F> {
    const NAME: &'static str = "resilient-handler";
    const HAS_HANDLER: bool = true;

    fn new(threads: usize) -> Self {
        let uses = (0..threads).map(|_| Default::default()).collect();
        Self { counter: Counter::new(), uses, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            is_no_deadlock(self.take_and_count(thread));
        }
        is_empty_handed::<P>();
    }
    fn handle(&self, thread: usize) {
        let others = self.others(thread);
        let outcome = self.take_and_count(thread);
        let is_alone = others.is_some() && self.others(thread) == others;
        match outcome {
            Err(AcquireError::TimedOut) if is_alone => panic!("a handler waits for its own thread"),
            Err(AcquireError::Crossed { .. }) => panic!("a handler is told of a deadlock"),
            _ => {}
        }
    }
    fn finish(&self) {
        self.counter.check();
    }
}
