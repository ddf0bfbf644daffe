//! The platform of ordinary programs, which are threads on Linux, and the functions that it offers to a program.
//!
//! - [`prepare`] does work at once that would otherwise be done at the first contended lock operation, or after some 64
//!   releases of a `Mutex`. Programs with small signal stacks or system call filters call it.
//! - [`priority`] makes threads urgent: locks do not put them behind waiters that came later.
//! - [`count_events`] and [`event_count`] count the events of locks; [`events`](crate::events) lists them.
//! - [`set_tunable`] sets the numbers that [`tunables`](crate::tunables) lists, and so does the environment of the
//!   program. [`tunable`] returns the value to which one is set. [`numa_spinlock`] says if the CNA locks are
//!   NUMA-aware, and why.
//!
//! No operation of a lock allocates or panics, and none uses state with a destructor. So a lock may be taken inside an
//! allocator, in a signal handler that interrupted an operation on another lock, and in a thread that is about to exit.
//! There are two exceptions. In a library that is loaded with `dlopen`, the C library may allocate thread-local
//! variables when a thread first uses them. The other one is about `fork`: see [`prepare`].
//!
//! # Handlers of faults
//!
//! A lock may lie in memory that the program protects, as collectors and checkpointers do, if the program's handler
//! repairs the cause of the fault and returns. The handler of a fault (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`,
//! `SIGTRAP`, `SIGSYS`) can interrupt an operation on an `RwLock`, a `PercpuRwLock`, a fair one or a `Semaphore` where
//! no other handler can. This happens if that lock lies in such memory, or if such a signal is sent. Then the handler
//! must not use locks of these types. It must return or end the process, and must not leave by a jump.

// README.md says what a forked child finds in each static.
//
// - `cells`: the platform and its cells, which are those of `hardware`.
// - `pool`: the queue nodes; `hash`: from locks to sleeping nodes; `fork`: tells nodes of another process life from
//   ours.
// - `cpu`, `topology`, `priority`: the place of the caller, and its urgency; `quota`: the CPU time that it may use.
// - `reader_slots`: the memory in which threads say what they read.
// - `per_process`: statics that copies of this crate share; `per_thread`: values of threads; `thread_number`: the
//   numbers of threads.
// - `spinners`: the number of threads that spin; `barrier`, `sleep`, `counters`: the other groups of operations.

mod barrier;
mod cells;
mod counters;
mod cpu;
mod environment;
mod fork;
mod hash;
mod park;
mod per_process;
mod per_thread;
mod pool;
pub mod priority;
mod quota;
mod reader_slots;
mod sleep;
mod slept_in;
mod spinners;
mod syscall;
mod table;
mod thread_number;
#[doc(hidden)]
pub mod topology;

pub use cells::Native;
pub use counters::{
    count_events, event_count, events_are_counted, numa_spinlock, reset_events, set_tunable,
    tunable,
};
#[doc(hidden)]
pub use hash::address_of;
#[doc(hidden)]
pub use pool::limit_nodes;
#[doc(hidden)]
pub use reader_slots::{this_thread_id, thread_of};
#[doc(hidden)]
pub use sleep::deadline_of_date;
#[doc(hidden)]
pub use table::Table;

use crate::platform::{Clock, Counters, Placement, QueueNodes};
use crate::tunables::Tunable;

/// Does work at once that would otherwise be done at the first contended lock operation, or after some 64 releases of a
/// `Mutex`. It maps memory, reads some small files, and finds out which system calls the kernel has. The last of these
/// takes about 10 ms in a process that already has threads.
///
/// Call it at the start of a program
///
/// - that takes locks on small signal stacks,
/// - that installs a system call filter, before it does, or
/// - in which the C library must not allocate when a lock is taken, or in which a signal handler is the first to use a
///   `PercpuRwLock` or a `ResilientSpinLock`. These two types need a handler of `fork`, which `prepare` registers. The
///   C library may allocate for that, and may hold a lock of its own when a signal comes.
///
/// # System call filters
///
/// A filter has to allow `futex`, `rt_sigprocmask`, `getcpu` and `clock_gettime`, and either `membarrier`, or
/// `sched_getaffinity` and `sched_setaffinity`. `PercpuRwLock` also needs `gettid` and `kill`.
///
/// Waiters also call `sched_getscheduler` and `sched_yield`. A filter may let these two fail, but must not end the
/// process for them.
///
/// Where a filter refuses `membarrier`, locks that would have used it migrate their thread to each CPU instead, once
/// for each of their words that relied on it. Where it refuses both, a lock that relied on them prints a message to
/// standard error and aborts the process. With `LOCKWRIGHT_MEMBARRIER=off` in the environment of the program, no lock
/// relies on either.
pub fn prepare() {
    Native::numa_node_of(Native::this_cpu());
    Native::tunable(Tunable::numa_spinlock);
    Native::has_forked();
    barrier::prepare();
    reader_slots::prepare();
    Native::now_ns();
}

/// Returns the CPU on which the calling thread runs. The thread may have moved when the function returns.
#[inline]
pub fn this_cpu() -> u32 {
    cpu::this_cpu()
}
