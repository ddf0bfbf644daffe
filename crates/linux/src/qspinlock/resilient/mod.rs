#![doc = include_str!("README.md")]

mod entry;
mod watch;

pub use entry::{EntrySpan, InPrograms, Linux6_15};
pub use watch::{AcquireError, AcquireLimits};

use super::queue::{count_nesting, join};
use super::timed::{has_left_node, wait_for_grant};
use super::{Fifo, Grant, QSpinlock, Spin, Waiting, Word};
use crate::events::Event;
use crate::held::HeldTable;
use crate::platform::{Atomic, Cells, ConstCells, HeldLocks, LockHash};
use crate::queue::{NodeId, QNode, QueuePlatform};
use crate::raw::{Order, RawLock};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;
use watch::Watch;

/// A platform for locks that know which locks a thread holds.
pub trait HolderPlatform: QueuePlatform + LockHash + HeldLocks<Table = HeldTable<Self>> {}
impl<P: QueuePlatform + LockHash + HeldLocks<Table = HeldTable<P>>> HolderPlatform for P {}

/// The resilient queued spinlock. `E` says how long the table of its owner has it.
#[repr(transparent)]
pub struct RawResilientSpinLock<P: Cells, E = Linux6_15>(QSpinlock<P>, PhantomData<fn() -> E>);

impl<P: ConstCells, E> RawResilientSpinLock<P, E> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self(QSpinlock::INIT, PhantomData);
}

/// The number of critical sections that a waiter has ahead: that of the owner.
const OWNER: u64 = 1;
/// As [`OWNER`], but for the head of the queue: those of the owner and of the pending waiter.
const OWNER_AND_PENDING: u64 = 2;

impl<P: HolderPlatform, E: EntrySpan> RawResilientSpinLock<P, E> {
    /// Takes the lock within `limits`.
    ///
    /// # Errors
    /// An error says why the lock is not taken.
    #[doc(alias = "raw_res_spin_lock")]
    #[inline]
    pub fn acquire(&self, limits: AcquireLimits) -> Result<(), AcquireError> {
        if E::COVERS_LOCK {
            self.enter();
            return match self.0.take_free() {
                Ok(()) => Ok(()),
                Err(seen) => self.acquire_slowly(seen, limits),
            };
        }
        match self.0.take_free() {
            Ok(()) => {
                self.note_taken();
                Ok(())
            }
            Err(seen) => self.acquire_slowly(seen, limits),
        }
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

    /// Adds the lock to the caller's table, as a lock that was free and is taken.
    #[inline]
    fn note_taken(&self) {
        if let Some(held) = own_table::<P>() {
            held.push_taken(self.name());
        }
    }

    /// Adds the lock to the caller's table before an attempt to take it. A handler that interrupts the caller from now
    /// on finds it in the table.
    #[inline]
    fn enter(&self) {
        self.note_taken();
        entry::keep_in_order();
    }
    /// Takes the lock out of the caller's table after a failed attempt.
    #[inline]
    fn withdraw(&self) {
        if let Some(held) = own_table::<P>() {
            held.pop(self.name());
        }
    }

    /// Does everything but the first attempt.
    #[cold]
    fn acquire_slowly(&self, seen: Word, limits: AcquireLimits) -> Result<(), AcquireError> {
        let Some(held) = own_table::<P>() else {
            return self.wait(seen, &mut Watch::new(self.0.word(), None, 0, limits));
        };
        let name = self.name();
        if E::COVERS_LOCK {
            held.waits_for_last(name);
        } else {
            held.push_wait(name);
        }
        let outcome = self.wait(seen, &mut Watch::new(self.0.word(), Some(held), name, limits));
        match outcome {
            Ok(()) => held.taken(name),
            Err(_) => held.gave_up(name),
        }
        outcome
    }

    fn wait(&self, seen: Word, watch: &mut Watch<'_, P, E>) -> Result<(), AcquireError> {
        watch.ask_first()?;
        if P::has_forked() {
            self.0.bury_orphans();
        } else if let Some(seen) = self.0.become_pending(seen) {
            return self.wait_as_pending(seen, watch);
        }
        P::count(Event::lock_slowpath);
        let has_left = watch.may_leave() && has_left_node::<P>();
        let id = if has_left { None } else { P::claim_node() };
        let Some(id) = id else { return self.compete(watch) };
        match self.wait_in_queue(id, watch) {
            Some(outcome) => {
                // SAFETY: claimed above, and no thread reaches it now, as in `lock_queue`.
                unsafe { P::release_node(id) };
                outcome
            }
            None => {
                P::leave_node(id);
                Err(AcquireError::TimedOut)
            }
        }
    }

    /// Waits as the pending waiter, which has found `seen`, and takes the lock.
    fn wait_as_pending(&self, seen: Word, watch: &mut Watch<'_, P, E>) -> Result<(), AcquireError> {
        if seen.is_locked() {
            // (*,1,1) -> (*,1,0) by the owner
            let freed = watch.begin(OWNER).and_then(|()| watch.wait(|word| !word.is_locked()));
            if let Err(failure) = freed {
                self.0.withdraw_pending();
                return Err(failure);
            }
        }
        self.0.take_as_pending();
        Ok(())
    }

    /// Competes for the lock without a place in the queue.
    #[cold]
    fn compete(&self, watch: &mut Watch<'_, P, E>) -> Result<(), AcquireError> {
        P::count(Event::lock_no_node);
        watch.begin(OWNER)?;
        while !self.0.try_lock() {
            watch.wait(<QSpinlock<P>>::may_be_taken)?;
        }
        Ok(())
    }

    /// Queues with node `id`. Returns `None` if the time is over and the node stays in the queue.
    fn wait_in_queue(
        &self,
        id: NodeId,
        watch: &mut Watch<'_, P, E>,
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
            self.dissolve(id, me);
            return Some(Err(AcquireError::Dissolved));
        }
        let freed =
            watch.begin(OWNER_AND_PENDING).and_then(|()| watch.wait(Word::is_free_for_head));
        Some(match freed {
            Ok(seen) => {
                self.0.take(id, me, seen, ());
                Ok(())
            }
            Err(failure) => {
                self.dissolve(id, me);
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
    fn dissolve(&self, id: NodeId, me: &QNode<P>) {
        if let Some(grant) = self.0.leave_as_head(id, me, ()) {
            self.0.deliver(grant.after(Grant::DISSOLVES));
        }
    }
}

impl<P: HolderPlatform, E: EntrySpan> RawLock for RawResilientSpinLock<P, E> {
    const ORDER: Order = <QSpinlock<P, Fifo, Spin> as RawLock>::ORDER;

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
    #[inline]
    fn try_lock(&self) -> bool {
        if E::COVERS_LOCK {
            self.enter();
            let is_ours = self.0.try_lock();
            if !is_ours {
                self.withdraw();
            }
            return is_ours;
        }
        let is_ours = self.0.try_lock();
        if is_ours {
            self.note_taken();
        }
        is_ours
    }
    #[doc(alias = "raw_res_spin_unlock")]
    #[inline]
    unsafe fn unlock(&self) {
        let (held, lock) = (own_table::<P>(), self.name());
        let clear_entry = || {
            if let Some(held) = held {
                held.remove(lock);
            }
        };
        if !E::COVERS_LOCK {
            clear_entry();
        }
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() };
        // From here on the lock may no longer exist.
        if E::COVERS_LOCK {
            entry::keep_in_order();
            clear_entry();
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
