//! Locks that tell the checkers of a run what is done with them.

use lockwright::raw::{Order, RawLock};
use lockwright_sim::watch;

/// A lock that tells the checkers what is done with it.
#[repr(transparent)]
pub struct Watched<L>(L);

impl<L: RawLock> RawLock for Watched<L> {
    const ORDER: Order = L::ORDER;
    const WAITERS_SLEEP: bool = L::WAITERS_SLEEP;

    fn new() -> Self {
        Self(L::new())
    }
    fn lock(&self) {
        watch::requested(self);
        self.0.lock();
        watch::entered(self);
    }
    fn try_lock(&self) -> bool {
        watch::requested(self);
        let taken = self.0.try_lock();
        if taken {
            watch::entered(self)
        } else {
            watch::withdrew(self)
        }
        taken
    }
    unsafe fn unlock(&self) {
        watch::left(self);
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        L::word_is_legal(word)
    }
}
