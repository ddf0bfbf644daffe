//! Two kinds of locks whose waiters sleep on the same word of the same queue nodes.

use crate::Client;
use crate::turns::Turns;
use lockwright_catalog::registry::Platform;
use lockwright_catalog::word_lock::WordLock;
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
    turns: Turns<P>,
}

impl<P: Platform> Client for TwoKinds<P> {
    const NAME: &'static str = NAME;

    fn new(_threads: usize) -> Self {
        let client = Self { first: RawLock::new(), second: RawLock::new(), turns: Turns::new() };
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
        // SAFETY: taken above, or when the client was made.
        unsafe { self.turns.count_and_unlock(&self.second) };
    }
    fn finish(&self) {
        assert!(self.first.try_lock(), "the first lock is held when no thread holds it");
        assert!(self.second.is_unused(), "the second lock names a thread that sleeps");
        // SAFETY: all threads are done.
        let number = unsafe { self.turns.number() };
        assert_eq!(number, self.turns.taken(), "two threads held the second lock at once");
    }
}
