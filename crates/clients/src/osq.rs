//! The queue of optimistic spinners, with waiters that give up.

use crate::client::{Client, has_rounds};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;
use lockwright_linux::osq::OsqLock;

/// The first thread waits for its turn, the others give up after some looks: the second one at once. The head
/// increments a plain counter. No thread waits for ever, and no thread is left in the queue.
pub struct Leave<P: Platform> {
    queue: OsqLock<P>,
    count: Guarded<P, u64>,
    /// Turns of heads, as their threads count them, unseen by the machine.
    turns: AtomicU64,
    rounds: u32,
}

/// Others give up after fewer looks than this.
const LOOKS_MAX: u32 = 3;

impl<P: Platform> Leave<P> {
    /// # Safety
    /// The caller is the head.
    unsafe fn increment(&self) {
        // SAFETY: there is one head.
        let count = unsafe { self.count.get() };
        assert_eq!(count, self.turns.load(Relaxed), "a head does not see the one before");
        // SAFETY: as above.
        unsafe { self.count.set(count + 1) };
        self.turns.store(count + 1, Relaxed);
    }
}

impl<P: Platform> Client for Leave<P> {
    const NAME: &'static str = "osq-leave";

    fn new(_threads: usize) -> Self {
        let (count, turns) = (Guarded::new(0), AtomicU64::new(0));
        Self { queue: OsqLock::new(), count, turns, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for round in 0..self.rounds {
            let me = P::claim_node().expect("a node for each thread");
            let is_head = if thread == 0 {
                // SAFETY: claimed above, and in no queue.
                unsafe { self.queue.lock_for_turn(me) };
                true
            } else {
                let mut looks = (thread as u32 - 1 + round) % LOOKS_MAX;
                let gives_up = || {
                    looks = looks.wrapping_sub(1);
                    looks == u32::MAX
                };
                // SAFETY: as above.
                unsafe { self.queue.lock(me, gives_up) }
            };
            if is_head {
                // SAFETY: this thread is the head.
                unsafe { self.increment() };
                // SAFETY: as above, with this node.
                unsafe { self.queue.unlock(me) };
            }
            // SAFETY: claimed above, and in no queue any more.
            unsafe { P::release_node(me) };
        }
    }
    fn finish(&self) {
        assert!(!self.queue.is_locked(), "somebody was left in the queue");
        let me = P::claim_node().expect("a node for the last one");
        // SAFETY: claimed above, and in no queue.
        let is_head = unsafe { self.queue.lock(me, || true) };
        assert!(is_head, "an empty queue has a head");
        // SAFETY: this thread is the head.
        let count = unsafe { self.count.get() };
        // SAFETY: as above, with this node.
        unsafe { self.queue.unlock(me) };
        // SAFETY: claimed above, and in no queue any more.
        unsafe { P::release_node(me) };
        assert_eq!(count, self.turns.load(Relaxed), "increments of heads were lost");
        assert!(count >= u64::from(self.rounds), "the thread that waits did not become the head");
    }
}
