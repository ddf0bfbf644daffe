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

/// What a waiter for a reader-writer lock for programs waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// To read, with other readers.
    Reader,
    /// To read as the one reader that may become the writer.
    Upgradable,
    /// To write. It is that reader and has given back its share of the lock, so that no reader is left when it can.
    Upgrader,
    /// To write.
    Writer,
}

impl LockMode {
    /// Returns `true` for those that hold the lock together with readers.
    #[inline(always)]
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Reader | Self::Upgradable)
    }
}

/// The place of a waiter in a list. Guarded by the internal lock of its semaphore.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The one behind.
    pub next: TailCode,
    /// The one in front.
    pub prev: TailCode,
    /// What it waits for.
    pub kind: HoldMode,
    /// True if it is in a list.
    pub is_queued: bool,
    /// True if the lock is reserved for it.
    pub has_handoff: bool,
    /// When it has waited long enough, in nanoseconds.
    pub due_ns: u64,
    /// Its thread.
    pub thread: u64,
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
    /// What it sleeps on: [`ASLEEP`](super::ASLEEP) until somebody writes why it should wake up.
    pub signal: P::U32,
    /// The one behind.
    pub next: Guarded<P, TailCode>,
    /// The one in front.
    pub prev: Guarded<P, TailCode>,
    /// The name of the word it waits for. Written under the lock of the bucket it leaves or enters; as
    /// read without, a hint.
    pub name: P::U64,
    /// The word of the lock that readers share for which it waits; of a waiter on a condition variable that of the
    /// mutex it wants afterwards.
    pub wants: P::Ptr,
    /// Of a waiter for a lock that readers share: what it waits for.
    pub mode: Guarded<P, LockMode>,
    /// Of the same: since when it waits.
    pub since_ns: Guarded<P, u64>,
    /// What a waiter for a semaphore sleeps on, see `rwsem` of `lockwright-linux`.
    pub grant: P::U32,
    /// How much a waiter needs that is granted it, see [`Waiters`](super::Waiters).
    pub needs: Guarded<P, u32>,
    /// Its place in the list there.
    pub place: Guarded<P, Place>,
}

impl<P: Cells> Waiter<P> {
    /// The word that it sleeps on.
    pub fn signal(&self) -> &P::U32 {
        &self.signal
    }
    /// A fresh one.
    pub fn new() -> Self {
        Self {
            signal: Zeroed::zeroed(),
            next: Guarded::new(TailCode::NONE),
            prev: Guarded::new(TailCode::NONE),
            name: Zeroed::zeroed(),
            wants: Zeroed::zeroed(),
            mode: Guarded::new(LockMode::Reader),
            since_ns: Guarded::new(0),
            grant: Zeroed::zeroed(),
            needs: Guarded::new(0),
            place: Guarded::new(Place::NONE),
        }
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
    pub const FRESH: Self = Self {
        signal: ConstZeroed::ZEROED,
        next: Guarded::const_new(TailCode::NONE),
        prev: Guarded::const_new(TailCode::NONE),
        name: ConstZeroed::ZEROED,
        wants: ConstZeroed::ZEROED,
        mode: Guarded::const_new(LockMode::Reader),
        since_ns: Guarded::const_new(0),
        grant: ConstZeroed::ZEROED,
        needs: Guarded::const_new(0),
        place: Guarded::const_new(Place::NONE),
    };
}

/// The waiter `id`.
pub fn waiter<'a, P: SleepStorage<Waiter = Waiter<P>>>(id: NodeId) -> &'a Waiter<P> {
    // SAFETY: by the contract of `SleepStorage::waiter` it lives as long as the machine; all of it is
    // cells.
    unsafe { P::waiter(id).as_ref() }
}
