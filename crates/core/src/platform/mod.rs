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

mod atomic;
mod cells;
pub mod events;
mod guarded;
mod is_locked;
mod machine;
mod node_id;
mod ptr;
mod read_list;
pub mod tunables;
mod zeroed;

pub use atomic::{Atomic, AtomicInt, Bound, Budget, Halves, LockWordOps, WholeWord};
pub use cells::{Cells, ConstCells};
pub use guarded::{Guarded, RaceTracker};
pub use is_locked::barrier_before_look;
pub use machine::{
    Barriers, Clock, Counters, EVERY_KIND, HeldLocks, LockHash, Placement, QueueNodes, ReaderSlots,
    SchedulerHints, SleepStorage, Sleeping, ThreadNumbers, low_half,
};
pub use node_id::{NODES_MAX, NodeId};
pub use ptr::NodePtr;
pub use read_list::{LISTED_MAX, ReadList, Reads};
pub use zeroed::{ConstZeroed, Zeroed};
