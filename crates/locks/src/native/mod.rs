//! The machine underneath, undisguised: real threads on Linux.
//!
//! Apart from the standard library (which provides threads and the C library's system calls) this
//! module needs nothing. No operation allocates, panics, or has state with a destructor, so a lock
//! may be taken in an allocator, in a signal handler that interrupted another lock operation, and
//! in a thread that is about to exit. One thing is not in its hands: in a library that is loaded by `dlopen` the C library
//! may allocate the thread-local variables when a thread first uses them. What has to be found out once about the machine (a mapping,
//! some small files, which system calls there are) is found out by the first contended lock
//! operation, or by [`prepare`] for programs that cannot have it happen there.
//!
//! - `cells`: `core`'s atomics, and how to wait on them.
//! - `word_*`: narrow accesses of a lock word, in assembly where that is sound.
//! - `pool`: the queue nodes; `hash`: from locks to sleeping ones; `fork`: telling nodes of another process life from ours.
//! - `cpu`, [`topology`], [`priority`]: where the caller is and how urgent.
//! - `reader_slots`: where threads say what they read.
//! - `spinners`: how many threads spin; `barrier`, `sleep`, `counters`: the rest.

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "loongarch64"
)))]
compile_error!(
    "`Native` does not know this architecture's system calls: build without feature `std`"
);

mod barrier;
mod cells;
mod counters;
mod cpu;
mod environment;
mod fork;
mod hash;
mod pool;
pub mod priority;
mod reader_slots;
mod sleep;
mod sleep_table;
mod spinners;
mod syscall;
mod table;
pub mod topology;
#[cfg(all(target_arch = "aarch64", not(miri), not(lockwright_whole_word)))]
mod word_aarch64;
#[cfg(any(miri, lockwright_whole_word, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod word_whole;
#[cfg(all(target_arch = "x86_64", not(miri), not(lockwright_whole_word)))]
mod word_x86_64;

pub(crate) use cells::u32_cell;
pub use cells::{NativeWord, Untracked};
pub use counters::{count_events, event_count, events_are_counted, reset_events, set_tunable};
pub use pool::limit_nodes;

/// The platform of ordinary programs.
///
/// Its CPUs are CPUs of the machine, its queue nodes come from one static pool per process.
#[derive(Clone, Copy, Debug)]
pub struct Native;

/// Finds out everything that is found out once. For programs whose first contended lock operation
/// may be where files cannot be opened or memory cannot be mapped: on a small signal stack, or after
/// a system call filter was installed.
///
/// A filter that is installed later has to allow `futex`, `rt_sigprocmask`, `getcpu` and `clock_gettime`, and `membarrier` or
/// `sched_setaffinity`. Where it refuses `membarrier`, locks that would have used it pay a migration to each CPU
/// instead, once for each of their words that relied on it. Where it refuses both, a lock that relied on them says so on
/// stderr and aborts the process; `LOCKWRIGHT_MEMBARRIER=off` in the environment that the program is started with
/// keeps locks from relying on them.
pub fn prepare() {
    use crate::platform::{Clock, Placement, QueueNodes};
    Native::numa_node_of(Native::this_cpu());
    Native::has_forked();
    barrier::prepare();
    reader_slots::prepare();
    Native::now_ns();
}

/// The CPU the calling thread runs on; may be stale as soon as it is known.
#[inline]
pub fn this_cpu() -> u32 {
    cpu::this_cpu()
}
