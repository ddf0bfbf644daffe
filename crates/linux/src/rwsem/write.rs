//! The slow path of a writer that could not go on at once.

use super::count::{self, HANDOFF, HELD_MASK, READERS_MASK, WAITERS, WRITER};
use super::list::{Site, WaitListGuard};
use super::object::{ASLEEP, Slow};
use super::owner::Owner;
use super::policy::{Format, Handoff, OwnerWord, UnlockWake, WakesIssued, WriterSpin};
use super::spin::Over;
use super::until::Until;
use super::wake::{Wake, WakeQueue};
use crate::events::Event;
use crate::park::{HoldMode, ParkPlatform, waiter};
use crate::platform::{Atomic, AtomicInt};
use crate::queue::NodeId;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// A writer in the list.
struct Waiting {
    id: NodeId,
    due_ns: u64,
    /// It has seen itself at the head of the list.
    is_first: bool,
    /// It wants the handoff.
    wants_handoff: bool,
    /// It was woken.
    is_awake: bool,
    /// The count that it has read before it asked for `wait_lock`. Until 2019 it tries with that one.
    seen: u64,
}

impl<P: ParkPlatform> Slow<'_, P> {
    /// Takes the lock after the first attempt has failed. Returns `true` if it got the lock.
    #[cold]
    #[doc(alias = "rwsem_down_write_slowpath")]
    pub(super) fn write_slowpath(self, until: Until<'_, P>) -> bool {
        let spins = self.policy.writer_spin != WriterSpin::No;
        let tries = self.policy.tries_first && !self.sem.spinners.is_locked();
        if tries && self.try_write_unqueued() {
            self.own();
            return true;
        }
        if until.is_over() {
            return self.write_unqueued(until);
        }
        let Some(id) = P::claim_node() else {
            return self.write_unqueued(until);
        };
        if spins {
            self.take_attempt_back();
        }
        let is_ours = spins && self.spin_to_write(id, until) || self.queue_to_write(id, until);
        // SAFETY: claimed above. It is in no queue and no list, and a thread that wakes it by its number
        // touches nothing of it.
        unsafe { P::release_node(id) };
        is_ours
    }

    /// Takes the first attempt out of the count, where it still is in the biased form.
    fn take_attempt_back(self) {
        if let format @ Format::Biased(_) = self.policy.format {
            // n -> n-WRITE
            // ordering: Relaxed; nothing was read in between.
            self.sem.count.fetch_sub(format.writer(), Relaxed);
        }
    }

    /// Queues and waits. Returns `true` if it got the lock.
    fn queue_to_write(self, id: NodeId, until: Until<'_, P>) -> bool {
        // If this writer should not have spun, readers that come after it should not spin either.
        let flags = self.policy.owner.all_flags();
        let forbids = self.policy.owner == OwnerWord::TwoFlags && self.owner() & flags != 0;
        if self.policy.unlock_wake == UnlockWake::UnlessSpinner {
            // ordering: full barrier; R6.
            P::full_barrier(&self.sem.count);
        }
        let list = self.lock_wait_list(Site::Write);
        let was_empty = list.is_empty();
        let due_ns = self.due_ns(HoldMode::Writer);
        // ordering: Relaxed; published by `wait_lock`.
        waiter::<P>(id).grant.store(ASLEEP, Relaxed);
        list.push(id, HoldMode::Writer, due_ns);
        until.begin(id);
        let seen = self.count_writer_as_waiting(was_empty);
        let list = self.wake_as_queueing_writer(list, seen, was_empty);
        let me = Waiting {
            id,
            due_ns,
            is_first: was_empty,
            wants_handoff: false,
            is_awake: false,
            seen,
        };
        let is_ours = self.wait_to_own(list, me, forbids, until);
        until.end(id);
        P::count(if is_ours { Event::rwsem_wlock } else { Event::rwsem_wlock_fail });
        is_ours
    }

    /// Says in the count that threads wait, if this writer is the first. In the biased form, takes an attempt that is
    /// still in the count out of it. Returns the count after that.
    fn count_writer_as_waiting(self, was_empty: bool) -> u64 {
        let count = &self.sem.count;
        let change = match self.policy.format {
            Format::Bits if was_empty => WAITERS,
            Format::Bits => 0,
            format @ Format::Biased(_) => {
                let list = if was_empty { format.waiters() } else { 0 };
                let is_counted = self.policy.writer_spin == WriterSpin::No;
                if is_counted { list.wrapping_sub(format.writer()) } else { list }
            }
        };
        if change == 0 {
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            return count.load(Relaxed);
        }
        // (*,0,*) -> (*,1,*), or n -> n-WRITE or n-WRITE+WAITING or n+WAITING
        // ordering: Relaxed; nothing is read through it: a release that does not see the first waiter finds none, and
        // asks for `wait_lock`. The attempt that succeeds acquires for itself.
        count.fetch_add(change, Relaxed).wrapping_add(change)
    }

    /// Wakes the waiters in front of a writer that joins the queue. An earlier thread may have skipped their wake-up in
    /// its favour.
    #[doc(alias = "rwsem_cond_wake_waiter")]
    fn wake_as_queueing_writer<'s>(
        self,
        list: WaitListGuard<'s, P>,
        seen: u64,
        was_empty: bool,
    ) -> WaitListGuard<'s, P>
    where
        Self: 's,
    {
        let is_free = self.policy.format == Format::Bits && seen & HELD_MASK == 0;
        let wake = match (self.is_readers(seen), is_free && self.policy.queuer_wakes) {
            _ if was_empty => return list,
            (true, _) => Wake::Readers,
            (false, true) => Wake::Any,
            (false, false) => return list,
        };
        if is_free && self.policy.queuer_allows_spinning() {
            self.allow_spinning();
        }
        let mut queue = WakeQueue::new();
        self.mark(&list, wake, false, &mut queue);
        if queue.is_empty() || self.policy.wakes != WakesIssued::After {
            queue.flush();
            return list;
        }
        let slow = list.0;
        drop(list);
        queue.flush();
        slow.lock_wait_list(Site::Write)
    }

    /// Tries and sleeps alternately. Returns `true` if it got the lock.
    fn wait_to_own(
        self,
        list: WaitListGuard<'_, P>,
        mut me: Waiting,
        forbids: bool,
        until: Until<'_, P>,
    ) -> bool {
        let mut list = Some(list);
        let mut over = Over::new(until);
        loop {
            let held = list.take().unwrap_or_else(|| self.lock_wait_list(Site::Write));
            if self.try_queued(&held, &mut me) {
                self.own();
                if forbids {
                    self.forbid_reader_spinning();
                }
                return true;
            }
            // Until 5.15 it does not look if its wait is over.
            let goes_on = self.policy.looks_when_woken() || !until.is_over();
            let spins = goes_on && self.spins_for_handoff(&held, &me);
            drop(held);
            if spins && self.policy.handoff == Handoff::OnceAwake {
                if self.await_free(&mut over) {
                    continue;
                }
            } else if spins && self.spin_on_owner_for_handoff(&mut over) == Owner::Nobody {
                P::delay(1);
                if !over.has_run_out() {
                    continue;
                }
            }
            if !self.sleep_to_own(&mut me, until) {
                let asks_alone = me.wants_handoff && self.policy.handoff.is_by_first();
                self.leave(self.lock_wait_list(Site::Write), me.id, asks_alone);
                return false;
            }
            over = Over::new(until);
        }
    }

    /// Returns `true` if the handoff is for this writer, which then stays awake and waits for the owner.
    fn spins_for_handoff(self, list: &WaitListGuard<'_, P>, me: &Waiting) -> bool {
        match self.policy.handoff {
            Handoff::Never | Handoff::Posted | Handoff::ByFirst => false,
            Handoff::ByFirstSpinning => me.wants_handoff,
            _ => list.has_handoff(me.id),
        }
    }

    /// Sleeps until another attempt is worth its while. Returns `false` if the wait is over.
    fn sleep_to_own(self, me: &mut Waiting, until: Until<'_, P>) -> bool {
        loop {
            if until.is_over() {
                return false;
            }
            self.look_before_sleep(me.id);
            P::count(Event::rwsem_sleep_writer);
            self.sleep(me.id, until);
            // ordering: Acquire; R4.
            waiter::<P>(me.id).grant.swap(ASLEEP, Acquire);
            me.is_awake = true;
            if self.policy.unlock_wake == UnlockWake::UnlessWoken {
                // ordering: full barrier; R8.
                P::full_barrier(&self.sem.count);
            }
            if !self.policy.looks_when_woken() || self.is_worth_a_try(me) {
                return true;
            }
        }
    }

    /// Looks at the count without `wait_lock`. Returns `true` if another attempt is worth its while. May also ask
    /// for the handoff.
    fn is_worth_a_try(self, me: &mut Waiting) -> bool {
        if me.wants_handoff {
            return true;
        }
        me.is_first = me.is_first || self.first() == Some(me.id);
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange. The thread that woke this one has changed
        // it before, R4.
        me.seen = self.sem.count.load(Relaxed);
        if !self.policy.format.is_held(me.seen) {
            return true;
        }
        if !me.is_first || P::now_ns() < me.due_ns {
            return false;
        }
        match self.policy.handoff {
            Handoff::ByFirst | Handoff::ByFirstSpinning => {
                me.wants_handoff = true;
                P::count(Event::rwsem_wlock_handoff);
                true
            }
            Handoff::Posted if me.seen & HANDOFF == 0 => {
                P::count(Event::rwsem_wlock_handoff);
                // (*,1,0,*) -> (*,1,1,*)
                // ordering: Relaxed; nothing is read through it.
                me.seen = self.sem.count.fetch_or(HANDOFF, Relaxed) | HANDOFF;
                self.policy.rechecks_after_handoff() && me.seen & HELD_MASK == 0
            }
            _ => false,
        }
    }

    /// Makes an attempt of a writer in the list, with `wait_lock` held. If it succeeds, the writer leaves the
    /// list.
    fn try_queued(self, list: &WaitListGuard<'_, P>, me: &mut Waiting) -> bool {
        let is_ours = match self.policy.format {
            Format::Bits => self.try_queued_in_bits(list, me),
            format @ Format::Biased(_) => self.try_queued_in_bias(list, me, format),
        };
        if is_ours {
            list.remove(me.id);
        }
        is_ours
    }

    fn try_queued_in_bias(
        self,
        list: &WaitListGuard<'_, P>,
        me: &mut Waiting,
        format: Format,
    ) -> bool {
        if format.is_held(me.seen) {
            return false;
        }
        let waiting = format.waiters();
        let others = if list.is_alone(me.id) { 0 } else { waiting };
        // The patches of 2013 changed the count in two steps.
        let (at_once, later) = match self.policy.writer_spin {
            WriterSpin::PerTurn => (0, others),
            _ => (others, 0),
        };
        let mine = format.writer().wrapping_add(at_once);
        // WAITING -> WRITE, or WAITING+WRITE
        // ordering: Acquire; R1, R2. On failure Relaxed: the failure value is not used.
        let is_ours = self.sem.count.compare_exchange(waiting, mine, Acquire, Relaxed).is_ok();
        if is_ours && later != 0 {
            // n -> n+WAITING
            // ordering: Relaxed; nothing is read through it.
            self.sem.count.fetch_add(later, Relaxed);
        }
        is_ours
    }

    #[doc(alias = "rwsem_try_write_lock")]
    fn try_queued_in_bits(self, list: &WaitListGuard<'_, P>, me: &mut Waiting) -> bool {
        let handoff = self.policy.handoff;
        if !self.policy.looks_when_woken() {
            me.is_first = list.first() == Some(me.id);
        }
        let tries_once = self.policy.tries_with_earlier_count();
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = if tries_once { me.seen } else { self.sem.count.load(Relaxed) };
        loop {
            let has_handoff = seen & HANDOFF != 0;
            if has_handoff && !me.is_first && self.yields_to_first(list) {
                return false;
            }
            if has_handoff && me.is_first && handoff.is_inherited() {
                list.set_handoff(me.id);
            }
            let is_held = seen & HELD_MASK != 0;
            if is_held && (has_handoff || !self.asks_for_handoff(list, me)) {
                return false;
            }
            let new = match is_held {
                true => seen | HANDOFF,
                false if list.is_alone(me.id) => (seen | WRITER) & !(HANDOFF | WAITERS),
                false => (seen | WRITER) & !HANDOFF,
            };
            // (0,1,*,0) -> (1,*,0,0), or (*,1,0,*) -> (*,1,1,*)
            // ordering: Acquire; R1, R2. On failure Relaxed: only a hint, as above.
            match self.sem.count.compare_exchange(seen, new, Acquire, Relaxed) {
                Ok(_) if is_held => {
                    self.note_handoff(list, me.id);
                    return false;
                }
                Ok(_) => return true,
                Err(_) if tries_once => return false,
                Err(now) => seen = now,
            }
        }
    }

    /// Returns `true` if the handoff bit keeps a waiter that is not the first from a free lock.
    fn yields_to_first(self, list: &WaitListGuard<'_, P>) -> bool {
        // Any waiter may use a bit that is left of a waiter that gave up.
        !self.policy.handoff.binds_if_asked_by_first()
            || list.first().is_some_and(|first| list.has_handoff(first))
    }

    /// Returns `true` if this writer, which finds the lock held, asks for the handoff.
    fn asks_for_handoff(self, list: &WaitListGuard<'_, P>, me: &Waiting) -> bool {
        match self.policy.handoff {
            Handoff::Posted | Handoff::Never => false,
            Handoff::ByFirst | Handoff::ByFirstSpinning => me.wants_handoff,
            Handoff::BySetter | Handoff::BySetterUnlessLeft | Handoff::ByAny => list.is_due(me.id),
            Handoff::OnceAwake => me.is_awake && me.is_first || list.is_due(me.id),
        }
    }

    /// Notes that writer `me` has set the handoff bit, and for which waiter.
    fn note_handoff(self, list: &WaitListGuard<'_, P>, me: NodeId) {
        if self.policy.handoff.is_by_first() {
            return;
        }
        let is_own = self.policy.handoff.is_inherited();
        if let Some(gets_it) = if is_own { Some(me) } else { list.first() } {
            list.set_handoff(gets_it);
        }
        P::count(Event::rwsem_wlock_handoff);
    }

    /// Tries again and again, because there is no node to wait with, or no time.
    #[cold]
    fn write_unqueued(self, until: Until<'_, P>) -> bool {
        if let format @ Format::Biased(_) = self.policy.format {
            let write = format.writer();
            // n -> n-WRITE
            // ordering: Relaxed; nothing was read in between.
            let left = self.sem.count.fetch_sub(write, Relaxed).wrapping_sub(write);
            if count::is_negative(left) && !format.is_held(left) {
                self.wake_after_release(left);
            }
        }
        loop {
            let is_ours = match self.policy.format {
                Format::Biased(_) => self.try_write_biased(),
                Format::Bits => self.try_write_unqueued(),
            };
            if is_ours {
                self.own();
                return true;
            }
            if until.is_over() {
                return false;
            }
            self.nap(until);
        }
    }

    /// Makes an attempt of a writer, in bits, that overtakes the waiters. Returns `true` if it got the lock.
    #[doc(alias = "rwsem_try_write_lock_unqueued")]
    pub(super) fn try_write_unqueued(self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.sem.count.load(Relaxed);
        while seen & (WRITER | READERS_MASK | HANDOFF) == 0 {
            // (0,*,0,0) -> (1,*,0,0)
            // ordering: Acquire; R1, R2. On failure Relaxed: only a hint, as above.
            match self.sem.count.compare_exchange(seen, seen | WRITER, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }
}
