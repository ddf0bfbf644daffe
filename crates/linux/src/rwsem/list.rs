//! The wait list, in order of arrival, and `wait_lock` that guards it.

use super::object::Slow;
use super::policy::WaitLockKind;
use crate::events::Event;
use crate::park::{HoldMode, ParkPlatform, Place, waiter};
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Guarded, Zeroed};
use crate::qspinlock::{Fifo, HybridBounded, QSpinlock};
use crate::queue::{NodeId, TailCode, linked};
use crate::raw::RawLock;
use crate::ticket::TicketLock;
use core::sync::atomic::Ordering::Relaxed;

/// `wait_lock`, as it was at different times.
pub struct WaitLock<P: Cells> {
    ticket: TicketLock<P>,
    queued: QSpinlock<P>,
    /// Used instead of `queued` where its owner may lose its CPU.
    bounded: QSpinlock<P, Fifo, HybridBounded>,
}

/// The ends of the list.
pub struct List<P: Cells> {
    /// It is written under `wait_lock`, and also read without it.
    first: P::U32,
    last: Guarded<P, TailCode>,
}

impl<P: Cells> Zeroed for List<P> {
    fn zeroed() -> Self {
        Self { first: Zeroed::zeroed(), last: Guarded::new(TailCode::NONE) }
    }
}

impl<P: ConstCells> List<P> {
    /// An empty list.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self =
        Self { first: ConstZeroed::ZEROED, last: Guarded::const_new(TailCode::NONE) };
}

impl<P: ParkPlatform> Zeroed for WaitLock<P> {
    fn zeroed() -> Self {
        Self { ticket: RawLock::new(), queued: RawLock::new(), bounded: RawLock::new() }
    }
}

impl<P: ConstCells> WaitLock<P> {
    /// `wait_lock`, free.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const FREE: Self =
        Self { ticket: TicketLock::INIT, queued: QSpinlock::INIT, bounded: QSpinlock::INIT };
}

/// An operation that takes `wait_lock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// A release, or a reader that wakes others.
    Wake,
    /// A reader that queues.
    Read,
    /// A writer that queues or waits.
    Write,
}

impl Site {
    const fn event(self) -> Event {
        match self {
            Self::Wake => Event::wait_lock_wake_ns,
            Self::Read => Event::wait_lock_read_ns,
            Self::Write => Event::wait_lock_write_ns,
        }
    }
}

impl<'a, P: ParkPlatform> Slow<'a, P> {
    /// Takes `wait_lock`.
    pub fn lock_wait_list(self, site: Site) -> WaitListGuard<'a, P> {
        let since_ns = if P::is_counting() { P::now_ns() } else { 0 };
        let lock = &self.sem.wait_lock;
        match self.policy.wait_lock {
            WaitLockKind::Ticket => lock.ticket.lock(),
            WaitLockKind::Queued if P::KNOWS_WHO_RUNS => lock.queued.lock(),
            WaitLockKind::Queued => lock.bounded.lock(),
        }
        if P::is_counting() {
            P::count_many(site.event(), P::now_ns().saturating_sub(since_ns));
        }
        WaitListGuard(self)
    }
    /// Takes `wait_lock` if it is free.
    pub fn try_lock_wait_list(self) -> Option<WaitListGuard<'a, P>> {
        let lock = &self.sem.wait_lock;
        let is_ours = match self.policy.wait_lock {
            WaitLockKind::Ticket => lock.ticket.try_lock(),
            WaitLockKind::Queued if P::KNOWS_WHO_RUNS => lock.queued.try_lock(),
            WaitLockKind::Queued => lock.bounded.try_lock(),
        };
        is_ours.then(|| WaitListGuard(self))
    }
    /// Returns the first waiter. Without `wait_lock` this is a hint.
    pub fn first(self) -> Option<NodeId> {
        // ordering: Relaxed; only a hint, re-checked under `wait_lock`.
        linked(self.sem.list.first.load(Relaxed))
    }
}

/// The wait list, while `wait_lock` is held. Dropping it gives the lock back.
pub struct WaitListGuard<'a, P: ParkPlatform>(pub(super) Slow<'a, P>);

impl<P: ParkPlatform> Drop for WaitListGuard<'_, P> {
    fn drop(&mut self) {
        let lock = &self.0.sem.wait_lock;
        match self.0.policy.wait_lock {
            // SAFETY: the lock was taken when this guard was made, and a guard is never copied.
            WaitLockKind::Ticket => unsafe { lock.ticket.unlock() },
            // SAFETY: as above.
            WaitLockKind::Queued if P::KNOWS_WHO_RUNS => unsafe { lock.queued.unlock() },
            // SAFETY: as above.
            WaitLockKind::Queued => unsafe { lock.bounded.unlock() },
        }
    }
}

impl<P: ParkPlatform> WaitListGuard<'_, P> {
    fn place(&self, id: NodeId) -> Place {
        // SAFETY: the node is in this list, or in none and the caller's; `wait_lock` is held.
        unsafe { waiter::<P>(id).place.get() }
    }
    fn change(&self, id: NodeId, change: impl FnOnce(&mut Place)) {
        let mut place = self.place(id);
        change(&mut place);
        // SAFETY: as above.
        unsafe { waiter::<P>(id).place.set(place) };
    }
    fn set_first(&self, first: Option<NodeId>) {
        // ordering: Relaxed; written under `wait_lock`. A thread that reads it without takes it for a hint.
        self.0.sem.list.first.store(TailCode::of(first).bits().into(), Relaxed);
    }
    fn last(&self) -> Option<NodeId> {
        // SAFETY: `wait_lock` is held.
        unsafe { self.0.sem.list.last.get() }.node()
    }
    fn set_last(&self, last: Option<NodeId>) {
        // SAFETY: `wait_lock` is held.
        unsafe { self.0.sem.list.last.set(TailCode::of(last)) };
    }

    /// The first waiter.
    pub fn first(&self) -> Option<NodeId> {
        self.0.first()
    }
    /// Returns `true` if no thread waits.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }
    /// Returns `true` if `id`, which waits, is the only one.
    pub fn is_alone(&self, id: NodeId) -> bool {
        self.first() == Some(id) && self.last() == Some(id)
    }
    /// Returns `true` if `id` still waits, because it was not granted.
    pub fn is_queued(&self, id: NodeId) -> bool {
        self.place(id).is_queued
    }
    /// Returns the waiter after `id`.
    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        self.place(id).next.node()
    }
    /// Returns the kind of hold that `id` waits for.
    pub fn kind(&self, id: NodeId) -> HoldMode {
        self.place(id).kind
    }
    /// Returns the thread that waits as `id`.
    pub fn thread(&self, id: NodeId) -> u64 {
        self.place(id).thread
    }
    /// Returns `true` if `id` has waited long enough.
    pub fn is_due(&self, id: NodeId) -> bool {
        P::now_ns() >= self.place(id).due_ns
    }
    /// Returns `true` if the handoff is for `id`.
    #[doc(alias = "handoff_set")]
    pub fn has_handoff(&self, id: NodeId) -> bool {
        self.place(id).has_handoff
    }
    /// Says that the handoff is for `id`.
    pub fn set_handoff(&self, id: NodeId) {
        self.change(id, |place| place.has_handoff = true);
    }
    /// Returns `true` if `id`, a reader, found the flag that keeps readers from spinning, and is to set it again.
    pub fn found_rd(&self, id: NodeId) -> bool {
        self.place(id).found_rd
    }
    /// Says that `id`, a reader, found that flag.
    pub fn set_found_rd(&self, id: NodeId) {
        self.change(id, |place| place.found_rd = true);
    }
    /// Appends the caller as waiter `id`.
    pub fn push(&self, id: NodeId, kind: HoldMode, due_ns: u64) {
        let last = self.last();
        let place =
            Place { prev: TailCode::of(last), kind, is_queued: true, due_ns, ..Place::NONE };
        let thread = P::this_thread();
        // SAFETY: the node is in no list, and the caller's.
        unsafe { waiter::<P>(id).place.set(Place { thread, ..place }) };
        match last {
            Some(last) => self.change(last, |place| place.next = TailCode::of(Some(id))),
            None => self.set_first(Some(id)),
        }
        self.set_last(Some(id));
    }
    /// Takes `id`, which waits, out of the list.
    pub fn remove(&self, id: NodeId) {
        let Place { next, prev, .. } = self.place(id);
        match prev.node() {
            Some(prev) => self.change(prev, |place| place.next = next),
            None => self.set_first(next.node()),
        }
        match next.node() {
            Some(next) => self.change(next, |place| place.prev = prev),
            None => self.set_last(prev.node()),
        }
        self.change(id, |place| place.is_queued = false);
    }
    /// Chains `id`, which was taken out, to `after`, so that [`next`](Self::next) finds it.
    pub fn chain(&self, after: Option<NodeId>, id: NodeId) {
        if let Some(after) = after {
            self.change(after, |place| place.next = TailCode::of(Some(id)));
        }
        self.change(id, |place| place.next = TailCode::NONE);
    }
}
