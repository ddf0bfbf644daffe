//! A counting semaphore for programs.
//!
//! Four bytes: how many permits there are, and whether somebody waits. A waiter sleeps in the
//! [`SleepTable`], in the order of arrival, and is *granted* its permits by the thread that
//! releases some: it need not compete for them, and nobody takes them in between.
//!
//! ```text
//!  31  30                                          0
//! +---+---------------------------------------------+
//! | w |                   permits                   |      w: somebody waits
//! +---+---------------------------------------------+
//! ```
//!
//! The number is stored as the difference to `PERMITS`, so that zero is a semaphore that has all of those it began
//! with.
//!
//! | state (w, permits) | means | moved by |
//! |---|---|---|
//! | (0, n) | n permits are available | acquire of k, to (0, n - k); release of k, to (0, n + k); acquire of more than n: to (1, n) |
//! | (1, n) | the first waiter needs more than n | with the waiters locked only: release, to (1, n') or (0, n'); a waiter that gives up: the same; a waiter that comes, not at all |
//!
//! w is set exactly if there are waiters in the table: it is set and cleared with their bucket locked. (In a forked
//! child it may be left over; there the table says that nobody waits.)
//!
//! *Release.* Without waiters it is one exchange, which fails if a waiter says so meanwhile: a thread that reads w = 0
//! in it has nobody to wake. With waiters nothing is written before their bucket is locked; then it is decided who is
//! served, the word is written, and only then are they told. The exchange, or the word before the first grant, is the
//! last access to the semaphore: the thread that gets the permits may free it.
//!
//! *Fairness.* First come, first served. A newcomer passes nobody who waits, even if there are permits enough for it
//! and not for the first waiter; nor does an attempt. A waiter gets its permits before anybody does that came later
//! than it has set w or found it set with the bucket locked. So nobody is passed; the wait is as long as those in front
//! and the holders make it.
//!
//! *Time-outs.* A waiter whose deadline has passed takes itself out with the bucket locked, unless it has been granted
//! its permits before. In the same section those behind it are served: there may be enough for them now. Each sleeper
//! is told by its own word.
//!
//! *Size, cost.* Four bytes. Each pair without waiters is two atomic read-modify-writes. Nobody spins, so where a
//! semaphore is used as a lock for short sections, handing it over to a sleeper costs a wake-up each time: that is what
//! the order costs, and what [`RawMutex`](crate::mutex::RawMutex) is for.
//!
//! *Limits.* At most 2^31 - 1 permits: a release of more changes nothing and says so. With 65,532 threads waiting in a
//! process, more try every millisecond, in no order. A forked child may use it; permits held by threads that do not
//! exist there stay held.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | H1 | every write of the word that adds permits: `compare_exchange` in `add` and `add_slowpath`, `store` in `serve`, Release | every `compare_exchange` that takes permits, or says that somebody waits for them, Acquire | what was done before the release |
//!
//! What is released while somebody waits is handed on by the lock of the bucket (W1) and the grant (W4) of the
//! [table](crate::park). A waiter that comes acquires what was released before it: so the store in `serve` and
//! the grants carry that, too, although the one who writes them has not read it.

use crate::events::Event;
use crate::park::{
    ASLEEP, Awaited, GRANTED, NAP_NS, ParkPlatform, Served, SleepTable, Waiters, told, waiter,
};
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed, barrier_before_look};
use crate::queue::NodeId;
use crate::raw::{Order, RawLock, Schedules};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Somebody waits.
const WAITS: u32 = 1 << 31;
/// The most permits there may be.
pub const PERMITS_MAX: u32 = WAITS - 1;

/// A semaphore without guards. The word of one that is all zero bytes means `PERMITS` permits.
#[repr(transparent)]
pub struct RawSemaphore<P: Cells, const PERMITS: u32> {
    word: P::U32,
}

impl<P: ConstCells, const PERMITS: u32> RawSemaphore<P, PERMITS> {
    /// One with `PERMITS` permits, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED };
}

impl<P: Cells, const PERMITS: u32> RawSemaphore<P, PERMITS> {
    const IS_COUNTABLE: () = assert!(PERMITS <= PERMITS_MAX, "more permits than can be counted");

    /// The semaphore whose word is in `word`: for constants, in which no platform can store a value.
    pub const fn from_cell(word: P::U32) -> Self {
        Self { word }
    }
    /// The word of a semaphore with `permits` permits and no waiter.
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
    /// A semaphore with `permits` permits, but at most [`PERMITS_MAX`].
    pub fn with_permits(permits: u32) -> Self {
        let semaphore = Self { word: Zeroed::zeroed() };
        let word = Self::word_of(permits.min(PERMITS_MAX));
        // ordering: Relaxed; nobody else has it yet.
        semaphore.word.store(word, Relaxed);
        semaphore
    }

    /// How many permits are available. Stale when it is returned, and acquires nothing.
    pub fn available(&self) -> u32 {
        // ordering: Relaxed; nothing is read through it.
        Self::permits_of(self.word.load(Relaxed))
    }

    /// Takes `permits` permits, waiting for them as long as it takes.
    #[doc(alias = "down")]
    #[inline]
    pub fn acquire(&self, permits: u32) {
        if !self.take(permits) {
            self.take_slowpath(permits, None);
        }
    }
    /// The same before `deadline_ns` of the platform's clock. Returns `true` if it did.
    #[doc(alias = "down_timeout")]
    #[inline]
    pub fn acquire_until(&self, permits: u32, deadline_ns: u64) -> bool {
        self.take(permits) || self.take_slowpath(permits, Some(deadline_ns))
    }
    /// Takes `permits` permits if there are as many and nobody waits; `true` if it did.
    #[doc(alias = "down_trylock")]
    #[inline]
    pub fn try_acquire(&self, permits: u32) -> bool {
        // In a forked child the word may speak of waiters that do not exist.
        let ask = || self.with_waiters(|waiters| (self.take_or_join(waiters, permits, None), 0));
        self.take(permits) || P::has_forked() && ask()
    }
    /// Adds `permits` permits; `false`, and no change, if there would be more than [`PERMITS_MAX`].
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

    /// Takes permits that nobody waits for. Returns `true` if there were enough.
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

    /// Adds permits that nobody waits for. Returns `true` if there was room. `None` if somebody waits.
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

    /// As [`release`](Self::release), with the waiters locked.
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

    /// Takes permits, asleep until then. Returns `true` if it did before the deadline.
    #[cold]
    fn take_slowpath(&self, permits: u32, deadline_ns: Option<u64>) -> bool {
        let Some(id) = P::claim_node() else {
            return self.take_without_node(permits, deadline_ns);
        };
        let is_ours =
            self.with_waiters(|waiters| (self.take_or_join(waiters, permits, Some(id)), 0));
        let is_taken = is_ours || self.sleep(id, deadline_ns);
        // SAFETY: claimed above, in no queue, and taken out of the table.
        unsafe { P::release_node(id) };
        is_taken
    }

    /// Takes permits if there are enough and nobody waits. Otherwise `id`, if there is one, waits from now on.
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

    /// Sleeps as the waiter `id` until it is granted its permits; `false` if it gave up.
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

    /// The deadline has passed. Returns `true` if `id` has its permits all the same. Those behind it may have theirs
    /// now.
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

    /// No node is left: tries again and again, with naps.
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

    /// Runs `body` with those locked that wait for this semaphore.
    fn with_waiters<R>(&self, body: impl FnOnce(&Waiters<'_, P>) -> (R, u32)) -> R {
        SleepTable::<P>::with_waiters(self.name(), body)
    }
    fn name(&self) -> u64 {
        SleepTable::<P>::name(Awaited::Semaphore, &self.word)
    }
    /// How many permits there are. For a thread that has those locked who wait, and somebody does: nobody else writes
    /// the word.
    fn permits(&self) -> u32 {
        // ordering: Relaxed; written under the lock of the bucket.
        Self::permits_of(self.word.load(Relaxed))
    }
    /// With `permits` permits: decides which waiters are served, and writes the word. Returns how many are to be
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

/// `permits` and `more`, if they can be counted.
fn sum(permits: u32, more: u32) -> Option<u32> {
    permits.checked_add(more).filter(|sum| *sum <= PERMITS_MAX)
}

/// As a lock: to own it is to hold the one permit.
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
