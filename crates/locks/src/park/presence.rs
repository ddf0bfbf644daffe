//! Waiters of a forked child are counted: its locks may speak of waiters that do not exist there.

use super::{Counted, Mark, ParkPlatform};
use crate::platform::Atomic;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// A thread that waits for the lock with this word. In a forked child it counts itself on the lock's mark before it
/// says anything in the lock. So a thread that is counted, and alone on the mark, is the only waiter of the lock.
///
/// | id | the store | the load that reads it | carries |
/// |----|-----------|------------------------|---------|
/// | P1 | every exchange by which a waiter says in a lock that it waits, Release | the load in `forget_the_gone`, Acquire | that the waiter is counted |
pub(crate) struct Presence<'a, P: ParkPlatform> {
    word: &'a P::U32,
    counted: Option<Counted>,
}

impl<'a, P: ParkPlatform> Presence<'a, P> {
    /// One that is not counted yet.
    pub(crate) fn new(word: &'a P::U32) -> Self {
        Self { word, counted: None }
    }

    /// In a forked child: counts the caller, and removes the bits `said` from the word if they speak of waiters that do
    /// not exist here. Returns `true` if it did. Locks share marks: if one waits for another lock, it does nothing.
    #[cold]
    pub(crate) fn forget_the_gone(&mut self, said: u32) -> bool {
        let mark = Mark::<P>::of(self.word);
        let counted = match self.counted {
            Some(counted) if !Mark::<P>::is_lost(counted) => counted,
            _ => mark.count_waiter(),
        };
        self.counted = Some(counted);
        // ordering: Acquire; P1.
        let seen = self.word.load(Acquire);
        if seen & said == 0 || mark.has_others([Some(counted), None]) {
            return false;
        }
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(seen, seen & !said, Relaxed, Relaxed).is_ok()
    }
}

impl<P: ParkPlatform> Drop for Presence<'_, P> {
    fn drop(&mut self) {
        if let Some(counted) = self.counted {
            Mark::<P>::of(self.word).discount(counted);
        }
    }
}
