//! Of two threads that each take a lock and ask about the other's, one finds it held.

use crate::Client;
use core::marker::PhantomData;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "is-locked";

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
    const NAME: &'static str = NAME;

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
