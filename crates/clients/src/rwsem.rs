//! Clients of the reader-writer semaphore: deadlines, interrupts, waiters that may not be passed, too many
//! readers, and the end of a burst.
//!
//! Most begin with the first thread as the owner, so that the others have to wait.

use crate::client::{Client, has_rounds};
use crate::shared::WithTwins;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{Atomic, Guarded, Zeroed};
use lockwright_core::raw::RawLock;
use lockwright_linux::rwsem::{Interrupt, RwSem, RwSemPolicy, Until};

/// The owner word with the number of the first thread, on machines that number their threads in order,
/// and with all flags.
const NOBODY_SPINS: u64 = 1 << 3 | 0b111;

/// A semaphore, and what its holders change or read.
type Sem<P, C> = WithTwins<P, RwSem<P, C>>;

impl<P: Platform, C: RwSemPolicy> Sem<P, C> {
    /// Owned by the first thread. Until it gives it back, arriving threads queue without spinning, if the owner word
    /// has a way to say so.
    fn owned() -> Self {
        let sem = Self::new();
        // SAFETY: no thread knows it yet.
        unsafe { sem.lock.begin_owned(NOBODY_SPINS) };
        sem
    }
    /// Takes it and uses it, unless the wait is over before. Returns true if it did.
    fn use_it(&self, writes: bool, until: Until<'_, P>) -> bool {
        let is_ours = match writes {
            true => self.lock.lock_within(until),
            false => self.lock.lock_shared_within(until),
        };
        match writes {
            _ if !is_ours => {}
            true => self.write_and_unlock(),
            false => self.read_and_unlock(),
        }
        is_ours
    }
    /// What must hold when no thread uses it any more.
    fn finish(&self) {
        self.check_free();
        // SAFETY: all threads are done with it.
        let is_untouched = unsafe { self.lock.is_untouched() };
        assert!(is_untouched, "somebody has left traces in the lock");
    }
}

/// How long a waiter waits that gives up soon: it comes as far as to sleep, on machines that take time.
pub const SOON_NS: u64 = 2_000;

/// Threads with an odd number give up soon, as writers or as readers; the others wait as the other, or as writers. No
/// thread waits for ever behind one that has given up.
pub struct RwSemTimeOuts<P: Platform, C, const WRITES: bool> {
    sem: Sem<P, C>,
    rounds: u32,
}

impl<P: Platform, C: RwSemPolicy, const WRITES: bool> Client for RwSemTimeOuts<P, C, WRITES> {
    const NAME: &'static str = if WRITES { "rwsem-timed-writer" } else { "rwsem-timed-reader" };

    fn new(_threads: usize) -> Self {
        Self { sem: Sem::owned(), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for round in 0..self.rounds {
            match thread % 4 {
                0 if thread == 0 && round == 0 => self.sem.write_and_unlock(),
                0 => drop(self.sem.use_it(true, Until::FOREVER)),
                2 => drop(self.sem.use_it(!WRITES, Until::FOREVER)),
                _ => {
                    let until = Until::deadline(P::now_ns() + SOON_NS);
                    self.sem.use_it(WRITES, until);
                }
            }
        }
    }
    fn finish(&self) {
        self.sem.finish();
    }
}

/// Threads with an odd number, of as many threads as any harness has.
const INTERRUPTS: usize = 8;

/// The first thread writes a note, interrupts the writers with an odd number, and then gives the lock back. An
/// interrupted thread finds the note. The others wait as readers or as writers, and get the lock.
pub struct Interrupted<P: Platform, C> {
    sem: Sem<P, C>,
    interrupts: [Interrupt<P>; INTERRUPTS],
    note: Guarded<P, u64>,
}

impl<P: Platform, C: RwSemPolicy> Client for Interrupted<P, C> {
    const NAME: &'static str = "rwsem-interrupted-writer";

    fn new(_threads: usize) -> Self {
        let interrupts = core::array::from_fn(|_| Zeroed::zeroed());
        Self { sem: Sem::owned(), interrupts, note: Guarded::new(0) }
    }
    fn body(&self, thread: usize) {
        match thread % 4 {
            0 if thread == 0 => {
                // SAFETY: read by those who find that they were interrupted.
                unsafe { self.note.set(1) };
                self.interrupts.iter().for_each(Interrupt::interrupt);
                self.sem.write_and_unlock();
            }
            0 => drop(self.sem.use_it(true, Until::FOREVER)),
            2 => drop(self.sem.use_it(false, Until::FOREVER)),
            _ => {
                let interrupt = &self.interrupts[thread / 2 % INTERRUPTS];
                if !self.sem.use_it(true, Until::interrupted(interrupt)) {
                    // SAFETY: written before the interrupt.
                    let note = unsafe { self.note.get() };
                    assert_eq!(note, 1, "interrupted, and nobody did it");
                }
            }
        }
    }
    fn finish(&self) {
        self.sem.finish();
    }
}

/// More readers than a field of five bits can count.
const READERS: usize = 40;

/// The first thread takes the lock as a reader again and again, and at no time can it be taken as a
/// writer. The others try to write.
pub struct Overflow<P: Platform, C> {
    sem: Sem<P, C>,
}

impl<P: Platform, C: RwSemPolicy> Client for Overflow<P, C> {
    const NAME: &'static str = "rwsem-overflow";

    fn new(_threads: usize) -> Self {
        Self { sem: Sem::new() }
    }
    fn body(&self, thread: usize) {
        let lock = &self.sem.lock;
        if thread > 0 {
            if lock.try_lock() {
                self.sem.write_and_unlock();
            }
            return;
        }
        let mut taken = 0;
        for _ in 0..READERS {
            taken += usize::from(lock.try_lock_shared());
            let is_free = taken > 0 && lock.try_lock();
            assert!(!is_free, "a writer got the lock while there are {taken} readers");
        }
        for _ in 0..taken {
            self.sem.read_and_unlock();
        }
    }
    fn finish(&self) {
        self.sem.finish();
    }
}

/// The second thread waits, and those with a higher number come when it does. From the moment when the owner finds the
/// lock reserved for it, no thread gets it before the second thread. For policies with bits in the count, under which
/// no thread but the first waiter is waited for.
pub struct ReservedForFirst<P: Platform, C> {
    sem: Sem<P, C>,
    /// The second thread waits.
    goes: P::U32,
    /// It must no longer be overtaken. The platform does not see this.
    is_reserved: AtomicBool,
    /// It has had the lock. Unseen by the machine.
    is_served: AtomicBool,
    rounds: u32,
}

/// How often the owner looks whether the lock is reserved.
const LOOKS: u32 = 8;

impl<P: Platform, C: RwSemPolicy> ReservedForFirst<P, C> {
    /// For the owner.
    fn note_and_unlock(&self, thread: usize) {
        let passes = self.is_reserved.load(Relaxed) && !self.is_served.load(Relaxed);
        assert!(
            thread == 1 || !passes,
            "the first waiter was passed when it had waited long enough"
        );
        self.is_served.fetch_or(thread == 1, Relaxed);
        if thread == 0 && !self.is_served.load(Relaxed) && self.sem.lock.has_handoff_soon(LOOKS) {
            self.is_reserved.store(true, Relaxed);
        }
        self.sem.write_and_unlock();
    }
}

impl<P: Platform, C: RwSemPolicy> Client for ReservedForFirst<P, C> {
    const NAME: &'static str = "rwsem-handoff";

    fn new(_threads: usize) -> Self {
        Self {
            sem: Sem::owned(),
            goes: Zeroed::zeroed(),
            is_reserved: AtomicBool::new(false),
            is_served: AtomicBool::new(false),
            rounds: 1,
        }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        if thread == 0 {
            self.sem.lock.await_waiters();
            self.goes.store(1, Relaxed);
            self.note_and_unlock(thread);
        } else if thread > 1 {
            self.goes.cond_load(Relaxed, |goes| goes == 1);
        }
        for _ in u32::from(thread == 0)..self.rounds {
            self.sem.lock.lock();
            self.note_and_unlock(thread);
        }
    }
    fn finish(&self) {
        self.sem.finish();
    }
}

/// The first thread gives the lock back and the others take it once each, as writers, and so does the first thread
/// then. No thread comes later that could make up for a wake-up that was lost.
pub struct LastRound<P: Platform, C> {
    sem: Sem<P, C>,
}

impl<P: Platform, C: RwSemPolicy> Client for LastRound<P, C> {
    const NAME: &'static str = "rwsem-last-round";

    fn new(_threads: usize) -> Self {
        Self { sem: Sem::owned() }
    }
    fn body(&self, thread: usize) {
        if thread == 0 {
            self.sem.write_and_unlock();
        }
        self.sem.use_it(true, Until::FOREVER);
    }
    fn finish(&self) {
        self.sem.finish();
    }
}
