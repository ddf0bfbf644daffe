//! The condition variable of this mutex: a number that each notification changes.
//!
//! ```text
//!  31                                                  0
//! +-----------------------------------------------------+
//! |                       sequence                      |
//! +-----------------------------------------------------+
//! ```
//!
//! | state | means | moved by |
//! |---|---|---|
//! | n | the threads that have read n and released their mutex wait | a notification, to n + 1, which then wakes one of the threads that sleep, or all |
//!
//! A waiter reads the number while it owns the mutex, releases the mutex, and sleeps while the number does not change.
//! So a thread that changes the condition with the mutex held, and notifies during that or later, changes the number
//! after every waiter that saw the condition before has read it. All accesses are `Relaxed`: the mutex orders them.
//!
//! A notification of all threads wakes all of them at once, and they compete for the mutex. A notification does not
//! know if a thread waits, so each one is a system call. The number wraps around: a waiter that is not scheduled
//! between its look and its sleep, while 2^32 notifications come, sleeps although it was notified.

use super::{Futex3, FutexPlatform, SpinLimit};
use crate::events::Event;
use crate::platform::{Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, EVERY_KIND, Zeroed};
use crate::raw::RawLock;
use core::sync::atomic::Ordering::Relaxed;

/// A condition variable for [`Futex3`].
#[repr(transparent)]
pub struct Futex3Condvar<P: Cells> {
    sequence: P::U32,
}

impl<P: ConstCells> Futex3Condvar<P> {
    /// A condition variable on which no thread waits, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { sequence: ConstZeroed::ZEROED };
}

impl<P: FutexPlatform> Default for Futex3Condvar<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: FutexPlatform> Futex3Condvar<P> {
    /// Returns a condition variable on which no thread waits.
    pub fn new() -> Self {
        Self { sequence: Zeroed::zeroed() }
    }

    /// Releases `mutex`, waits to be notified, and takes `mutex` again. Returns `false` if the deadline has passed and
    /// no thread was notified meanwhile. It may return at any time for no reason.
    ///
    /// # Safety
    /// The caller owns `mutex`, and owns it again afterwards.
    pub unsafe fn wait<S: SpinLimit>(
        &self,
        mutex: &Futex3<P, S>,
        deadline_ns: Option<u64>,
    ) -> bool {
        // ordering: Relaxed; ordered by the mutex, see above.
        let sequence = self.sequence.load(Relaxed);
        // SAFETY: the caller owns it.
        unsafe { mutex.unlock() };
        P::count(Event::mutex_sleep);
        let is_woken = P::futex_wait_as(EVERY_KIND, &self.sequence, sequence, deadline_ns);
        let is_late =
            !is_woken && deadline_ns.is_some_and(|deadline_ns| P::now_ns() >= deadline_ns);
        mutex.lock();
        if !is_late {
            return true;
        }
        // ordering: Relaxed; ordered by the mutex, see above.
        let is_notified = self.sequence.load(Relaxed) != sequence;
        if !is_notified {
            P::count(Event::mutex_timeout);
        }
        is_notified
    }

    /// Notifies one thread that waits, if there is one.
    pub fn notify_one(&self) {
        self.notify(1);
    }
    /// Notifies all threads that wait.
    pub fn notify_all(&self) {
        self.notify(u32::MAX);
    }

    fn notify(&self, count: u32) {
        let address = &raw const self.sequence;
        // n -> n + 1
        // ordering: Relaxed; ordered by the mutex, see above.
        self.sequence.fetch_add(1, Relaxed);
        // From here on the condition variable may no longer exist.
        P::count(Event::mutex_wake);
        P::futex_wake(address, count);
    }
}
