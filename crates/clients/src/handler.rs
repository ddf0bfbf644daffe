//! Signal handlers that make attempts on the lock that their thread is about to take, waits for, holds or gives back.
//!
//! On machines without signals the handlers never run, and what is left are threads that take a lock.

use crate::client::{Client, has_rounds};
use crate::mutex::Counter;
use crate::shared::Twins;
use core::marker::PhantomData;
use core::sync::atomic::AtomicI64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::condvar::RawCondvar;
use lockwright::semaphore::RawSemaphore;
use lockwright_catalog::capabilities::TimedLock;
use lockwright_catalog::registry::Platform;
use lockwright_core::raw::RawLock;

/// How a thread asks for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// As a reader.
    pub reads: bool,
    /// Until when it waits.
    pub until: GiveUpAt,
}

/// Until when a thread waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUpAt {
    /// It does not: it makes an attempt.
    Attempt,
    /// Until a moment that has passed.
    Past,
    /// Until now.
    Now,
    /// For a long time.
    Far,
    /// As long as it takes.
    Ever,
}

/// How often a section uses what its lock guards: long enough for a handler to come meanwhile.
const LOOKS: u32 = 3;
/// What is a long time, in nanoseconds.
const LONG_NS: u64 = 20_000_000;

impl GiveUpAt {
    /// The deadline, of those that have one.
    pub(crate) fn deadline_ns<P: Platform>(self) -> u64 {
        match self {
            Self::Past => 0,
            Self::Far => P::now_ns().saturating_add(LONG_NS),
            Self::Now | Self::Attempt | Self::Ever => P::now_ns(),
        }
    }
}

/// A number below `limit`, another one in each schedule.
pub(crate) fn drawn<P: Platform>(limit: usize) -> usize {
    (P::now_ns() % limit as u64) as usize
}

/// What a handler may ask of a lock.
pub trait Asks<L>: Send + Sync + 'static {
    /// The name of the client.
    const NAME: &'static str;
    /// In these ways.
    const UNTIL: &'static [GiveUpAt];
    /// In these ways the thread asks that is interrupted, if it does not wait as long as it takes.
    const OWN: &'static [GiveUpAt] = Self::UNTIL;
    /// Tries to get the lock in one of them. Returns true if the lock is taken.
    fn ask<P: Platform>(lock: &L, way: Way) -> bool;
}

/// Attempts, which all locks know.
pub struct Attempts;

impl<L: RawLock> Asks<L> for Attempts {
    const NAME: &'static str = "handler";
    const UNTIL: &'static [GiveUpAt] = &[GiveUpAt::Attempt];
    fn ask<P: Platform>(lock: &L, way: Way) -> bool {
        if way.reads { lock.try_lock_shared() } else { lock.try_lock() }
    }
}

/// In all ways in which a thread does not wait for ever.
const WITHIN_TIME: &[GiveUpAt] = &[GiveUpAt::Attempt, GiveUpAt::Past, GiveUpAt::Now, GiveUpAt::Far];

/// Attempts, of threads with deadlines.
pub struct TimedAttempts;

impl<L: TimedLock> Asks<L> for TimedAttempts {
    const NAME: &'static str = "handler";
    const UNTIL: &'static [GiveUpAt] = &[GiveUpAt::Attempt];
    const OWN: &'static [GiveUpAt] = WITHIN_TIME;
    fn ask<P: Platform>(lock: &L, way: Way) -> bool {
        Deadlines::ask::<P>(lock, way)
    }
}

/// Attempts and deadlines.
pub struct Deadlines;

impl<L: TimedLock> Asks<L> for Deadlines {
    const NAME: &'static str = "handler-timed";
    const UNTIL: &'static [GiveUpAt] = WITHIN_TIME;
    fn ask<P: Platform>(lock: &L, way: Way) -> bool {
        let deadline_ns = way.until.deadline_ns::<P>();
        match way {
            Way { until: GiveUpAt::Attempt, .. } => Attempts::ask::<P>(lock, way),
            Way { reads: true, .. } => lock.lock_shared_until(deadline_ns),
            Way { reads: false, .. } => lock.lock_until(deadline_ns),
        }
    }
}

/// Who holds a lock, as the threads know, unseen by the machine: a negative number of writers or a number of readers.
struct Holders(AtomicI64);

impl Holders {
    /// The caller has just taken the lock.
    fn enter(&self, reads: bool) {
        let before = self.0.fetch_add(if reads { 1 } else { -1 }, Relaxed);
        let is_alone = if reads { before >= 0 } else { before == 0 };
        assert!(
            is_alone,
            "{} next to others ({before})",
            if reads { "a reader" } else { "a writer" }
        );
    }
    /// The owner is about to go on as a reader.
    fn downgrade(&self) {
        assert_eq!(self.0.fetch_add(2, Relaxed), -1, "a writer next to others");
    }
    /// The caller is about to give it back.
    fn leave(&self, reads: bool) {
        self.0.fetch_sub(if reads { 1 } else { -1 }, Relaxed);
    }
}

/// Threads with an odd number read, the others write; they wait, or give up as `A` says, and some owners go on as
/// readers. The handlers ask for the same lock in all ways that `A` knows and give back what they get, one way at a
/// time. No thread writes while others read or write, no thread waits for ever, and in the end the lock is free.
pub struct InHandler<P: Platform, L, A> {
    lock: L,
    twins: Twins<P>,
    holders: Holders,
    rounds: u32,
    _asks: PhantomData<fn() -> A>,
}

impl<P: Platform, L: RawLock, A: Asks<L>> InHandler<P, L, A> {
    fn look(&self, reads: bool) {
        for _ in 0..LOOKS {
            if reads {
                // SAFETY: this thread reads under the lock that guards the counters.
                unsafe { self.twins.read() };
            } else {
                // SAFETY: this thread owns the lock that guards the counters.
                unsafe { self.twins.increment() };
            }
        }
    }
    /// The caller has taken the lock; gives it back.
    fn hold(&self, mut reads: bool) {
        self.holders.enter(reads);
        self.look(reads);
        if L::READERS_SHARE && !reads && drawn::<P>(2) == 0 {
            self.holders.downgrade();
            // SAFETY: taken by the caller.
            unsafe { self.lock.downgrade() };
            reads = true;
            self.look(reads);
        }
        self.holders.leave(reads);
        if reads {
            // SAFETY: taken by the caller.
            unsafe { self.lock.unlock_shared() };
        } else {
            // SAFETY: as above.
            unsafe { self.lock.unlock() };
        }
    }
}

impl<P: Platform, L: RawLock, A: Asks<L>> Client for InHandler<P, L, A> {
    const NAME: &'static str = A::NAME;
    const HAS_HANDLER: bool = true;

    fn new(_threads: usize) -> Self {
        let (twins, holders) = (Twins::new(), Holders(AtomicI64::new(0)));
        Self { lock: L::new(), twins, holders, rounds: 1, _asks: PhantomData }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        let reads = L::READERS_SHARE && thread % 2 == 1;
        for _ in 0..self.rounds {
            // Half of them wait as long as it takes.
            let until = A::OWN.get(drawn::<P>(2 * A::OWN.len()));
            let is_taken = match until {
                Some(&until) => A::ask::<P>(&self.lock, Way { reads, until }),
                None if reads => {
                    self.lock.lock_shared();
                    true
                }
                None => {
                    self.lock.lock();
                    true
                }
            };
            if is_taken {
                self.hold(reads);
            }
        }
    }
    fn handle(&self, _thread: usize) {
        let kinds: &[bool] = if L::READERS_SHARE { &[true, false] } else { &[false] };
        let at = drawn::<P>(kinds.len() * A::UNTIL.len());
        let way = Way { reads: kinds[at % kinds.len()], until: A::UNTIL[at / kinds.len()] };
        if A::ask::<P>(&self.lock, way) {
            self.hold(way.reads);
        }
    }
    fn finish(&self) {
        assert!(!self.lock.is_locked(), "the lock is held when nobody holds it");
        assert!(self.lock.try_lock(), "a free lock cannot be taken when nobody competes");
        self.hold(false);
    }
}

/// A client whose threads handlers may interrupt anywhere, if these do no more than an attempt does.
pub trait Attempted: Client {
    /// What the client with handlers is selected by.
    const IN_HANDLER: &'static str;
    /// What the handlers do.
    fn attempt(&self);
}

/// The same client with handlers.
pub struct WithAttempts<C>(C);

impl<C: Attempted> Client for WithAttempts<C> {
    const NAME: &'static str = C::IN_HANDLER;
    const HAS_HANDLER: bool = true;

    fn new(threads: usize) -> Self {
        Self(C::new(threads))
    }
    fn set_rounds(&mut self, rounds: u32) {
        self.0.set_rounds(rounds);
    }
    fn body(&self, thread: usize) {
        self.0.body(thread);
    }
    fn handle(&self, _thread: usize) {
        self.0.attempt();
    }
    fn finish(&self) {
        self.0.finish();
    }
}

/// Each thread takes a permit and makes one, its handler makes one and takes one if that is possible soon. So some
/// thread can always go on, and in the end there are as many permits as were made and not taken.
pub struct PermitsInHandler<P: Platform> {
    semaphore: RawSemaphore<P, 0>,
    /// How many there are to be.
    expected: AtomicI64,
    rounds: u32,
}

impl<P: Platform> PermitsInHandler<P> {
    fn make(&self) {
        self.expected.fetch_add(1, Relaxed);
        assert!(self.semaphore.release(1), "no room for a permit");
    }
    fn taken(&self) {
        let before = self.expected.fetch_sub(1, Relaxed);
        assert!(before > 0, "a permit from nowhere");
    }
}

impl<P: Platform> Client for PermitsInHandler<P> {
    const NAME: &'static str = "semaphore-handler";
    const HAS_HANDLER: bool = true;

    fn new(_threads: usize) -> Self {
        let expected = AtomicI64::new(1);
        Self { semaphore: RawSemaphore::with_permits(1), expected, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, _thread: usize) {
        for _ in 0..self.rounds {
            self.semaphore.acquire(1);
            self.taken();
            self.make();
        }
    }
    fn handle(&self, _thread: usize) {
        let until =
            [GiveUpAt::Far, GiveUpAt::Attempt, GiveUpAt::Past, GiveUpAt::Now][drawn::<P>(4)];
        self.make();
        let is_taken = match until {
            GiveUpAt::Attempt => self.semaphore.try_acquire(1),
            until => self.semaphore.acquire_until(1, until.deadline_ns::<P>()),
        };
        if is_taken {
            self.taken();
        }
    }
    fn finish(&self) {
        let available = self.semaphore.available();
        assert_eq!(i64::from(available), self.expected.load(Relaxed), "permits were lost");
        assert!(self.semaphore.try_acquire(available), "somebody is said to wait, and nobody does");
    }
}

/// The first thread makes a token for each other one and notifies; those wait for a token each. Their handlers notify
/// as they like: still no thread waits for ever.
pub struct Notified<P: Platform> {
    tokens: Counter<P>,
    changed: RawCondvar<P>,
    threads: usize,
}

impl<P: Platform> Client for Notified<P> {
    const NAME: &'static str = "condvar-handler";
    const HAS_HANDLER: bool = true;

    fn new(threads: usize) -> Self {
        Self { tokens: Counter::new(), changed: RawCondvar::new(), threads }
    }
    fn body(&self, thread: usize) {
        let Self { tokens, changed, .. } = self;
        tokens.mutex.calm();
        for _ in 1..if thread == 0 { self.threads } else { 2 } {
            tokens.mutex.lock();
            while thread > 0 && tokens.change(0) == 0 {
                // SAFETY: taken above.
                unsafe { changed.wait(&tokens.mutex, None) };
            }
            tokens.change(if thread == 0 { 1 } else { -1 });
            tokens.unlock();
            if thread == 0 {
                changed.notify_one();
            }
        }
    }
    fn handle(&self, _thread: usize) {
        if drawn::<P>(2) == 0 {
            self.changed.notify_one();
        } else {
            self.changed.notify_all();
        }
    }
    fn finish(&self) {
        self.tokens.finish(0, "a token was made or lost");
    }
}
