//! Clients of the reader-writer lock for programs: deadlines, readers that read again, and an object that its last user
//! frees, lock and all.

use crate::Client;
use crate::shared::Twins;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::{Fairness, RawRwLock};
use lockwright_catalog::capabilities::TimedLock as WithDeadlines;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// What the clients are selected by.
pub const TIMED_WRITER: &str = "rwlock-timed-writer";
/// As above.
pub const TIMED_READER: &str = "rwlock-timed-reader";
/// What [`Group`] is selected by.
pub const GROUP: &str = "rwlock-group";
/// As above.
pub const LAST_READER: &str = "rwlock-last-reader";
/// As above.
pub const LAST_USER: &str = "rwlock-last-user";
/// As above.
pub const AGAIN: &str = "rwlock-again";

/// A reader-writer lock for programs.
pub trait ForPrograms: WithDeadlines {
    /// One that the caller owns, made where no thread runs yet.
    fn owned() -> Self {
        let lock = Self::new();
        lock.lock();
        lock
    }
    /// True if no thread holds it and no thread has left anything in it.
    fn is_untouched(&self) -> bool;
}

macro_rules! for_programs {
    ($([$($bounds:tt)*] $lock:ty $(, $owned:path)?;)+) => {
        $(impl<$($bounds)*> ForPrograms for $lock {
            $(fn owned() -> Self {
                $owned()
            })?
            fn is_untouched(&self) -> bool {
                <$lock>::is_untouched(self)
            }
        })+
    };
}
for_programs! {
    [P: Platform, F: Fairness] RawRwLock<P, F>;
    [P: Platform] RawPercpuRwLock<P>;
    [P: Platform] InSlots<P>, InSlots::begin_owned;
}

/// A lock, and what its holders change or read.
struct Object<P: Platform, L> {
    lock: L,
    twins: Twins<P>,
}

impl<P: Platform, L: ForPrograms> Object<P, L> {
    fn new() -> Self {
        Self { lock: RawLock::new(), twins: Twins::new() }
    }
    /// For the owner.
    fn write_and_unlock(&self) {
        // SAFETY: called by the owner only.
        unsafe { self.twins.increment() };
        // SAFETY: as above.
        unsafe { self.lock.unlock() };
    }
    /// For a reader.
    fn read_and_unlock(&self) {
        // SAFETY: called by readers only.
        unsafe { self.twins.read_twice() };
        // SAFETY: as above.
        unsafe { self.lock.unlock_shared() };
    }
    /// What must hold when no thread uses it any more.
    fn finish(&self) {
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
        assert!(self.lock.try_lock(), "nobody holds the lock, and it cannot be taken");
        self.write_and_unlock();
        assert!(self.lock.try_lock_shared(), "nobody holds the lock, and it cannot be read");
        self.read_and_unlock();
        assert!(self.lock.is_untouched(), "somebody has left traces in the lock");
    }
}

/// Threads with an odd number give up at once, as writers or as readers; the others wait as the other, or as writers.
/// The first begins as the owner. No thread waits for ever behind one that has given up.
pub struct RwLockTimeOuts<P: Platform, L, const WRITES: bool> {
    object: Object<P, L>,
    rounds: u32,
}

impl<P: Platform, L: ForPrograms, const WRITES: bool> Client for RwLockTimeOuts<P, L, WRITES> {
    const NAME: &'static str = if WRITES { TIMED_WRITER } else { TIMED_READER };

    fn new(_threads: usize) -> Self {
        Self { object: Object { lock: L::owned(), twins: Twins::new() }, rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        let Self { object, rounds } = self;
        for round in 0..*rounds {
            let is_first = thread == 0 && round == 0;
            let gives_up = !thread.is_multiple_of(2);
            let writes = if gives_up { WRITES } else { !WRITES || thread == 0 };
            let soon_ns = P::now_ns().saturating_add(1);
            let is_ours = match (gives_up, writes) {
                _ if is_first => true,
                (true, true) => object.lock.lock_until(soon_ns),
                (true, false) => object.lock.lock_shared_until(soon_ns),
                (false, true) => {
                    object.lock.lock();
                    true
                }
                (false, false) => {
                    object.lock.lock_shared();
                    true
                }
            };
            match writes {
                _ if !is_ours => {}
                true => object.write_and_unlock(),
                false => object.read_and_unlock(),
            }
        }
    }
    fn finish(&self) {
        self.object.finish();
    }
}

/// The first thread begins as the owner; the others read. They come in together, and see what it has written.
pub struct Group<P: Platform, L> {
    object: Object<P, L>,
}

impl<P: Platform, L: ForPrograms> Client for Group<P, L> {
    const NAME: &'static str = GROUP;

    fn new(_threads: usize) -> Self {
        Self { object: Object { lock: L::owned(), twins: Twins::new() } }
    }
    fn set_rounds(&mut self, _rounds: u32) {}
    fn body(&self, thread: usize) {
        let Self { object } = self;
        if thread == 0 {
            object.write_and_unlock();
        } else {
            object.lock.lock_shared();
            object.read_and_unlock();
        }
    }
    fn finish(&self) {
        self.object.finish();
    }
}

/// The first thread writes; each of the others begins as a reader. What all of them have read comes before the write,
/// not only what the last one has.
pub struct LastReader<P: Platform, L> {
    object: Object<P, L>,
}

impl<P: Platform, L: ForPrograms> Client for LastReader<P, L> {
    const NAME: &'static str = LAST_READER;

    fn new(threads: usize) -> Self {
        let object = Object::<P, L>::new();
        (1..threads).for_each(|_| object.lock.lock_shared());
        Self { object }
    }
    fn set_rounds(&mut self, _rounds: u32) {}
    fn body(&self, thread: usize) {
        let Self { object } = self;
        if thread == 0 {
            object.lock.lock();
            object.write_and_unlock();
        } else {
            object.read_and_unlock();
        }
    }
    fn finish(&self) {
        self.object.finish();
    }
}

/// Threads with an even number write; the others read, and read again while they do. A writer that waits keeps no
/// thread from that for ever.
pub struct Again<P: Platform, L> {
    object: Object<P, L>,
    rounds: u32,
}

impl<P: Platform, L: ForPrograms> Client for Again<P, L> {
    const NAME: &'static str = AGAIN;

    fn new(_threads: usize) -> Self {
        Self { object: Object::new(), rounds: 1 }
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }
    fn body(&self, thread: usize) {
        let Self { object, rounds } = self;
        for _ in 0..*rounds {
            if thread.is_multiple_of(2) {
                object.lock.lock();
                object.write_and_unlock();
            } else {
                object.lock.lock_shared();
                object.lock.lock_shared();
                object.read_and_unlock();
                object.read_and_unlock();
            }
        }
    }
    fn finish(&self) {
        self.object.finish();
    }
}

/// Each thread but the first takes leave of an object, as a reader or as a writer. When the first finds, as a writer,
/// that all have done so it frees the object, while the last of them may still be about to return from its unlock.
///
/// For machines that see accesses to what was freed.
pub struct LastHolder<P: Platform, L> {
    object: Object<P, L>,
    /// How many use it, unseen by the machine.
    users: AtomicUsize,
    freed: AtomicBool,
}

impl<P: Platform, L: ForPrograms> Client for LastHolder<P, L> {
    const NAME: &'static str = LAST_USER;

    fn new(threads: usize) -> Self {
        let users = AtomicUsize::new(threads - 1);
        Self { object: Object::new(), users, freed: AtomicBool::new(false) }
    }
    fn set_rounds(&mut self, _rounds: u32) {}
    fn body(&self, thread: usize) {
        let object = &self.object;
        if thread == 0 {
            return self.free();
        }
        if thread.is_multiple_of(2) {
            object.lock.lock();
            self.users.fetch_sub(1, Relaxed);
            object.write_and_unlock();
        } else {
            object.lock.lock_shared();
            self.users.fetch_sub(1, Relaxed);
            object.read_and_unlock();
        }
    }
    fn finish(&self) {
        assert!(self.freed.load(Relaxed), "nobody was the last user");
    }
}

impl<P: Platform, L: ForPrograms> LastHolder<P, L> {
    fn free(&self) {
        loop {
            self.object.lock.lock();
            let is_last = self.users.load(Relaxed) == 0;
            self.object.write_and_unlock();
            if is_last {
                P::freed(&self.object);
                return self.freed.store(true, Relaxed);
            }
            P::delay(1);
        }
    }
}
