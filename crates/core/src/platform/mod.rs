//! The interface between a lock and the machine on which it runs.
//!
//! For anything that is shared a lock names no `core::sync::atomic` type, no thread function and no clock: it names
//! `P`. The operations come in small groups, so that a lock states only what it uses. A spinning lock asks for
//! [`QueuePlatform`](crate::queue::QueuePlatform), and a sleeping one for [`ParkPlatform`](crate::park::ParkPlatform).
//! `registry::Platform` is all groups together. The laws of each operation are in `PLATFORM.md`, and the conformance
//! suite of the crate `lockwright-conformance` runs them against every platform.
//!
//! This module uses no other module of its crate. A platform stores some data for locks; the layers above define the
//! types of these data.
//!
//! The machines: [`Native`](crate::native::Native), `Sim` (crate `lockwright-sim`), `Loom` and
//! `Shuttle` (crate `lockwright-model`). All of them can be linked into one binary.

mod cells;
pub mod events;
mod machine;
mod ptr;
mod read_list;
mod storage;
pub mod tunables;

pub use cells::{
    Atomic, AtomicInt, Bound, Budget, Cells, ConstCells, ConstZeroed, Guarded, Halves, LockWordOps,
    RaceTracker, WholeWord, Zeroed, barrier_before_look,
};
pub use machine::{
    Barriers, Clock, Counters, EVERY_KIND, LockHash, MarkStorage, NODES_MAX, NodeId, Placement,
    QueueNodes, SchedulerHints, Sleeping, ThreadNumbers, low_half,
};
pub use ptr::NodePtr;
pub use read_list::{LISTED_MAX, ReadList, Reads};
pub use storage::{HeldLocks, ReaderSlots, SleepStorage};
