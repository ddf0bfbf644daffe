//! Clients of spinlocks with waiters that give up.

use crate::client::has_rounds;
use crate::rwsem::SOON_NS;
use crate::{Client, Migrate};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};
use lockwright_catalog::capabilities::TimedLock;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;
use lockwright_core::queue::NodeId;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::{QSpinlock, Spin, Succession};

/// A number under a lock, and how often the lock was taken, unseen by the machine.
struct Counted<P: Platform> {
    number: Guarded<P, u64>,
    taken: AtomicU64,
}

impl<P: Platform> Counted<P> {
    fn new() -> Self {
        Self { number: Guarded::new(0), taken: AtomicU64::new(0) }
    }
    /// Counts, and gives the lock back.
    ///
    /// # Safety
    /// The caller holds `lock`, and all callers pass the same.
    unsafe fn count_and_unlock<L: RawLock>(&self, lock: &L) {
        // SAFETY: the caller holds the lock that guards the number.
        let number = unsafe { self.number.get() };
        // SAFETY: as above.
        unsafe { self.number.set(number + 1) };
        self.taken.fetch_add(1, Relaxed);
        // SAFETY: the caller holds the lock.
        unsafe { lock.unlock() };
    }
    /// The lock is free and can be taken, and no increment was lost.
    fn check<L: RawLock>(&self, lock: &L) {
        assert!(lock.try_lock(), "the lock or its queue did not become empty");
        // SAFETY: taken above.
        let number = unsafe { self.number.get() };
        // SAFETY: as above.
        unsafe { lock.unlock() };
        assert_eq!(number, self.taken.load(Relaxed), "two threads held the lock at once");
    }
}

/// Threads with an odd number give up soon, and the first begins as the owner. No thread waits for ever behind one that
/// has given up.
pub struct SpinTimeOuts<P: Platform, L> {
    lock: L,
    counted: Counted<P>,
    rounds: u32,
}

impl<P: Platform, L: TimedLock> Client for SpinTimeOuts<P, L> {
    const NAME: &'static str = "spin-timed";

    fn new(_threads: usize) -> Self {
        let client = Self { lock: L::new(), counted: Counted::new(), rounds: 1 };
        client.lock.lock();
        client
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for round in 0..self.rounds {
            if thread == 0 && round == 0 {
                // Taken when the client was made.
            } else if thread.is_multiple_of(2) {
                self.lock.lock();
            } else if !self.lock.lock_until(P::now_ns() + SOON_NS) {
                continue;
            }
            // SAFETY: taken above, or when the client was made.
            unsafe { self.counted.count_and_unlock(&self.lock) };
        }
    }
    fn finish(&self) {
        self.counted.check(&self.lock);
    }
}

/// The head of a queue is absent, and thread 1 holds the lock. Thread 0 queues, gives up soon, and then acts for the
/// head unless thread 1 does. Thread 1 unlocks, acts for the head if `ACTS`, and takes the lock. Every thread but one
/// that gives up gets it.
pub struct LeavesQueue<P: Platform, S, const ACTS: bool> {
    lock: Box<QSpinlock<P, S, Spin>>,
    head: NodeId,
    /// True if a thread acts for the head. The platform does not see this.
    is_taken: AtomicBool,
    counted: Counted<P>,
    _succession: PhantomData<fn() -> S>,
}

impl<P: Migrate, S: Succession<P>, const ACTS: bool> LeavesQueue<P, S, ACTS> {
    fn act_for_head(&self) {
        if self.is_taken.swap(true, Relaxed) {
            return;
        }
        // SAFETY: built in `new`, and one thread acts for it.
        unsafe { self.lock.act_for(self.head) };
        // SAFETY: taken in the name of the head.
        unsafe { self.counted.count_and_unlock(&*self.lock) };
    }
}

impl<P: Migrate, S: Succession<P>, const ACTS: bool> Client for LeavesQueue<P, S, ACTS> {
    const NAME: &'static str = if ACTS { "leaves-queue-raced" } else { "leaves-queue" };

    fn new(threads: usize) -> Self {
        assert_eq!(threads, 2, "two threads, and a head on another CPU");
        let lock = Box::new(QSpinlock::new());
        lock.lock();
        P::run_on_cpu(2);
        let head = lock.enqueue_absent();
        P::run_on_cpu(0);
        QSpinlock::<P, S, Spin>::soil_node();
        let is_taken = AtomicBool::new(false);
        Self { lock, head, is_taken, counted: Counted::new(), _succession: PhantomData }
    }
    fn body(&self, thread: usize) {
        if thread == 0 {
            if self.lock.lock_until(P::now_ns() + SOON_NS) {
                // SAFETY: taken above.
                unsafe { self.counted.count_and_unlock(&*self.lock) };
            }
            self.act_for_head();
            return;
        }
        // SAFETY: taken in `new`, for this thread.
        unsafe { self.counted.count_and_unlock(&*self.lock) };
        if ACTS {
            self.act_for_head();
        }
        self.lock.lock();
        // SAFETY: taken above.
        unsafe { self.counted.count_and_unlock(&*self.lock) };
    }
    fn finish(&self) {
        self.counted.check(&*self.lock);
        assert!(self.counted.taken.load(Relaxed) >= 3, "somebody did not get the lock");
    }
}
