//! Waiting within limits: the clock, and the search for deadlocks.

use super::super::Word;
use super::{EntrySpan, HolderPlatform, table_at};
use crate::held::HeldTable;
use crate::platform::{Atomic, Bound};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The time between two searches of a waiter for a deadlock.
const SEARCH_NS: u64 = 1_000_000;

/// A reason for which the lock was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireError {
    /// The caller holds the lock (AA).
    Held,
    /// A deadlock of two threads (ABBA): the other one holds the lock and waits for one that the caller holds.
    Crossed {
        /// The number of the other thread's table.
        other: usize,
        /// The name of the lock for which that thread waits.
        wanted: u64,
    },
    /// The time was over.
    TimedOut,
    /// The head of the queue gave up, and with it all waiters behind it.
    Dissolved,
}

/// The limits of a waiter: how long it waits, and how often it looks at the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcquireLimits {
    /// Futile looks at the lock between two looks at the clock.
    looks_per_clock: u32,
    /// The time that it waits for each critical section ahead, as the pending waiter and as the head of the queue.
    section_ns: u64,
    /// The time at which the wait ends in any case, also in the middle of the queue.
    deadline_ns: Option<u64>,
    /// True if a thread is told that it holds the lock before it waits in the queue.
    asks_first: bool,
}

impl AcquireLimits {
    /// The limits of the kernel.
    pub const KERNEL: Self = Self {
        looks_per_clock: 65_536,
        section_ns: 250_000_000,
        deadline_ns: None,
        asks_first: false,
    };
    /// The limits for programs: the times of the kernel, with a look at the clock every 20 us or so.
    pub const IN_PROGRAMS: Self = Self { looks_per_clock: 512, asks_first: true, ..Self::KERNEL };

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
pub(super) struct Watch<'a, P: HolderPlatform, E> {
    word: &'a P::Word,
    /// The table of the caller.
    held: Option<&'a HeldTable<P>>,
    /// The name of the lock in tables.
    name: u64,
    limits: AcquireLimits,
    /// The time at which the wait ends.
    until_ns: u64,
    /// The time of the last search for a deadlock.
    searched_ns: u64,
    _span: PhantomData<fn() -> E>,
}

impl<'a, P: HolderPlatform, E: EntrySpan> Watch<'a, P, E> {
    pub(super) fn new(
        word: &'a P::Word,
        held: Option<&'a HeldTable<P>>,
        name: u64,
        limits: AcquireLimits,
    ) -> Self {
        let (until_ns, searched_ns) = (u64::MAX, 0);
        Self { word, held, name, limits, until_ns, searched_ns, _span: PhantomData }
    }
    /// Returns the time at which the wait ends in any case.
    pub(super) fn deadline_ns(&self) -> u64 {
        self.limits.deadline_ns.unwrap_or(u64::MAX)
    }
    /// Returns `true` if the wait can end in the middle of the queue.
    pub(super) fn may_leave(&self) -> bool {
        self.limits.deadline_ns.is_some()
    }
    /// Checks before any wait that the deadline has not passed and, if the limits ask for it, that the caller does not
    /// hold the lock.
    pub(super) fn ask_first(&self) -> Result<(), AcquireError> {
        if self.limits.asks_first {
            self.ask_own_table()?;
        }
        let is_late = self.may_leave() && P::now_ns() >= self.deadline_ns();
        if is_late { Err(AcquireError::TimedOut) } else { Ok(()) }
    }
    fn ask_own_table(&self) -> Result<(), AcquireError> {
        let is_held = self.held.is_some_and(|held| held.holds_below_top(self.name));
        if is_held { Err(AcquireError::Held) } else { Ok(()) }
    }
    /// Begins to wait for the end of this number of critical sections.
    pub(super) fn begin(&mut self, sections: u64) -> Result<(), AcquireError> {
        self.ask_own_table()?;
        let now_ns = P::now_ns();
        let until_ns = now_ns.saturating_add(self.limits.section_ns.saturating_mul(sections));
        self.until_ns = until_ns.min(self.deadline_ns());
        self.searched_ns = now_ns;
        Ok(())
    }
    /// Waits for a word for which `is_over` is true. Acquires the release of the last owner.
    pub(super) fn wait(&mut self, is_over: impl Fn(Word) -> bool) -> Result<Word, AcquireError> {
        let (word, stop_every) = (self.word, self.limits.looks_per_clock);
        let holds = |bits| is_over(Word::from_bits(bits));
        // A checker may end the wait before `stop` says so. That is a time-out.
        let mut failure = AcquireError::TimedOut;
        let stop = || match self.look(&is_over) {
            Ok(()) => false,
            Err(found) => {
                failure = found;
                true
            }
        };
        let bound = Bound::until_stopped(stop_every);
        // ordering: Acquire; Q4.
        let seen = word.cond_load_bounded(Acquire, bound, holds, stop);
        seen.map(Word::from_bits).map_err(|_| failure)
    }
    /// Looks at the clock, and now and then for a deadlock.
    fn look(&mut self, is_over: impl Fn(Word) -> bool) -> Result<(), AcquireError> {
        let now_ns = P::now_ns();
        if now_ns >= self.until_ns {
            return Err(AcquireError::TimedOut);
        }
        if now_ns.saturating_sub(self.searched_ns) < SEARCH_NS {
            return Ok(());
        }
        self.searched_ns = now_ns;
        self.search(is_over)
    }
    /// Looks for another thread that holds the lock and waits for one that the caller holds.
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
            let Some(wanted) = table.top(E::COVERS_LOCK) else { continue };
            if mine.holds_below_top(wanted) && table.holds_below_top(self.name) {
                return Err(AcquireError::Crossed { other, wanted });
            }
        }
        Ok(())
    }
}
