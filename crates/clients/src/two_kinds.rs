//! Two kinds of locks whose waiters sleep on the same word of the same queue nodes.

use crate::Client;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_catalog::word_lock::WordLock;
use lockwright_core::platform::Guarded;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::{Fifo, Park, QSpinlock};

/// What the client is selected by.
pub const NAME: &str = "two-kinds";

/// So long the first thread holds each of its locks where threads run, so that the others sleep for it.
const HOLD_PAUSES: u32 = 1 << 15;

/// The first thread begins as the owner of two locks of different kinds and releases one after the other. The others
/// take and release the first lock, and then the second. A thread that wakes the next owner of the first lock may do so
/// when that one waits for the second, with the same node.
pub struct TwoKinds<P: Platform> {
    first: QSpinlock<P, Fifo, Park>,
    second: WordLock<P>,
    /// Under the second lock.
    number: Guarded<P, u64>,
    taken: AtomicU64,
}

impl<P: Platform> Client for TwoKinds<P> {
    const NAME: &'static str = NAME;

    fn new(_threads: usize) -> Self {
        let client = Self {
            first: RawLock::new(),
            second: RawLock::new(),
            number: Guarded::new(0),
            taken: AtomicU64::new(0),
        };
        client.first.lock();
        client.second.lock();
        client
    }
    fn body(&self, thread: usize) {
        if thread == 0 {
            P::delay(HOLD_PAUSES);
        } else {
            self.first.lock();
        }
        // SAFETY: taken above, or when the client was made.
        unsafe { self.first.unlock() };
        if thread == 0 {
            P::delay(HOLD_PAUSES);
        } else {
            self.second.lock();
        }
        // SAFETY: the lock guards the number.
        let number = unsafe { self.number.get() };
        // SAFETY: as above.
        unsafe { self.number.set(number + 1) };
        self.taken.fetch_add(1, Relaxed);
        // SAFETY: taken above, or when the client was made.
        unsafe { self.second.unlock() };
    }
    fn finish(&self) {
        assert!(self.first.try_lock(), "the first lock is held when no thread holds it");
        assert!(self.second.is_unused(), "the second lock names a thread that sleeps");
        // SAFETY: all threads are done.
        let number = unsafe { self.number.get() };
        assert_eq!(number, self.taken.load(Relaxed), "two threads held the second lock at once");
    }
}
