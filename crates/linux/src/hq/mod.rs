#![doc = include_str!("README.md")]

mod handover;
mod meta;
#[cfg(all(feature = "std", target_os = "linux"))]
mod native;
mod queue;
pub mod testing;
mod word;

pub use meta::{Entry, NumaQueue};
pub use word::HqWord;

use crate::events::Event;
use crate::platform::{
    Atomic, AtomicInt, Bound, Cells, LockHash, LockWordOps, Zeroed, barrier_before_look,
};
use crate::queue::QueuePlatform;
use crate::raw::{FairnessThreshold, Order, RawLock};
use crate::tunables::Tunable;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Storage that hierarchical locks borrow while threads wait for them: a queue for each NUMA node.
///
/// It is storage only, like [`QueueNodes`](crate::platform::QueueNodes).
///
/// # Safety
/// The functions that return pointers return different places for different numbers, zero at first, which live as long
/// as locks of this platform are used.
pub unsafe trait MetadataPool: Cells {
    /// The part that a lock takes: [`Entry`].
    type Entry;
    /// A queue of an entry: [`NumaQueue`].
    type Queue;

    /// Returns the number of entries, a power of two.
    fn metadata_entries() -> usize;
    /// Returns the number of queues of each entry: from 1 to 255, if possible as many as there are NUMA nodes.
    fn metadata_queues() -> usize;
    /// Returns an entry; `at` is below [`metadata_entries`](Self::metadata_entries).
    fn metadata_entry(at: usize) -> NonNull<Self::Entry>;
    /// Returns a queue of that entry; `queue` is below [`metadata_queues`](Self::metadata_queues).
    fn metadata_queue(at: usize, queue: usize) -> NonNull<Self::Queue>;
}

/// A platform for the hierarchical queued spinlock.
pub trait HqPlatform:
    QueuePlatform + LockHash + MetadataPool<Entry = Entry<Self>, Queue = NumaQueue<Self>>
{
}
impl<P> HqPlatform for P where
    P: QueuePlatform + LockHash + MetadataPool<Entry = Entry<P>, Queue = NumaQueue<P>>
{
}

/// The number of handoffs within a NUMA node above which another node gets its turn, if the tunable is not set.
const FAIRNESS_THRESHOLD: u64 = 1000;
/// The number of looks that a newly arriving thread grants to a handover to the pending waiter, before it queues.
const HANDOVER_LOOKS: u32 = 513;

/// The hierarchical queued spinlock (HQ).
///
/// Four bytes. Unlocked is not zero. `unlock` does not touch the lock after its releasing store. Queue nodes and
/// metadata belong to a process, so the lock must not lie in memory that is shared between processes.
#[repr(transparent)]
pub struct HqSpinlock<P: Cells> {
    word: P::Word,
}

impl<P: HqPlatform> RawLock for HqSpinlock<P> {
    const ORDER: Order = Order::Grouped;

    fn fairness_threshold(
        _numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let handoffs = set(Tunable::hqlock_fairness_threshold).unwrap_or(FAIRNESS_THRESHOLD);
        FairnessThreshold { handoffs_per_node: handoffs + 1, ..FairnessThreshold::default() }
    }
    fn new() -> Self {
        Self::with_word(HqWord::FREE)
    }
    #[inline]
    fn lock(&self) {
        if let Err(seen) = self.take_free() {
            self.lock_slowpath(seen);
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.take_free().is_ok()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // (*,*,*,1) -> (*,*,*,0)
        // ordering: Release; H4.
        self.word.store_byte0(0, Release);
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        HqWord::from_bits(self.word.load(Relaxed)).is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        HqWord::from_bits(word).is_legal()
    }
}

impl<P: HqPlatform> HqSpinlock<P> {
    /// Returns a lock in this state. Constants hold zero, so the state is stored. No other thread knows the lock yet.
    fn with_word(word: HqWord) -> Self {
        let lock = Self { word: Zeroed::zeroed() };
        // ordering: Relaxed; published when the lock is.
        lock.word.store(word.bits(), Relaxed);
        lock
    }

    /// Makes the first attempt: takes the lock if it is free. Otherwise returns the word that it saw.
    #[inline(always)]
    fn take_free(&self) -> Result<(), HqWord> {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let seen = HqWord::from_bits(self.word.load(Relaxed));
        if !seen.is_free() {
            return Err(seen);
        }
        // (*,m,0,0) -> (*,m,0,1)
        // ordering: Acquire; H4. On failure Relaxed: only a hint, re-checked in the slow path.
        let taken = self.word.compare_exchange(seen.bits(), seen.held().bits(), Acquire, Relaxed);
        taken.map_err(HqWord::from_bits)?;
        Ok(())
    }

    /// Does everything but the first attempt.
    #[cold]
    fn lock_slowpath(&self, seen: HqWord) {
        debug_assert!(seen.is_legal(), "hq: illegal lock word {seen:?}");
        if !self.lock_pending(seen) {
            self.lock_queue(seen.is_aware());
        }
    }

    /// Takes the lock as its only waiter. Returns `false` if there are other waiters; then the caller queues.
    fn lock_pending(&self, seen: HqWord) -> bool {
        let mut seen = seen;
        if seen.is_handed_to_pending() {
            let has_ended = |bits| !HqWord::from_bits(bits).is_handed_to_pending();
            let bound = Bound::looks(HANDOVER_LOOKS);
            // ordering: Relaxed; only a hint, re-checked at the `fetch_or`.
            let wait = self.word.cond_load_bounded(Relaxed, bound, has_ended, || false);
            seen = HqWord::from_bits(wait.unwrap_or_else(|last| last));
        }
        if seen.is_contended() {
            return false;
        }
        // (*,m,0,*) -> (*,m,1,*)
        // ordering: Acquire; H4, when the lock has become free.
        let seen = HqWord::from_bits(self.word.fetch_or(word::PENDING, Acquire));
        if seen.is_contended() {
            if !seen.is_pending() {
                self.clear_pending(seen);
            }
            return false;
        }
        if seen.is_locked() {
            // (*,*,1,1) -> (*,*,1,0) by the owner
            // ordering: Acquire; H4.
            self.word.cond_load(Acquire, |bits| !HqWord::from_bits(bits).is_locked());
        }
        self.take_as_pending(seen);
        P::count(Event::lock_pending);
        true
    }
    /// Takes the pending bit back, because there is a queue. It has a byte together with the type and the mode. They do
    /// not change while a thread is pending.
    #[doc(alias = "hqlock_clear_pending")]
    fn clear_pending(&self, seen: HqWord) {
        // (*,m,1,*) -> (*,m,0,*)
        // ordering: Relaxed; nothing is read through it.
        self.word.store_byte1(seen.byte1_without_pending(), Relaxed);
    }
    /// Takes the lock as its pending waiter, which has seen it free.
    #[doc(alias = "hqlock_clear_pending_set_locked")]
    fn take_as_pending(&self, seen: HqWord) {
        // (*,m,1,0) -> (*,m,0,1)
        // ordering: Relaxed; the next owner is ordered by our own release, H4.
        self.word.store_half0(seen.half0_held(), Relaxed);
    }
}
