//! A counting semaphore for programs.
//!
//! Four bytes say how many permits there are, and if a thread waits. A waiter sleeps in the [`SleepTable`], in the
//! order of arrival. A thread that releases permits *grants* them to the waiter. So the waiter need not compete for
//! them, and no thread takes them in between.
//!
//! ```text
//!  31  30                                          0
//! +---+---------------------------------------------+
//! | w |                   permits                   |      w: a thread waits
//! +---+---------------------------------------------+
//! ```
//!
//! The number is stored as the difference to `PERMITS`. So zero is a semaphore that has all permits it began with.
//!
//! | state (w, permits) | means | moved by |
//! |---|---|---|
//! | (0, n) | n permits are available | acquire of k, to (0, n - k); release of k, to (0, n + k); acquire of more than n: to (1, n) |
//! | (1, n) | the first waiter needs more than n | with the waiters locked only: release, to (1, n') or (0, n'); a waiter that gives up: the same; a waiter that comes, not at all |
//!
//! w is set exactly if there are waiters in the table: it is set and cleared with their bucket locked. (In a forked
//! child it may be left over; there the table says that no thread waits.)
//!
//! *Release.* Without waiters a release is one exchange, which fails if a waiter says so meanwhile: a thread that reads
//! w = 0 in it has no thread to wake. With waiters, nothing is written before their bucket is locked. Then the thread
//! decides which waiters are served, writes the word, and only then tells them. The exchange, or the write of the word
//! before the first grant, is the last access to the semaphore: the thread that gets the permits may free it.
//!
//! *Fairness.* First come, first served. A newcomer passes no waiter, even if there are permits enough for the newcomer
//! and not for the first waiter. Nor does an attempt. A waiter queues when it sets w, or finds w set with the bucket
//! locked. It gets its permits before any thread that comes later than that. So no waiter is passed. Its wait is as
//! long as the waiters in front of it and the holders make it.
//!
//! *Time-outs.* A waiter whose deadline has passed takes itself out with the bucket locked, unless it has been granted
//! its permits before. In the same section it serves the waiters behind it: there may be enough permits for them now.
//! Each sleeper is told by its own word.
//!
//! *Size, cost.* Four bytes. Each pair without waiters is two atomic read-modify-writes. No thread spins. So where a
//! semaphore is used as a lock for short sections, to hand it over to a sleeper costs a wake-up each time. That is the
//! price of the order. For such a lock there is [`RawMutex`](crate::mutex::RawMutex).
//!
//! *Limits.* There are at most 2^31 - 1 permits: a release of more changes nothing and says so. With 65,532 threads
//! waiting in a process, further ones try every millisecond, in no order. A forked child may use the semaphore. Permits
//! held by threads that do not exist there stay held.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | H1 | every write of the word that adds permits: `compare_exchange` in `add` and `add_slowpath`, `store` in `publish`, Release | every `compare_exchange` that takes permits, or says that a thread waits for them, Acquire | what was done before the release |
//!
//! What is released while a thread waits is handed on by the lock of the bucket (W1) and the grant (W4) of the
//! [table](crate::park). A waiter that comes acquires what was released before it. So the store in `publish` and the
//! grants carry that, too, although the thread that writes them has not read it.

use crate::events::Event;
use crate::park::{
    ASLEEP, Awaited, GRANTED, NAP_NS, ParkPlatform, Served, SleepTable, Waiters, told, waiter,
};
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed, barrier_before_look};
use crate::queue::NodeId;
use crate::raw::{Order, RawLock, Schedules};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A thread waits.
const WAITS: u32 = 1 << 31;
/// The most permits there may be.
pub const PERMITS_MAX: u32 = WAITS - 1;

/// A semaphore without guards. If its word is all zero bytes, it has `PERMITS` permits.
#[repr(transparent)]
pub struct RawSemaphore<P: Cells, const PERMITS: u32> {
    word: P::U32,
}

impl<P: ConstCells, const PERMITS: u32> RawSemaphore<P, PERMITS> {
    /// A semaphore with `PERMITS` permits, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED };
}

impl<P: Cells, const PERMITS: u32> RawSemaphore<P, PERMITS> {
    const IS_COUNTABLE: () = assert!(PERMITS <= PERMITS_MAX, "more permits than can be counted");

    /// Returns the semaphore whose word is in `word`. This is for constants, in which no platform can store a value.
    pub const fn from_cell(word: P::U32) -> Self {
        Self { word }
    }
    /// Returns the word of a semaphore with `permits` permits and no waiter.
    pub const fn word_of(permits: u32) -> u32 {
        let () = Self::IS_COUNTABLE;
        permits.wrapping_sub(PERMITS) & PERMITS_MAX
    }
    const fn permits_of(word: u32) -> u32 {
        word.wrapping_add(PERMITS) & PERMITS_MAX
    }
}

/// Returns `true` if a thread waits for a semaphore with this word.
const fn is_waited_for(word: u32) -> bool {
    word & WAITS != 0
}

impl<P: ParkPlatform, const PERMITS: u32> RawSemaphore<P, PERMITS> {
    /// Returns a semaphore with `permits` permits, but at most [`PERMITS_MAX`].
    pub fn with_permits(permits: u32) -> Self {
        let semaphore = Self { word: Zeroed::zeroed() };
        let word = Self::word_of(permits.min(PERMITS_MAX));
        // ordering: Relaxed; no other thread has it yet.
        semaphore.word.store(word, Relaxed);
        semaphore
    }

    /// Returns how many permits are available. The answer may be stale when it is returned, and acquires nothing.
    pub fn available(&self) -> u32 {
        // ordering: Relaxed; nothing is read through it.
        Self::permits_of(self.word.load(Relaxed))
    }

    /// Takes `permits` permits, and waits for them as long as it takes.
    #[doc(alias = "down")]
    #[inline]
    pub fn acquire(&self, permits: u32) {
        if !self.take(permits) {
            self.take_slowpath(permits, None);
        }
    }
    /// As [`acquire`](Self::acquire), but only before `deadline_ns` of the platform's clock. Returns `true` if it did.
    #[doc(alias = "down_timeout")]
    #[inline]
    pub fn acquire_until(&self, permits: u32, deadline_ns: u64) -> bool {
        self.take(permits) || self.take_slowpath(permits, Some(deadline_ns))
    }
    /// Takes `permits` permits if there are as many and no thread waits. Returns `true` if it did.
    #[doc(alias = "down_trylock")]
    #[inline]
    pub fn try_acquire(&self, permits: u32) -> bool {
        // In a forked child the word may speak of waiters that do not exist.
        let ask = || self.with_waiters(|waiters| (self.take_or_join(waiters, permits, None), 0));
        self.take(permits) || P::has_forked() && ask()
    }
    /// Adds `permits` permits. Returns `false`, and changes nothing, if there would be more than [`PERMITS_MAX`].
    #[doc(alias = "up")]
    #[inline]
    pub fn release(&self, permits: u32) -> bool {
        match self.add(permits) {
            Some(is_added) => is_added,
            None => self.add_slowpath(permits),
        }
    }

    /// Returns `true` if newcomers are kept out for a thread that waits.
    pub fn is_waited_for(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        is_waited_for(self.word.load(Relaxed))
    }

    /// Takes permits if no thread waits for some. Returns `true` if there were enough.
    #[inline(always)]
    fn take(&self, permits: u32) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut word = self.word.load(Relaxed);
        while !is_waited_for(word) && Self::permits_of(word) >= permits {
            let less = Self::word_of(Self::permits_of(word) - permits);
            // (0, n) -> (0, n - k)
            // ordering: Acquire; H1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(word, less, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Adds permits if no thread waits for some. Returns `true` if there was room, and `None` if a thread waits.
    #[inline(always)]
    fn add(&self, permits: u32) -> Option<bool> {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut word = self.word.load(Relaxed);
        while !is_waited_for(word) {
            let Some(more) = sum(Self::permits_of(word), permits) else { return Some(false) };
            // (0, n) -> (0, n + k), after which the semaphore may no longer exist.
            // ordering: Release; H1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(word, Self::word_of(more), Release, Relaxed) {
                Ok(_) => return Some(true),
                Err(now) => word = now,
            }
        }
        None
    }

    /// As [`release`](Self::release), but with the waiters locked.
    #[cold]
    fn add_slowpath(&self, permits: u32) -> bool {
        self.with_waiters(|waiters| {
            if let Some(is_added) = self.add(permits) {
                return (is_added, 0);
            }
            match sum(self.permits(), permits) {
                Some(more) => (true, self.serve(waiters, more)),
                None => (false, 0),
            }
        })
    }

    /// Takes permits, and sleeps until it has them. Returns `true` if it has them before the deadline.
    #[cold]
    fn take_slowpath(&self, permits: u32, deadline_ns: Option<u64>) -> bool {
        let Some(id) = P::claim_node() else {
            return self.take_without_node(permits, deadline_ns);
        };
        let is_ours =
            self.with_waiters(|waiters| (self.take_or_join(waiters, permits, Some(id)), 0));
        let is_taken = is_ours || self.sleep(id, deadline_ns);
        // SAFETY: the node was claimed above, is in no queue, and was taken out of the table.
        unsafe { P::release_node(id) };
        is_taken
    }

    /// Takes permits if there are enough and no thread waits. Returns `true` if it did. Otherwise `id`, if there is
    /// one, waits from now on.
    fn take_or_join(&self, waiters: &Waiters<'_, P>, permits: u32, id: Option<NodeId>) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut word = self.word.load(Relaxed);
        loop {
            let available = Self::permits_of(word);
            let is_ours = waiters.is_empty() && available >= permits;
            let new = match id {
                _ if is_ours => Self::word_of(available - permits),
                Some(_) => word | WAITS,
                None => return false,
            };
            // (*, n) -> (0, n - k) or (1, n)
            // ordering: Acquire; H1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(word, new, Acquire, Relaxed) {
                Ok(_) => {
                    if let Some(id) = id.filter(|_| !is_ours) {
                        waiters.join(id, permits);
                    }
                    return is_ours;
                }
                Err(now) => word = now,
            }
        }
    }

    /// Sleeps as the waiter `id` until it is granted its permits. Returns `false` if it gave up.
    fn sleep(&self, id: NodeId, deadline_ns: Option<u64>) -> bool {
        while told::<P>(id) != GRANTED {
            if deadline_ns.is_some_and(P::is_over) {
                return self.give_up(id);
            }
            P::count(Event::semaphore_sleep);
            P::futex_wait(&waiter::<P>(id).signal, ASLEEP, deadline_ns);
        }
        true
    }

    /// Gives up, because the deadline has passed. Returns `true` if `id` has its permits all the same. The waiters
    /// behind it may get theirs now.
    #[cold]
    fn give_up(&self, id: NodeId) -> bool {
        let is_ours = self.with_waiters(|waiters| {
            if !waiters.leave(id) {
                return (true, 0);
            }
            (false, self.publish(waiters.served_by(self.permits())))
        });
        if !is_ours {
            P::count(Event::semaphore_timeout);
        }
        is_ours
    }

    /// Tries again and again, with naps, because no node is left. Returns `true` if it has the permits.
    #[cold]
    fn take_without_node(&self, permits: u32, deadline_ns: Option<u64>) -> bool {
        P::count(Event::lock_no_node);
        while !self.try_acquire(permits) {
            if deadline_ns.is_some_and(P::is_over) {
                return false;
            }
            let nap_ns = P::now_ns().saturating_add(NAP_NS);
            let until_ns = deadline_ns.map_or(nap_ns, |ns| P::earlier(ns, nap_ns));
            SleepTable::<P>::nap(self.name(), until_ns);
        }
        true
    }

    /// Runs `body` with the waiters for this semaphore locked.
    fn with_waiters<R>(&self, body: impl FnOnce(&Waiters<'_, P>) -> (R, u32)) -> R {
        SleepTable::<P>::with_waiters(self.name(), body)
    }
    fn name(&self) -> u64 {
        SleepTable::<P>::name(Awaited::Semaphore, &self.word)
    }
    /// Returns how many permits there are. The caller has locked the waiters, and there is one, so no other thread
    /// writes the word.
    fn permits(&self) -> u32 {
        // ordering: Relaxed; written under the lock of the bucket.
        Self::permits_of(self.word.load(Relaxed))
    }
    /// Decides which waiters are served with `permits` permits, and writes the word. Returns how many waiters are to be
    /// granted theirs.
    fn serve(&self, waiters: &Waiters<'_, P>, permits: u32) -> u32 {
        self.publish(waiters.served_by(permits))
    }
    fn publish(&self, served: Served) -> u32 {
        let waits = if served.is_all { 0 } else { WAITS };
        // (1, *) -> (*, *), after which, and the grants, the semaphore may no longer exist.
        // ordering: Release; H1.
        self.word.store(Self::word_of(served.left) | waits, Release);
        served.waiters
    }
}

/// Returns the sum of `permits` and `more`, if it can be counted.
fn sum(permits: u32, more: u32) -> Option<u32> {
    permits.checked_add(more).filter(|sum| *sum <= PERMITS_MAX)
}

/// As a lock, a semaphore has one permit. The owner holds it.
impl<P: ParkPlatform> RawLock for RawSemaphore<P, 1> {
    const ORDER: Order = Order::Fifo;
    const SCHEDULES: Schedules = Schedules::OfRows;
    const WAITERS_SLEEP: bool = true;

    fn new() -> Self {
        Self { word: Zeroed::zeroed() }
    }
    #[inline]
    fn lock(&self) {
        self.acquire(1);
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.try_acquire(1)
    }
    #[inline]
    unsafe fn unlock(&self) {
        self.release(1);
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        self.available() == 0
    }
}
