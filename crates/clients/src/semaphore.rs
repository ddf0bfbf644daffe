//! Clients of the semaphore for programs: waiters that give up, permits from several threads, and a last user that
//! frees it.

use crate::client::{Client, has_rounds};
use crate::rwsem::SOON_NS;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32};
use lockwright::semaphore::RawSemaphore;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;

/// The first thread writes a note and releases a permit for each other thread with an even number, one by one. Those
/// take one each; those with an odd number want two, give up soon, and give back what they got. No thread sleeps for
/// ever behind or before one that has given up, and a thread that has a permit finds the note.
pub struct SemaphoreTimeOuts<P: Platform> {
    semaphore: RawSemaphore<P, 0>,
    note: Guarded<P, u32>,
    threads: usize,
    rounds: u32,
}

/// How many permits a thread that gives up wants.
const TWO: u32 = 2;

impl<P: Platform> SemaphoreTimeOuts<P> {
    fn read_note(&self) {
        // SAFETY: written before the first release.
        assert_eq!(unsafe { self.note.get() }, 1, "a permit that nobody released");
    }
}

impl<P: Platform> Client for SemaphoreTimeOuts<P> {
    const NAME: &'static str = "semaphore-timed";

    fn new(threads: usize) -> Self {
        let semaphore = RawSemaphore::with_permits(0);
        Self { semaphore, note: Guarded::new(0), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        if thread == 0 {
            // SAFETY: no other thread has a permit, and only threads with a permit read it.
            unsafe { self.note.set(1) };
            for _ in 0..(self.threads as u32 - 1) / 2 * self.rounds {
                assert!(self.semaphore.release(1), "no room for a permit");
            }
            return;
        }
        for _ in 0..self.rounds {
            if thread.is_multiple_of(2) {
                self.semaphore.acquire(1);
                self.read_note();
            } else if self.semaphore.acquire_until(TWO, P::now_ns() + SOON_NS) {
                self.read_note();
                self.semaphore.release(TWO);
            }
        }
    }
    fn finish(&self) {
        assert_eq!(self.semaphore.available(), 0, "permits were lost, or came from nowhere");
        self.semaphore.release(1);
        assert!(self.semaphore.try_acquire(1), "somebody is said to wait, and nobody does");
    }
}

/// The first thread wants as many permits as there are other threads, at once; those write a note each and release one.
/// It finds all notes. Once: it does not say when it has read them.
pub struct Makers<P: Platform> {
    semaphore: RawSemaphore<P, 0>,
    notes: [Guarded<P, u32>; NOTES],
    threads: usize,
}

/// As many threads write notes, of any number.
const NOTES: usize = 16;

impl<P: Platform> Client for Makers<P> {
    const NAME: &'static str = "semaphore-makers";

    fn new(threads: usize) -> Self {
        let notes = core::array::from_fn(|_| Guarded::new(0));
        Self { semaphore: RawSemaphore::with_permits(0), notes, threads }
    }
    fn body(&self, thread: usize) {
        if thread > 0 {
            if let Some(note) = self.notes.get(thread - 1) {
                // SAFETY: this thread's alone, until it releases a permit.
                unsafe { note.set(1) };
            }
            self.semaphore.release(1);
            return;
        }
        self.semaphore.acquire(self.threads as u32 - 1);
        for note in self.notes.iter().take(self.threads - 1) {
            // SAFETY: every writer has released its permit, and these were all.
            assert_eq!(unsafe { note.get() }, 1, "a permit that nobody released");
        }
    }
    fn finish(&self) {
        assert_eq!(self.semaphore.available(), 0, "permits were lost, or came from nowhere");
        assert!(!self.semaphore.try_acquire(1), "a permit from nowhere");
    }
}

/// The first thread takes a permit of each other thread, one by one, and frees the semaphore then, while the one that
/// released the last may still be about to return.
///
/// For machines that see accesses to what was freed.
pub struct LastPermit<P: Platform> {
    semaphore: RawSemaphore<P, 0>,
    taken: AtomicU32,
    freed: AtomicBool,
    threads: usize,
}

impl<P: Platform> Client for LastPermit<P> {
    const NAME: &'static str = "semaphore-last-permit";

    fn new(threads: usize) -> Self {
        let semaphore = RawSemaphore::with_permits(0);
        Self { semaphore, taken: AtomicU32::new(0), freed: AtomicBool::new(false), threads }
    }
    fn body(&self, thread: usize) {
        if thread > 0 {
            self.semaphore.release(1);
            return;
        }
        for _ in 1..self.threads {
            self.semaphore.acquire(1);
            self.taken.fetch_add(1, Relaxed);
        }
        P::freed(&self.semaphore);
        self.freed.store(true, Relaxed);
    }
    fn finish(&self) {
        assert!(self.freed.load(Relaxed), "nobody was the last user");
        assert_eq!(self.taken.load(Relaxed) as usize, self.threads - 1);
    }
}
