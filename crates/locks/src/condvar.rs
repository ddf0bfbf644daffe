//! A condition variable on the table of sleepers.
//!
//! Four bytes: how many threads wait. The threads themselves are in the
//! [`SleepTable`], each with the mutex it wants afterwards. Nobody is woken into
//! contention: a notified waiter is *moved* to its mutex and sleeps on there; the release of the
//! mutex wakes it. Where the mutex is free and nobody waits for it, the waiter is woken at once, as
//! its next owner.
//!
//! ```text
//!              wait                    notify                       release of the mutex
//!  outside ----------> waits on the ----------> waits for the ----------> competes
//!     ^                 condition        |         mutex
//!     |                     |            +--- the mutex is free: at once ---^
//!     +--- deadline --------+
//! ```
//!
//! Counts are exact: `notify_one` moves the waiter that came first, if there is one, and nobody
//! else; a waiter counts as soon as it has the bucket's lock, which it takes while it holds the mutex. So
//! a thread that changes the condition with the mutex held, and notifies during that or later, finds every waiter
//! that saw the condition before. One that gives up at its deadline either takes itself out unnotified,
//! or was notified and returns so.
//!
//! There are no locks but those of the table's buckets. After a waiter has been moved the condition variable is
//! not touched on its behalf: it may be freed when the last waiter has returned.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | W1 | release of a bucket's lock | the next acquisition | the lists, and the count |
//!
//! The count is changed under the bucket's lock and read without it: a notifier that has to see a waiter has
//! taken the mutex after that waiter released it, and with it sees the count.

use crate::events::Event;
use crate::mutex::{self, RawMutex};
use crate::park::{ASLEEP, Awaited, NAP_NS, ParkPlatform, SleepTable, told, waiter};
use crate::platform::{Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, Zeroed};
use crate::qspinlock::Succession;
use crate::raw::RawLock;
use core::sync::atomic::Ordering::Relaxed;

/// A condition variable, without the interface of guards.
#[repr(transparent)]
pub struct RawCondvar<P: Cells> {
    /// How many threads wait and have not been notified.
    waiters: P::U32,
}

impl<P: ConstCells> RawCondvar<P> {
    /// One on which nobody waits, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { waiters: ConstZeroed::ZEROED };
}

impl<P: ParkPlatform> Default for RawCondvar<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: ParkPlatform> RawCondvar<P> {
    /// One on which nobody waits.
    pub fn new() -> Self {
        Self { waiters: Zeroed::zeroed() }
    }

    /// Releases `mutex`, waits to be notified, and takes `mutex` again; `false` if the deadline has
    /// passed and nobody had notified this thread. Without a queue node left it returns after a millisecond, for no
    /// reason: `true` until the deadline has passed. So, as everywhere, the caller looks at its condition again.
    ///
    /// # Safety
    /// The caller holds `mutex`, and holds it again afterwards.
    pub unsafe fn wait<S: Succession<P>>(
        &self,
        mutex: &RawMutex<P, S>,
        deadline_ns: Option<u64>,
    ) -> bool {
        let name = self.name();
        let Some(id) = P::claim_node() else {
            // SAFETY: the caller holds it.
            unsafe { mutex.unlock() };
            let until_ns = P::now_ns().saturating_add(NAP_NS);
            SleepTable::<P>::nap(name, until_ns.min(deadline_ns.unwrap_or(u64::MAX)));
            mutex.lock();
            return deadline_ns.is_none_or(|deadline_ns| P::now_ns() < deadline_ns);
        };
        SleepTable::<P>::enqueue_on(name, id, mutex.word(), || {
            // ordering: Relaxed; read by those that take the mutex later, see above.
            self.waiters.fetch_add(1, Relaxed);
        });
        // SAFETY: the caller holds it.
        unsafe { mutex.unlock() };
        let is_notified = self.sleep(name, id, deadline_ns);
        if is_notified {
            mutex.sleep_as(id, P::now_ns(), None);
        }
        // SAFETY: claimed above, in no queue, and taken out of the table.
        unsafe { P::release_node(id) };
        if !is_notified {
            mutex.lock();
        }
        is_notified
    }

    /// Sleeps as the waiter `id` until it is the mutex it waits for; `false` if it gave up.
    fn sleep(&self, name: u64, id: crate::queue::NodeId, deadline_ns: Option<u64>) -> bool {
        let signal = &waiter::<P>(id).signal;
        while told::<P>(id) == ASLEEP {
            if deadline_ns.is_some_and(|deadline_ns| P::now_ns() >= deadline_ns) {
                let gave_up = SleepTable::<P>::give_up_on(name, id, || self.one_less());
                if gave_up {
                    P::count(Event::mutex_timeout);
                }
                return !gave_up;
            }
            P::count(Event::mutex_sleep);
            P::futex_wait(signal, ASLEEP, deadline_ns);
        }
        true
    }

    fn name(&self) -> u64 {
        SleepTable::<P>::name(Awaited::Condvar, &self.waiters)
    }

    fn one_less(&self) {
        // ordering: Relaxed; changed under the bucket's lock only.
        self.waiters.fetch_sub(1, Relaxed);
    }

    /// Notifies the thread that has waited longest. Returns `true` if there was one.
    #[inline]
    pub fn notify_one(&self) -> bool {
        // ordering: Relaxed; ordered by the mutex, see above.
        self.waiters.load(Relaxed) > 0 && self.notify_first()
    }

    /// Notifies all threads that wait; returns how many.
    #[inline]
    pub fn notify_all(&self) -> u32 {
        // ordering: Relaxed; ordered by the mutex, see above.
        let waiters = self.waiters.load(Relaxed);
        (0..waiters).take_while(|_| self.notify_first()).count() as u32
    }

    #[cold]
    fn notify_first(&self) -> bool {
        let name = self.name();
        SleepTable::<P>::notify_first(name, mutex::is_free::<P>, || self.one_less())
    }
}
