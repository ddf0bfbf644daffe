//! `Futex3`: the mutex of one word with three states, whose waiters sleep in the kernel's queue.
//!
//! It is a reference to measure against: many C and Rust libraries have a mutex of this kind (Drepper, "Futexes Are
//! Tricky", 2003 to 2011, his third mutex). It is one word:
//!
//! ```text
//!  31                                            2 1   0
//! +-----------------------------------------------+-----+
//! |                       0                       |  s  |
//! +-----------------------------------------------+-----+
//! ```
//!
//! | state | means | moved by |
//! |---|---|---|
//! | 0 | free | a newcomer, to 1; a waiter that has slept or is about to, to 2 |
//! | 1 | held, and no thread sleeps | the owner, to 0; a thread that is about to sleep, to 2 |
//! | 2 | held, and threads may sleep | the owner, to 0: it wakes one thread then |
//!
//! A thread that is about to sleep, or that was woken, writes 2, and owns the lock if it was free. It cannot know
//! whether other threads sleep, so it takes the lock with state 2. Its release may therefore wake no thread, at the
//! cost of a system call. State 1 never hides a sleeper. Between the release that wakes one of several sleepers and the
//! 2 that this one writes, newcomers may take the lock with state 1. But the woken thread is awake and writes 2.
//!
//! `S` says how often a waiter looks at the state before it sleeps, first and after each wake-up: once, as in the paper
//! ([`NoSpin`]), or 100 times with a pause each, as in several standard libraries ([`Spin100`]). Spinners write
//! nothing. A waiter that sees state 2 sleeps at once: other threads sleep, too, and nothing has to be written.
//!
//! Fairness: none. The kernel's queue is first come, first served, but a thread that was woken competes with newcomers,
//! and goes to the end of the queue if it loses. The next owner may free the lock: a release touches the word once, and
//! a wake-up of an address wakes at most a thread that sleeps for another lock there, which looks again.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | D1 | `swap` in `unlock`, Release | `compare_exchange` in `take_free` and `swap` in `lock_slowpath`, Acquire | the owner's work |
//!
//! All writes of the word are read-modify-writes. No id is needed for sleeping: a thread sleeps only while the word
//! holds 2, which the kernel compares, and an owner that replaces a 2 wakes a thread.

mod condvar;

pub use condvar::Futex3Condvar;

use crate::events::Event;
use crate::platform::{
    Atomic, Barriers, Bound, Cells, Clock, ConstCells, ConstZeroed, Counters, Sleeping, Zeroed,
    barrier_before_look,
};
use crate::raw::{Order, RawLock, Schedules};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// A platform for these locks.
pub trait FutexPlatform: Barriers + Sleeping + Clock + Counters {}
impl<P: Barriers + Sleeping + Clock + Counters> FutexPlatform for P {}

/// The limit on the spinning of a waiter before it sleeps.
pub trait SpinLimit: Send + Sync + 'static {
    /// The number of looks while the waiter spins, with a pause after each look; 0 if it does not spin.
    const LOOKS: u32;
}

/// The waiter sleeps at once.
pub struct NoSpin;
impl SpinLimit for NoSpin {
    const LOOKS: u32 = 0;
}

/// The waiter looks 100 times.
pub struct Spin100;
impl SpinLimit for Spin100 {
    const LOOKS: u32 = 100;
}

/// A mutex with three states; `S` says how long its waiters spin.
#[repr(transparent)]
pub struct Futex3<P: Cells, S = NoSpin> {
    state: P::U32,
    _spin: PhantomData<fn() -> S>,
}

impl<P: ConstCells, S> Futex3<P, S> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { state: ConstZeroed::ZEROED, _spin: PhantomData };
}

impl<P: FutexPlatform, S: SpinLimit> RawLock for Futex3<P, S> {
    const ORDER: Order = Order::None;
    const WAITERS_SLEEP: bool = true;
    const SCHEDULES: Schedules = Schedules::OfRows;

    fn new() -> Self {
        Self { state: Zeroed::zeroed(), _spin: PhantomData }
    }
    #[inline]
    fn lock(&self) {
        if !self.take_free() {
            self.lock_slowpath(None);
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.take_free()
    }
    #[inline]
    unsafe fn unlock(&self) {
        let address = &raw const self.state;
        // 1 -> 0, 2 -> 0
        // ordering: Release; D1.
        if self.state.swap(FREE, Release) == CONTENDED {
            wake_one::<P>(address);
        }
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.state);
        // ordering: Relaxed; nothing is read through it.
        self.state.load(Relaxed) != FREE
    }
}

/// Wakes a thread that sleeps for the lock, which may no longer exist.
#[cold]
fn wake_one<P: FutexPlatform>(address: *const P::U32) {
    P::count(Event::mutex_wake);
    P::futex_wake(address, 1);
}

impl<P: FutexPlatform, S: SpinLimit> Futex3<P, S> {
    /// Takes the lock before `deadline_ns` of the platform's clock. Returns `true` if it did.
    #[inline]
    pub fn lock_until(&self, deadline_ns: u64) -> bool {
        self.take_free() || self.lock_slowpath(Some(deadline_ns))
    }

    #[inline(always)]
    fn take_free(&self) -> bool {
        // 0 -> 1
        // ordering: Acquire; D1. On failure Relaxed: the failure value is not used.
        self.state.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok()
    }

    /// Does everything but the first attempt. Returns `true` if the lock is taken, which it always is without a
    /// deadline.
    #[cold]
    fn lock_slowpath(&self, deadline_ns: Option<u64>) -> bool {
        let mut seen = self.look();
        // Only this attempt does not say that threads sleep: no thread has woken the caller.
        if seen == FREE && self.take_free() {
            return true;
        }
        loop {
            // 0 -> 2: taken. 1 -> 2, 2 -> 2
            // ordering: Acquire; D1.
            if seen != CONTENDED && self.state.swap(CONTENDED, Acquire) == FREE {
                return true;
            }
            if deadline_ns.is_some_and(|deadline_ns| P::now_ns() >= deadline_ns) {
                P::count(Event::mutex_timeout);
                return false;
            }
            P::count(Event::mutex_sleep);
            P::futex_wait(&self.state, CONTENDED, deadline_ns);
            seen = self.look();
        }
    }

    /// Looks once, or until the lock is free, threads may sleep, or the caller has spun for long enough. Returns the
    /// last state seen.
    fn look(&self) -> u32 {
        if S::LOOKS == 0 {
            // ordering: Relaxed; only a hint, re-checked at the exchange, or by the kernel.
            return self.state.load(Relaxed);
        }
        let is_news = |seen| seen != HELD;
        let bound = Bound::looks(S::LOOKS);
        // ordering: Relaxed; only a hint, as above.
        let looked = self.state.cond_load_bounded(Relaxed, bound, is_news, || false);
        looked.unwrap_or_else(|seen| seen)
    }
}
