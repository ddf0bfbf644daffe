//! The slow path of a reader that could not go on at once.

use super::count::{self, GUARD, HANDOFF, HELD_MASK, WAITERS, WRITER};
use super::list::{Site, WaitListGuard};
use super::object::{ASLEEP, GRANTED, NUDGED, Slow};
use super::owner::{Owner, RD, READERS};
use super::policy::{Format, Handoff, OwnerWord, ReaderSpin, ReaderSteal, UnlockWake};
use super::spin::Spun;
use super::until::Until;
use super::wake::{Wake, WakeQueue};
use crate::events::Event;
use crate::park::{HoldMode, ParkPlatform, waiter};
use crate::platform::{Atomic, AtomicInt};
use crate::queue::NodeId;
use crate::tunables::Tunable;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

impl<P: ParkPlatform> Slow<'_, P> {
    /// Takes the lock for a reader that is in the count and must not go on. `seen` is the count with that reader in it.
    /// Returns `true` if it got the lock.
    #[cold]
    #[doc(alias = "rwsem_down_read_slowpath")]
    pub(super) fn read_slowpath(self, seen: u64, until: Until<'_, P>) -> bool {
        if seen & GUARD != 0 && self.policy.format == Format::Bits {
            self.forbid_spinning();
        }
        // The owner before, for spinners.
        let entry = match self.owner() {
            word if word & READERS != 0 => word,
            word => word & RD,
        };
        let joins = self.policy.joins_queue && self.sees_many_readers(seen);
        if !joins && self.may_steal(seen) {
            self.own_as_reader();
            P::count(Event::rwsem_rlock_steal);
            // Behind a writer that was woken, there is no reader to take along.
            let may_wake =
                self.policy.unlock_wake != UnlockWake::UnlessWoken || !self.is_first_woken();
            if count::readers_in(seen) == 1 && seen & WAITERS != 0 && may_wake {
                self.wake_readers();
            }
            return true;
        }
        if until.is_over() {
            return self.read_unqueued(until);
        }
        let Some(id) = P::claim_node() else {
            return self.read_unqueued(until);
        };
        let spun = match self.policy.reader_spin != ReaderSpin::No && !joins {
            true => self.spin_to_read(id, entry, until),
            false => Spun::NotAtAll,
        };
        let is_ours = spun == Spun::Taken || self.queue_to_read(id, spun, entry, until);
        // SAFETY: claimed above. It is in no queue and no list, and a thread that wakes it by its number
        // touches nothing of it.
        unsafe { P::release_node(id) };
        is_ours
    }

    /// Returns `true` if more than one reader owns the lock. Then waiters may depend on the end of these readers.
    fn sees_many_readers(self, seen: u64) -> bool {
        self.owner() & READERS != 0 && count::readers_in(seen) > 1 && seen & WRITER == 0
    }

    #[doc(alias = "rwsem_no_spinners")]
    fn may_steal(self, seen: u64) -> bool {
        let may = match self.policy.reader_steal {
            ReaderSteal::No => false,
            ReaderSteal::UnlessSpinners => !self.sem.spinners.is_locked(),
            ReaderSteal::Yes => true,
        };
        may && seen & (WRITER | HANDOFF | GUARD) == 0
    }

    /// Queues and waits. Returns `true` if it got the lock.
    fn queue_to_read(self, id: NodeId, spun: Spun, entry: u64, until: Until<'_, P>) -> bool {
        let is_counted = spun == Spun::NotAtAll;
        let list = self.lock_wait_list(Site::Read);
        let was_empty = list.is_empty();
        if was_empty && is_counted && self.policy.enters_if_alone && self.is_mine_at_once() {
            drop(list);
            self.own_as_reader();
            P::count(Event::rwsem_rlock_fast);
            return true;
        }
        // ordering: Relaxed; published by `wait_lock`.
        waiter::<P>(id).grant.store(ASLEEP, Relaxed);
        list.push(id, HoldMode::Reader, self.due_ns(HoldMode::Reader));
        if self.policy.owner == OwnerWord::TwoFlags && entry & RD != 0 {
            list.set_found_rd(id);
        }
        until.begin(id);
        let count = self.count_as_waiting(was_empty, is_counted);
        let mut queue = WakeQueue::new();
        self.wake_as_queueing_reader(&list, count, was_empty, &mut queue);
        drop(list);
        queue.flush();
        let is_ours = self.await_grant(id, until);
        until.end(id);
        if is_ours {
            P::count(Event::rwsem_rlock);
        } else {
            P::count(Event::rwsem_rlock_fail);
        }
        is_ours
    }

    /// Returns the time at which a waiter that comes now will have waited long enough, in nanoseconds. Urgency counts
    /// for writers, since 2019.
    pub(super) fn due_ns(self, kind: HoldMode) -> u64 {
        let patience_ns = match self.policy.handoff {
            Handoff::Never => return u64::MAX,
            handoff if handoff != Handoff::Posted && kind == HoldMode::Writer && P::is_urgent() => {
                0
            }
            _ => P::tunable(Tunable::rwsem_handoff_ns).unwrap_or(self.policy.patience_ns()),
        };
        P::now_ns().saturating_add(patience_ns)
    }

    /// Returns `true` if no writer is there. For a reader that is in the count, while no thread waits.
    fn is_mine_at_once(self) -> bool {
        // ordering: Acquire; R1: the writer that kept it out may have released since.
        let seen = self.sem.count.load(Acquire);
        seen & (WRITER | HANDOFF | GUARD) == 0
    }

    /// Takes the reader out of the count, if it is in it. Says in the count that threads wait, if this reader is the
    /// first waiter. Returns the count after that.
    fn count_as_waiting(self, was_empty: bool, is_counted: bool) -> u64 {
        let format = self.policy.format;
        let list = if was_empty { format.waiters() } else { 0 };
        let change = if is_counted { list.wrapping_sub(format.reader()) } else { list };
        // (w,*,r) -> (w,1,r-1), or n -> n-1 or n-1+WAITING
        // ordering: Relaxed; nothing is read through it: a release that does not see the first waiter finds none, and
        // asks for `wait_lock`. A grant acquires for itself.
        self.sem.count.fetch_add(change, Relaxed).wrapping_add(change)
    }

    /// Wakes waiters on behalf of a reader that queues. It may have kept a release from waking, because it was in the
    /// count.
    #[doc(alias = "rwsem_cond_wake_waiter")]
    fn wake_as_queueing_reader(
        self,
        list: &WaitListGuard<'_, P>,
        count: u64,
        was_first: bool,
        queue: &mut WakeQueue<P>,
    ) {
        // The first waiter is this reader, or the readers in front of it should go on with the readers that hold the
        // lock.
        let joins = was_first || self.policy.reader_wakes_readers;
        let wake = match self.policy.format {
            Format::Bits if count & HELD_MASK == 0 => {
                if self.policy.has_flags() {
                    self.allow_spinning();
                }
                Wake::Any
            }
            Format::Bits if count & WRITER == 0 && joins => Wake::Readers,
            format @ Format::Biased(_) if count == format.waiters() => Wake::Any,
            format @ Format::Biased(_) if format.is_above_waiting(count) && joins => Wake::Readers,
            _ => return,
        };
        self.mark(list, wake, false, queue);
    }

    /// Sleeps until it is granted the lock. Returns `false` if the wait is over before.
    fn await_grant(self, id: NodeId, until: Until<'_, P>) -> bool {
        let grant = &waiter::<P>(id).grant;
        loop {
            self.look_before_sleep(id);
            // ordering: Acquire; R3, R4.
            let seen = grant.fetch_and(!NUDGED, Acquire);
            if seen & GRANTED != 0 {
                return true;
            }
            if until.is_over() {
                let list = self.lock_wait_list(Site::Read);
                if list.is_queued(id) {
                    self.leave(list, id, false);
                    return false;
                }
                // It was granted meanwhile, under `wait_lock`, which orders what the grant carries.
                return true;
            }
            P::count(Event::rwsem_sleep_reader);
            self.sleep(id, until);
        }
    }

    /// Takes the reader out of the count and tries again and again, because there is no node to wait with, or no time.
    #[cold]
    fn read_unqueued(self, until: Until<'_, P>) -> bool {
        let format = self.policy.format;
        let one = format.reader();
        // (w,h,r) -> (w,h,r-1), or n -> n-1
        // ordering: Relaxed; nothing was read in between.
        let left = self.sem.count.fetch_sub(one, Relaxed).wrapping_sub(one);
        let has_waiters = match format {
            Format::Bits => left & WAITERS != 0,
            Format::Biased(_) => count::is_negative(left),
        };
        if has_waiters && !format.is_held(left) {
            self.wake_after_release(left);
        }
        while !self.try_read() {
            if until.is_over() {
                return false;
            }
            self.nap(until);
        }
        self.own_as_reader();
        true
    }

    /// Returns `true` if a reader should not spin, because the owner word says so or another thread wants its CPU.
    pub(super) fn keeps_readers_from_spinning(self) -> bool {
        let word = self.owner();
        P::need_resched()
            || match self.policy.owner.says(word, RD) {
                Owner::NotSpinnable => true,
                owner => self.is_off_cpu(owner, word),
            }
    }
}
