//! A line of waiters that are served in the order they came, and sleep in the kernel's queue.
//!
//! Four bits of the word of a lock say who waits. Behind the *head* of the line all others sleep as one kind, which the
//! kernel wakes in the order they came. The head sleeps as another kind, which a release wakes. So nothing is listed in
//! user space, and a release looks at the word that it writes, and at nothing else.
//!
//! ```text
//!     3       2         1          0
//! +------+---------+--------+-------------+
//! | line | offered |  head  | head sleeps |
//! +------+---------+--------+-------------+
//! ```
//!
//! | state | who waits | moved by |
//! |---|---|---|
//! | none | no thread | a waiter, to *head* |
//! | head | one thread, awake | it, to none with what it needs or at its deadline; to *head sleeps* |
//! | head, head sleeps | the same, and it sleeps | a release wakes it; it, to none; a waiter, to *line* |
//! | head, line | and others may sleep behind it | the head, to *offered* with what it needs, or at its deadline |
//! | head, offered | the place of the head is for the thread that the last head wakes | that thread, to *head* and *line*; the last head, to none if no thread sleeps |
//!
//! # Invariants
//!
//! 1. While the word says *head* and not *offered*, exactly one thread is the head.
//! 2. Without *head*, no thread is to be served before one that comes.
//! 3. While a waiter sleeps behind the head, the word says *line*, or a thread is about to wake one of them, or one
//!    that was woken is awake. It says *line* when it becomes the head.
//! 4. While the head sleeps, the word says so. A release writes the word, and wakes the head then if it said so.
//! 5. A waiter that is not the head touches the word, and wakes others, within its own call only. So the lock exists as
//!    long as that needs.
//!
//! # Order
//!
//! The place of a waiter in the line is that in the kernel's queue. A waiter that has said that it sleeps and is not in
//! the queue yet may be overtaken by those who come at that moment. A signal handler that runs on a thread which sleeps
//! in the line makes it the last. So does a wake-up that was meant for another lock at the same address.
//!
//! # Forks
//!
//! In a forked child the word may speak of waiters that do not exist there. There, waiters are counted on the
//! [mark](crate::park) of the lock. A thread that finds a line, and no waiter counted but itself, ends the line. Locks
//! share marks. So a thread that sleeps in a line of a forked child looks again every 100 ms.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | P1 | the exchange by which a waiter becomes the head, Release | that of [`park`](crate::park)'s presence, Acquire | that the waiter is counted |
//!
//! An exchange that takes what a waiter needs acquires what its lock says.

use crate::events::Event;
use crate::park::{ParkPlatform, Presence};
use crate::platform::{Atomic, AtomicInt};
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

/// The head sleeps: a release has to wake it.
pub(crate) const HEAD_SLEEPS: u32 = 1 << 0;
/// There is a waiter.
pub(crate) const HEAD: u32 = 1 << 1;
/// The place of the head is for a thread that was woken.
const OFFERED: u32 = 1 << 2;
/// Threads may sleep behind the head.
const LINE: u32 = 1 << 3;
/// All of these.
pub(crate) const FLAGS: u32 = HEAD_SLEEPS | HEAD | OFFERED | LINE;
pub(crate) const FLAG_BITS: u32 = FLAGS.trailing_ones();

/// The kind of those that sleep behind the head. The kinds of heads are above it.
pub(crate) const LINE_KIND: u32 = 1;

/// How long a thread in a forked child sleeps before it asks again if those before it exist.
const GONE_NS: u64 = 100_000_000;

/// Wakes the head of the line, if it is of these kinds and sleeps: invariant 4. The lock may no longer exist.
pub(crate) fn wake_head<P: ParkPlatform>(address: *const P::U32, kinds: u32) {
    P::futex_wake_only(kinds, address, 1);
}

/// In a forked child: removes from the word what waiters have left that do not exist here. Returns `true` if it did.
#[cold]
pub(crate) fn forget_the_gone<P: ParkPlatform>(word: &P::U32) -> bool {
    Presence::<P>::new(word).forget_the_gone(FLAGS)
}

/// What a thread waits for in a line.
pub(crate) trait Turn {
    /// True if newcomers overtake those in the line. Then a release wakes the head once, until that sleeps again.
    const IS_OVERTAKEN: bool = false;
    /// What the word says besides because of the head.
    const OF_HEAD: u32 = 0;

    /// The word when the waiter has what it needs, if that is there.
    fn taken(&self, seen: u32) -> Option<u32>;
    /// Returns `true` if a waiter competes at once that was woken to become the head, where the word is `seen`.
    fn competes_at_once(&self, _seen: u32) -> bool {
        true
    }
    /// Tries to take it for a moment, as the head. Returns `true` if `take` did.
    fn compete(&self, take: &dyn Fn(u32) -> bool) -> bool;
    /// What of `OF_HEAD` the head says at that time, before it sleeps.
    fn says_at(&self, _now_ns: u64) -> u32 {
        0
    }
    /// When it looks again, if nothing wakes it.
    fn looks_again_ns(&self, _is_head: bool, _now_ns: u64) -> Option<u64> {
        None
    }
    /// Takes what it needs out of turn, behind the head, if it may. Returns `true` if it did.
    fn passes(&self, _now_ns: u64) -> bool {
        false
    }
}

/// A thread that waits in a line.
pub(crate) struct LineWaiter<'a, P: ParkPlatform> {
    word: &'a P::U32,
    /// What it sleeps as when it is the head.
    head_kind: u32,
    deadline_ns: Option<u64>,
    sleep_event: Event,
    is_head: bool,
    /// It was woken, so the place of the head may be for it.
    was_woken: bool,
    presence: Presence<'a, P>,
}

/// What a waiter found.
enum Found {
    /// What it needs.
    Taken,
    /// It has become the head.
    Head,
    /// Neither. The word says that it sleeps, and is this now.
    Nothing(u32),
}

impl<'a, P: ParkPlatform> LineWaiter<'a, P> {
    pub(crate) fn new(
        word: &'a P::U32,
        head_kind: u32,
        deadline_ns: Option<u64>,
        sleep_event: Event,
    ) -> Self {
        let (is_head, was_woken, presence) = (false, false, Presence::new(word));
        Self { word, head_kind, deadline_ns, sleep_event, is_head, was_woken, presence }
    }

    /// Waits. Returns `true` if it has what it needs.
    pub(crate) fn wait<T: Turn>(mut self, turn: &T) -> bool {
        loop {
            if P::has_forked() {
                let said = if self.is_head { 0 } else { FLAGS | T::OF_HEAD };
                self.presence.forget_the_gone(said);
            }
            let now_ns = P::now_ns();
            let seen = match self.advance(turn, now_ns) {
                Found::Taken => return true,
                Found::Head => {
                    // ordering: Relaxed; only a hint.
                    let competes =
                        !self.was_woken || turn.competes_at_once(self.word.load(Relaxed));
                    if competes && turn.compete(&|seen| self.take_as_head(turn, seen)) {
                        return true;
                    }
                    continue;
                }
                Found::Nothing(seen) => seen,
            };
            if self.deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns) {
                self.give_up::<T>();
                return false;
            }
            if !self.is_head && turn.passes(now_ns) {
                return true;
            }
            P::count(self.sleep_event);
            self.sleep(turn, seen, now_ns);
            if T::IS_OVERTAKEN && self.is_head {
                self.stay_awake();
                if turn.compete(&|seen| self.take_as_head(turn, seen)) {
                    return true;
                }
            }
        }
    }

    fn sleep<T: Turn>(&mut self, turn: &T, seen: u32, now_ns: u64) {
        let kind = if self.is_head { self.head_kind } else { LINE_KIND };
        let asks_again = P::has_forked() && !self.is_head;
        let again_ns = asks_again.then_some(now_ns.saturating_add(GONE_NS));
        let looks_ns = turn.looks_again_ns(self.is_head, now_ns);
        let until_ns = [self.deadline_ns, again_ns, looks_ns].into_iter().flatten().min();
        self.was_woken |= P::futex_wait_as(kind, self.word, seen, until_ns);
    }

    /// The head is awake: no release need wake it.
    fn stay_awake(&self) {
        // ordering: Relaxed; only the head writes it, or a thread that takes what is there.
        if self.word.load(Relaxed) & HEAD_SLEEPS != 0 {
            // (h,*) -> (h',*)
            // ordering: Relaxed; nothing is read through it.
            self.word.fetch_and(!HEAD_SLEEPS, Relaxed);
        }
    }

    /// Takes what the head needs if that is there and the word is still `seen`.
    fn take_as_head<T: Turn>(&self, turn: &T, seen: u32) -> bool {
        let Some(rest) = turn.taken(seen) else { return false };
        // (h,*) -> (h',*), as above
        // ordering: AcqRel; P1, and what the lock carries. On failure Relaxed: the failure value is not used.
        let is_taken =
            self.word.compare_exchange(seen, Self::vacated::<T>(rest), AcqRel, Relaxed).is_ok();
        if is_taken && seen & LINE != 0 {
            self.offer();
        }
        is_taken
    }

    /// Takes what it needs if that is there and it is its turn; otherwise says that it waits.
    fn advance<T: Turn>(&mut self, turn: &T, now_ns: u64) -> Found {
        let sleeps = HEAD_SLEEPS | if self.is_head { turn.says_at(now_ns) } else { 0 };
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.word.load(Relaxed);
        loop {
            let is_free = seen & HEAD == 0;
            let needed =
                if self.is_head || is_free && !self.was_woken { turn.taken(seen) } else { None };
            let (next, found) = match needed {
                Some(rest) if self.is_head => (Self::vacated::<T>(rest), Found::Taken),
                Some(rest) => (rest, Found::Taken),
                None if self.is_head => (seen | sleeps, Found::Nothing(seen | sleeps)),
                // Others may sleep there: invariant 3.
                None if self.was_woken && is_free => (seen | HEAD | LINE, Found::Head),
                None if self.was_woken && seen & OFFERED != 0 => {
                    (seen & !OFFERED | LINE, Found::Head)
                }
                None if is_free => (seen | HEAD, Found::Head),
                None => (seen | LINE, Found::Nothing(seen | LINE)),
            };
            if next != seen {
                // (h,*) -> (h',*), as above
                // ordering: AcqRel; P1, and what the lock carries. On failure Relaxed: only a hint, as above.
                if let Err(now) = self.word.compare_exchange(seen, next, AcqRel, Relaxed) {
                    seen = now;
                    continue;
                }
            }
            match found {
                Found::Taken if self.is_head && seen & LINE != 0 => self.offer(),
                Found::Head => self.is_head = true,
                _ => {}
            }
            return found;
        }
    }

    /// The word without its head.
    fn vacated<T: Turn>(seen: u32) -> u32 {
        let seen = seen & !T::OF_HEAD;
        if seen & LINE == 0 {
            seen & !(HEAD | HEAD_SLEEPS)
        } else {
            seen & !(LINE | HEAD_SLEEPS) | OFFERED
        }
    }

    /// Wakes the next one, which takes the place of the head. If there is none, no thread does: invariant 3.
    fn offer(&self) {
        while P::futex_wake_only(LINE_KIND, self.word, 1) == 0 {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let mut seen = self.word.load(Relaxed);
            loop {
                if seen & OFFERED == 0 {
                    return;
                }
                // One that has come since may sleep by now.
                let is_new = LINE & seen != 0;
                let next = if is_new { seen & !LINE } else { seen & !(HEAD | OFFERED) };
                // (h,*) -> (h',*), as above
                // ordering: Relaxed; nothing is read through it. On failure Relaxed: as above.
                match self.word.compare_exchange(seen, next, Relaxed, Relaxed) {
                    Ok(_) if is_new => break,
                    Ok(_) => return,
                    Err(now) => seen = now,
                }
            }
        }
    }

    /// Leaves without what it needs.
    #[cold]
    fn give_up<T: Turn>(&self) {
        if !self.is_head {
            return;
        }
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.word.load(Relaxed);
        loop {
            // (h,*) -> (h',*), as above
            // ordering: Relaxed; nothing is read through it. On failure Relaxed: as above.
            match self.word.compare_exchange(seen, Self::vacated::<T>(seen), Relaxed, Relaxed) {
                Ok(_) if seen & LINE != 0 => return self.offer(),
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}
