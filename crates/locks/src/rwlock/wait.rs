//! Waiting awake: past those who wait, and for a moment as one that soon does.

use super::word::{HELD, PENDING, RESERVED, WRITER};
use super::turn::Turn;
use super::{Fairness, RawRwLock};
use crate::events::Event;
use crate::line::{self, LineWaiter};
use crate::park::{HoldMode, ParkPlatform, Presence};
use crate::platform::{Atomic, AtomicInt, Bound};
use crate::queue::{Patience, SPIN_NS, UNTIL_OVER};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// How long a free lock stays reserved for a thread that does not take it: a few wake-ups.
const RESERVED_NS: u64 = 50_000;
/// How long a reader that finds a writer there looks away first, in pauses, ...
const READERS_FIRST_PAUSE: u32 = 16;
/// ... and then, if that one is gone.
const READERS_LONG_PAUSE: u32 = 128;
/// How long a writer that finds somebody there does: readers come as long as it is away.
const WRITERS_FIRST_PAUSE: u32 = 4;
/// After this many pauses a writer that finds readers there is pending: it could hold the lock by now.
const PAUSES_BEFORE_PENDING: u32 = 1;
/// If a writer was there then, it is from this many on. Already at the next look it costs up to 13 % with sections of a
/// pause and eight threads.
const PAUSES_BEFORE_PENDING_LATE: u32 = 3;

impl<P: ParkPlatform, F: Fairness> RawRwLock<P, F> {
    /// Everything but the first attempt. Returns `true` if the lock is taken, which it is without a deadline.
    #[cold]
    pub(super) fn wait(&self, kind: HoldMode, deadline_ns: Option<u64>) -> bool {
        if self.barge(kind) {
            return true;
        }
        let turn = Turn::new(self, kind);
        let is_ours =
            LineWaiter::<P>::new(&self.word, turn.head_kind(), deadline_ns, Event::rwlock_sleep)
                .wait(&turn);
        if !is_ours {
            P::count(Event::rwlock_timeout);
        }
        is_ours
    }

    /// As an attempt, in a forked child, whose word may speak of waiters that do not exist here.
    #[cold]
    pub(super) fn attempt_in_child(&self, kind: HoldMode) -> bool {
        let said = if F::IS_FAIR { line::FLAGS } else { line::FLAGS | PENDING | RESERVED };
        let is_forgotten = Presence::<P>::new(&self.word).forget_the_gone(said);
        is_forgotten && self.take(kind, Self::against_newcomer(kind))
            || !F::IS_FAIR && self.take_abandoned(kind)
    }

    /// Competes for the lock before queueing, with pauses that double. Returns `true` if it is taken. A reader that has
    /// let a pending writer pass for that long no longer waits for it: it may be a reader already.
    fn barge(&self, kind: HoldMode) -> bool {
        let against = Self::against_newcomer(kind);
        // ordering: Relaxed; only a hint.
        if self.word.load(Relaxed) & against == 0 {
            // Others come and go all the time: it is worth more if they do so for a while undisturbed.
            let mut away = Patience::<P>::short();
            while !away.pause() {}
        }
        let patience = match kind {
            HoldMode::Reader => self.look_away(against),
            HoldMode::Writer => Patience::short_from(WRITERS_FIRST_PAUSE),
        };
        let is_ours = self.spin(kind, against, patience, &|seen| self.try_take(seen, kind));
        is_ours || kind == HoldMode::Reader && !F::IS_FAIR && self.take(kind, against & !PENDING)
    }

    /// A reader that finds a writer there pauses; and where sections are so short that it is gone then, for longer:
    /// meanwhile others get through many of them, and the line stays where it is.
    fn look_away(&self, against: u32) -> Patience<P> {
        Patience::<P>::short_from(READERS_FIRST_PAUSE).pause();
        // ordering: Relaxed; only a hint.
        if self.word.load(Relaxed) & against == 0 {
            Patience::<P>::short_from(READERS_LONG_PAUSE).pause();
        }
        Patience::short()
    }

    /// Competes for the lock unless `against` is in its word, until its patience is over. Returns `true` if it is
    /// taken. `take` does that, if the word is still the one that it is told.
    pub(super) fn spin(
        &self,
        kind: HoldMode,
        against: u32,
        mut patience: Patience<P>,
        take: &dyn Fn(u32) -> bool,
    ) -> bool {
        let decides = |bits| bits & against == 0 || bits & against & Self::KEPT != 0;
        let is_writer = kind == HoldMode::Writer && !F::IS_FAIR;
        let (mut pauses, mut is_over) = (0, false);
        loop {
            let pause = || {
                is_over = patience.pause();
                pauses += 1;
                let may_be_pending =
                    pauses == PAUSES_BEFORE_PENDING || pauses >= PAUSES_BEFORE_PENDING_LATE;
                is_over || is_writer && may_be_pending
            };
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let is_ours = match self.word.cond_load_bounded(Relaxed, UNTIL_OVER, decides, pause) {
                Ok(seen) if seen & against & Self::KEPT == 0 => take(seen),
                Ok(seen) if F::IS_FAIR || seen & HELD != 0 => return false,
                Ok(_) => self.take_abandoned(kind),
                Err(_) if is_over => return false,
                Err(seen) if seen & WRITER == 0 => return self.spin_as_pending(against, take),
                Err(_) => continue,
            };
            if is_ours || patience.pause() {
                return is_ours;
            }
        }
    }

    /// A writer that finds readers there each time it looks spins while newcomers that read let it in first; whether
    /// the lock is taken.
    fn spin_as_pending(&self, against: u32, take: &dyn Fn(u32) -> bool) -> bool {
        // (w,0,r) -> (w,0,r), and a writer is pending
        // ordering: Relaxed; only keeps readers away for a moment, nothing is read through it.
        self.word.fetch_or(PENDING, Relaxed);
        let is_free = |bits| bits & against == 0 || bits & against & Self::KEPT != 0;
        let bound = Bound::nanoseconds(SPIN_NS);
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let looked = self.word.cond_load_bounded(Relaxed, bound, is_free, || false);
        let is_ours = looked.is_ok_and(|seen| seen & against == 0 && take(seen));
        if !is_ours {
            // ordering: Relaxed; as above.
            self.word.fetch_and(!PENDING, Relaxed);
        }
        is_ours
    }

    /// Takes a lock that is reserved and free for as long as one may be: the waiter for which it is has no CPU, and
    /// reserves it again when it has one.
    #[cold]
    fn take_abandoned(&self, kind: HoldMode) -> bool {
        let is_used = |bits| bits & RESERVED == 0 || bits & HELD != 0;
        let bound = Bound::nanoseconds(RESERVED_NS);
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        match self.word.cond_load_bounded(Relaxed, bound, is_used, || false) {
            Ok(_) => false,
            // (reserved,0,0) -> (-,1,0) or (-,0,1)
            // ordering: Acquire; A1, A2. On failure Relaxed: the failure value is not used.
            Err(seen) => self
                .word
                .compare_exchange(seen, Self::taken(kind, seen & !RESERVED), Acquire, Relaxed)
                .is_ok(),
        }
    }
}
