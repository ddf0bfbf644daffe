//! The seam between a lock and the machine it runs on.
//!
//! A lock names no `core::sync::atomic` type, no thread function and no clock for anything that is
//! shared: it names `P`. The operations come in small groups so that a lock states only what it
//! uses: [`QueuePlatform`](crate::queue::QueuePlatform) is what a spinning lock asks for,
//! [`ParkPlatform`](crate::park::ParkPlatform) what a sleeping one asks for, and
//! [`Platform`](crate::raw::Platform) is all of them together. The laws of each operation are in `PLATFORM.md`, and
//! the conformance suite of the crate `lockwright-clients` runs them against every platform.
//!
//! This module uses nothing else of its crate. The layers above define the types of what a platform stores for locks.
//!
//! The machines: [`Native`](crate::native::Native), `Sim` (crate `lockwright-sim`), `Loom` and
//! `Shuttle` (crate `lockwright-model`). All of them can be linked into one binary.

mod atomic;
pub mod events;
mod guarded;
mod machine;
mod node_id;
mod ptr;
pub mod tunables;

pub use atomic::{Atomic, AtomicInt, Bound, Budget, Halves, LockWordOps, WholeWord};
pub use guarded::{Guarded, RaceTracker};
pub use machine::{
    Barriers, Clock, Counters, LockHash, Placement, QueueNodes, ReaderSlots, SchedulerHints,
    SleepStorage, Sleeping,
};
pub use node_id::{NODES_MAX, NodeId};
pub use ptr::NodePtr;

/// The shared cells of a machine.
pub trait Cells: Sized + 'static {
    /// A 32-bit word, accessed whole.
    type U32: AtomicInt<u32>;
    /// A 64-bit word, accessed whole.
    type U64: AtomicInt<u64>;
    /// A pointer, erased; locks see it through [`NodePtr`](crate::platform::NodePtr).
    ///
    /// Erased because `type Ptr<T>` would push a `where` clause onto every lock and onto everything
    /// that holds one.
    type Ptr: Atomic<*mut ()>;
    /// A 32-bit lock word that is also accessed by bytes and halves.
    type Word: LockWordOps;
    /// What makes a plain field visible to race detectors; see [`Guarded`].
    type Tracker: RaceTracker;

    /// Nobody may touch `object` from now on: its last user has freed it. Only a machine for checking
    /// does anything about it.
    #[inline(always)]
    fn freed<T>(object: &T) {
        let _ = object;
    }
}

/// A cell that starts as zero (null).
pub trait Zeroed {
    /// The cell holding zero.
    fn zeroed() -> Self;
}

/// A cell that starts as zero (null) in a constant.
pub trait ConstZeroed: Zeroed {
    /// The cell holding zero.
    const ZEROED: Self;
}

/// Cells that can be built in a constant, hence locks that can live in a `static`.
///
/// Every lock of this crate is unlocked when all its words are zero, so this is the only constant
/// a platform has to provide. `Loom` cannot, and does not implement this.
pub trait ConstCells:
    Cells<U32: ConstZeroed, U64: ConstZeroed, Ptr: ConstZeroed, Word: ConstZeroed, Tracker: ConstZeroed>
{
}
impl<P> ConstCells for P where
    P: Cells<
            U32: ConstZeroed,
            U64: ConstZeroed,
            Ptr: ConstZeroed,
            Word: ConstZeroed,
            Tracker: ConstZeroed,
        >
{
}
