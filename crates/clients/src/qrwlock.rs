//! Clients of the queued reader-writer spinlock: a reader that is interrupted and reads again.

use crate::client::{Client, has_rounds};
use crate::shared::WithTwins;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;
use lockwright_linux::qrwlock::RawQRwLock;

/// Threads with an odd number read, and if they are urgent, read once more meanwhile, as the handler of an interrupt
/// does; the others write. No thread waits for ever.
pub struct ReadsAgain<P: Platform> {
    object: WithTwins<P, RawQRwLock<P>>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform> ReadsAgain<P> {
    fn read(&self, meanwhile: impl FnOnce()) {
        let WithTwins { lock, twins } = &self.object;
        lock.lock_shared();
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { twins.read() };
        meanwhile();
        // SAFETY: as above.
        let again = unsafe { twins.read() };
        assert_eq!(count, again, "somebody wrote while somebody read");
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
    }
}

impl<P: Platform> Client for ReadsAgain<P> {
    const NAME: &'static str = "qrwlock-reads-again";

    fn new(threads: usize) -> Self {
        Self { object: WithTwins::new(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            if thread.is_multiple_of(2) {
                self.object.write();
            } else if P::is_urgent() {
                self.read(|| self.read(|| ()));
            } else {
                self.read(|| ());
            }
        }
    }
    fn finish(&self) {
        let WithTwins { lock, twins } = &self.object;
        assert!(!lock.is_locked(), "the lock is held when nobody holds it");
        lock.lock();
        // SAFETY: this thread owns the lock that guards the counters.
        let count = unsafe { twins.read() };
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        let writers = self.threads.div_ceil(2) as u64;
        assert_eq!(count, writers * u64::from(self.rounds), "increments were lost");
    }
}
