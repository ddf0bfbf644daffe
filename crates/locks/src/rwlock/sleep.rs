//! Waiting asleep, where newcomers may overtake.

use super::word::{HELD, PENDING, READERS_SLEEP, RESERVED, SLEEPERS, WAKES, WOKEN};
use super::{Fairness, RawRwLock};
use crate::events::Event;
use crate::park::{HoldMode, ParkPlatform, Presence};
use crate::platform::Atomic;
use crate::queue::{Patience, UNTIL_OVER};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// How long newcomers overtake a waiter.
pub(super) const UNFAIR_NS: u64 = 4_000_000;
/// How long a reader waits for a writer for which the lock is reserved, while readers hold it: it may be one of them.
const RECURSION_NS: u64 = 10_000_000;

/// The kinds of sleepers.
mod kinds {
    /// It was not woken before.
    pub(super) const READER: u32 = 1;
    pub(super) const WRITER: u32 = 2;
    /// It was woken before, or has waited for long: such a one is woken first.
    pub(super) const FIRST_READER: u32 = 4;
    pub(super) const FIRST_WRITER: u32 = 8;

    pub(super) const READERS: u32 = READER | FIRST_READER;
    pub(super) const FIRST: u32 = FIRST_READER | FIRST_WRITER;
    pub(super) const ALL: u32 = READERS | WRITER | FIRST;
}

/// The lock that has its word at `address` has become free, and may no longer exist. Wakes one that sleeps for it, if
/// there is one; the word said `said` before.
pub(super) fn wake_one<P: ParkPlatform>(address: *const P::U32, said: u32) {
    let has_first = said & (WOKEN | RESERVED) != 0;
    if !has_first || P::futex_wake_only(kinds::FIRST, address, 1) == 0 {
        P::futex_wake_only(kinds::ALL, address, 1);
    }
}

/// Wakes all that sleep to read.
pub(super) fn wake_readers<P: ParkPlatform>(address: *const P::U32) {
    P::count(Event::rwlock_wake);
    P::futex_wake_only(kinds::READERS, address, u32::MAX);
}

impl<P: ParkPlatform, F: Fairness> RawRwLock<P, F> {
    /// Sleeps until the lock is taken or the deadline has passed. Returns `true` if it is taken.
    pub(super) fn sleep(&self, kind: HoldMode, deadline_ns: Option<u64>) -> bool {
        let since_ns = P::now_ns();
        let may_be_reader = kind == HoldMode::Reader;
        let passes_ns = may_be_reader.then_some(since_ns.saturating_add(RECURSION_NS));
        let mut sleeper = Sleeper {
            lock: self,
            presence: Presence::new(&self.word),
            kind,
            since_ns,
            passes_ns,
            was_woken: false,
            is_overdue: false,
            slept_as_first: false,
            has_reserved: false,
        };
        let is_ours = sleeper.wait(deadline_ns);
        if !is_ours {
            P::count(Event::rwlock_timeout);
            sleeper.give_up();
        }
        is_ours
    }
}

/// A thread that sleeps for a lock, or is about to.
struct Sleeper<'a, P: ParkPlatform, F: Fairness> {
    lock: &'a RawRwLock<P, F>,
    presence: Presence<'a, P>,
    kind: HoldMode,
    since_ns: u64,
    /// When a reader no longer waits for a writer for which the lock is reserved.
    passes_ns: Option<u64>,
    was_woken: bool,
    /// Newcomers have overtaken it for long enough.
    is_overdue: bool,
    slept_as_first: bool,
    /// It has reserved the lock; other waiters may have done that, too.
    has_reserved: bool,
}

impl<P: ParkPlatform, F: Fairness> Sleeper<'_, P, F> {
    fn wait(&mut self, deadline_ns: Option<u64>) -> bool {
        let mut is_called = false;
        loop {
            if is_called && self.compete() || self.take(self.look()) {
                return true;
            }
            let now_ns = P::now_ns();
            if deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns) {
                return false;
            }
            if self.passes_ns.is_some_and(|passes_ns| now_ns >= passes_ns) && self.pass() {
                return true;
            }
            self.is_overdue |= now_ns.saturating_sub(self.since_ns) >= UNFAIR_NS;
            if P::has_forked() {
                self.presence.forget_the_gone(WAKES | READERS_SLEEP | RESERVED);
            }
            let Some(seen) = self.announce() else { continue };
            // Invariant 5.
            let due_ns = (!self.is_overdue).then_some(self.since_ns.saturating_add(UNFAIR_NS));
            let until_ns = [deadline_ns, self.passes_ns, due_ns].into_iter().flatten().min();
            self.slept_as_first = self.is_first();
            P::count(Event::rwlock_sleep);
            is_called = P::futex_wait_as(self.sleeps_as(), &self.lock.word, seen, until_ns);
            self.was_woken |= is_called;
        }
    }

    /// Returns `true` if it sleeps as one that is woken first.
    fn is_first(&self) -> bool {
        self.was_woken || self.is_overdue
    }
    fn sleeps_as(&self) -> u32 {
        match (self.kind, self.is_first()) {
            (HoldMode::Reader, false) => kinds::READER,
            (HoldMode::Writer, false) => kinds::WRITER,
            (HoldMode::Reader, true) => kinds::FIRST_READER,
            (HoldMode::Writer, true) => kinds::FIRST_WRITER,
        }
    }
    /// What must not be in the word for the caller to take the lock that has this one.
    fn against(&self, seen: u32) -> u32 {
        let is_free = seen & HELD == 0;
        // Readers let one in that was woken to join them, but not one that has only waited for long.
        let is_meant = self.was_woken || self.is_overdue && is_free;
        if is_meant { self.kind.held_against() } else { self.kind.against_newcomer() & !PENDING }
    }

    /// Says in the lock that the caller sleeps (invariant 1); what it says now. Nothing if the caller could take it.
    fn announce(&mut self) -> Option<u32> {
        let mut bits = if self.is_first() { WOKEN } else { SLEEPERS };
        if self.kind == HoldMode::Reader {
            bits |= READERS_SLEEP;
        }
        if self.is_overdue {
            bits |= RESERVED;
        }
        let word = &self.lock.word;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = word.load(Relaxed);
        while seen & self.against(seen) != 0 {
            if seen & bits != bits {
                // (w,1,0) -> (w+,1,0) or (w,0,r) -> (w+,0,r)
                // ordering: Release; P1. On failure Relaxed: as above.
                if let Err(now) = word.compare_exchange(seen, seen | bits, Release, Relaxed) {
                    seen = now;
                    continue;
                }
            }
            if self.is_overdue && !self.has_reserved {
                P::count(Event::rwlock_keep);
                self.has_reserved = true;
            }
            return Some(seen | bits);
        }
        None
    }

    /// Tries to take the lock for a moment, after it was woken.
    fn compete(&self) -> bool {
        let mut patience = Patience::<P>::long();
        let against = self.kind.held_against();
        let is_free = |seen| seen & against == 0;
        loop {
            let pause = || patience.pause();
            // ordering: Relaxed; only a hint, re-checked in `take`.
            let looked = self.lock.word.cond_load_bounded(Relaxed, UNTIL_OVER, is_free, pause);
            let Ok(seen) = looked else { return false };
            if self.take(seen) {
                return true;
            }
            if patience.pause() {
                return false;
            }
        }
    }

    fn look(&self) -> u32 {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        self.lock.word.load(Relaxed)
    }

    /// Tries to take the lock once, if its word is still `seen`. A reader lets the others in.
    fn take(&self, seen: u32) -> bool {
        let word = &self.lock.word;
        if seen & self.against(seen) != 0 {
            return false;
        }
        if !self.is_first() {
            return self.lock.try_take(seen, self.kind);
        }
        let mut kept = seen | SLEEPERS;
        if self.has_reserved {
            kept &= !RESERVED;
        }
        if self.slept_as_first {
            kept |= WOKEN;
        }
        if self.kind == HoldMode::Reader {
            kept &= !READERS_SLEEP;
        }
        // (w,0,0) -> (w',1,0) or (w,0,r) -> (w',0,r+1)
        // ordering: Acquire; A1, A2. On failure Relaxed: the failure value is not used.
        let is_taken = word.compare_exchange(seen, self.kind.taken(kept), Acquire, Relaxed).is_ok();
        if is_taken && self.kind == HoldMode::Reader {
            self.let_others_in(seen, kept);
        }
        is_taken
    }

    /// The caller reads. Wakes the others that can do so now, unless a reader before it has.
    fn let_others_in(&self, seen: u32, kept: u32) {
        let was_free = seen & HELD == 0;
        if was_free || seen & SLEEPERS == 0 || seen & READERS_SLEEP != 0 {
            wake_readers::<P>(&self.lock.word);
        }
        // A writer may sleep that had reserved the lock (invariant 4): while readers come there is no release for it.
        if kept & WOKEN != 0 && kept & RESERVED == 0 {
            P::futex_wake_only(kinds::FIRST_WRITER, &self.lock.word, 1);
        }
    }

    /// A reader that has waited for so long that it may be one already: then readers hold the lock. Returns `true` if
    /// it is taken.
    fn pass(&mut self) -> bool {
        self.passes_ns = None;
        self.was_woken = true;
        let passed = self.take(self.look());
        if passed {
            P::count(Event::rwlock_pass);
        }
        passed
    }

    /// Passes on what the caller was woken for, and its reservation: invariants 2 and 4.
    #[cold]
    fn give_up(&self) {
        if !self.was_woken && !self.has_reserved {
            return;
        }
        let word = &self.lock.word;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = word.load(Relaxed);
        loop {
            let is_held = seen & HELD != 0;
            let mut next = if is_held { seen | WOKEN } else { seen };
            if self.has_reserved {
                next &= !RESERVED;
            }
            // (w,1,0) -> (w',1,0), (w,0,r) -> (w',0,r)
            // ordering: Relaxed; nothing is read through it but the word. On failure Relaxed: as above.
            match word.compare_exchange(seen, next, Relaxed, Relaxed) {
                Ok(_) => return wake_one::<P>(word, WOKEN),
                Err(now) => seen = now,
            }
        }
    }
}
