//! Clients of the sequence lock: a pair that is never torn.

use crate::client::{Client, has_rounds};
use crate::handler::Attempted;
use lockwright::seqlock::RawSeqLock;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;
use lockwright_core::raw::RawLock;

/// Threads with an even number write pairs of a number and its complement; the others read, whole pairs only and no
/// older ones than before. A thread that finds that the first thread has written also finds what the first thread did
/// before.
pub struct WholePairs<P: Platform> {
    lock: RawSeqLock<P, 2>,
    note: Guarded<P, u32>,
    threads: usize,
    rounds: u32,
}

/// In the number: the first thread has written.
const FIRST: u64 = 1 << 32;

impl<P: Platform> WholePairs<P> {
    /// The number of a copy.
    fn number([number, complement]: [u64; 2]) -> u64 {
        let is_whole = complement == !number || [number, complement] == [0, 0];
        assert!(is_whole, "a reader has a torn pair: {number:#x}, {complement:#x}");
        number
    }
    fn read(&self, before: u64, copy: [u64; 2]) -> u64 {
        let number = Self::number(copy);
        assert!(number >= before, "a reader goes backwards: {number:#x} after {before:#x}");
        if number & FIRST != 0 {
            // SAFETY: written before the number was.
            assert_eq!(unsafe { self.note.get() }, 1, "a write without what was before it");
        }
        number
    }
    fn write(&self, thread: usize) {
        let first = if thread == 0 { FIRST } else { 0 };
        self.lock.update(|copy| {
            let number = (Self::number(copy) + 1) | first;
            [number, !number]
        });
    }
}

impl<P: Platform> Client for WholePairs<P> {
    const NAME: &'static str = "seqlock-pair";

    fn new(threads: usize) -> Self {
        Self { lock: RawLock::new(), note: Guarded::new(0), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        if thread == 0 {
            // SAFETY: no thread reads it before this thread has written a pair.
            unsafe { self.note.set(1) };
        }
        let mut number = 0;
        for round in 0..self.rounds {
            match thread % 2 {
                0 => self.write(thread),
                _ if round % 2 == 1 => {
                    if let Some(copy) = self.lock.try_read() {
                        number = self.read(number, copy);
                    }
                }
                _ => number = self.read(number, self.lock.read()),
            }
        }
    }
    fn finish(&self) {
        let number = self.read(0, self.lock.read());
        let writers = self.threads.div_ceil(2) as u64;
        assert_eq!(number & !FIRST, writers * u64::from(self.rounds), "writes were lost");
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
    }
}

impl<P: Platform> Attempted for WholePairs<P> {
    const IN_HANDLER: &'static str = "seqlock-pair-handler";
    fn attempt(&self) {
        if let Some(copy) = self.lock.try_read() {
            self.read(0, copy);
        }
    }
}
