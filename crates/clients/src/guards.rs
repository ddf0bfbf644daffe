//! What becomes of a lock when its guards are given back in another order than taken, by another thread, or never.

use crate::client::{Client, has_rounds};
use crate::place::{TenantKind, TenantPlace};
use crate::round::{hear, say};
use crate::rwlock::ForPrograms;
use crate::shared::{Twins, WithTwins};
use core::sync::atomic::Ordering::Release;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{AtomicInt, Zeroed};
use lockwright_core::raw::RawLock;

/// What [`Moved`] is selected by.
pub const MOVED: &str = "moved";

/// What the first thread takes the second one gives back, in every other round as a reader. The others take the lock
/// for themselves, alternately as owners and as readers.
///
/// For locks that do not care who gives them back.
pub struct Moved<P: Platform, L> {
    object: WithTwins<P, L>,
    /// The last round in which the first thread has handed over what it took, ...
    passed: P::U32,
    /// ... and in which the second one has given it back.
    back: P::U32,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, L: RawLock> Moved<P, L> {
    fn take(&self, reads: bool) {
        let lock = &self.object.lock;
        if reads { lock.lock_shared() } else { lock.lock() }
    }
    /// For a thread that has the lock in this way, even if another thread took it.
    fn use_and_give_back(&self, reads: bool) {
        if reads { self.object.read_and_unlock() } else { self.object.write_and_unlock() }
    }
}

impl<P: Platform, L: RawLock> Client for Moved<P, L> {
    const NAME: &'static str = MOVED;

    fn new(threads: usize) -> Self {
        Self {
            object: WithTwins::new(),
            passed: Zeroed::zeroed(),
            back: Zeroed::zeroed(),
            threads,
            rounds: 1,
        }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for round in 1..=self.rounds {
            let reads = round.is_multiple_of(2);
            match thread {
                0 => {
                    self.take(reads);
                    say::<P>(&self.passed, round);
                    let others = self.threads > 1;
                    if others {
                        hear::<P>(&self.back, round)
                    } else {
                        self.use_and_give_back(reads)
                    }
                }
                1 => {
                    hear::<P>(&self.passed, round);
                    self.use_and_give_back(reads);
                    say::<P>(&self.back, round);
                }
                _ => {
                    let reads = (thread + round as usize).is_multiple_of(2);
                    self.take(reads);
                    self.use_and_give_back(reads);
                }
            }
        }
    }
    fn finish(&self) {
        let lock = &self.object.lock;
        assert!(!lock.is_locked(), "the lock is held when nobody holds it");
        assert!(lock.try_lock(), "nobody holds the lock, and it cannot be taken");
        self.use_and_give_back(false);
    }
}

/// What [`OutOfOrder`] is selected by.
pub const OUT_OF_ORDER: &str = "rwlock-out-of-order";

/// One lock more than a thread reads in its slot, where it has one, and a further one.
const LOCKS: usize = 6;

/// Threads with an odd number read some locks at once, each of them once more if that needs no waiting, and give them
/// back in another order, which depends on thread and round. The others write under one lock after the other. A reader
/// is in the way of writers as long as it reads.
pub struct OutOfOrder<P: Platform, L> {
    objects: [WithTwins<P, L>; LOCKS],
    rounds: u32,
}

impl<P: Platform, L: ForPrograms> Client for OutOfOrder<P, L> {
    const NAME: &'static str = OUT_OF_ORDER;

    fn new(_threads: usize) -> Self {
        Self { objects: core::array::from_fn(|_| WithTwins::new()), rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for round in 0..self.rounds as usize {
            if thread.is_multiple_of(2) {
                self.objects.iter().for_each(WithTwins::write);
                continue;
            }
            let again = self.objects.each_ref().map(|WithTwins { lock, .. }| {
                lock.lock_shared();
                lock.try_lock_shared()
            });
            for turn in 0..LOCKS {
                // 5 is prime to the number of locks, so each has its turn.
                let at = (turn * 5 + thread + round) % LOCKS;
                for _ in 0..=usize::from(again[at]) {
                    self.objects[at].read_and_unlock();
                }
            }
        }
    }
    fn finish(&self) {
        for WithTwins { lock, .. } in &self.objects {
            assert!(lock.try_lock(), "nobody holds the lock, and it cannot be taken");
            // SAFETY: taken above.
            unsafe { lock.unlock() };
            assert!(lock.is_untouched(), "somebody has left traces in the lock");
        }
    }
}

/// What [`Forgotten`] is selected by.
pub const FORGOTTEN: &str = "forgotten";

/// The first thread takes a lock, as a reader if that can be, and never gives it back; no thread can take it then.
/// Another lock of the kind comes to lie at its address, and the first thread tries to read under the new lock while
/// the others write under it. What was forgotten does not belong to the new lock: it keeps no thread out and lets no
/// thread in.
pub struct Forgotten<P: Platform, const KIND: usize> {
    place: TenantPlace<P>,
    twins: Twins<P>,
    /// The last round in which the second lock was there.
    made: P::U32,
    /// How many threads have used it.
    done: P::U32,
    threads: usize,
    rounds: u32,
}

/// How often the first thread tries to read the second lock.
const ATTEMPTS: u32 = 2;

impl<P: Platform, const KIND: usize> Forgotten<P, KIND> {
    const KIND: TenantKind = TenantKind::ALL[KIND];

    fn forget_and_read(&self, round: u32) {
        if round > 1 {
            // The others have used the one before, and wait.
            hear::<P>(&self.done, (round - 1) * (self.threads as u32 - 1));
            self.place.make(Self::KIND);
        }
        self.place.lock_of(Self::KIND).take(true);
        let is_free = self.place.lock_of(Self::KIND).try_take(false);
        assert!(!is_free, "a lock that is held was taken");
        self.place.make(Self::KIND);
        let lock = self.place.lock_of(Self::KIND);
        // From now on readers use slots, if the lock has these.
        lock.take(false);
        // SAFETY: taken above.
        unsafe { lock.give_back(false) };
        say::<P>(&self.made, round);
        for _ in 0..ATTEMPTS {
            if lock.try_take(true) {
                // SAFETY: taken above, as a reader or as the owner.
                unsafe { self.twins.read_twice() };
                // SAFETY: as above.
                unsafe { lock.give_back(true) };
            }
        }
    }
    fn write(&self, round: u32) {
        hear::<P>(&self.made, round);
        let lock = self.place.lock_of(Self::KIND);
        lock.take(false);
        // SAFETY: taken above.
        unsafe { self.twins.increment() };
        // SAFETY: as above.
        unsafe { lock.give_back(false) };
    }
}

impl<P: Platform, const KIND: usize> Client for Forgotten<P, KIND> {
    const NAME: &'static str = FORGOTTEN;

    fn new(threads: usize) -> Self {
        Self {
            place: TenantPlace::new(Self::KIND),
            twins: Twins::new(),
            made: Zeroed::zeroed(),
            done: Zeroed::zeroed(),
            threads,
            rounds: 1,
        }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for round in 1..=self.rounds {
            if thread == 0 {
                self.forget_and_read(round);
            } else {
                self.write(round);
                self.done.fetch_add(1, Release);
            }
        }
    }
    fn finish(&self) {
        assert!(self.place.lock_of(Self::KIND).is_free(), "the lock is held when nobody holds it");
    }
}
