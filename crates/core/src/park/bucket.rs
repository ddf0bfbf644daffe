//! A bucket: an internal lock, and the waiters for the words that fall into it, in the order in which they came.
//!
//! The internal lock guards everything except the signal and the name of a waiter.

use super::sections::{ReadPhase, Sections};
use super::{LockMode, MarkState, ParkPlatform, waiter};
use crate::platform::{Atomic, Bound, Cells, ConstCells, ConstZeroed, Guarded, Zeroed};
use crate::queue::{NodeId, TailCode};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The waiters for the words that fall into one bucket.
#[repr(C, align(128))]
pub struct Bucket<P: Cells> {
    /// The internal lock. The upper bits are the process life
    /// ([`MarkStorage::epoch`](crate::platform::MarkStorage::epoch)) in which it was taken last; below them are
    /// [`HELD`] and [`AWAITED`].
    lock: P::U32,
    /// The length of sections of a lock of this bucket that readers share.
    pub(super) sections: Sections,
    /// The last phase of readers of such a lock.
    phase: Guarded<P, ReadPhase>,
    first: Guarded<P, TailCode>,
    last: Guarded<P, TailCode>,
    /// What stands next to the counts of the mark with the number of this bucket.
    pub mark: MarkState<P>,
}

impl<P: Cells> Bucket<P> {
    /// Returns an empty bucket.
    pub fn new() -> Self {
        Self {
            lock: Zeroed::zeroed(),
            sections: Sections::UNKNOWN,
            phase: Guarded::new(ReadPhase::NONE),
            first: Guarded::new(TailCode::NONE),
            last: Guarded::new(TailCode::NONE),
            mark: MarkState::default(),
        }
    }
}

impl<P: Cells> Default for Bucket<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: ConstCells> Bucket<P> {
    /// An empty bucket, as a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self = Self {
        lock: ConstZeroed::ZEROED,
        sections: Sections::UNKNOWN,
        phase: Guarded::const_new(ReadPhase::NONE),
        first: Guarded::const_new(TailCode::NONE),
        last: Guarded::const_new(TailCode::NONE),
        mark: MarkState::EMPTY,
    };
}

/// A thread holds the internal lock.
const HELD: u32 = 1;
/// A thread may sleep for it.
const AWAITED: u32 = 2;
/// The position of the process life in the word.
const LIFE_SHIFT: u32 = 2;

/// The number of looks at a held bucket before the thread sleeps. A section takes some hundred nanoseconds, so if one
/// takes longer, its thread has no CPU.
const SPIN_LOOKS: u32 = 1 << 8;

impl<P: Cells> Bucket<P> {
    /// Returns `true` if no thread waits in it.
    ///
    /// # Safety
    /// No thread uses it at the moment.
    pub unsafe fn is_empty(&self) -> bool {
        // SAFETY: no thread writes it now.
        unsafe { self.first.get() == TailCode::NONE }
    }
}

impl<P: ParkPlatform> Bucket<P> {
    /// Takes the internal lock.
    pub(super) fn lock(&self) -> BucketGuard<'_, P> {
        let free = P::epoch() << LIFE_SHIFT;
        let (mut expected, mut held) = (free, free | HELD);
        loop {
            // ordering: Acquire; W1. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.lock.compare_exchange(expected, held, Acquire, Relaxed) {
                Ok(old) if old == free => return BucketGuard(self),
                Ok(_) => return BucketGuard(self).emptied(),
                // A fork left it as it was: its waiters, and the thread that holds it, do not exist here.
                Err(stale) if stale >> LIFE_SHIFT != free >> LIFE_SHIFT => expected = stale,
                Err(_) => {
                    expected = free;
                    if self.sleep_for_lock(free) {
                        // Other threads may sleep, too.
                        held = free | HELD | AWAITED;
                    }
                }
            }
        }
    }

    /// Waits until the internal lock is free. Returns `true` if the caller was about to sleep for it.
    #[cold]
    fn sleep_for_lock(&self, free: u32) -> bool {
        let is_free = |lock| lock & !AWAITED != free | HELD;
        let bound = Bound::looks(SPIN_LOOKS);
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let Err(seen) = self.lock.cond_load_bounded(Relaxed, bound, is_free, || false) else {
            return false;
        };
        let awaited = free | HELD | AWAITED;
        // held -> held and awaited
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: the failure value is not used.
        if seen == awaited || self.lock.compare_exchange(seen, awaited, Relaxed, Relaxed).is_ok() {
            P::futex_wait(&self.lock, awaited, None);
        }
        true
    }
}

/// A bucket whose internal lock is held.
pub struct BucketGuard<'a, P: ParkPlatform>(&'a Bucket<P>);

impl<P: ParkPlatform> Drop for BucketGuard<'_, P> {
    fn drop(&mut self) {
        // held, awaited or not -> free
        // ordering: Release; W1.
        if self.0.lock.swap(P::epoch() << LIFE_SHIFT, Release) & AWAITED != 0 {
            P::futex_wake(&raw const self.0.lock, 1);
        }
    }
}

impl<P: ParkPlatform> BucketGuard<'_, P> {
    fn emptied(self) -> Self {
        self.set_first(None);
        self.set_last(None);
        self
    }
    fn set_first(&self, id: Option<NodeId>) {
        // SAFETY: the bucket's lock is held.
        unsafe { self.0.first.set(TailCode::of(id)) };
    }
    fn set_last(&self, id: Option<NodeId>) {
        // SAFETY: the bucket's lock is held.
        unsafe { self.0.last.set(TailCode::of(id)) };
    }
    fn behind(&self, id: NodeId) -> Option<NodeId> {
        // SAFETY: the bucket's lock is held.
        unsafe { waiter::<P>(id).next.get() }.node()
    }

    /// Returns the first of the waiters from `at` on that waits for `name`.
    fn find(&self, at: Option<NodeId>, name: u64) -> Option<NodeId> {
        let mut at = at;
        while let Some(id) = at {
            // ordering: Relaxed; written under the lock, W1.
            if waiter::<P>(id).name.load(Relaxed) == name {
                break;
            }
            at = self.behind(id);
        }
        at
    }
    /// Returns the first waiter for `name`.
    pub fn first_of(&self, name: u64) -> Option<NodeId> {
        // SAFETY: the bucket's lock is held.
        self.find(unsafe { self.0.first.get() }.node(), name)
    }
    /// Returns the length of sections of the locks of this bucket.
    pub fn sections(&self) -> &Sections {
        &self.0.sections
    }
    /// Returns the last phase of readers of a lock of this bucket.
    pub fn phase(&self) -> ReadPhase {
        // SAFETY: the bucket's lock is held.
        unsafe { self.0.phase.get() }
    }
    /// Sets the last phase of readers.
    pub fn set_phase(&self, phase: ReadPhase) {
        // SAFETY: the bucket's lock is held.
        unsafe { self.0.phase.set(phase) };
    }
    /// Returns the mode in which `id`, which is in this bucket, waits for its lock.
    pub fn mode(&self, id: NodeId) -> LockMode {
        // SAFETY: the bucket's lock is held.
        unsafe { waiter::<P>(id).mode.get() }
    }
    /// Sets the mode in which `id`, which is in this bucket, waits for its lock.
    pub fn set_mode(&self, id: NodeId, mode: LockMode) {
        // SAFETY: the bucket's lock is held.
        unsafe { waiter::<P>(id).mode.set(mode) };
    }
    /// Returns the next waiter for `name` behind `id`.
    pub fn next_of(&self, id: NodeId, name: u64) -> Option<NodeId> {
        self.find(self.behind(id), name)
    }
    /// Appends `id`, which is in no bucket, as a waiter for `name`.
    pub fn push(&self, id: NodeId, name: u64) {
        let me = waiter::<P>(id);
        // SAFETY: the bucket's lock is held.
        let last = unsafe { self.0.last.get() }.node();
        // ordering: Relaxed; published by W1.
        me.name.store(name, Relaxed);
        // SAFETY: it is in no bucket, so no other thread looks at its links.
        unsafe { me.next.set(TailCode::NONE) };
        // SAFETY: as above.
        unsafe { me.prev.set(TailCode::of(last)) };
        match last {
            // SAFETY: the bucket's lock is held.
            Some(last) => unsafe { waiter::<P>(last).next.set(TailCode::of(Some(id))) },
            None => self.set_first(Some(id)),
        }
        self.set_last(Some(id));
    }
    /// Puts `id`, which is in no bucket, in front of all waiters of the bucket, as a waiter for `name`.
    pub fn push_first(&self, id: NodeId, name: u64) {
        let me = waiter::<P>(id);
        // SAFETY: the bucket's lock is held.
        let first = unsafe { self.0.first.get() };
        // ordering: Relaxed; published by W1.
        me.name.store(name, Relaxed);
        // SAFETY: it is in no bucket, so no other thread looks at its links.
        unsafe { me.next.set(first) };
        // SAFETY: as above.
        unsafe { me.prev.set(TailCode::NONE) };
        match first.node() {
            // SAFETY: the bucket's lock is held.
            Some(first) => unsafe { waiter::<P>(first).prev.set(TailCode::of(Some(id))) },
            None => self.set_last(Some(id)),
        }
        self.set_first(Some(id));
    }
    /// Takes `id` out and puts it in front of `at`; both are in this bucket.
    pub fn move_before(&self, id: NodeId, at: NodeId) {
        self.remove(id);
        // SAFETY: the bucket's lock is held.
        let prev = unsafe { waiter::<P>(at).prev.get() };
        // SAFETY: it is in no bucket at the moment, so no other thread looks at its links.
        unsafe { waiter::<P>(id).next.set(TailCode::of(Some(at))) };
        // SAFETY: as above.
        unsafe { waiter::<P>(id).prev.set(prev) };
        // SAFETY: the bucket's lock is held.
        unsafe { waiter::<P>(at).prev.set(TailCode::of(Some(id))) };
        match prev.node() {
            // SAFETY: the bucket's lock is held.
            Some(prev) => unsafe { waiter::<P>(prev).next.set(TailCode::of(Some(id))) },
            None => self.set_first(Some(id)),
        }
    }
    /// Takes `id`, which is in this bucket, out of it.
    pub fn remove(&self, id: NodeId) {
        // SAFETY: the bucket's lock is held.
        let prev = unsafe { waiter::<P>(id).prev.get() }.node();
        let next = self.behind(id);
        match prev {
            // SAFETY: the bucket's lock is held.
            Some(prev) => unsafe { waiter::<P>(prev).next.set(TailCode::of(next)) },
            None => self.set_first(next),
        }
        match next {
            // SAFETY: the bucket's lock is held.
            Some(next) => unsafe { waiter::<P>(next).prev.set(TailCode::of(prev)) },
            None => self.set_last(prev),
        }
    }
}
