//! An owner that becomes a reader lets readers in, and no writer before it has given that back.

use crate::Client;
use crate::shared::Twins;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// What the client is selected by.
pub const NAME: &str = "downgrade";

/// The first thread writes, becomes a reader and finds what it wrote. Of the others those with an odd
/// number read and the rest write.
pub struct Downgrade<P: Platform, L> {
    lock: L,
    twins: Twins<P>,
    /// Writes, as their threads count them, unseen by the machine.
    writes: AtomicU64,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Downgrade<P, L> {
    fn own(&self) {
        self.lock.lock();
        // SAFETY: this thread owns the lock that guards the counters.
        unsafe { self.twins.increment() };
        self.writes.fetch_add(1, Relaxed);
    }
    fn write(&self) {
        self.own();
        // SAFETY: taken above.
        unsafe { self.lock.unlock() };
    }
    fn read(&self) {
        self.lock.lock_shared();
        // SAFETY: this thread reads under the lock that guards the counters.
        unsafe { self.twins.read_twice() };
        // SAFETY: taken above.
        unsafe { self.lock.unlock_shared() };
    }
    fn write_and_read(&self) {
        self.own();
        // SAFETY: this thread owns the lock that guards the counters.
        let written = unsafe { self.twins.read() };
        // SAFETY: taken above.
        unsafe { self.lock.downgrade() };
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { self.twins.read_twice() };
        assert_eq!(count, written, "a writer came in between");
        // SAFETY: downgraded above.
        unsafe { self.lock.unlock_shared() };
    }
}

impl<P: Platform, L: RawLock> Client for Downgrade<P, L> {
    const NAME: &'static str = NAME;

    fn new(_threads: usize) -> Self {
        let (twins, writes) = (Twins::new(), AtomicU64::new(0));
        Self { lock: L::new(), twins, writes, rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            match thread {
                0 => self.write_and_read(),
                other if other % 2 == 1 => self.read(),
                _ => self.write(),
            }
        }
    }
    fn finish(&self) {
        assert!(self.lock.try_lock(), "the lock is held when nobody holds it");
        // SAFETY: this thread owns the lock that guards the counters.
        let count = unsafe { self.twins.read() };
        // SAFETY: taken above.
        unsafe { self.lock.downgrade() };
        assert!(self.lock.try_lock_shared(), "an owner that became a reader keeps readers out");
        for _ in 0..2 {
            // SAFETY: downgraded and taken above.
            unsafe { self.lock.unlock_shared() };
        }
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
        assert_eq!(count, self.writes.load(Relaxed), "increments were lost");
    }
}
