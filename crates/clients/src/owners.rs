//! What any lock has to keep: no two threads hold it at once, an attempt that fails leaves it alone, and it says
//! whether it is held.

use crate::client::{Client, has_rounds};
use crate::turns::Turns;
use core::marker::PhantomData;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// What [`MutualExclusion`] is selected by.
pub const EXCLUSION: &str = "exclusion";
/// What [`TryLock`] is selected by.
pub const TRY_LOCK: &str = "try-lock";
/// What [`IsLocked`] is selected by.
pub const IS_LOCKED: &str = "is-locked";

/// Each thread increments a plain counter under the lock. No two threads hold the lock at once, and an owner sees what
/// the owner before it wrote.
///
/// Two owners at once, or an acquire that does not see a release, are a race on the counter where
/// races are seen, and a lost increment where they are not, which the next owner sees.
pub struct MutualExclusion<P: Platform, L> {
    lock: L,
    turns: Turns<P>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Client for MutualExclusion<P, L> {
    const NAME: &'static str = EXCLUSION;

    fn new(threads: usize) -> Self {
        Self { turns: Turns::new(), lock: L::new(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, _thread: usize) {
        for _ in 0..self.rounds {
            self.lock.lock();
            // SAFETY: taken above.
            unsafe { self.turns.count_on() };
            // SAFETY: as above.
            unsafe { self.lock.unlock() };
        }
    }
    fn finish(&self) {
        self.lock.lock();
        // SAFETY: taken above.
        let count = unsafe { self.turns.number() };
        // SAFETY: as above.
        unsafe { self.lock.unlock() };
        let expected = self.threads as u64 * u64::from(self.rounds);
        assert_eq!(count, expected, "increments were lost under the lock");
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
    }
}

/// The first thread locks, the others only try. A thread that gets the lock increments a plain counter. An attempt that
/// succeeds owns the lock; one that fails leaves it alone.
pub struct TryLock<P: Platform, L> {
    lock: L,
    turns: Turns<P>,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Client for TryLock<P, L> {
    const NAME: &'static str = TRY_LOCK;

    fn new(_threads: usize) -> Self {
        Self { turns: Turns::new(), lock: L::new(), rounds: 1 }
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
            unsafe { self.turns.count_and_unlock(&self.lock) };
        }
    }
    fn finish(&self) {
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
        assert!(self.lock.try_lock(), "a free lock cannot be taken when nobody competes");
        assert!(!self.lock.try_lock(), "a held lock can be taken again");
        // SAFETY: taken above.
        let count = unsafe { self.turns.number() };
        // SAFETY: as above.
        unsafe { self.lock.unlock() };
        let acquired = self.turns.taken();
        assert_eq!(count, acquired, "increments were lost under the lock");
        assert!(acquired >= u64::from(self.rounds), "the thread that locks did not get the lock");
    }
}

/// Of two threads that each take a lock and ask about the other's, one finds it held.
///
/// The first two threads each take their lock, ask about the other's and keep their own; all
/// others only disturb them, so that they take their locks in every way there is.
///
/// Once: what a thread finds after it has given its lock back says nothing.
pub struct IsLocked<P, L> {
    locks: [L; 2],
    /// True for each thread that found the other's lock free. The platform does not see this.
    found_free: [AtomicBool; 2],
    _machine: PhantomData<fn() -> P>,
}

impl<P: Platform, L: RawLock> Client for IsLocked<P, L> {
    const NAME: &'static str = IS_LOCKED;

    fn new(threads: usize) -> Self {
        assert!(threads >= 2, "two threads and two locks");
        let found_free = [AtomicBool::new(false), AtomicBool::new(false)];
        Self { locks: [L::new(), L::new()], found_free, _machine: PhantomData }
    }
    fn body(&self, thread: usize) {
        let own = &self.locks[thread % 2];
        if thread < 2 {
            own.lock();
            let is_free = !self.locks[1 - thread].is_locked();
            self.found_free[thread].store(is_free, Relaxed);
        } else if own.try_lock() {
            // SAFETY: taken above.
            unsafe { own.unlock() };
        }
    }
    fn finish(&self) {
        let both = self.found_free.iter().all(|is_free| is_free.load(Relaxed));
        assert!(!both, "two owners each found the other's lock free");
        for lock in &self.locks {
            assert!(lock.is_locked(), "a held lock is found free");
            // SAFETY: taken by a thread that has ended.
            unsafe { lock.unlock() };
        }
    }
}
