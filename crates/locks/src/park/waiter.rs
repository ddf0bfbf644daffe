//! A thread that sleeps, or is about to.

use crate::platform::{Cells, ConstCells, ConstZeroed, Guarded, SleepStorage, Zeroed};
use crate::queue::{NodeId, TailCode};

/// What a waiter waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldMode {
    /// To read.
    Reader,
    /// To own.
    Writer,
}

/// The place of a waiter in a list. Guarded by the internal lock of its semaphore.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(crate) next: TailCode,
    pub(crate) prev: TailCode,
    pub(crate) kind: HoldMode,
    /// True if it is in a list.
    pub(crate) is_queued: bool,
    /// True if the lock is reserved for it.
    pub(crate) has_handoff: bool,
    /// When it has waited long enough, in nanoseconds.
    pub(crate) due_ns: u64,
    pub(crate) thread: u64,
}

impl Place {
    /// In no list.
    pub const NONE: Self = Self {
        next: TailCode::NONE,
        prev: TailCode::NONE,
        kind: HoldMode::Reader,
        is_queued: false,
        has_handoff: false,
        due_ns: 0,
        thread: 0,
    };
}

/// A thread that sleeps, or is about to. Its number is that of the queue node its thread has claimed.
#[repr(C, align(64))]
pub struct Waiter<P: Cells> {
    /// What a waiter for a semaphore sleeps on, see [`rwsem`](crate::rwsem).
    pub(crate) grant: P::U32,
    /// Its place in the list there.
    pub(crate) place: Guarded<P, Place>,
}

impl<P: Cells> Waiter<P> {
    /// A fresh one.
    pub fn new() -> Self {
        Self { grant: Zeroed::zeroed(), place: Guarded::new(Place::NONE) }
    }
}

impl<P: Cells> Default for Waiter<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: ConstCells> Waiter<P> {
    /// A fresh one, in a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const FRESH: Self =
        Self { grant: ConstZeroed::ZEROED, place: Guarded::const_new(Place::NONE) };
}

/// The waiter `id`.
pub(crate) fn waiter<'a, P: SleepStorage<Waiter = Waiter<P>>>(id: NodeId) -> &'a Waiter<P> {
    // SAFETY: by the contract of `SleepStorage::waiter` it lives as long as the machine; all of it is
    // cells.
    unsafe { P::waiter(id).as_ref() }
}
