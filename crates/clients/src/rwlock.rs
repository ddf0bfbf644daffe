//! Clients of the reader-writer lock for programs: deadlines, readers that read again, and an object that its last user
//! frees, lock and all.

use crate::client::{Client, has_rounds};
use crate::shared::WithTwins;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::{Fairness, RawRwLock};
use lockwright_catalog::capabilities::TimedLock as WithDeadlines;
use lockwright_catalog::registry::Platform;

/// What [`LastHolder`] is selected by.
pub const LAST_USER: &str = "rwlock-last-user";
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

impl<P: Platform, L: ForPrograms> WithTwins<P, L> {
    /// What must hold when no thread uses it any more.
    fn finish(&self) {
        self.check_free();
        assert!(self.lock.is_untouched(), "somebody has left traces in the lock");
    }
}

/// Threads with an odd number give up at once, as writers or as readers; the others wait as the other, or as writers.
/// The first begins as the owner. No thread waits for ever behind one that has given up.
pub struct RwLockTimeOuts<P: Platform, L, const WRITES: bool> {
    object: WithTwins<P, L>,
    rounds: u32,
}

impl<P: Platform, L: ForPrograms, const WRITES: bool> Client for RwLockTimeOuts<P, L, WRITES> {
    const NAME: &'static str = if WRITES { "rwlock-timed-writer" } else { "rwlock-timed-reader" };

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::of(L::owned()), rounds: 1 }
    }
    has_rounds!();
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
    object: WithTwins<P, L>,
}

impl<P: Platform, L: ForPrograms> Client for Group<P, L> {
    const NAME: &'static str = "rwlock-group";

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::of(L::owned()) }
    }
    fn body(&self, thread: usize) {
        let Self { object } = self;
        if thread == 0 {
            object.write_and_unlock();
        } else {
            object.read();
        }
    }
    fn finish(&self) {
        self.object.finish();
    }
}

/// The first thread writes; each of the others begins as a reader. What all of them have read comes before the write,
/// not only what the last one has.
pub struct LastReader<P: Platform, L> {
    object: WithTwins<P, L>,
}

impl<P: Platform, L: ForPrograms> Client for LastReader<P, L> {
    const NAME: &'static str = "rwlock-last-reader";

    fn new(threads: usize) -> Self {
        let object = WithTwins::<P, L>::new();
        (1..threads).for_each(|_| object.lock.lock_shared());
        Self { object }
    }
    fn body(&self, thread: usize) {
        let Self { object } = self;
        if thread == 0 {
            object.write();
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
    object: WithTwins<P, L>,
    rounds: u32,
}

impl<P: Platform, L: ForPrograms> Client for Again<P, L> {
    const NAME: &'static str = "rwlock-again";

    fn new(_threads: usize) -> Self {
        Self { object: WithTwins::new(), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        let Self { object, rounds } = self;
        for _ in 0..*rounds {
            if thread.is_multiple_of(2) {
                object.write();
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
    object: WithTwins<P, L>,
    /// How many use it, unseen by the machine.
    users: AtomicUsize,
    freed: AtomicBool,
}

impl<P: Platform, L: ForPrograms> Client for LastHolder<P, L> {
    const NAME: &'static str = LAST_USER;

    fn new(threads: usize) -> Self {
        let users = AtomicUsize::new(threads - 1);
        Self { object: WithTwins::new(), users, freed: AtomicBool::new(false) }
    }
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
