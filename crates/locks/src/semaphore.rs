//! A counting semaphore for programs.
//!
//! Four bytes: how many permits there are, and who waits. Waiters stand in a [line](crate::line), asleep, in the order
//! they came. The first of them takes its permits when there are enough, and makes the next one the first.
//!
//! ```text
//!  31                         4    3       2        1         0
//! +----------------------------+------+---------+------+------------+
//! |          permits           | line | offered | head | head sleeps|
//! +----------------------------+------+---------+------+------------+
//! ```
//!
//! The number is stored as the difference to `PERMITS`, so that zero is a semaphore that has all of those it began
//! with.
//!
//! | state (line, permits) | means | moved by |
//! |---|---|---|
//! | (none, n) | n permits are available | acquire of k, to (none, n - k); release of k, to (none, n + k); acquire of more than n: to (head, n) |
//! | (head, n) | they are for the head of the line, which needs more than n or is about to take some | release of k, to (head, n + k); the head, to (none, n - k), or to (offered, n - k) if others may sleep behind it |
//!
//! *Release.* It is one exchange. If the word said that the head sleeps, and the head may need no more than there is
//! now, the head is woken. The exchange is the last access to the semaphore: the thread that gets the permits may free
//! it. The kernel gets the address, which it only compares. The head sleeps as one of 28 kinds, by the logarithm of
//! what it needs. So a release that leaves less than half of what the head needs does not wake it. A head that needs
//! one permit finds it when it is woken.
//!
//! *Fairness.* First come, first served. A newcomer passes nobody who waits, even if there are permits enough for it
//! and not for the first waiter; nor does an attempt. So nobody is passed, except as the [line](crate::line) says. The
//! wait is as long as those in front and the holders make it.
//!
//! *Time-outs.* A waiter whose deadline has passed leaves. The head makes the next one the head: there may be enough
//! for that one now.
//!
//! *Size, cost.* Four bytes. Each pair without waiters is two atomic read-modify-writes. Nobody spins, so where a
//! semaphore is used as a lock for short sections, handing it over to a sleeper costs a wake-up each time: that is what
//! the order costs, and what [`RawMutex`](crate::mutex::RawMutex) is for.
//!
//! *Limits.* At most 2^28 - 1 permits: a release of more changes nothing and says so. A forked child may use it;
//! permits held by threads that do not exist there stay held.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | H1 | the `compare_exchange` in `release`, Release | every `compare_exchange` that takes permits, Acquire | what was done before the release |
//!
//! All writes of the word are read-modify-writes, so a thread that takes permits acquires every release before it.

use crate::events::Event;
use crate::line::{self, LineWaiter};
use crate::park::ParkPlatform;
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed, barrier_before_look};
use crate::raw::{Order, RawLock, Schedules};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The most permits there may be.
pub const PERMITS_MAX: u32 = u32::MAX >> line::FLAG_BITS;

/// What the head of the line sleeps as that needs as many permits.
const fn head_kind(permits: u32) -> u32 {
    match permits.checked_ilog2() {
        Some(log2) if permits <= PERMITS_MAX => line::LINE_KIND << (1 + log2),
        // It needs none; or more than there can be, and is not woken.
        Some(_) => line::LINE_KIND << 31,
        None => line::LINE_KIND << 1,
    }
}
/// What the heads sleep as that may need as many permits or less: twice as many are too many.
const fn heads_served_by(permits: u32) -> u32 {
    (head_kind(permits) << 1) - (line::LINE_KIND << 1)
}
const _: () = assert!(head_kind(PERMITS_MAX) < 1 << 31);

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
        permits.wrapping_sub(PERMITS) << line::FLAG_BITS
    }
    const fn permits_of(word: u32) -> u32 {
        (word >> line::FLAG_BITS).wrapping_add(PERMITS) & PERMITS_MAX
    }
    /// The word with `permits` permits, and the waiters that `seen` speaks of.
    const fn with(seen: u32, permits: u32) -> u32 {
        Self::word_of(permits) | seen & line::FLAGS
    }
    /// The word when `permits` permits are taken, if there are as many.
    const fn taken(seen: u32, permits: u32) -> Option<u32> {
        match Self::permits_of(seen).checked_sub(permits) {
            Some(left) => Some(Self::with(seen, left)),
            None => None,
        }
    }
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
        self.take(permits)
            || P::has_forked() && line::forget_the_gone::<P>(&self.word) && self.take(permits)
    }
    /// Adds `permits` permits; `false`, and no change, if there would be more than [`PERMITS_MAX`].
    #[doc(alias = "up")]
    #[inline]
    pub fn release(&self, permits: u32) -> bool {
        let address = &raw const self.word;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.word.load(Relaxed);
        let sum = loop {
            let Some(sum) = sum(Self::permits_of(seen), permits) else { return false };
            // (w, n) -> (w, n + k), after which the semaphore may no longer exist.
            // ordering: Release; H1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(seen, Self::with(seen, sum), Release, Relaxed) {
                Ok(_) => break sum,
                Err(now) => seen = now,
            }
        };
        if seen & line::HEAD_SLEEPS != 0 {
            Self::wake_head(address, sum);
        }
        true
    }

    #[cold]
    fn wake_head(address: *const P::U32, permits: u32) {
        P::count(Event::semaphore_wake);
        line::wake_head::<P>(address, heads_served_by(permits));
    }

    /// Takes permits that nobody waits for. Returns `true` if there were enough.
    #[inline(always)]
    fn take(&self, permits: u32) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.word.load(Relaxed);
        while seen & line::HEAD == 0 {
            let Some(less) = Self::taken(seen, permits) else { return false };
            // (none, n) -> (none, n - k)
            // ordering: Acquire; H1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.word.compare_exchange(seen, less, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Takes permits, asleep until then. Returns `true` if it did before the deadline.
    #[cold]
    fn take_slowpath(&self, permits: u32, deadline_ns: Option<u64>) -> bool {
        let me = LineWaiter::<P>::new(
            &self.word,
            head_kind(permits),
            deadline_ns,
            Event::semaphore_sleep,
        );
        let is_ours = me.wait(&Needs::<P, PERMITS>(permits, PhantomData));
        if !is_ours {
            P::count(Event::semaphore_timeout);
        }
        is_ours
    }
}

/// How many permits a waiter needs.
struct Needs<P, const PERMITS: u32>(u32, PhantomData<P>);

impl<P: Cells, const PERMITS: u32> line::Turn for Needs<P, PERMITS> {
    fn taken(&self, seen: u32) -> Option<u32> {
        RawSemaphore::<P, PERMITS>::taken(seen, self.0)
    }
    fn compete(&self, _take: &dyn Fn(u32) -> bool) -> bool {
        false
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
