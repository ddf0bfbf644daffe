#![doc = include_str!("README.md")]

mod fair;
mod spin;
mod wait;

use crate::events::Event;
use crate::park::{Mark, MarkLook, MarkPlatform};
use crate::platform::{
    Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, Zeroed, barrier_before_look,
};
use crate::qspinlock::{Fifo, Succession};
use crate::raw::{FairnessThreshold, Order, RawLock};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
pub use fair::RawFairMutex;
pub(crate) use wait::WokenHow;

/// A thread owns the lock.
const HELD: u32 = 1;
/// A thread may sleep that was not woken before.
const SLEEPERS: u32 = 2;
/// A thread that was woken sleeps again, or a thread has to be woken for another reason.
const WOKEN: u32 = 4;
/// While the lock is free, only threads that were woken may take it, until one takes it that was woken 4 ms ago.
const RESERVED: u32 = 8;
/// If the lock is free, a thread that was woken takes it. If it is held, its owner is about to give it to such a
/// thread.
const GIVEN: u32 = 16;
/// While the lock is free and one of these bits is set, newly arriving threads may not take it.
const KEPT: u32 = RESERVED | GIVEN;

/// The position of the epoch in the word, which has the lowest 27 bits of the epoch.
const LIFE_SHIFT: u32 = GIVEN.trailing_zeros() + 1;
const SAID: u32 = (1 << LIFE_SHIFT) - 1;
/// The kind of a sleeper that was not woken before.
pub(crate) const SLEEPER_KIND: u32 = 1;
/// The kind of a sleeper that was woken before: it is woken first.
pub(crate) const WOKEN_KIND: u32 = 2;
/// The kind of a thread that was woken and naps. Only a release that leaves the lock to the threads that wait wakes it.
const NAP_KIND: u32 = 32;
/// The half of the word of the spinners that does not name the newest one.
const LOWER_HALF: u32 = 0xffff;
/// The number of threads that nap, in the word of the spinners. It does not grow beyond this.
const NAPPERS: u32 = (1 << NAPPERS_LIFE_SHIFT) - 1;
/// The position of the lowest 6 bits of the epoch in which they nap.
const NAPPERS_LIFE_SHIFT: u32 = 10;

/// A mutex for programs. It has 8 bytes, and zero is unlocked. Its waiters spin for a moment, then sleep.
///
/// `S` is the order in which waiters spin. `B` stands between the two words: a program may have other things there, and
/// the mutex does not use it. The module's documentation has the fairness bound and the costs. `unlock` does not touch
/// the lock after its releasing store, so the next owner may free it.
#[repr(C)]
pub struct RawMutex<P: Cells, S = Fifo, B = ()> {
    /// The word on which sleepers sleep; see the module's documentation.
    state: P::U32,
    between: B,
    /// The newest spinner of the queue, in the upper half, and the number of nappers.
    spinners: P::Word,
    _succession: PhantomData<fn() -> S>,
}

/// A value that may stand between the words of a mutex. In a mutex of zeroes it is all zeroes, too.
pub trait Between: Default + Send + Sync + 'static {}
impl<B: Default + Send + Sync + 'static> Between for B {}

impl<P: ConstCells, S> RawMutex<P, S> {
    /// An unlocked mutex, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self {
        state: ConstZeroed::ZEROED,
        between: (),
        spinners: ConstZeroed::ZEROED,
        _succession: PhantomData,
    };
}

impl<P: MarkPlatform, S: Succession<P>, B: Between> RawLock for RawMutex<P, S, B> {
    const ORDER: Order = Order::None;
    const WAITERS_SLEEP: bool = true;

    fn fairness_threshold(
        _numa_nodes: u32,
        _set: &dyn Fn(crate::tunables::Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        FairnessThreshold { ns: wait::UNFAIR_NS, ..FairnessThreshold::default() }
    }
    fn new() -> Self {
        Self {
            state: Zeroed::zeroed(),
            between: B::default(),
            spinners: Zeroed::zeroed(),
            _succession: PhantomData,
        }
    }
    #[inline]
    fn lock(&self) {
        if !self.take_free() {
            self.lock_slowpath(None);
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.take_free() || self.attempt()
    }
    #[inline]
    unsafe fn unlock(&self) {
        let address = &raw const self.state;
        let mark = Mark::<P>::of(address);
        let look = mark.look();
        if look.is_quiet() {
            // held -> free, whatever else it says
            // ordering: Release; F1.
            self.state.store(0, Release);
            if !mark.is_quiet_still() {
                wake_late::<P>(address);
            }
        } else {
            self.unlock_restless(mark, look);
        }
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.state);
        // ordering: Relaxed; nothing is read through it.
        said_in::<P>(self.state.load(Relaxed)) & (HELD | GIVEN) != 0
    }
    fn word_is_legal(word: u32) -> bool {
        // This is the word of the spinners. The state is not a lock word of the queued spinlock's kind.
        word & NAPPERS != 0 || word & 0xffff == 0
    }
}

// A thread of the parent may have reserved or given a lock for a thread that does not exist in a forked child. So the
// word carries the fork epoch as well. If that is not the epoch of the process, the lock is neither reserved nor given.

/// Returns what `word` says in this process.
#[inline(always)]
fn said_in<P: MarkPlatform>(word: u32) -> u32 {
    let is_over = word & KEPT != 0 && word & !SAID != P::epoch() << LIFE_SHIFT;
    word & if is_over { SAID & !KEPT } else { SAID }
}

/// Returns the word that says `said` in this process.
#[inline(always)]
fn word_of<P: MarkPlatform>(said: u32) -> u32 {
    if said & KEPT == 0 { said } else { said | P::epoch() << LIFE_SHIFT }
}

/// Wakes a thread after a release by a store, which may have overwritten what sleepers said. The lock may no longer
/// exist.
#[cold]
fn wake_late<P: MarkPlatform>(address: *const P::U32) {
    P::count(Event::mutex_wake);
    P::futex_wake_only(!NAP_KIND, address, 1);
}

impl<P: MarkPlatform, S: Succession<P>, B: Between> RawMutex<P, S, B> {
    /// Takes the lock before `deadline_ns` of the platform's clock. Returns `true` if it did. It may return a little
    /// later than that, if it spins when the time comes.
    #[inline]
    pub fn lock_until(&self, deadline_ns: u64) -> bool {
        self.take_free() || self.lock_slowpath(Some(deadline_ns))
    }

    /// Releases the lock for a thread that sleeps for it, if there is one.
    ///
    /// # Safety
    /// The caller holds the lock.
    pub unsafe fn unlock_fair(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.unlock_fair_told() };
    }

    /// As [`unlock_fair`](Self::unlock_fair), but returns `true` if the lock is given to a thread.
    ///
    /// # Safety
    /// The caller holds the lock.
    #[inline(always)]
    pub unsafe fn unlock_fair_told(&self) -> bool {
        let mark = Mark::<P>::of(&self.state);
        let is_given = mark.has_others([None, None]) && self.give(mark);
        if !is_given {
            // SAFETY: the caller holds the lock.
            unsafe { self.unlock() };
        }
        is_given
    }

    /// Wakes a waiter and releases the lock for it. Returns `false`, with the lock held, if no thread sleeps, or if
    /// deadlines pass again and again.
    fn give(&self, mark: Mark<P>) -> bool {
        const GIFTS_MAX: u32 = 2;
        let address = &raw const self.state;
        for _ in 0..GIFTS_MAX {
            let said = self.mark_given();
            if !Self::wake(address, mark, said) && P::futex_wake_only(NAP_KIND, address, 1) == 0 {
                // held and given -> held
                // ordering: Relaxed; nothing is read through it.
                self.state.fetch_and(!GIVEN, Relaxed);
                return false;
            }
            if let Some(said) = self.release(GIVEN) {
                P::count(Event::mutex_handoff);
                mark.wake_left_after_exchange();
                // The lock may no longer exist. A woken waiter that sleeps again was faster than this release.
                if said & WOKEN != 0 {
                    Self::wake(address, mark, WOKEN);
                }
                return true;
            }
        }
        false
    }

    /// Says in the word that the lock, which the caller holds, is for a waiter that the caller is about to wake.
    /// Returns what the word said before.
    fn mark_given(&self) -> u32 {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.state.load(Relaxed);
        loop {
            let said = said_in::<P>(seen);
            let given = word_of::<P>(said & !WOKEN | GIVEN);
            // held -> held and given, and no woken waiter sleeps again or has given up
            // ordering: Relaxed; nothing is read through it. On failure Relaxed: only a hint, re-checked.
            match self.state.compare_exchange(seen, given, Relaxed, Relaxed) {
                Ok(_) => return said,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes the lock if it is free and says nothing of waiters: the first attempt of `lock`. Returns `true` if it did.
    #[inline(always)]
    pub fn take_free(&self) -> bool {
        // free -> held
        // ordering: Acquire; F1. On failure Relaxed: the failure value is not used.
        self.state.compare_exchange(0, HELD, Acquire, Relaxed).is_ok()
    }

    /// Takes the lock as [`take_free`](Self::take_free) does, in a process that has one thread. Returns `true` if it
    /// did.
    ///
    /// # Safety
    /// Until this returns, no other thread uses the lock.
    #[inline(always)]
    pub unsafe fn take_free_alone(&self) -> bool {
        // ordering: Relaxed; a thread that starts later sees it, because it starts later.
        let is_free = self.state.load(Relaxed) == 0;
        if is_free {
            // free -> held
            // ordering: Relaxed; as above.
            self.state.store(HELD, Relaxed);
        }
        is_free
    }

    /// Releases the lock in a process that has one thread. Returns `false`, with the lock held, if the word says more
    /// than that it is held.
    ///
    /// # Safety
    /// The caller holds the lock. Until this returns, no other thread uses it.
    #[inline(always)]
    pub unsafe fn unlock_alone(&self) -> bool {
        // ordering: Relaxed; a thread that starts later sees it, because it starts later.
        let is_held_only = self.state.load(Relaxed) == HELD;
        if is_held_only {
            // held -> free
            // ordering: Relaxed; as above.
            self.state.store(0, Relaxed);
        }
        is_held_only
    }

    /// Takes the lock if it is free and not reserved, and keeps what the word says about sleepers. Returns `true` if it
    /// did.
    fn take_unreserved(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let seen = self.state.load(Relaxed);
        let said = said_in::<P>(seen);
        // free -> held
        // ordering: Acquire; F1. On failure Relaxed: the failure value is not used.
        said & (HELD | KEPT) == 0
            && self.state.compare_exchange(seen, said | HELD, Acquire, Relaxed).is_ok()
    }

    /// Takes the lock if no thread holds it and it is not given to one, even if it is reserved. Keeps what the word
    /// says. So the lock stays reserved for the waiters that were woken: a release wakes the one that goes to sleep
    /// meanwhile. Returns `true` if it did.
    fn attempt(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.state.load(Relaxed);
        loop {
            let said = said_in::<P>(seen);
            if said & (HELD | GIVEN) != 0 {
                return false;
            }
            // free, reserved or not -> held, reserved or not
            // ordering: Acquire; F1. On failure Relaxed: only a hint, re-checked.
            match self.state.compare_exchange(seen, word_of::<P>(said | HELD), Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
    }

    /// Releases the lock for a thread that sleeps next, and so does not take it again soon. Wakes a waiter that naps.
    ///
    /// # Safety
    /// The caller holds the lock.
    pub unsafe fn unlock_to_sleep(&self) {
        let address = &raw const self.state;
        let has_nappers = self.nappers() > 0;
        // SAFETY: the caller holds the lock.
        unsafe { self.unlock() };
        // The lock may no longer exist.
        if has_nappers {
            P::count(Event::mutex_wake);
            P::futex_wake_only(NAP_KIND, address, 1);
        }
    }

    #[inline(always)]
    fn unlock_restless(&self, mark: Mark<P>, look: MarkLook) {
        // held -> free
        // ordering: Release; F1. On failure Relaxed: the failure value is not used.
        if self.state.compare_exchange(HELD, 0, Release, Relaxed).is_err() {
            return self.unlock_and_wake(mark);
        }
        // The lock may no longer exist.
        if mark.has_left_after_exchange() || !look.is_counted() {
            mark.end_release();
        }
    }
    /// Releases the lock, whose word says more than that it is held.
    #[cold]
    #[inline(never)]
    fn unlock_and_wake(&self, mark: Mark<P>) {
        let address = &raw const self.state;
        let said = self.release(0).unwrap_or_default() & !HELD;
        // The lock may no longer exist.
        mark.wake_left_after_exchange();
        if said != 0 {
            Self::wake(address, mark, said);
        }
    }

    /// Releases the lock and returns what its word said before. If the lock is reserved, or `given` says so, only
    /// threads that were woken may take it then. Returns `None`, with the lock held, if the word does not say `given`,
    /// too.
    #[inline(always)]
    fn release(&self, given: u32) -> Option<u32> {
        // A waiter may have gone to sleep since the wake-up, and the woken one need not see it in the mark.
        let keeps = if given == 0 { 0 } else { given | SLEEPERS };
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.state.load(Relaxed);
        loop {
            let said = said_in::<P>(seen);
            if said & given != given {
                return None;
            }
            let left = word_of::<P>(said & (RESERVED | keeps));
            // held -> free, or free and kept
            // ordering: Release; F1. On failure Relaxed: only a hint, re-checked.
            match self.state.compare_exchange(seen, left, Release, Relaxed) {
                Ok(_) => return Some(said),
                Err(now) => seen = now,
            }
        }
    }

    /// Wakes a thread that sleeps for the lock at that address. It wakes one that was woken before if there is one, but
    /// sometimes the one that has slept longest. Returns `true` if it did. The lock may no longer exist.
    fn wake(address: *const P::U32, mark: Mark<P>, said: u32) -> bool {
        P::count(Event::mutex_wake);
        let has_woken = said & (WOKEN | RESERVED) != 0;
        has_woken && !mark.is_turn_of_oldest() && P::futex_wake_only(WOKEN_KIND, address, 1) > 0
            || P::futex_wake_only(SLEEPER_KIND | WOKEN_KIND, address, 1) > 0
    }

    /// Makes the mark of this lock quiet if no thread sleeps, so that a checker need not wait for that.
    pub fn calm(&self) {
        Mark::<P>::of(&self.state).calm();
    }
    /// Returns `true` if this mutex and `other` share a mark.
    pub fn shares_bucket_with(&self, other: &Self) -> bool {
        Mark::<P>::of(&self.state).is_shared_with(Mark::of(&other.state))
    }

    /// Returns what stands between the words.
    #[inline(always)]
    pub fn between(&self) -> &B {
        &self.between
    }

    /// Returns the word that sleepers sleep on, which names the lock.
    pub(crate) fn state(&self) -> &P::U32 {
        &self.state
    }
}
