//! A thread that sleeps, or is about to.

use crate::platform::{Cells, ConstCells, ConstZeroed, Guarded, SleepStorage, Zeroed};
use crate::queue::{NodeId, TailCode};

/// A kind of hold that a waiter waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldMode {
    /// The waiter waits to read.
    Reader,
    /// The waiter waits to own the lock.
    Writer,
}

/// A kind of hold that a waiter waits for in a reader-writer lock for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// The waiter waits to read, with other readers.
    Reader,
    /// The waiter waits to read, as the one reader that may become the writer.
    Upgradable,
    /// The waiter waits to write. It is that one reader, and has given back its share of the lock, so that no reader is
    /// left when it can write.
    Upgrader,
    /// The waiter waits to write.
    Writer,
}

impl LockMode {
    /// Returns `true` if the waiter will hold the lock together with readers.
    #[inline(always)]
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Reader | Self::Upgradable)
    }
}

/// The place of a waiter in a list. Guarded by `wait_lock` of its semaphore.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The waiter behind this one.
    pub next: TailCode,
    /// The waiter in front of this one.
    pub prev: TailCode,
    /// The kind of hold that it waits for.
    pub kind: HoldMode,
    /// True if it is in a list.
    pub is_queued: bool,
    /// True if the handoff is for it.
    pub has_handoff: bool,
    /// True if it is a reader and found the flag that keeps readers from spinning.
    pub found_rd: bool,
    /// The time at which it has waited long enough, in nanoseconds.
    pub due_ns: u64,
    /// Its thread.
    pub thread: u64,
}

impl Place {
    /// The place of a waiter that is in no list.
    pub const NONE: Self = Self {
        next: TailCode::NONE,
        prev: TailCode::NONE,
        kind: HoldMode::Reader,
        is_queued: false,
        has_handoff: false,
        found_rd: false,
        due_ns: 0,
        thread: 0,
    };
}

/// A thread that sleeps, or is about to. Its number is the number of the queue node that the thread has claimed.
#[repr(C, align(64))]
pub struct Waiter<P: Cells> {
    /// The word on which it sleeps. It is [`ASLEEP`](super::ASLEEP) until another thread writes why the waiter should
    /// wake up.
    pub signal: P::U32,
    /// The waiter behind this one.
    pub next: Guarded<P, TailCode>,
    /// The waiter in front of this one.
    pub prev: Guarded<P, TailCode>,
    /// The name of the word that it waits for. It is written under the lock of the bucket that the waiter leaves or
    /// enters. If it is read without that lock, it is a hint.
    pub name: P::U64,
    /// The word of the lock that it waits for, if readers share that lock. For a waiter on a condition variable, the
    /// word of the mutex that it takes afterwards.
    pub wants: P::Ptr,
    /// The kind of hold that it waits for, if readers share the lock.
    pub mode: Guarded<P, LockMode>,
    /// The time since which it waits, if readers share the lock.
    pub since_ns: Guarded<P, u64>,
    /// The word on which a waiter for a reader-writer semaphore sleeps, see `rwsem` of `lockwright-linux`.
    pub grant: P::U32,
    /// The amount that it needs, if the amount is granted to it; see [`Waiters`](super::Waiters).
    pub needs: Guarded<P, u32>,
    /// Its place in the list of a reader-writer semaphore.
    pub place: Guarded<P, Place>,
}

impl<P: Cells> Waiter<P> {
    /// Returns the word on which it sleeps.
    pub fn signal(&self) -> &P::U32 {
        &self.signal
    }
    /// Returns a fresh waiter.
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
    /// A fresh waiter, as a constant.
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

/// Returns the waiter `id`.
pub fn waiter<'a, P: SleepStorage<Waiter = Waiter<P>>>(id: NodeId) -> &'a Waiter<P> {
    // SAFETY: by the contract of `SleepStorage::waiter` it lives as long as the machine; all of it is
    // cells.
    unsafe { P::waiter(id).as_ref() }
}
