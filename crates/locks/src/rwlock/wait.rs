//! Waiting for the lock: a thread barges past the waiters, competes as the first waiter, and sleeps.

use super::sleepers::UNFAIR_NS;
use super::word::{HELD, InWord, PENDING, READER, READERS, RESERVED, SLEEPER, WRITER};
use super::{Fairness, RawRwLock};
use crate::events::Event;
use crate::park::{
    ASLEEP, BEHIND, GRANTED, HoldMode, LockMode, NAP_NS, ParkPlatform, SleepTable, told, waiter,
};
use crate::platform::{Atomic, AtomicInt, Bound, Reads};
use crate::queue::{NodeId, Patience, SPIN_NS, UNTIL_OVER};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// The time that a reader waits for a writer for which the lock is reserved, while readers hold it. The reader may be
/// one of them.
const RECURSION_NS: u64 = 10_000_000;
/// The time that a free lock stays reserved for a thread that does not take it: a few wake-ups.
const KEPT_NS: u64 = 50_000;
/// The time that a reader looks away first when it finds a writer, in pauses.
const READERS_FIRST_PAUSE: u32 = 16;
/// The time that it then looks away once more if that writer is gone, in pauses.
const READERS_LONG_PAUSE: u32 = 128;
/// The time that a writer looks away first when it finds a holder, in pauses. Readers come as long as it is away.
const WRITERS_FIRST_PAUSE: u32 = 4;
/// After this many pauses a writer that finds readers is pending: it could hold the lock by now.
const PAUSES_BEFORE_PENDING: u32 = 1;
/// A writer that found another writer at that time is pending after this many pauses or more. If it were pending
/// already at the next look, that would cost up to 13 % with sections of one pause and eight threads.
const PAUSES_BEFORE_PENDING_LATE: u32 = 3;

/// A thread in the table.
struct Waiting {
    id: NodeId,
    kind: LockMode,
    since_ns: u64,
    deadline_ns: Option<u64>,
    /// The time at which it passes a writer for which the lock is reserved, because it may be a reader already.
    passes_ns: Option<u64>,
    /// The time at which it closes the door, if it still waits then.
    closes_ns: Option<u64>,
}

impl<P: ParkPlatform, F: Fairness> RawRwLock<P, F> {
    /// Waits for the lock, after the first attempt. Returns `true` if the lock is taken. Without a deadline it is
    /// taken, unless the caller is a reader that cannot be counted.
    #[cold]
    pub(super) fn wait(&self, kind: LockMode, deadline_ns: Option<u64>) -> bool {
        self.begin_to_wait();
        if kind.is_shared() && self.is_full() {
            return false;
        }
        if kind.is_shared() && self.pass_as_reader(kind) {
            return true;
        }
        if !F::IS_FAIR && self.is_held_for_long() {
            return self.take(kind, kind.against_newcomer())
                || self.wait_in_table(kind, deadline_ns, true)
                || self.attempt(kind);
        }
        self.barge(kind)
            || !F::IS_FAIR && self.take_after_others(kind)
            || self.wait_in_table(kind, deadline_ns, false)
            || self.attempt(kind)
    }

    /// Lets a thread that reads already join the readers, even if a writer waits, because that writer waits for this
    /// thread. Returns `true` if it joined.
    pub(super) fn pass_as_reader(&self, kind: LockMode) -> bool {
        let passes = self.reads_already() == Reads::Yes && self.take(kind, kind.held_against());
        if passes {
            P::count(Event::rwlock_pass);
        }
        passes
    }

    /// Returns `true` if the caller may be a reader already, for which a writer may wait.
    fn may_read_already(&self, kind: LockMode) -> bool {
        kind.is_shared() && self.reads_already() != Reads::No
    }

    /// Returns `true` if spinning is not worth it, because threads hold the lock for long.
    fn is_held_for_long(&self) -> bool {
        // ordering: Relaxed; only a hint.
        let seen = self.word.load(Relaxed);
        let is_long = |held| SleepTable::<P>::are_long(self.shared().name(), held);
        let reads = seen & (READERS | RESERVED) != 0;
        let writes = seen & (WRITER | RESERVED) != 0;
        reads && is_long(HoldMode::Reader) || writes && is_long(HoldMode::Writer)
    }

    /// Runs before a thread says anything of itself in the word. It asks the platform if the process was forked. So a
    /// child that is forked later knows that it is one; the first question in the child would be too late. In a child,
    /// this removes what gone waiters have left in a free lock.
    pub(super) fn begin_to_wait(&self) {
        self.forget_where_free();
    }

    /// Removes what gone waiters have left in a free lock, if the process is a forked child.
    fn forget_where_free(&self) {
        if !P::has_forked() {
            return;
        }
        // ordering: Relaxed; only a hint.
        let seen = self.word.load(Relaxed);
        if seen & HELD == 0 && seen & (RESERVED | SLEEPER) != 0 {
            self.shared().forget_the_gone();
        }
    }

    /// Waits in the table, or with naps if no node is left. Returns `true` if the lock is taken.
    pub(super) fn wait_in_table(
        &self,
        kind: LockMode,
        deadline_ns: Option<u64>,
        sleeps_at_once: bool,
    ) -> bool {
        let Some(id) = P::claim_node() else {
            if kind == LockMode::Upgrader {
                // ordering: Relaxed; only keeps newcomers away, nothing is read through it.
                self.word.fetch_or(RESERVED, Relaxed);
            }
            let is_ours = self.wait_without_node(kind, deadline_ns);
            if kind == LockMode::Upgrader {
                // It has reserved the lock, and is not in the table, where it would end that when it leaves.
                self.shared().forget_the_gone();
            }
            return is_ours;
        };
        let since_ns = P::now_ns();
        let passes_ns =
            self.may_read_already(kind).then_some(since_ns.saturating_add(RECURSION_NS));
        let closes = kind == LockMode::Writer && !F::IS_FAIR;
        let closes_ns = closes.then_some(since_ns.saturating_add(UNFAIR_NS));
        let me = Waiting { id, kind, since_ns, deadline_ns, passes_ns, closes_ns };
        let is_ours = self.queue(me, sleeps_at_once);
        if is_ours && !F::IS_FAIR {
            self.begin_timed(kind);
        }
        // SAFETY: the node was claimed above, and is no longer in the table.
        unsafe { P::release_node(id) };
        is_ours
    }

    /// Lets another thread run that wants this CPU, which may be the owner. Then tries to take the lock, once. Returns
    /// `true` if it is taken.
    fn take_after_others(&self, kind: LockMode) -> bool {
        P::yield_cpu();
        self.take(kind, kind.against_newcomer())
    }

    /// Competes for the lock before queueing, with pauses that double. Returns `true` if it is taken. A reader that has
    /// let a pending writer pass for that long no longer waits for it, because the reader may hold the lock already.
    fn barge(&self, kind: LockMode) -> bool {
        let against = kind.against_newcomer();
        // ordering: Relaxed; only a hint.
        if self.word.load(Relaxed) & against == 0 {
            // Other threads come and go all the time. More of them get through if they are left undisturbed for a
            // while.
            let mut away = Patience::<P>::short();
            while !away.pause() {}
        }
        let patience = match kind {
            LockMode::Reader | LockMode::Upgradable => self.look_away(against),
            LockMode::Upgrader | LockMode::Writer => Patience::short_from(WRITERS_FIRST_PAUSE),
        };
        let is_ours = self.spin(kind, against, patience);
        is_ours || kind.is_shared() && !F::IS_FAIR && self.take(kind, against & !PENDING)
    }

    /// Pauses, for a reader that finds a writer. If that writer is gone after the first pause, sections are short, and
    /// the reader pauses for longer. Meanwhile other threads get through many sections, and the cache line stays where
    /// it is. Returns the patience with which the reader competes then.
    fn look_away(&self, against: u32) -> Patience<P> {
        Patience::<P>::short_from(READERS_FIRST_PAUSE).pause();
        // ordering: Relaxed; only a hint.
        if self.word.load(Relaxed) & against == 0 {
            Patience::<P>::short_from(READERS_LONG_PAUSE).pause();
        }
        Patience::short()
    }

    /// Competes for the lock until `patience` is over. Takes it when no bit of `against` is in its word. Returns `true`
    /// if it is taken.
    fn spin(&self, kind: LockMode, against: u32, mut patience: Patience<P>) -> bool {
        let decides = |bits| bits & against == 0 || bits & against & RESERVED != 0;
        let is_writer = kind == LockMode::Writer && !F::IS_FAIR;
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
                Ok(seen) if seen & against & RESERVED == 0 => self.try_take(seen, kind),
                Ok(seen) if F::IS_FAIR || seen & HELD != 0 => return false,
                Ok(_) => self.take_abandoned(kind),
                Err(_) if is_over => return false,
                Err(seen) if seen & WRITER == 0 => {
                    return is_writer && self.spin_as_pending(against);
                }
                Err(_) => continue,
            };
            if is_ours || patience.pause() {
                return is_ours;
            }
        }
    }

    /// Spins while newly arriving readers let the caller in first. The caller is a writer that found readers there.
    /// Returns `true` if the lock is taken.
    fn spin_as_pending(&self, against: u32) -> bool {
        // Pending is set; the rest of the state stays.
        // ordering: Relaxed; only keeps readers away for a moment, nothing is read through it.
        self.word.fetch_or(PENDING, Relaxed);
        let is_free = |bits| bits & against == 0 || bits & against & RESERVED != 0;
        let bound = Bound::nanoseconds(SPIN_NS);
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let looked = self.word.cond_load_bounded(Relaxed, bound, is_free, || false);
        let is_ours =
            looked.is_ok_and(|seen| seen & against == 0 && self.try_take(seen, LockMode::Writer));
        if !is_ours {
            // ordering: Relaxed; as above.
            self.word.fetch_and(!PENDING, Relaxed);
        }
        is_ours
    }

    /// Takes the lock if its word is still `seen`.
    pub(super) fn try_take(&self, seen: u32, kind: LockMode) -> bool {
        // (*,s,0,r) -> (*,s,0,r+1); (*,s,0,0) -> (*,s,1,0)
        // ordering: Acquire; A1, A2. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(seen, kind.taken(seen), Acquire, Relaxed).is_ok()
    }

    /// Takes a lock that has been reserved and free for as long as a lock may be. The waiter for which it is reserved
    /// has no CPU, and reserves it again when it has one. Returns `true` if it did.
    #[cold]
    fn take_abandoned(&self, kind: LockMode) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let seen = self.word.load(Relaxed);
        if seen & RESERVED == 0 || seen & HELD != 0 {
            return false;
        }
        // The caller sleeps meanwhile, because that waiter may need this CPU. No thread wakes one that sleeps on the
        // word.
        let until_ns = P::now_ns().saturating_add(KEPT_NS);
        P::futex_wait(&self.word, seen, Some(until_ns));
        if P::now_ns() < until_ns {
            return false;
        }
        // (1,s,0,0) -> (0,s,1,0) or (0,s,0,1)
        // ordering: Acquire; A1, A2. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(seen, kind.taken(seen & !RESERVED), Acquire, Relaxed).is_ok()
    }

    /// Competes for the word with naps, because no node is left. Returns `true` if the lock is taken.
    #[cold]
    fn wait_without_node(&self, kind: LockMode, deadline_ns: Option<u64>) -> bool {
        P::count(Event::lock_no_node);
        while !self.barge(kind) {
            if deadline_ns.is_some_and(P::is_over) {
                return false;
            }
            let nap_ns = P::now_ns().saturating_add(NAP_NS);
            let until_ns = deadline_ns.map_or(nap_ns, |ns| P::earlier(ns, nap_ns));
            SleepTable::<P>::nap(self.shared().name(), until_ns);
            self.forget_where_free();
            let may_pass = kind == LockMode::Upgrader || self.may_read_already(kind);
            if may_pass && self.take(kind, kind.held_against()) {
                return true;
            }
        }
        true
    }

    /// Waits in the table. Returns `true` if the lock is taken.
    fn queue(&self, mut me: Waiting, sleeps_at_once: bool) -> bool {
        let shared = self.shared();
        let queued = shared.enqueue(me.id, me.kind, me.since_ns, sleeps_at_once);
        if queued.looks {
            Self::stay_behind(me.id);
        }
        if let (Some(at_ns), Some(phase_ns)) = (me.closes_ns, queued.closes_ns) {
            me.closes_ns = Some(P::earlier(at_ns, phase_ns));
        }
        let is_ours = loop {
            let told = told::<P>(me.id);
            if told == GRANTED {
                return true;
            }
            if told != ASLEEP {
                if self.compete(&me) {
                    break true;
                }
                if !shared.sleep_again(me.id, me.kind) {
                    continue;
                }
            }
            if me.deadline_ns.is_some_and(P::is_over) {
                break false;
            }
            if me.passes_ns.is_some_and(P::is_over) && self.pass(&mut me) {
                break true;
            }
            if me.closes_ns.is_some_and(P::is_over) {
                me.closes_ns = None;
                shared.close_door(me.id);
            }
            P::count(Event::rwlock_sleep);
            self.sleep(&me);
        };
        let is_granted = shared.leave(me.id, is_ours.then_some(me.kind));
        if is_ours && is_granted {
            // (*,s,0,r) -> (*,s,0,r-1), and the caller is still one of them
            // ordering: Relaxed; the caller goes on reading.
            self.word.fetch_sub(READER, Relaxed);
        }
        if !is_ours && !is_granted {
            P::count(Event::rwlock_timeout);
        }
        is_ours || is_granted
    }

    /// Spins for a moment to see if the waiter becomes the first. No thread passes this waiter, so it soon is. A thread
    /// that leaves the lock to a waiter that still looks need not wake it. If the moment is over, the waiter is to
    /// sleep.
    fn stay_behind(id: NodeId) {
        let signal = &waiter::<P>(id).signal;
        let mut is_told = false;
        if !P::must_not_spin() && P::begin_spinning() {
            let bound = Bound::nanoseconds(SPIN_NS);
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let looked = signal.cond_load_bounded(Relaxed, bound, |told| told != BEHIND, || false);
            is_told = looked.is_ok();
            P::end_spinning();
        }
        if !is_told {
            // ordering: Relaxed; nothing is read through it. On failure Relaxed: it was told meanwhile, and looks
            // again.
            let _ = signal.compare_exchange(BEHIND, ASLEEP, Relaxed, Relaxed);
        }
    }

    fn sleep(&self, me: &Waiting) {
        let times = [me.deadline_ns, me.passes_ns, me.closes_ns];
        let until_ns = times.into_iter().flatten().reduce(P::earlier);
        P::futex_wait(&waiter::<P>(me.id).signal, ASLEEP, until_ns);
    }

    /// Lets a reader pass a writer after a long wait, because the reader may hold the lock already. If it does, readers
    /// hold the lock. Where no reads are listed, this ends the reservation. Returns `true` if the lock is taken.
    fn pass(&self, me: &mut Waiting) -> bool {
        me.passes_ns = Some(P::now_ns().saturating_add(RECURSION_NS));
        let passed = self.take(me.kind, me.kind.held_against());
        if passed {
            P::count(Event::rwlock_pass);
            if !F::LISTS_READS {
                // Otherwise each further read of a reader takes as long as this one.
                // (1,s,0,r) -> (0,s,0,r)
                // ordering: Relaxed; only lets newcomers in, nothing is read through it.
                self.word.fetch_and(!RESERVED, Relaxed);
            }
        }
        passed
    }

    /// Competes for the lock as the first waiter, awake. Returns `true` if it is taken. If it is not, and newcomers
    /// have passed the waiter for long enough, the lock is reserved from now on.
    fn compete(&self, me: &Waiting) -> bool {
        let is_ours = self.spin(me.kind, me.kind.held_against(), Patience::long());
        let is_due = || P::now_ns().saturating_sub(me.since_ns) >= UNFAIR_NS;
        if !is_ours && !F::IS_FAIR && is_due() {
            P::count(Event::rwlock_keep);
            // (0,*,*,*) -> (1,*,*,*)
            // ordering: Relaxed; only keeps newcomers away, nothing is read through it.
            self.word.fetch_or(RESERVED, Relaxed);
        }
        is_ours
    }
}
