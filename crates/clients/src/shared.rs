//! What any lock has to keep whose readers share it: a reader reads together with other readers and with no writer, and
//! sees what the last writer wrote.

use crate::client::{Client, has_rounds};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;
use lockwright_core::raw::RawLock;

/// What [`ReadersAndWriters`] is selected by.
pub const SHARED: &str = "shared";
/// What [`TryShared`] is selected by.
pub const TRY_SHARED: &str = "try-shared";
/// What [`Downgrade`] is selected by.
pub const DOWNGRADE: &str = "downgrade";

/// Two plain counters that are always equal, because writers increment both.
pub(crate) struct Twins<P: Platform> {
    counts: [Guarded<P, u64>; 2],
    /// Writes, as the threads count them, unseen by the machine.
    writes: AtomicU64,
}

impl<P: Platform> Twins<P> {
    pub(crate) fn new() -> Self {
        Self { counts: [Guarded::new(0), Guarded::new(0)], writes: AtomicU64::new(0) }
    }
    /// # Safety
    /// The caller owns the lock that guards the counters.
    pub(crate) unsafe fn increment(&self) {
        let [first, second] = &self.counts;
        // SAFETY: by the contract of this function.
        let count = unsafe { first.get() };
        assert_eq!(count, self.writes.load(Relaxed), "a writer does not see the one before");
        // SAFETY: as above.
        unsafe { first.set(count + 1) };
        // SAFETY: as above.
        unsafe { second.set(count + 1) };
        self.writes.store(count + 1, Relaxed);
    }
    /// The counters; they must be equal and the newest.
    ///
    /// # Safety
    /// The caller owns the lock that guards the counters or reads under it.
    pub(crate) unsafe fn read(&self) -> u64 {
        let [first, second] = &self.counts;
        // SAFETY: by the contract of this function.
        let count = unsafe { first.get() };
        // SAFETY: as above.
        let twin = unsafe { second.get() };
        assert_eq!(count, twin, "a reader sees half of what a writer wrote");
        assert_eq!(count, self.writes.load(Relaxed), "a reader does not see the writer before");
        count
    }
    /// The same, twice: no thread writes meanwhile.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    pub(crate) unsafe fn read_twice(&self) -> u64 {
        // SAFETY: by the contract of this function.
        let count = unsafe { self.read() };
        // SAFETY: as above.
        let again = unsafe { self.read() };
        assert_eq!(count, again, "somebody wrote while somebody read");
        count
    }
}

/// A lock, and the counters that its holders change or read.
pub(crate) struct WithTwins<P: Platform, L> {
    pub(crate) lock: L,
    pub(crate) twins: Twins<P>,
}

impl<P: Platform, L: RawLock> WithTwins<P, L> {
    pub(crate) fn new() -> Self {
        Self::of(L::new())
    }
    pub(crate) fn of(lock: L) -> Self {
        Self { lock, twins: Twins::new() }
    }
    /// For the owner.
    pub(crate) fn write_and_unlock(&self) {
        // SAFETY: called by the owner only.
        unsafe { self.twins.increment() };
        // SAFETY: as above.
        unsafe { self.lock.unlock() };
    }
    /// For a reader.
    pub(crate) fn read_and_unlock(&self) {
        // SAFETY: called by readers only.
        unsafe { self.twins.read_twice() };
        // SAFETY: as above.
        unsafe { self.lock.unlock_shared() };
    }
    /// Takes the lock and writes.
    pub(crate) fn write(&self) {
        self.lock.lock();
        self.write_and_unlock();
    }
    /// Takes the lock and reads.
    pub(crate) fn read(&self) {
        self.lock.lock_shared();
        self.read_and_unlock();
    }
    /// What must hold when no thread uses it any more: it is free, and can be taken in both ways.
    pub(crate) fn check_free(&self) {
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
        assert!(self.lock.try_lock(), "nobody holds the lock, and it cannot be taken");
        self.write_and_unlock();
        assert!(self.lock.try_lock_shared(), "nobody holds the lock, and it cannot be read");
        self.read_and_unlock();
    }
}

/// Threads with an odd number read, the others write.
///
/// A writer next to a reader, or a reader that does not see a release, is a race on the counters where races are seen.
pub struct ReadersAndWriters<P: Platform, L> {
    object: WithTwins<P, L>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Client for ReadersAndWriters<P, L> {
    const NAME: &'static str = SHARED;

    fn new(threads: usize) -> Self {
        Self { object: WithTwins::new(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            if thread % 2 == 1 {
                self.object.read();
            } else {
                self.object.write();
            }
        }
    }
    fn finish(&self) {
        let WithTwins { lock, twins } = &self.object;
        lock.lock_shared();
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { twins.read() };
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
        let writers = self.threads.div_ceil(2) as u64;
        assert_eq!(count, writers * u64::from(self.rounds), "increments were lost");
        assert!(!lock.is_locked(), "the lock is held when nobody holds it");
    }
}

/// The first thread writes, those with an odd number only try to read, the others read. An attempt that succeeds reads;
/// one that fails leaves the lock alone.
pub struct TryShared<P: Platform, L> {
    object: WithTwins<P, L>,
    rounds: u32,
}

impl<P: Platform, L: RawLock> TryShared<P, L> {
    /// Reads, by an attempt if `tries`.
    fn read(&self, tries: bool) {
        if !tries {
            self.object.read();
        } else if self.object.lock.try_lock_shared() {
            self.object.read_and_unlock();
        }
    }
}

impl<P: Platform, L: RawLock> Client for TryShared<P, L> {
    const NAME: &'static str = TRY_SHARED;

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::new(), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            match thread {
                0 => self.object.write(),
                other => self.read(other % 2 == 1),
            }
        }
    }
    fn finish(&self) {
        let WithTwins { lock, twins } = &self.object;
        assert!(!lock.is_locked(), "the lock is held when nobody holds it");
        for _ in 0..2 {
            assert!(lock.try_lock_shared(), "a lock without owner cannot be read");
        }
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { twins.read() };
        assert!(lock.is_locked(), "a lock that is read is found free");
        assert!(!lock.try_lock(), "a lock that is read can be owned");
        for _ in 0..2 {
            // SAFETY: taken above.
            unsafe { lock.unlock_shared() };
        }
        assert!(lock.try_lock(), "a free lock cannot be taken when nobody competes");
        assert!(!lock.try_lock_shared(), "a lock that is owned can be read");
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        assert_eq!(count, u64::from(self.rounds), "increments were lost");
    }
}

/// The first thread writes, becomes a reader and finds what it wrote. Of the others those with an odd
/// number read and the rest write. An owner that becomes a reader lets readers in, and no writer before it has given
/// that back.
pub struct Downgrade<P: Platform, L> {
    object: WithTwins<P, L>,
    /// Writes, as their threads count them, unseen by the machine.
    writes: AtomicU64,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Downgrade<P, L> {
    fn write_and_read(&self) {
        let WithTwins { lock, twins } = &self.object;
        lock.lock();
        // SAFETY: this thread owns the lock that guards the counters.
        unsafe { twins.increment() };
        // SAFETY: as above.
        let written = unsafe { twins.read() };
        // SAFETY: taken above.
        unsafe { lock.downgrade() };
        // SAFETY: this thread reads under the lock that guards the counters.
        let count = unsafe { twins.read_twice() };
        assert_eq!(count, written, "a writer came in between");
        // SAFETY: downgraded above.
        unsafe { lock.unlock_shared() };
        self.writes.fetch_add(1, Relaxed);
    }
}

impl<P: Platform, L: RawLock> Client for Downgrade<P, L> {
    const NAME: &'static str = DOWNGRADE;

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::new(), writes: AtomicU64::new(0), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for _ in 0..self.rounds {
            match thread {
                0 => self.write_and_read(),
                other if other % 2 == 1 => self.object.read(),
                _ => {
                    self.object.write();
                    self.writes.fetch_add(1, Relaxed);
                }
            }
        }
    }
    fn finish(&self) {
        let WithTwins { lock, twins } = &self.object;
        assert!(lock.try_lock(), "the lock is held when nobody holds it");
        // SAFETY: this thread owns the lock that guards the counters.
        let count = unsafe { twins.read() };
        // SAFETY: taken above.
        unsafe { lock.downgrade() };
        assert!(lock.try_lock_shared(), "an owner that became a reader keeps readers out");
        for _ in 0..2 {
            // SAFETY: downgraded and taken above.
            unsafe { lock.unlock_shared() };
        }
        assert!(!lock.is_locked(), "the lock is held when nobody holds it");
        assert_eq!(count, self.writes.load(Relaxed), "increments were lost");
    }
}
