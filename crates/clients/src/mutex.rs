//! Clients of the mutex and the condition variable for programs: deadlines, handing over, notifications.
//!
//! All of them begin with a quiet bucket, so that the first sleeper needs its heavy barrier.

use crate::client::{Client, has_rounds};
use crate::rwsem::SOON_NS;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::mutex::RawMutex;
use lockwright_catalog::capabilities::{CondvarLock, LockCondvar, ProgramMutex};
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;

/// A mutex for programs that has a condition variable.
pub trait NotifiedMutex: ProgramMutex + CondvarLock {}
impl<M: ProgramMutex + CondvarLock> NotifiedMutex for M {}

/// A mutex and a number under it.
pub(crate) struct Counter<P: Platform, M = RawMutex<P>> {
    pub(crate) mutex: M,
    number: Guarded<P, u64>,
}

impl<P: Platform, M: ProgramMutex> Counter<P, M> {
    pub(crate) fn new() -> Self {
        Self { mutex: M::new(), number: Guarded::new(0) }
    }
    /// Changes the number. For the owner.
    pub(crate) fn change(&self, by: i64) -> u64 {
        // SAFETY: called by the owner only.
        let number = unsafe { self.number.get() }.wrapping_add_signed(by);
        // SAFETY: as above.
        unsafe { self.number.set(number) };
        number
    }
    pub(crate) fn unlock(&self) {
        // SAFETY: called by the owner only.
        unsafe { self.mutex.unlock() };
    }
    /// Changes the number, as the owner for that long.
    pub(crate) fn lock_and_change(&self, by: i64) {
        self.mutex.lock();
        self.change(by);
        self.unlock();
    }
    /// What must hold when the threads are done: the mutex is free, and this is the number.
    pub(crate) fn finish(&self, expected: u64, otherwise: &str) {
        assert!(self.mutex.try_lock(), "the mutex is held when nobody holds it");
        assert_eq!(self.change(0), expected, "{otherwise}");
        self.unlock();
    }
}

impl<P: Platform, M: NotifiedMutex> Counter<P, M> {
    /// Takes one of the number, after waiting for it. For the owner.
    pub(crate) fn take_one(&self, changed: &M::Condvar) {
        while self.change(0) == 0 {
            // SAFETY: called by the owner only.
            unsafe { changed.wait(&self.mutex, None) };
        }
        self.change(-1);
    }
    /// The same, as the owner for that long.
    pub(crate) fn lock_and_take_one(&self, changed: &M::Condvar) {
        self.mutex.lock();
        self.take_one(changed);
        self.unlock();
    }
}

/// Threads with an odd number give up soon, the others hand the mutex over, and the first begins as the owner. A thread
/// that gets the mutex counts. No thread sleeps for ever behind one that has given up.
pub struct MutexTimeOuts<P: Platform, M: ProgramMutex = RawMutex<P>> {
    counter: Counter<P, M>,
    taken: AtomicU64,
    rounds: u32,
}

impl<P: Platform, M: ProgramMutex> Client for MutexTimeOuts<P, M> {
    const NAME: &'static str = "mutex-timed";

    fn new(_threads: usize) -> Self {
        let client = Self { counter: Counter::new(), taken: AtomicU64::new(0), rounds: 1 };
        client.counter.mutex.lock();
        client
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        let mutex = &self.counter.mutex;
        mutex.calm();
        for round in 0..self.rounds {
            if thread == 0 && round == 0 {
                // Taken when the client was made.
            } else if thread.is_multiple_of(2) {
                mutex.lock();
            } else if !mutex.lock_until(P::now_ns() + SOON_NS) {
                continue;
            }
            self.counter.change(1);
            self.taken.fetch_add(1, Relaxed);
            if thread.is_multiple_of(2) {
                // SAFETY: taken above, or when the client was made.
                unsafe { mutex.unlock_fair() };
            } else {
                self.counter.unlock();
            }
        }
    }
    fn finish(&self) {
        self.counter.finish(self.taken.load(Relaxed), "increments were lost");
    }
}

/// Threads with an even number hand the mutex over.
pub struct HandsOver<P: Platform, M: ProgramMutex = RawMutex<P>> {
    counter: Counter<P, M>,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, M: ProgramMutex> Client for HandsOver<P, M> {
    const NAME: &'static str = "mutex-fair";

    fn new(threads: usize) -> Self {
        Self { counter: Counter::new(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        self.counter.mutex.calm();
        for _ in 0..self.rounds {
            self.counter.mutex.lock();
            self.counter.change(1);
            if thread.is_multiple_of(2) {
                // SAFETY: taken above.
                unsafe { self.counter.mutex.unlock_fair() };
            } else {
                self.counter.unlock();
            }
        }
    }
    fn finish(&self) {
        let expected = self.threads as u64 * u64::from(self.rounds);
        self.counter.finish(expected, "increments were lost under the mutex");
    }
}

/// The first thread makes tokens, one for each of the others, and notifies for each; half of the time with the mutex
/// held. The others wait for a token each. No thread waits for ever, and no thread that did not give up returns from a
/// wait with nothing to find more often than another thread took its token.
pub struct Notify<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    tokens: Counter<P, M>,
    changed: M::Condvar,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, M: NotifiedMutex> Notify<P, M> {
    fn give(&self) {
        for token in 1..self.threads {
            self.tokens.mutex.lock();
            self.tokens.change(1);
            if token % 2 == 0 {
                self.changed.notify_one();
            }
            self.tokens.unlock();
            if token % 2 == 1 {
                self.changed.notify_one();
            }
        }
    }
}

impl<P: Platform, M: NotifiedMutex> Client for Notify<P, M> {
    const NAME: &'static str = "condvar";

    fn new(threads: usize) -> Self {
        Self { tokens: Counter::new(), changed: LockCondvar::new(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        self.tokens.mutex.calm();
        for _ in 0..self.rounds {
            if thread == 0 {
                self.give();
            } else {
                self.tokens.lock_and_take_one(&self.changed);
            }
        }
    }
    fn finish(&self) {
        self.tokens.finish(0, "a token was made or lost");
    }
}

/// The threads that wait in it.
const WAITERS: [usize; 2] = [1, 2];

/// The second and the third thread wait until a gate is open, and then for a token each. The first one notifies all,
/// opens the gate and notifies all again, then makes the tokens and notifies one for each, always without the mutex.
/// Further threads only take the mutex, asleep at once. No thread waits for ever.
pub struct NotifyAll<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    tokens: Counter<P, M>,
    is_open: Guarded<P, bool>,
    changed: M::Condvar,
    threads: usize,
}

impl<P: Platform, M: NotifiedMutex> NotifyAll<P, M> {
    fn is_open(&self) -> bool {
        // SAFETY: called by the owner.
        unsafe { self.is_open.get() }
    }
    fn give(&self) {
        self.changed.notify_all();
        self.tokens.mutex.lock();
        // SAFETY: taken above.
        unsafe { self.is_open.set(true) };
        self.tokens.unlock();
        self.changed.notify_all();
        for _ in (1..self.threads).filter(|thread| WAITERS.contains(thread)) {
            self.tokens.lock_and_change(1);
            self.changed.notify_one();
        }
    }
    fn take(&self) {
        self.tokens.mutex.lock();
        while !self.is_open() {
            // SAFETY: taken above.
            unsafe { self.changed.wait(&self.tokens.mutex, None) };
        }
        self.tokens.take_one(&self.changed);
        self.tokens.unlock();
    }
}

impl<P: Platform, M: NotifiedMutex> Client for NotifyAll<P, M> {
    const NAME: &'static str = "condvar-all";

    fn new(threads: usize) -> Self {
        let is_open = Guarded::new(false);
        Self { tokens: Counter::new(), is_open, changed: LockCondvar::new(), threads }
    }
    fn body(&self, thread: usize) {
        self.tokens.mutex.calm();
        match thread {
            0 => self.give(),
            thread if WAITERS.contains(&thread) => self.take(),
            _ => {
                self.tokens.mutex.lock_asleep();
                self.tokens.change(0);
                self.tokens.unlock();
            }
        }
    }
    fn finish(&self) {
        self.tokens.finish(0, "a token was made or lost");
    }
}

/// How many mutexes there are.
const MUTEXES_MAX: usize = 4;

/// Each thread but the first waits on one condition variable, with a mutex of its own, until there is a token under
/// that mutex. The first thread makes them, one after another, and notifies all for each. No thread waits for ever.
pub struct SeveralMutexes<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    tokens: [Counter<P, M>; MUTEXES_MAX],
    changed: M::Condvar,
    threads: usize,
}

impl<P: Platform, M: NotifiedMutex> SeveralMutexes<P, M> {
    /// What that thread waits for.
    fn tokens_of(&self, thread: usize) -> &Counter<P, M> {
        &self.tokens[thread % MUTEXES_MAX]
    }
}

impl<P: Platform, M: NotifiedMutex> Client for SeveralMutexes<P, M> {
    const NAME: &'static str = "condvar-mutexes";

    fn new(threads: usize) -> Self {
        let tokens = core::array::from_fn(|_| Counter::new());
        Self { tokens, changed: LockCondvar::new(), threads }
    }
    fn body(&self, thread: usize) {
        if thread == 0 {
            for thread in 1..self.threads {
                self.tokens_of(thread).lock_and_change(1);
                self.changed.notify_all();
            }
            return;
        }
        self.tokens_of(thread).lock_and_take_one(&self.changed);
    }
    fn finish(&self) {
        for tokens in &self.tokens {
            tokens.finish(0, "a token was made or lost");
        }
    }
}

/// The second thread waits once, for a short time, and takes a token if there is one. The third waits for its
/// token as long as it takes. The first makes two and notifies twice: a notification does not
/// go to a waiter that has given up.
pub struct GiveUp<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    tokens: Counter<P, M>,
    changed: M::Condvar,
}

impl<P: Platform, M: NotifiedMutex> Client for GiveUp<P, M> {
    const NAME: &'static str = "condvar-timed";

    fn new(_threads: usize) -> Self {
        Self { tokens: Counter::new(), changed: LockCondvar::new() }
    }
    fn body(&self, thread: usize) {
        let Self { tokens, changed } = self;
        tokens.mutex.calm();
        tokens.mutex.lock();
        match thread {
            0 => {
                tokens.change(2);
                changed.notify_one();
                tokens.unlock();
                changed.notify_one();
                return;
            }
            1 => {
                let soon = Some(P::now_ns() + SOON_NS);
                // SAFETY: taken above.
                let is_notified =
                    tokens.change(0) > 0 || unsafe { changed.wait(&tokens.mutex, soon) };
                if is_notified && tokens.change(0) > 0 {
                    tokens.change(-1);
                }
            }
            2 => tokens.take_one(changed),
            _ => {}
        }
        tokens.unlock();
    }
    fn finish(&self) {
        assert!(self.tokens.mutex.try_lock(), "the mutex is held when nobody holds it");
        self.tokens.unlock();
    }
}

/// More mutexes than a machine for checking has marks, so two of them share one.
const NEIGHBOURS: usize = 65;

/// The first thread begins as the owner of two mutexes that share a mark and releases one after the other. The others
/// take one of them each, asleep at once where they have to wait. The mark is quiet at first.
pub struct Neighbours<M> {
    mutexes: [M; NEIGHBOURS],
    taken: AtomicU64,
    threads: usize,
}

impl<M: ProgramMutex> Neighbours<M> {
    /// The same two for every caller.
    fn pair(&self) -> [&M; 2] {
        let later = |at: usize| self.mutexes[at + 1..].iter().map(move |other| (at, other));
        let mut pairs = (0..NEIGHBOURS).flat_map(later);
        let shared = pairs.find(|(at, other)| self.mutexes[*at].shares_bucket_with(other));
        let (first, second) = shared.expect("there are fewer buckets than mutexes");
        [&self.mutexes[first], second]
    }
}

impl<M: ProgramMutex> Client for Neighbours<M> {
    const NAME: &'static str = "neighbours";

    fn new(threads: usize) -> Self {
        let mutexes = core::array::from_fn(|_| M::new());
        // Where they will lie is not known yet.
        mutexes.iter().for_each(M::lock);
        Self { mutexes, taken: AtomicU64::new(0), threads }
    }
    fn body(&self, thread: usize) {
        let pair = self.pair();
        pair[0].calm();
        if thread == 0 {
            for mutex in pair {
                // SAFETY: taken when the client was made, and released by no other thread.
                unsafe { mutex.unlock() };
            }
            return;
        }
        let mutex = pair[thread % 2];
        mutex.lock_asleep();
        self.taken.fetch_add(1, Relaxed);
        mutex.calm();
        // SAFETY: taken above.
        unsafe { mutex.unlock() };
    }
    fn finish(&self) {
        assert_eq!(self.taken.load(Relaxed), self.threads as u64 - 1, "somebody got nothing");
    }
}
