//! What becomes of a lock at its limits: one below, at them and above.

use crate::client::{Client, has_rounds};
use crate::mutex::NotifiedMutex;
use crate::rwlock::ForPrograms;
use crate::shared::WithTwins;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::mutex::RawMutex;
use lockwright::semaphore::{PERMITS_MAX, RawSemaphore};
use lockwright_catalog::capabilities::LockCondvar;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;

/// What [`Depth`] is selected by.
pub const DEPTH: &str = "rwlock-depth";

/// More readers than a slot of a machine with small limits counts.
const READERS: u32 = 20;

/// Threads with an odd number read again and again while they read, without waiting, and give all of it back. At no
/// time can the lock be taken by them as a writer meanwhile, and no other thread writes: the others try to.
pub struct Depth<P: Platform, L> {
    object: WithTwins<P, L>,
    rounds: u32,
}

impl<P: Platform, L: ForPrograms> Depth<P, L> {
    fn is_kept(&self, readers: u32) {
        // SAFETY: this thread reads.
        unsafe { self.object.twins.read_twice() };
        let is_free = self.object.lock.try_lock();
        assert!(!is_free, "a writer got the lock while there are {readers} readers");
    }
}

impl<P: Platform, L: ForPrograms> Client for Depth<P, L> {
    const NAME: &'static str = DEPTH;

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::new(), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        let lock = &self.object.lock;
        for _ in 0..self.rounds {
            if thread.is_multiple_of(2) {
                self.object.write();
                continue;
            }
            lock.lock_shared();
            let others = (1..READERS).filter(|_| lock.try_lock_shared()).count() as u32;
            for left in (0..=others).rev() {
                self.is_kept(left + 1);
                // SAFETY: taken above, as often.
                unsafe { lock.unlock_shared() };
            }
        }
    }
    fn finish(&self) {
        let lock = &self.object.lock;
        assert!(lock.try_lock(), "nobody holds the lock, and it cannot be taken");
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        assert!(lock.is_untouched(), "somebody has left traces in the lock");
    }
}

/// What [`AllTimeOut`] is selected by.
pub const DEADLINE: &str = "condvar-deadline";

/// All threads wait for what does not come, until their deadlines have passed. Each of them comes back, with the
/// mutex, and is told so not before that.
pub struct AllTimeOut<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    mutex: M,
    changed: M::Condvar,
    /// How often a thread has come back for good.
    back: Guarded<P, u32>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, M: NotifiedMutex> Client for AllTimeOut<P, M> {
    const NAME: &'static str = DEADLINE;

    fn new(threads: usize) -> Self {
        let (mutex, changed) = (M::new(), LockCondvar::new());
        Self { mutex, changed, back: Guarded::new(0), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, _thread: usize) {
        for _ in 0..self.rounds {
            self.mutex.lock();
            let deadline_ns = P::now_ns() + 1;
            // SAFETY: taken above, and after each wait.
            while unsafe { self.changed.wait(&self.mutex, Some(deadline_ns)) } {}
            assert!(P::now_ns() >= deadline_ns, "a time-out before its time");
            // SAFETY: a wait returns with the mutex.
            let back = unsafe { self.back.get() };
            // SAFETY: as above.
            unsafe { self.back.set(back + 1) };
            // SAFETY: as above.
            unsafe { self.mutex.unlock() };
        }
    }
    fn finish(&self) {
        assert!(self.mutex.try_lock(), "the mutex is held when nobody holds it");
        // SAFETY: taken above.
        let back = unsafe { self.back.get() };
        assert_eq!(back, self.threads as u32 * self.rounds, "somebody did not own the mutex");
        // SAFETY: as above.
        unsafe { self.mutex.unlock() };
    }
}

/// What [`PermitsAtTheLimit`] is selected by.
pub const PERMITS: &str = "semaphore-full";

/// There is room for one more permit. Each thread adds one and takes one out if there was room for it, and adds two,
/// for which there never is. In the end there is room for one again.
pub struct PermitsAtTheLimit<P: Platform> {
    semaphore: RawSemaphore<P, 0>,
    /// How many permits there are that were added. Unseen by the machine.
    added: AtomicU32,
    rounds: u32,
}

impl<P: Platform> Client for PermitsAtTheLimit<P> {
    const NAME: &'static str = PERMITS;

    fn new(_threads: usize) -> Self {
        let semaphore = RawSemaphore::with_permits(PERMITS_MAX - 1);
        Self { semaphore, added: AtomicU32::new(0), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, _thread: usize) {
        for _ in 0..self.rounds {
            assert!(!self.semaphore.release(2), "more permits than can be counted");
            if self.semaphore.release(1) {
                let before = self.added.fetch_add(1, Relaxed);
                assert_eq!(before, 0, "one permit more than can be counted");
                self.added.fetch_sub(1, Relaxed);
                self.semaphore.acquire(1);
            }
        }
    }
    fn finish(&self) {
        assert_eq!(
            self.semaphore.available(),
            PERMITS_MAX - 1,
            "permits were lost, or came from nowhere"
        );
        assert!(self.semaphore.release(1) && !self.semaphore.release(1), "the wrong limit");
        assert!(self.semaphore.try_acquire(PERMITS_MAX), "there are as many as can be");
    }
}
