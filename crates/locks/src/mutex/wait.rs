//! Waiting asleep.

use super::{
    Between, GIVEN, HELD, KEPT, RESERVED, RawMutex, SLEEPER_KIND, SLEEPERS, WOKEN, WOKEN_KIND,
    said_in, word_of,
};
use crate::events::Event;
use crate::park::{Counted, Mark, MarkPlatform};
use crate::platform::{Atomic, AtomicInt};
use crate::qspinlock::Succession;
use crate::queue::Patience;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The time that a woken thread competes before it reserves the lock.
pub(super) const UNFAIR_NS: u64 = 4_000_000;

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
            since_ns: None,
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

/// A thread that sleeps for a mutex, or is about to.
struct SleepingWaiter<'a, P: MarkPlatform, S, B> {
    mutex: &'a RawMutex<P, S, B>,
    mark: Mark<P>,
    as_waiter: Option<Counted>,
    as_sleeper: Option<Counted>,
    woken: WokenHow,
    /// The time at which it was first woken.
    since_ns: Option<u64>,
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
            let (bit, kind) = match self.woken {
                WokenHow::No => (SLEEPERS, SLEEPER_KIND),
                WokenHow::OfMany | WokenHow::Alone => (WOKEN, WOKEN_KIND),
            };
            let reserves = if self.is_overdue() { RESERVED } else { 0 };
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

    /// Tries to take the lock: for a moment if the caller was woken, otherwise once. Returns `true` if it did.
    fn compete(&mut self) -> bool {
        if self.woken == WokenHow::No {
            return self.take();
        }
        self.since_ns.get_or_insert_with(P::now_ns);
        let mut patience = Patience::<P>::short();
        while !self.take() {
            if patience.pause() {
                return false;
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
        let says_so = is_taken && self.woken == WokenHow::OfMany;
        if says_so && self.mark.has_others([self.as_waiter, self.as_sleeper]) {
            // held -> held, and a thread sleeps
            // ordering: Relaxed; nothing is read through it.
            state.fetch_or(SLEEPERS, Relaxed);
        }
        is_taken
    }

    /// Returns `true` if the caller was woken so long ago that no thread may overtake it from now on.
    fn is_overdue(&self) -> bool {
        self.since_ns.is_some_and(|since_ns| P::now_ns().saturating_sub(since_ns) >= UNFAIR_NS)
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
