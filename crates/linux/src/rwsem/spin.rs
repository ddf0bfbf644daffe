//! Spinning for a lock whose owner runs: cheaper than sleeping, if it does not last.
//!
//! Spinners queue in an [`OsqLock`](crate::osq::OsqLock), so only one of them looks at the lock. It spins for as long
//! as the writer that owns the lock runs, and on readers for as long as the policy says. Where the platform does not
//! know which threads run, it spins for no longer than it would take to sleep ([`Patience`]).

use super::count::{self, HANDOFF, HELD_MASK, WAITERS, WRITER};
use super::object::Slow;
use super::owner::{Owner, RD, READERS, thread_in};
use super::policy::{Format, Handoff, OwnerWord, ReaderSpin, WriterSpin};
use super::until::Until;
use crate::events::Event;
use crate::park::{HoldMode, ParkPlatform, waiter};
use crate::platform::{Atomic, AtomicInt, Bound, Budget};
use crate::queue::{NodeId, Patience, UNTIL_OVER};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// A thread that spins asks once in this many looks if it still should.
const ASK_EVERY: u32 = 16;
/// The bound of a wait for a word that will change soon.
const FOR_NEWS: Bound = Bound::until_stopped(ASK_EVERY);

/// The outcome for a reader that may have spun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spun {
    /// It did not spin, and is still in the count.
    NotAtAll,
    /// It spun without success, and is not in the count.
    InVain,
    /// It has the lock.
    Taken,
}

/// The end of a spin: it tells a spinner to stop, whatever the lock says.
pub(super) struct Over<'a, P: ParkPlatform> {
    patience: Option<Patience<P>>,
    until: Until<'a, P>,
}

impl<'a, P: ParkPlatform> Over<'a, P> {
    pub(super) fn new(until: Until<'a, P>) -> Self {
        Self { patience: (!P::KNOWS_WHO_RUNS).then(Patience::long), until }
    }
    /// Returns `true` if it should stop; if the platform cannot tell, after a pause.
    fn is_over(&mut self) -> bool {
        let is_late = match &mut self.patience {
            Some(patience) => patience.pause(),
            None => P::need_resched(),
        };
        is_late || self.until.is_over()
    }
    /// Returns `true` if a thread that tries again and again should stop; only where the platform cannot tell which
    /// threads run.
    pub(super) fn has_run_out(&mut self) -> bool {
        !P::KNOWS_WHO_RUNS && self.is_over()
    }
    const fn bound() -> Bound {
        if P::KNOWS_WHO_RUNS { FOR_NEWS } else { UNTIL_OVER }
    }
}

/// The time for which a writer spins on readers.
struct Window {
    /// The time at which it is over, in nanoseconds.
    until_ns: u64,
}

impl<P: ParkPlatform> Slow<'_, P> {
    /// Spins to own the lock. Returns `true` if it owns the lock then.
    pub(super) fn spin_to_write(self, id: NodeId, until: Until<'_, P>) -> bool {
        let is_ours = match self.policy.writer_spin {
            WriterSpin::No => false,
            WriterSpin::PerTurn => self.may_spin_at_all() && self.spin_per_turn(id, until),
            _ => {
                let flag = self.policy.owner.writers_flag();
                self.writer_may_spin(flag) && self.spin(id, HoldMode::Writer, flag, until)
            }
        };
        if is_ours {
            self.own();
        }
        self.count_spun(is_ours);
        is_ours
    }

    pub(super) fn count_spun(self, is_ours: bool) {
        P::count(match (is_ours, self.policy.owner, self.policy.reader_spin) {
            (false, ..) => Event::rwsem_opt_fail,
            // The name of the event since readers no longer spin.
            (true, OwnerWord::OneFlag, ReaderSpin::No) => Event::rwsem_opt_lock,
            (true, ..) => Event::rwsem_opt_wlock,
        });
    }

    fn writer_may_spin(self, flag: u64) -> bool {
        let word = self.owner();
        !P::need_resched()
            && match self.policy.owner.says(word, flag) {
                Owner::NotSpinnable => false,
                owner => !self.is_off_cpu(owner, word),
            }
    }

    /// Returns `true` if `word` names a thread that keeps others from spinning because it does not run: a writer, and
    /// in the fourteenth patch of 2019 also the last reader.
    pub(super) fn is_off_cpu(self, owner: Owner, word: u64) -> bool {
        let counts = match owner {
            Owner::Writer => true,
            Owner::Readers => self.policy.owner == OwnerWord::TwoFlagsOfOneOwner,
            Owner::Nobody | Owner::NotSpinnable => false,
        };
        counts && !P::is_thread_running(thread_in(word))
    }

    /// Returns `true` if a writer is named and runs, as it was in 2013.
    fn may_spin_at_all(self) -> bool {
        let word = self.owner();
        word != 0 && P::is_thread_running(thread_in(word))
    }

    /// Spins in turns, as it was in 2013. For each turn the spinner queues anew.
    fn spin_per_turn(self, id: NodeId, until: Until<'_, P>) -> bool {
        let mut over = Over::new(until);
        loop {
            // SAFETY: the caller's node, which is in no queue here.
            unsafe { self.sem.spinners.lock_for_turn(id) };
            let owner = self.owner();
            let goes_on = owner == 0 || self.await_other_owner(owner, &mut over) == 0;
            let is_ours = goes_on && self.try_unqueued(HoldMode::Writer);
            // SAFETY: queued above, and at the head since.
            unsafe { self.sem.spinners.unlock(id) };
            let is_over = owner == 0 && (over.is_over() || P::is_urgent());
            if is_ours || !goes_on || is_over {
                return is_ours;
            }
            P::delay(1);
        }
    }

    /// Spins while the writer `word` owns the lock and runs, unless the handoff bit is set and the policy minds.
    /// Returns the word afterwards.
    fn await_other_owner(self, word: u64, over: &mut Over<'_, P>) -> u64 {
        // As from the seventh patch of 2019 until 5.3.
        let is_kept = || {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
            self.policy.handoff == Handoff::ByFirst && self.sem.count.load(Relaxed) & HANDOFF != 0
        };
        if is_kept() {
            return word;
        }
        let stops = || !P::is_thread_running(thread_in(word)) || is_kept() || over.is_over();
        let owner = &self.sem.owner;
        // ordering: Relaxed; only a hint, re-checked at the compare-exchanges of the count.
        let seen =
            owner.cond_load_bounded(Relaxed, Over::<'_, P>::bound(), |now| now != word, stops);
        seen.unwrap_or(word)
    }

    /// Spins while a writer owns the lock and runs. Returns the owner afterwards.
    #[doc(alias = "rwsem_spin_on_owner")]
    fn spin_on_owner(self, flag: u64, over: &mut Over<'_, P>) -> Owner {
        let word = self.owner();
        let owner = self.policy.owner.says(word, flag);
        if owner != Owner::Writer {
            return owner;
        }
        match self.await_other_owner(word, over) {
            now if now == word => Owner::NotSpinnable,
            now => self.policy.owner.says(now, flag),
        }
    }

    /// Spins on the owner, as the waiter that the handoff is for, unless a flag says that a thread should not spin.
    /// Returns the owner afterwards.
    pub(super) fn spin_on_owner_for_handoff(self, over: &mut Over<'_, P>) -> Owner {
        self.spin_on_owner(self.policy.owner.all_flags(), over)
    }

    /// Looks for a moment if the lock comes free, as the waiter that the handoff is for. Returns `true` if it does.
    pub(super) fn await_free(self, over: &mut Over<'_, P>) -> bool {
        let bound = Over::<'_, P>::bound();
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let looked = self.sem.count.cond_load_bounded(
            Relaxed,
            bound,
            |now| now & HELD_MASK == 0,
            || over.is_over(),
        );
        looked.is_ok()
    }

    /// Spins in the queue and at its head. Returns `true` if it got the lock.
    #[doc(alias = "rwsem_optimistic_spin")]
    fn spin(self, id: NodeId, kind: HoldMode, flag: u64, until: Until<'_, P>) -> bool {
        let mut over = Over::new(until);
        // SAFETY: the caller's node, which is in no queue yet.
        if !unsafe { self.sem.spinners.lock(id, || over.is_over()) } {
            return false;
        }
        let is_ours = self.spin_as_head(kind, flag, &mut over);
        // SAFETY: queued above, and at the head since.
        unsafe { self.sem.spinners.unlock(id) };
        is_ours
    }

    fn spin_as_head(self, kind: HoldMode, flag: u64, over: &mut Over<'_, P>) -> bool {
        let mut before = Owner::Nobody;
        let mut window = None;
        loop {
            let owner = self.spin_on_owner(flag, over);
            if owner == Owner::NotSpinnable {
                return false;
            }
            if self.try_unqueued(kind) {
                return true;
            }
            if owner != Owner::Readers {
                window = None;
            }
            if owner != Owner::Writer && (P::need_resched() || self.is_hurried(before)) {
                return false;
            }
            let goes_on = match owner {
                Owner::Readers if kind == HoldMode::Writer => {
                    self.spin_on_readers(&mut window, over)
                }
                Owner::Readers | Owner::Nobody => self.await_news(kind, over),
                Owner::Writer | Owner::NotSpinnable => true,
            };
            if !goes_on {
                return false;
            }
            before = owner;
        }
    }

    /// Returns `true` if an urgent thread gives up after this turn. It could keep the owner, which is not named yet,
    /// from running. `before` is the owner at the end of the turn before.
    fn is_hurried(self, before: Owner) -> bool {
        P::is_urgent()
            && match self.policy.urgent_may_turn_twice() {
                true => before != Owner::Writer,
                false => self.owner() == 0,
            }
    }

    /// Waits until there is something new, if an attempt of this kind cannot succeed and the owner word names no
    /// writer. Returns `false` if the spinner should stop.
    fn await_news(self, kind: HoldMode, over: &mut Over<'_, P>) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
        let seen = self.sem.count.load(Relaxed);
        let word = self.owner();
        if !self.keeps_spinner_away(kind, seen) {
            return true;
        }
        let (mut has_owner, mut is_over) = (false, false);
        let stops = || {
            has_owner = self.owner() != word;
            is_over = !has_owner && over.is_over();
            has_owner || is_over
        };
        let bound = Over::<'_, P>::bound();
        // ordering: Relaxed; only a hint, as above.
        let news = self.sem.count.cond_load_bounded(Relaxed, bound, |now| now != seen, stops);
        news.is_ok() || has_owner
    }

    /// Returns `true` if an attempt on this count cannot succeed.
    fn keeps_spinner_away(self, kind: HoldMode, seen: u64) -> bool {
        match (self.policy.format, kind) {
            (Format::Bits, HoldMode::Reader) => seen & (WRITER | HANDOFF) != 0,
            (Format::Bits, HoldMode::Writer) => seen & (HELD_MASK | HANDOFF) != 0,
            (format @ Format::Biased(_), _) => seen != 0 && seen != format.waiters(),
        }
    }

    /// Spins as a writer on readers until they are gone, or for as long as the policy allows. Returns `true` if the
    /// writer may go on.
    fn spin_on_readers(self, window: &mut Option<Window>, over: &mut Over<'_, P>) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchanges.
        let seen = self.sem.count.load(Relaxed);
        if seen & WRITER != 0 {
            // The writer has not named itself yet.
            return self.await_news(HoldMode::Writer, over);
        }
        let now_ns = P::now_ns();
        let until_ns = window
            .get_or_insert_with(|| {
                let readers = count::readers_in(seen).min(30);
                Window { until_ns: now_ns.saturating_add((20 + readers) * 500) }
            })
            .until_ns;
        let budget = Budget::Nanoseconds(until_ns.saturating_sub(now_ns));
        let bound = Bound::of(budget, ASK_EVERY);
        let mut is_over = false;
        let stops = || {
            is_over = over.is_over();
            is_over
        };
        let decides = |now| now & WRITER != 0 || !self.keeps_spinner_away(HoldMode::Writer, now);
        // ordering: Relaxed; only a hint, as above.
        let news = self.sem.count.cond_load_bounded(Relaxed, bound, decides, stops);
        if news.is_ok() {
            return true;
        }
        if !is_over && self.policy.has_flags() {
            self.forbid_spinning();
            P::count(Event::rwsem_opt_nospin);
        }
        false
    }

    /// Makes an attempt that overtakes the waiters. Returns `true` if it got the lock. Names a reader as such.
    fn try_unqueued(self, kind: HoldMode) -> bool {
        match (kind, self.policy.format) {
            (HoldMode::Reader, _) => self.try_read_unqueued(),
            (HoldMode::Writer, Format::Bits) => self.try_write_unqueued(),
            (HoldMode::Writer, Format::Biased(_)) => self.try_write_between(),
        }
    }

    /// Takes the lock for a writer in the biased form, if no thread holds the lock or tries to. Returns `true` if it
    /// did.
    fn try_write_between(self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.sem.count.load(Relaxed);
        let format = self.policy.format;
        while seen == 0 || seen == format.waiters() {
            // n -> n+WRITE
            let taken = seen.wrapping_add(format.writer());
            // ordering: Acquire; R1, R2. On failure Relaxed: only a hint, as above.
            match self.sem.count.compare_exchange(seen, taken, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    #[doc(alias = "rwsem_try_read_lock_unqueued")]
    fn try_read_unqueued(self) -> bool {
        let count = &self.sem.count;
        // ordering: Relaxed; only a hint, re-checked at the addition.
        if count.load(Relaxed) & (WRITER | HANDOFF) != 0 {
            return false;
        }
        let reader = Format::Bits.reader();
        // (0,w,0,r) -> (0,w,0,r+1)
        // ordering: Acquire; R1.
        let before = count.fetch_add(reader, Acquire);
        if before & (WRITER | HANDOFF) != 0 {
            // (w,h,r+1) -> (w,h,r)
            // ordering: Relaxed; nothing was read in between.
            self.wake_first_waiter(count.fetch_sub(reader, Relaxed).wrapping_sub(reader));
            return false;
        }
        self.own_as_reader();
        P::count(Event::rwsem_opt_rlock);
        true
    }

    /// Wakes the first waiter if the lock is free and has the handoff bit, for a reader that goes on spinning. Its
    /// attempt is no longer in the count, which is `left`. If the last reader saw that attempt, it has woken no thread.
    /// Other spinners take a free lock, but not one with that bit. Linux 5.10 does without this.
    fn wake_first_waiter(self, left: u64) {
        if self.policy.withdrawing_wakes && left & (HELD_MASK | HANDOFF) == HANDOFF {
            self.wake_after_release(left);
        }
    }

    /// Spins as a reader, which is in the count, if it may. `entry` is the owner word when the reader came.
    #[doc(alias = "rwsem_reader_phase_trylock")]
    pub(super) fn spin_to_read(self, id: NodeId, entry: u64, until: Until<'_, P>) -> Spun {
        if self.keeps_readers_from_spinning() || !self.is_the_one_reader() {
            P::count(Event::rwsem_opt_fail);
            return Spun::NotAtAll;
        }
        let reader = Format::Bits.reader();
        // (w,h,r) -> (w,h,r-1)
        // ordering: Relaxed; nothing was read in between.
        self.wake_first_waiter(self.sem.count.fetch_sub(reader, Relaxed).wrapping_sub(reader));
        let is_ours = self.spin(id, HoldMode::Reader, RD, until);
        if self.policy.reader_spin == ReaderSpin::One {
            // ordering: Relaxed; nothing is read through it.
            self.sem.flag.store(0, Relaxed);
        }
        if is_ours {
            // ordering: Relaxed; a thread that sets it now looks for readers itself.
            if self.sem.count.load(Relaxed) & WAITERS != 0 {
                self.wake_readers();
            }
            return Spun::Taken;
        }
        // It had no success, but other readers may have got the lock meanwhile. This came with the two flags.
        let word = self.owner();
        let is_another = word & READERS != 0 && thread_in(word) != thread_in(entry);
        let may_join = self.policy.owner == OwnerWord::TwoFlags && is_another;
        if may_join && self.try_read_unqueued() {
            P::count(Event::rwsem_opt_rlock2);
            return Spun::Taken;
        }
        P::count(Event::rwsem_opt_fail);
        Spun::InVain
    }

    /// Returns `true` if this reader is the one that spins, or if the policy does not limit spinning to one reader.
    fn is_the_one_reader(self) -> bool {
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: the failure value is not used.
        self.policy.reader_spin != ReaderSpin::One
            || self.sem.flag.compare_exchange(0, 1, Relaxed, Relaxed).is_ok()
    }

    /// Looks for a moment, as a waiter that is about to sleep, if it need not. Does so under a policy that says so, and
    /// where the platform does not know which threads run.
    pub(super) fn look_before_sleep(self, id: NodeId) {
        if P::KNOWS_WHO_RUNS || !self.policy.looks_before_sleep {
            return;
        }
        let grant = &waiter::<P>(id).grant;
        let mut patience = Patience::<P>::long();
        // ordering: Relaxed; only a hint, looked at again.
        let _ = grant.cond_load_bounded(
            Relaxed,
            UNTIL_OVER,
            |seen| seen != super::ASLEEP,
            || patience.pause(),
        );
    }
}
