//! Functions for tests of a semaphore. Programs should not call them.

use super::RwSem;
use super::count::{HANDOFF, WAITERS};
use super::policy::{OwnerWord, RwSemPolicy};
use crate::park::ParkPlatform;
use crate::platform::{Atomic, Bound, Budget};
use core::sync::atomic::Ordering::Relaxed;

impl<P: ParkPlatform, C: RwSemPolicy> RwSem<P, C> {
    /// Sets the number of readers to `spare` less than the most there may be, so that a test reaches the limit.
    ///
    /// # Safety
    /// No thread uses the semaphore.
    pub unsafe fn fill_readers(&self, spare: u64) {
        let format = C::POLICY.format;
        let count = (format.readers_limit() - 1 - spare) * format.reader();
        // ordering: Relaxed; no other thread is there.
        self.sem.count.store(count, Relaxed);
    }
    /// Makes a writer own the semaphore, and sets the owner word to `owner`, if there is an owner word.
    ///
    /// # Safety
    /// No thread uses the semaphore.
    pub unsafe fn begin_owned(&self, owner: u64) {
        // ordering: Relaxed; no other thread is there.
        self.sem.count.store(C::POLICY.format.writer(), Relaxed);
        if C::POLICY.owner != OwnerWord::None {
            // ordering: Relaxed; no other thread is there.
            self.sem.owner.store(owner, Relaxed);
        }
    }
    /// Returns `true` if the semaphore is as it was when it was made, but for the owner word.
    ///
    /// # Safety
    /// No thread uses the semaphore.
    pub unsafe fn is_untouched(&self) -> bool {
        let slow = self.slow();
        // ordering: Relaxed; no other thread is there.
        let count = self.sem.count.load(Relaxed);
        // ordering: Relaxed; no other thread is there.
        let flag = self.sem.flag.load(Relaxed);
        count == 0 && flag == 0 && slow.first().is_none() && !self.sem.spinners.is_locked()
    }
    /// Waits until a thread waits. For a thread that holds the lock, and for policies with bits in the count.
    pub fn await_waiters(&self) {
        // ordering: Relaxed; nothing is read through it.
        self.sem.count.cond_load(Relaxed, |count| count & WAITERS != 0);
    }
    /// Looks `looks` times if the handoff bit is set. Returns `true` if it is. For policies with bits in the
    /// count.
    pub fn has_handoff_soon(&self, looks: u32) -> bool {
        let bound = Bound::of(Budget::Looks(looks), looks);
        let has_handoff = |count| count & HANDOFF != 0;
        // ordering: Relaxed; nothing is read through it.
        self.sem.count.cond_load_bounded(Relaxed, bound, has_handoff, || false).is_ok()
    }
}
