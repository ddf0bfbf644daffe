//! Waiting asleep.

use super::{
    Between, GIVEN, HELD, KEPT, LOWER_HALF, NAP_KIND, NAPPERS, NAPPERS_LIFE_SHIFT, RESERVED,
    RawMutex, SLEEPER_KIND, SLEEPERS, WOKEN, WOKEN_KIND, said_in, word_of,
};
use crate::events::Event;
use crate::park::{Counted, Mark, MarkPlatform};
use crate::platform::{Atomic, AtomicInt};
use crate::qspinlock::Succession;
use crate::queue::{Patience, UNTIL_OVER};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The longest nap of a woken thread. One that does not nap reserves the lock after this time.
pub(super) const UNFAIR_NS: u64 = 4_000_000;
/// The length of the nap of a woken thread, for each thread that naps. Then it reserves the lock.
const NAP_NS: u64 = 250_000;
/// With that many idle CPUs a woken thread does not nap. Hardly any thread sleeps there, because they spin. But a mark
/// that counts nappers is not quiet, so each release would be an exchange.
const MANY_CPUS: u32 = 32;

/// A way in which a waiter was woken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WokenHow {
    /// It has not been woken.
    No,
    /// It was woken by a release of the lock, or as one of several that were notified at once. It says in the lock that
    /// others sleep.
    OfMany,
    /// It was notified alone. Another thread says in the lock that others sleep.
    Alone,
}

impl<P: MarkPlatform, S: Succession<P>, B: Between> RawMutex<P, S, B> {
    /// As `lock`, but a thread that has to wait sleeps at once, so that a checker need not wait for that.
    pub fn lock_asleep(&self) {
        if !self.take_free() {
            self.sleep(None, WokenHow::No, None);
        }
    }

    /// Sleeps until the lock is taken or the deadline has passed. Returns `true` if it is taken. A caller that was a
    /// waiter on a condition variable passes in `as_waiter` how it was counted there.
    pub(crate) fn sleep(
        &self,
        deadline_ns: Option<u64>,
        woken: WokenHow,
        as_waiter: Option<Counted>,
    ) -> bool {
        let mark = Mark::of(&self.state);
        let mut waiter = SleepingWaiter {
            mutex: self,
            mark,
            as_waiter,
            as_sleeper: None,
            woken,
            overdue_ns: None,
        };
        let is_ours = waiter.wait(deadline_ns);
        if let Some(counted) = waiter.as_sleeper {
            mark.discount(counted);
        }
        if !is_ours {
            P::count(Event::mutex_timeout);
            waiter.give_up();
        }
        is_ours
    }
}

impl<P: MarkPlatform, S, B> RawMutex<P, S, B> {
    /// Returns the number of nappers that a word of the spinners says. Threads that a fork left behind do not count.
    fn nappers_in(bits: u32) -> u32 {
        let life = P::epoch() << NAPPERS_LIFE_SHIFT & LOWER_HALF;
        if bits & LOWER_HALF & !NAPPERS == life { bits & NAPPERS } else { 0 }
    }
    /// Returns the number of threads that nap. It is a hint.
    pub(super) fn nappers(&self) -> u32 {
        // ordering: Relaxed; only a hint.
        Self::nappers_in(self.spinners.load(Relaxed))
    }
    fn set_nappers(&self, next: impl Fn(u32) -> u32) -> u32 {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.spinners.load(Relaxed);
        loop {
            let nappers = next(Self::nappers_in(seen)).min(NAPPERS);
            let life = if nappers == 0 { 0 } else { P::epoch() << NAPPERS_LIFE_SHIFT };
            let said = seen & !LOWER_HALF | life & LOWER_HALF | nappers;
            // ordering: Relaxed; nothing is read through it. On failure Relaxed: only a hint, re-checked.
            match self.spinners.compare_exchange(seen, said, Relaxed, Relaxed) {
                Ok(_) => return nappers,
                Err(now) => seen = now,
            }
        }
    }
    /// Counts the caller as a napper. Returns the number of nappers.
    fn count_napper(&self) -> u32 {
        self.set_nappers(|nappers| nappers + 1)
    }
    fn discount_napper(&self) {
        self.set_nappers(|nappers| nappers.saturating_sub(1));
    }
}

/// A thread that sleeps for a mutex, or is about to.
struct SleepingWaiter<'a, P: MarkPlatform, S, B> {
    mutex: &'a RawMutex<P, S, B>,
    mark: Mark<P>,
    as_waiter: Option<Counted>,
    as_sleeper: Option<Counted>,
    woken: WokenHow,
    /// The time from which on it reserves the lock, once that is known.
    overdue_ns: Option<u64>,
}

impl<P: MarkPlatform, S: Succession<P>, B: Between> SleepingWaiter<'_, P, S, B> {
    fn wait(&mut self, deadline_ns: Option<u64>) -> bool {
        let is_over = || deadline_ns.is_some_and(P::is_over);
        loop {
            if self.compete() {
                return true;
            }
            if is_over() {
                // A woken waiter was not kept out, so an attempt takes no more than it did.
                return self.woken == WokenHow::No && self.mutex.attempt();
            }
            if self.as_sleeper.is_none_or(Mark::<P>::is_lost) {
                self.as_sleeper = Some(self.mark.count_sleeper());
            }
            if self.naps() && !self.is_overdue() && self.nap(deadline_ns) {
                continue;
            }
            let is_overdue = self.is_overdue();
            if is_overdue {
                self.count_as_woken();
            }
            if self.woken != WokenHow::No {
                self.overdue_ns.get_or_insert_with(|| P::now_ns().saturating_add(UNFAIR_NS));
            }
            let (bit, kind) = match self.woken {
                WokenHow::No => (SLEEPERS, SLEEPER_KIND),
                WokenHow::OfMany | WokenHow::Alone => (WOKEN, WOKEN_KIND),
            };
            let reserves = if is_overdue { RESERVED } else { 0 };
            let Some(seen) = self.announce(bit | reserves) else { continue };
            P::count(Event::mutex_sleep);
            let is_woken = P::futex_wait_as(kind, &self.mutex.state, seen, deadline_ns);
            // If it did not sleep, a release was faster, and has found no thread to wake.
            let is_too_late = self.woken == WokenHow::No && !is_over();
            if is_woken || is_too_late {
                self.woken = WokenHow::OfMany;
            }
        }
    }

    /// Says in the lock that the caller sleeps. Returns what the lock says now, or `None` if the caller could take it.
    fn announce(&self, bits: u32) -> Option<u32> {
        let state = &self.mutex.state;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = state.load(Relaxed);
        loop {
            let said = said_in::<P>(seen);
            if self.may_take(said) {
                return None;
            }
            if said & bits == bits {
                return Some(seen);
            }
            let next = word_of::<P>(said | bits);
            // held -> held, and a thread sleeps
            // ordering: Relaxed; a woken thread sees by law S9 what it has to see of the caller. On failure Relaxed:
            // only a hint, re-checked.
            match state.compare_exchange(seen, next, Relaxed, Relaxed) {
                Ok(_) => return Some(next),
                Err(now) => seen = now,
            }
        }
    }

    /// Returns `true` if the caller may take a lock that says `said`.
    fn may_take(&self, said: u32) -> bool {
        let is_for_others = said & KEPT != 0 && self.woken == WokenHow::No;
        said & HELD == 0 && !is_for_others
    }

    /// Tries to take the lock: for a moment if the caller was woken, otherwise once. On a single CPU it yields to the
    /// thread that it may have preempted, and tries again. Returns `true` if it did.
    fn compete(&mut self) -> bool {
        if self.woken == WokenHow::No {
            return self.take();
        }
        let is_first = self.overdue_ns.is_none();
        let mut patience = if is_first { Patience::<P>::long() } else { Patience::short() };
        let state = &self.mutex.state;
        let may_take = |seen| self.may_take(said_in::<P>(seen));
        while !self.take() {
            // ordering: Relaxed; only a hint, re-checked in `take`.
            let seen = state.cond_load_bounded(Relaxed, UNTIL_OVER, may_take, || patience.pause());
            if seen.is_err() || patience.pause() {
                if !P::has_single_cpu() || P::must_not_spin() {
                    return false;
                }
                P::yield_cpu();
                return self.take();
            }
        }
        true
    }

    fn take(&self) -> bool {
        let state = &self.mutex.state;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let seen = state.load(Relaxed);
        let said = said_in::<P>(seen);
        if !self.may_take(said) {
            return false;
        }
        let over = if self.is_overdue() { KEPT } else { GIVEN };
        let held = word_of::<P>(said & !over | HELD);
        // free, reserved, given or not -> held, and reserved if another thread did that
        // ordering: Acquire; F1. On failure Relaxed: the failure value is not used.
        let is_taken = state.compare_exchange(seen, held, Acquire, Relaxed).is_ok();
        if is_taken && self.leaves_others() {
            // held -> held, and a thread sleeps
            // ordering: Relaxed; nothing is read through it.
            state.fetch_or(SLEEPERS, Relaxed);
        }
        is_taken
    }

    /// Sleeps until the caller may take the lock or is overdue, and does not say so in the lock, so that no release
    /// wakes the caller. Where the owner takes the lock again and again, each release would, and the caller would find
    /// it held each time. An overdue caller reserves the lock. Returns `false` if the owner is about to give the lock
    /// to a woken waiter, which may be the caller: then a release has to wake it.
    fn nap(&mut self, deadline_ns: Option<u64>) -> bool {
        let nappers = u64::from(self.mutex.count_napper());
        let nap_ns = UNFAIR_NS.min(nappers * NAP_NS);
        let now_ns = P::now_ns();
        let overdue_ns = *self.overdue_ns.get_or_insert_with(|| now_ns.saturating_add(nap_ns));
        let left_ns = deadline_ns.map_or(u64::MAX, P::ns_until).min(nap_ns);
        let until_ns = overdue_ns.min(now_ns.saturating_add(left_ns));
        let is_given = self.passes_on() && self.sleep_unsaid(until_ns);
        self.mutex.discount_napper();
        if is_given {
            return false;
        }
        if self.is_overdue() {
            self.count_as_woken();
            self.announce(RESERVED);
        }
        true
    }

    /// Says that others sleep, if no other thread does. Then no thread relies on the caller. Returns `false` if the
    /// caller may take the lock instead.
    fn passes_on(&mut self) -> bool {
        if self.leaves_others() {
            if self.announce(SLEEPERS).is_none() {
                return false;
            }
            self.woken = WokenHow::Alone;
        }
        true
    }

    /// Sleeps as a napper. Returns `true` if the owner is about to give the lock to a woken waiter.
    fn sleep_unsaid(&mut self, until_ns: u64) -> bool {
        while !P::is_over(until_ns) {
            // held -> held. It reads the newest value, so the wait compares with the word as it is.
            // ordering: Relaxed; nothing is read through it.
            let seen = self.mutex.state.fetch_or(0, Relaxed);
            let said = said_in::<P>(seen);
            if self.may_take(said) {
                return false;
            }
            if self.woken != WokenHow::No && said & GIVEN != 0 {
                return true;
            }
            P::count(Event::mutex_sleep);
            if P::futex_wait_as(NAP_KIND, &self.mutex.state, seen, Some(until_ns)) {
                self.count_as_woken();
                return false;
            }
        }
        false
    }

    fn count_as_woken(&mut self) {
        if self.woken == WokenHow::No {
            self.woken = WokenHow::Alone;
        }
    }

    /// Returns `true` if the caller naps before it sleeps: a wake-up was futile, or others nap, and CPUs are scarce.
    fn naps(&self) -> bool {
        let has_cause = || self.woken != WokenHow::No || self.mutex.nappers() > 0;
        let is_asked = self.overdue_ns.is_some() || has_cause();
        is_asked && !P::must_not_spin() && P::idle_cpus() < MANY_CPUS
    }

    /// Returns `true` if others may sleep that no other thread speaks for.
    fn leaves_others(&self) -> bool {
        self.woken == WokenHow::OfMany && self.mark.has_others([self.as_waiter, self.as_sleeper])
    }

    /// Returns `true` if no thread may overtake the caller from now on that was not woken before.
    fn is_overdue(&self) -> bool {
        self.overdue_ns.is_some_and(P::is_over)
    }

    /// Passes on what the caller was woken for, and ends its reservation.
    #[cold]
    fn give_up(&self) {
        if self.woken == WokenHow::No {
            return;
        }
        let state = &self.mutex.state;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
        let mut seen = state.load(Relaxed);
        loop {
            let said = said_in::<P>(seen);
            let is_held = said & HELD != 0;
            let next = if is_held { said & !KEPT | WOKEN } else { 0 };
            // held -> held, and a thread has to be woken; free -> free
            // ordering: Relaxed; nothing is read through it. On failure Relaxed: only a hint, re-checked.
            match state.compare_exchange(seen, next, Relaxed, Relaxed) {
                Ok(_) if is_held => return,
                Ok(_) => {
                    self.mark.wake_left_after_exchange();
                    RawMutex::<P, S, B>::wake(state, self.mark, WOKEN);
                    return;
                }
                Err(now) => seen = now,
            }
        }
    }
}
