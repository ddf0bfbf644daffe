//! Clients of the queued reader-writer spinlock: a reader that is interrupted and reads again.

use crate::Client;
use crate::shared::Twins;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;
use lockwright_linux::qrwlock::RawQRwLock;

/// What the client is selected by.
pub const READS_AGAIN: &str = "qrwlock-reads-again";

/// Threads with an odd number read, and if they are urgent, read once more meanwhile, as the handler of an interrupt
/// does; the others write. No thread waits for ever.
pub struct ReadsAgain<P: Platform> {
    lock: RawQRwLock<P>,
    twins: Twins<P>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform> ReadsAgain<P> {
    fn write(&self) {
        self.lock.lock();
        // SAFETY: this thread owns the lock that guards the counters.
        unsafe { self.twins.increment() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
    }
    fn read(&self, meanwhile: impl FnOnce()) {
        self.lock.lock_shared();
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { self.twins.read() };
        meanwhile();
        // SAFETY: as above.
        let again = unsafe { self.twins.read() };
        assert_eq!(count, again, "somebody wrote while somebody read");
        // SAFETY: taken above.
        unsafe { self.lock.unlock_shared() };
    }
}

impl<P: Platform> Client for ReadsAgain<P> {
    const NAME: &'static str = READS_AGAIN;

    fn new(threads: usize) -> Self {
        Self { lock: RawQRwLock::new(), twins: Twins::new(), threads, rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            if thread.is_multiple_of(2) {
                self.write();
            } else if P::is_urgent() {
                self.read(|| self.read(|| ()));
            } else {
                self.read(|| ());
            }
        }
    }
    fn finish(&self) {
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
        self.lock.lock();
        // SAFETY: this thread owns the lock that guards the counters.
        let count = unsafe { self.twins.read() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
        let writers = self.threads.div_ceil(2) as u64;
        assert_eq!(count, writers * u64::from(self.rounds), "increments were lost");
    }
}
