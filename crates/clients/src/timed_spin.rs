//! Clients of spinlocks with waiters that give up.

use crate::client::has_rounds;
use crate::rwsem::SOON_NS;
use crate::turns::Turns;
use crate::{Client, Migrate};
use core::marker::PhantomData;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::capabilities::TimedLock;
use lockwright_catalog::registry::Platform;
use lockwright_core::queue::NodeId;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::{QSpinlock, Spin, Succession};

/// Threads with an odd number give up soon, and the first begins as the owner. No thread waits for ever behind one that
/// has given up.
pub struct SpinTimeOuts<P: Platform, L> {
    lock: L,
    turns: Turns<P>,
    rounds: u32,
}

impl<P: Platform, L: TimedLock> Client for SpinTimeOuts<P, L> {
    const NAME: &'static str = "spin-timed";

    fn new(_threads: usize) -> Self {
        let client = Self { lock: L::new(), turns: Turns::new(), rounds: 1 };
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
            unsafe { self.turns.count_and_unlock(&self.lock) };
        }
    }
    fn finish(&self) {
        self.turns.check(&self.lock);
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
    turns: Turns<P>,
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
        unsafe { self.turns.count_and_unlock(&*self.lock) };
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
        Self { lock, head, is_taken, turns: Turns::new(), _succession: PhantomData }
    }
    fn body(&self, thread: usize) {
        if thread == 0 {
            if self.lock.lock_until(P::now_ns() + SOON_NS) {
                // SAFETY: taken above.
                unsafe { self.turns.count_and_unlock(&*self.lock) };
            }
            self.act_for_head();
            return;
        }
        // SAFETY: taken in `new`, for this thread.
        unsafe { self.turns.count_and_unlock(&*self.lock) };
        if ACTS {
            self.act_for_head();
        }
        self.lock.lock();
        // SAFETY: taken above.
        unsafe { self.turns.count_and_unlock(&*self.lock) };
    }
    fn finish(&self) {
        self.turns.check(&*self.lock);
        assert!(self.turns.taken() >= 3, "somebody did not get the lock");
    }
}
