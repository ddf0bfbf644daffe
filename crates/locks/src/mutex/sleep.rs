//! Waiting asleep, in the table.

use super::{HELD_HALF, RawMutex, is_free};
use crate::events::Event;
use crate::park::{ASLEEP, GRANTED, Left, ParkPlatform, SleepTable, told, waiter};
use crate::platform::{Atomic, LockWordOps};
use crate::qspinlock::Succession;
use crate::qspinlock::reservation::{self, RESERVED_HALF};
use crate::queue::{NodeId, Patience};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// How long the first waiter competes before it reserves the lock.
pub(super) const UNFAIR_NS: u64 = 4_000_000;
impl<P: ParkPlatform, S: Succession<P>> RawMutex<P, S> {
    /// As `lock`, asleep at once where that waits, so that a checker need not wait for that.
    ///
    /// # Panics
    /// Without a queue node left.
    #[cfg(feature = "internals")]
    pub fn lock_asleep(&self) {
        if !self.take_free() {
            let id = P::claim_node().expect("a machine for checking has nodes enough");
            self.sleep(id, None);
            // SAFETY: claimed above, and taken out of the table.
            unsafe { P::release_node(id) };
        }
    }

    /// Returns `true` if this mutex and `other` share a bucket of the table of sleepers.
    #[cfg(feature = "internals")]
    pub fn shares_bucket_with(&self, other: &Self) -> bool {
        let name = |mutex: &Self| mutex.name();
        SleepTable::<P>::place(name(self)) == SleepTable::<P>::place(name(other))
    }

    /// Sleeps until the lock is taken or the deadline has passed. Returns `true` if it is taken.
    pub(super) fn sleep(&self, id: NodeId, deadline_ns: Option<u64>) -> bool {
        let since_ns = P::now_ns();
        let name = self.name();
        if SleepTable::<P>::enqueue(name, id) && self.take_reserved_or_free() {
            SleepTable::<P>::leave_as_owner(name, id);
            return true;
        }
        self.sleep_as(id, since_ns, deadline_ns)
    }

    /// As the waiter `id`, which is in the table for this lock.
    pub(crate) fn sleep_as(&self, id: NodeId, since_ns: u64, deadline_ns: Option<u64>) -> bool {
        let name = self.name();
        let signal = &waiter::<P>(id).signal;
        let mut has_reserved = false;
        loop {
            match told::<P>(id) {
                GRANTED => {
                    // It may have been reserved after the owner had handed it over.
                    self.unreserve(has_reserved);
                    return true;
                }
                ASLEEP => {
                    if deadline_ns.is_some_and(|deadline_ns| P::now_ns() >= deadline_ns) {
                        return self.give_up(name, id, has_reserved);
                    }
                    P::count(Event::mutex_sleep);
                    P::futex_wait(signal, ASLEEP, deadline_ns);
                }
                _ => {
                    if self.take_as_first(id, since_ns, &mut has_reserved)
                        || SleepTable::<P>::sleep_again(name, id) && self.take_reserved_or_free()
                    {
                        SleepTable::<P>::leave_as_owner(name, id);
                        return true;
                    }
                }
            }
        }
    }

    /// Competes for the lock as the first waiter, awake. Returns `true` if it is taken. Gives up when it is handed
    /// over.
    fn take_as_first(&self, id: NodeId, since_ns: u64, has_reserved: &mut bool) -> bool {
        let signal = &waiter::<P>(id).signal;
        // ordering: Relaxed; only a hint, `told` reads it again.
        let is_granted = || signal.load(Relaxed) == GRANTED;
        if P::now_ns().saturating_sub(since_ns) < UNFAIR_NS {
            let mut patience = Patience::<P>::long();
            let pause = || is_granted() || patience.pause();
            return reservation::compete::<P>(&self.word, pause, || self.take_free());
        }
        *has_reserved = true;
        reservation::reserve::<P>(&self.word, is_granted, || self.take_reserved_or_free())
    }

    /// Takes the lock if it is free, reserved or not: only the first waiter may.
    fn take_reserved_or_free(&self) -> bool {
        // (*,1,0) -> (*,0,1)
        // ordering: Acquire; L1. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange_half0(RESERVED_HALF, HELD_HALF, Acquire, Relaxed).is_ok()
            || self.take_free()
    }

    /// Ends a reservation, as the first waiter or the owner. Rarely it is that of the next first waiter, woken
    /// by a release that comes late: that one makes it again when it is woken next.
    fn unreserve(&self, has_reserved: bool) {
        if has_reserved {
            // (*,1,*) -> (*,0,*)
            // ordering: Relaxed; nothing is read through it.
            self.word.store_byte1(0, Relaxed);
        }
    }

    /// The deadline has passed. Returns `true` if the lock is taken all the same.
    #[cold]
    fn give_up(&self, name: u64, id: NodeId, has_reserved: bool) -> bool {
        self.unreserve(has_reserved);
        match SleepTable::<P>::leave(name, id) {
            Left::Owner => return true,
            Left::Nobody => {}
            Left::Sleeper if is_free::<P>(&self.word) => SleepTable::<P>::wake_first(name),
            Left::Sleeper => {}
        }
        P::count(Event::mutex_timeout);
        false
    }
}
