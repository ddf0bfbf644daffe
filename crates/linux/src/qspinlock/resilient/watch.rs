//! Waiting within limits: the clock, and the search for deadlocks.

use super::super::Word;
use super::form::{AcquireError, Form};
use super::{HolderPlatform, table_at};
use crate::held::HeldTable;
use crate::platform::{Atomic, Bound};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The time between two searches of a waiter for a deadlock.
const SEARCH_NS: u64 = 1_000_000;

/// The limits of a waiter: how long it waits, and how often it looks at the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcquireLimits {
    /// Futile looks at the lock between two looks at the clock.
    looks_per_clock: u32,
    /// The time that it waits for each critical section ahead, as the pending waiter and as the head of the queue.
    section_ns: u64,
    /// The time at which the wait ends in any case, also in the middle of the queue.
    deadline_ns: Option<u64>,
}

impl AcquireLimits {
    /// The limits of the kernel, on all processors but arm64.
    #[doc(alias = "RES_DEF_TIMEOUT")]
    pub const KERNEL: Self =
        Self { looks_per_clock: 65_536, section_ns: 250_000_000, deadline_ns: None };
    /// The limits for programs: the times of the kernel, with a look at the clock every 20 us or so.
    pub const IN_PROGRAMS: Self = Self { looks_per_clock: 512, ..Self::KERNEL };

    /// Returns these limits with another time for each critical section ahead.
    #[must_use]
    pub const fn with_section_ns(self, section_ns: u64) -> Self {
        Self { section_ns, ..self }
    }
    /// Returns limits that end at a deadline of the platform's clock.
    pub const fn until(deadline_ns: u64) -> Self {
        Self { section_ns: u64::MAX, deadline_ns: Some(deadline_ns), ..Self::IN_PROGRAMS }
    }
}

/// One acquisition that waits for the lock with this word.
pub(super) struct Watch<'a, P: HolderPlatform, F> {
    word: &'a P::Word,
    /// The table of the caller.
    held: Option<&'a HeldTable<P>>,
    /// The name of the lock in tables.
    name: u64,
    limits: AcquireLimits,
    /// The time after which the wait is over, once the clock runs.
    until_ns: Option<u64>,
    /// The time of the last search for a deadlock, or at which the clock was started.
    searched_ns: u64,
    _form: PhantomData<fn() -> F>,
}

impl<'a, P: HolderPlatform, F: Form> Watch<'a, P, F> {
    pub(super) fn new(
        word: &'a P::Word,
        held: Option<&'a HeldTable<P>>,
        name: u64,
        limits: AcquireLimits,
    ) -> Self {
        Self { word, held, name, limits, until_ns: None, searched_ns: 0, _form: PhantomData }
    }
    /// Returns the time at which the wait ends in any case.
    pub(super) fn deadline_ns(&self) -> u64 {
        self.limits.deadline_ns.unwrap_or(u64::MAX)
    }
    /// Returns `true` if the wait can end in the middle of the queue.
    pub(super) fn may_leave(&self) -> bool {
        self.limits.deadline_ns.is_some()
    }
    /// Returns `true` if the deadline has passed before any wait.
    pub(super) fn is_late(&self) -> bool {
        self.may_leave() && P::now_ns() >= self.deadline_ns()
    }
    /// Fails if the caller holds the lock.
    #[doc(alias = "check_deadlock_AA")]
    pub(super) fn ask_own_table(&self) -> Result<(), AcquireError> {
        let is_held = self.held.is_some_and(|held| held.holds_below_top(self.name));
        if is_held { Err(AcquireError::Held) } else { Ok(()) }
    }
    /// Waits for a word for which `is_over` is true, for as long as that many critical sections may take. Acquires the
    /// release of the last owner.
    pub(super) fn wait(
        &mut self,
        sections: u64,
        is_over: impl Fn(Word) -> bool,
    ) -> Result<Word, AcquireError> {
        let (word, stop_every) = (self.word, self.limits.looks_per_clock);
        let holds = |bits| is_over(Word::from_bits(bits));
        // A checker may end the wait before `stop` says so. That is a time-out.
        let mut failure = AcquireError::TimedOut;
        let stop = || match self.check(sections, &is_over) {
            Ok(()) => false,
            Err(found) => {
                failure = found;
                true
            }
        };
        let bound = Bound::until_stopped(stop_every).asked_first();
        // ordering: Acquire; Q4.
        let seen = word.cond_load_bounded(Acquire, bound, holds, stop);
        seen.map(Word::from_bits).map_err(|_| failure)
    }
    /// Makes the first check of a wait.
    #[doc(alias = "RES_RESET_TIMEOUT")]
    fn start_clock(&mut self, sections: u64) -> Result<(), AcquireError> {
        if F::ASKS_AT_ONCE {
            self.ask_own_table()?;
        }
        let now_ns = P::now_ns();
        let until_ns = now_ns.saturating_add(self.limits.section_ns.saturating_mul(sections));
        self.until_ns = Some(until_ns.min(self.deadline_ns()));
        self.searched_ns = now_ns;
        Ok(())
    }
    /// Makes a check. The first one starts the clock. A later one looks at it, and now and then for a deadlock.
    #[doc(alias = "check_timeout")]
    #[doc(alias = "RES_CHECK_TIMEOUT")]
    fn check(&mut self, sections: u64, is_over: impl Fn(Word) -> bool) -> Result<(), AcquireError> {
        if self.until_ns.is_none() {
            return self.start_clock(sections);
        }
        let now_ns = P::now_ns();
        if self.until_ns.is_some_and(|until_ns| now_ns > until_ns) {
            return Err(AcquireError::TimedOut);
        }
        if now_ns <= self.searched_ns.saturating_add(SEARCH_NS) {
            return Ok(());
        }
        self.searched_ns = now_ns;
        if !F::ASKS_AT_ONCE {
            self.ask_own_table()?;
        }
        self.search(is_over)
    }
    /// Looks for another thread that holds the lock and waits for one that the caller holds.
    #[doc(alias = "check_deadlock_ABBA")]
    fn search(&self, is_over: impl Fn(Word) -> bool) -> Result<(), AcquireError> {
        let Some(mine) = self.held else { return Ok(()) };
        for other in 0..P::held_tables() {
            // ordering: Relaxed; only a hint: the wait goes on and acquires what it finds.
            if is_over(Word::from_bits(self.word.load(Relaxed))) {
                break;
            }
            let Some(table) = table_at::<P>(other) else { continue };
            if core::ptr::eq(table, mine) {
                continue;
            }
            let Some(wanted) = table.top(F::MARKS_WAITERS) else { continue };
            if !table.holds_below_top(self.name) {
                continue;
            }
            if mine.holds_below_top(wanted) {
                return Err(AcquireError::Crossed { other, wanted });
            }
            // No other thread holds the lock. Where entries outlive their locks, one may.
            if !F::MARKS_WAITERS {
                break;
            }
        }
        Ok(())
    }
}
