#![doc = include_str!("README.md")]

mod form;
mod watch;

pub use form::{AcquireError, Form, Guest6_19, InPrograms, Linux6_15, Linux6_19, Unmaskable};
pub use watch::AcquireLimits;

use super::queue::join;
use super::timed::{has_left_node, wait_for_grant};
use super::{Fifo, Grant, QSpinlock, Spin, Succession, Waiting, Word};
use crate::events::Event;
use crate::held::HeldTable;
use crate::platform::{Atomic, Cells, ConstCells, HeldLocks, LockHash};
use crate::queue::{NodeId, QNode, QueuePlatform, count_nesting};
use crate::raw::{Order, RawLock};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;
use watch::Watch;

/// A platform for locks that know which locks a thread holds.
pub trait HolderPlatform: QueuePlatform + LockHash + HeldLocks<Table = HeldTable<Self>> {}
impl<P: QueuePlatform + LockHash + HeldLocks<Table = HeldTable<P>>> HolderPlatform for P {}

/// The resilient queued spinlock, in the form `F`.
#[repr(transparent)]
pub struct RawResilientSpinLock<P: Cells, F = Linux6_15>(QSpinlock<P>, PhantomData<fn() -> F>);

impl<P: ConstCells, F> RawResilientSpinLock<P, F> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self(QSpinlock::INIT, PhantomData);
}

/// The number of critical sections that a waiter has ahead: that of the owner.
const OWNER: u64 = 1;
/// As [`OWNER`], but for the head of the queue: those of the owner and of the pending waiter.
const OWNER_AND_PENDING: u64 = 2;
/// As [`OWNER`], but for a waiter in a guest, where no order bounds the number: 1 s with the kernel's limits.
const IN_GUEST: u64 = 4;

impl<P: HolderPlatform, F: Form> RawResilientSpinLock<P, F> {
    /// Takes the lock within `limits`.
    ///
    /// # Errors
    /// An error says why the lock is not taken.
    #[doc(alias = "raw_res_spin_lock")]
    #[doc(alias = "res_spin_lock")]
    #[inline]
    pub fn acquire(&self, limits: AcquireLimits) -> Result<(), AcquireError> {
        if F::COVERS_LOCK {
            self.enter();
        }
        let taken = self.0.take_free();
        if taken.is_ok() && !F::COVERS_LOCK {
            self.enter();
        }
        taken.or_else(|seen| self.acquire_slowly(seen, limits))
    }

    /// Returns the number of the table of a thread that seems to hold the lock, and the name of the lock for which that
    /// thread seems to wait. For messages.
    pub fn suspect(&self) -> Option<(usize, Option<u64>)> {
        let name = self.name();
        let mut tables = (0..P::held_tables()).filter_map(|at| Some((at, table_at::<P>(at)?)));
        let (at, table) = tables.find(|(_, table)| table.seems_to_hold(name))?;
        Some((at, table.seems_to_wait_for()))
    }

    /// Returns the name of the lock in tables.
    fn name(&self) -> u64 {
        P::lock_name(core::ptr::from_ref(self.0.word()).cast())
    }

    /// Adds the lock to the caller's table. A handler that interrupts the caller from now on finds it there.
    #[doc(alias = "grab_held_lock_entry")]
    #[inline]
    fn enter(&self) {
        if let Some(held) = own_table::<P>() {
            held.push(self.name());
        }
        form::keep_in_order();
    }
    /// Takes the lock out of the caller's table after a failed attempt.
    #[doc(alias = "release_held_lock_entry")]
    #[inline]
    fn withdraw(&self) {
        if let Some(held) = own_table::<P>() {
            held.pop(self.name());
        }
    }

    /// Does everything but the first attempt.
    #[doc(alias = "resilient_queued_spin_lock_slowpath")]
    #[cold]
    fn acquire_slowly(&self, seen: Word, limits: AcquireLimits) -> Result<(), AcquireError> {
        let (held, name) = (own_table::<P>(), self.name());
        let marked = held.filter(|_| F::MARKS_WAITERS);
        if let Some(held) = marked {
            held.waits_for_last(name);
        }
        let outcome = self.wait(seen, &mut Watch::new(self.0.word(), held, name, limits));
        match (&outcome, marked) {
            (Err(_), _) => self.withdraw(),
            (Ok(()), Some(held)) => held.taken(name),
            (Ok(()), None) => {}
        }
        outcome
    }

    fn wait(&self, seen: Word, watch: &mut Watch<'_, P, F>) -> Result<(), AcquireError> {
        if F::IN_GUEST {
            return self.wait_in_guest(watch);
        }
        if watch.is_late() {
            self.enter_to_wait();
            return watch.ask_own_table().and(Err(AcquireError::TimedOut));
        }
        if P::has_forked() {
            self.0.bury_orphans();
        } else if let Some(seen) = self.0.become_pending(seen) {
            return self.wait_as_pending(seen, watch);
        }
        if F::ASKS_AT_ONCE {
            watch.ask_own_table()?;
        }
        P::count(Event::lock_slowpath);
        self.enter_to_wait();
        let has_left = watch.may_leave() && has_left_node::<P>();
        let id = if has_left { None } else { P::claim_node() };
        let outcome = match id {
            Some(id) if Self::may_queue(id) => self.wait_in_queue(id, watch),
            _ => Some(self.compete(watch)),
        };
        match (id, outcome) {
            (Some(id), None) => P::leave_node(id),
            // SAFETY: claimed above, and no thread reaches it now, as in `lock_queue`.
            (Some(id), Some(_)) => unsafe { P::release_node(id) },
            (None, _) => {}
        }
        outcome.unwrap_or_else(|| Self::give_up(AcquireError::TimedOut))
    }

    /// Adds the lock to the caller's table before it waits, unless that is done.
    fn enter_to_wait(&self) {
        if !F::COVERS_LOCK {
            self.enter();
        }
    }

    /// Returns `true` if the caller may queue with this node.
    fn may_queue(id: NodeId) -> bool {
        let may_unmaskable = match F::UNMASKABLE {
            Unmaskable::Queues => true,
            Unmaskable::Competes => false,
            Unmaskable::QueuesFirst => P::nesting_of(id) == 0,
        };
        may_unmaskable || !P::is_unmaskable()
    }

    /// Counts a waiter that fails.
    fn give_up(failure: AcquireError) -> Result<(), AcquireError> {
        P::count(Event::rqspinlock_lock_timeout);
        Err(failure)
    }

    /// Waits as the pending waiter, which has found `seen`, and takes the lock.
    fn wait_as_pending(&self, seen: Word, watch: &mut Watch<'_, P, F>) -> Result<(), AcquireError> {
        self.enter_to_wait();
        if seen.is_locked() {
            // (*,1,1) -> (*,1,0) by the owner
            if let Err(failure) = watch.wait(OWNER, |word| !word.is_locked()) {
                self.0.withdraw_pending();
                return Self::give_up(failure);
            }
        }
        self.0.take_as_pending();
        Ok(())
    }

    /// Competes for the lock without a place in the queue.
    #[cold]
    fn compete(&self, watch: &mut Watch<'_, P, F>) -> Result<(), AcquireError> {
        P::count(Event::lock_no_node);
        while !self.0.try_lock() {
            if F::TRIES_ONCE {
                return Err(AcquireError::Deadlock);
            }
            if let Err(failure) = watch.wait(OWNER, <QSpinlock<P>>::may_be_taken) {
                return Self::give_up(failure);
            }
        }
        Ok(())
    }

    /// Competes for the lock in a guest, where no waiter has a place.
    #[doc(alias = "resilient_tas_spin_lock")]
    fn wait_in_guest(&self, watch: &mut Watch<'_, P, F>) -> Result<(), AcquireError> {
        loop {
            watch.wait(IN_GUEST, <QSpinlock<P>>::may_be_taken)?;
            if self.0.take_free().is_ok() {
                return Ok(());
            }
        }
    }

    /// Queues with node `id`. Returns `None` if the time is over and the node stays in the queue.
    fn wait_in_queue(
        &self,
        id: NodeId,
        watch: &mut Watch<'_, P, F>,
    ) -> Option<Result<(), AcquireError>> {
        let id = if watch.may_leave() { id.that_may_leave() } else { id };
        count_nesting::<P>(id);
        let me = <QSpinlock<P>>::prepare(id);
        if self.0.try_lock() {
            return Some(Ok(()));
        }
        let granted = match join::<P>(self.0.word(), id) {
            Some(_) if id.may_leave() => wait_for_grant(me, watch.deadline_ns())?,
            Some(prev) => Spin::wait_node(me, prev),
            None => Grant::PLAIN,
        };
        if granted == Grant::DISSOLVES {
            return Some(self.dissolve(id, me, F::DISSOLVED));
        }
        Some(match watch.wait(OWNER_AND_PENDING, Word::is_free_for_head) {
            Ok(seen) => {
                self.0.take(id, me, seen, ());
                Ok(())
            }
            Err(failure) if failure == AcquireError::TimedOut || F::DEADLOCK_DISSOLVES => {
                self.dissolve(id, me, failure)
            }
            Err(failure) => {
                self.step_aside(id, me);
                Err(failure)
            }
        })
    }

    /// Takes the lock after an attempt has failed. It does not queue: if the waiters of a queue that dissolves came
    /// back at once, they would be behind each other, and would dissolve the queue for ever.
    #[cold]
    fn acquire_after_all(&self) {
        while !self.try_lock() {
            let may_be_taken = |bits| <QSpinlock<P>>::may_be_taken(Word::from_bits(bits));
            // ordering: Relaxed; only a hint, re-checked by `try_lock`.
            self.0.word().cond_load(Relaxed, may_be_taken);
        }
    }

    /// Leaves the queue as its head, and makes the waiters behind leave it in turn.
    #[cold]
    fn dissolve(
        &self,
        id: NodeId,
        me: &QNode<P>,
        failure: AcquireError,
    ) -> Result<(), AcquireError> {
        if let Some(grant) = self.0.leave_as_head(id, me, ()) {
            self.0.deliver(grant.after(Grant::DISSOLVES));
        }
        Self::give_up(failure)
    }

    /// Makes the next waiter the head of the queue, and leaves it. Waits until there is one, also if none ever comes.
    #[cold]
    fn step_aside(&self, id: NodeId, me: &QNode<P>) {
        <Spin as Waiting<P>>::wait_for_link(me);
        self.0.deliver(<Fifo as Succession<P>>::choose(id, me, ()));
    }
}

impl<P: HolderPlatform, F: Form> RawLock for RawResilientSpinLock<P, F> {
    const ORDER: Order =
        if F::IN_GUEST { Order::None } else { <QSpinlock<P, Fifo, Spin> as RawLock>::ORDER };

    fn new() -> Self {
        Self(QSpinlock::new(), PhantomData)
    }
    /// Makes an attempt with the kernel's limits. If that fails, waits for as long as it takes, without a place in the
    /// queue.
    #[inline]
    fn lock(&self) {
        if self.acquire(AcquireLimits::KERNEL).is_err() {
            self.acquire_after_all();
        }
    }
    /// Makes an attempt without a wait, which the kernel's lock does not have.
    #[inline]
    fn try_lock(&self) -> bool {
        if F::MARKS_WAITERS {
            self.enter();
        }
        let is_ours = self.0.try_lock();
        match is_ours {
            true if !F::MARKS_WAITERS => self.enter(),
            false if F::MARKS_WAITERS => self.withdraw(),
            _ => {}
        }
        is_ours
    }
    #[doc(alias = "raw_res_spin_unlock")]
    #[doc(alias = "res_spin_unlock")]
    #[inline]
    unsafe fn unlock(&self) {
        let (held, lock) = (own_table::<P>(), self.name());
        let is_cleared = !F::COVERS_LOCK && held.is_some_and(|held| held.clear_last(lock));
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() };
        // From here on the lock may no longer exist.
        form::keep_in_order();
        match held {
            Some(held) if is_cleared => held.count_one_less(),
            Some(held) => held.remove(lock),
            None => {}
        }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        <QSpinlock<P, Fifo, Spin> as RawLock>::word_is_legal(word)
    }
}

/// Returns the table of the calling thread, if it has one.
#[inline]
fn own_table<'a, P: HolderPlatform>() -> Option<&'a HeldTable<P>> {
    // SAFETY: by the contract of `HeldLocks` a table lives as long as locks are used.
    P::held_table().map(|table| unsafe { table.as_ref() })
}

/// Returns the table of this number, if there is one.
fn table_at<'a, P: HolderPlatform>(at: usize) -> Option<&'a HeldTable<P>> {
    // SAFETY: as above.
    P::held_table_at(at).map(|table| unsafe { table.as_ref() })
}
