//! Entry points for tests that begin where HQ mode does.

use super::pool::Metadata;
use super::{HqPlatform, HqSpinlock, HqWord};
use crate::platform::Cells;
use crate::raw::{Order, RawLock};

/// The lock whose waiters go straight to a queue: no thread becomes the pending waiter, so two waiters are enough for
/// two queues. If not `IN_ORDER`, it begins as it is after much contention: the first waiter decides how threads
/// queue.
#[repr(transparent)]
pub struct QueuesAtOnce<P: Cells, const IN_ORDER: bool = false>(HqSpinlock<P>);

impl<P: HqPlatform, const IN_ORDER: bool> QueuesAtOnce<P, IN_ORDER> {
    /// Returns `true` if both locks would use the same metadata.
    pub fn shares_metadata_with(&self, other: &Self) -> bool {
        core::ptr::eq(Metadata::<P>::of(&self.0.word).entry, Metadata::<P>::of(&other.0.word).entry)
    }
}

impl<P: HqPlatform, const IN_ORDER: bool> RawLock for QueuesAtOnce<P, IN_ORDER> {
    const ORDER: Order = Order::Grouped;

    fn new() -> Self {
        Self(HqSpinlock::with_word(if IN_ORDER { HqWord::FREE } else { HqWord::UNDECIDED }))
    }
    fn lock(&self) {
        self.0.lock_queue();
    }
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        HqWord::from_bits(word).is_legal()
    }
}
