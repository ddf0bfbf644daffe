//! The locks on the real machine. Bounded by time, at most two spinning threads, one test at a
//! time: tests take [`alone`] because they share the process-wide node pool and settings.

mod barrier;
mod buckets;
mod children;
mod duties;
mod fair_mutex;
mod faults;
mod fork;
#[cfg(any(feature = "arc_lock", feature = "serde"))]
mod forwarded;
mod fresh;
mod hooked;
mod kept;
mod kernel_word;
mod limits;
mod mutex;
mod nodes;
mod once;
mod parked;
mod process;
mod qrwlock;
mod quiet;
mod readers;
mod reentrant;
mod registry;
mod results;
mod reuse;
mod rwlock;
mod rwsem;
mod semaphore;
mod seqlock;
mod signals;
mod spin;
mod statics;
mod traits;
mod tunables;

use lockwright_core::raw::RawLock;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// With a smaller pool of queue nodes, as `cargo xtask alone --nodes` asks for. Runs before all tests.
#[used]
#[unsafe(link_section = ".init_array")]
static LIMIT_NODES: extern "C" fn() = {
    extern "C" fn limit() {
        let count = std::env::var("LOCKWRIGHT_NODES").ok();
        if let Some(count) = count.and_then(|count| count.parse().ok()) {
            lockwright_core::native::limit_nodes(count);
        }
    }
    limit
};

/// Keeps other tests of this binary out until it is dropped.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says that the calling test does not run here, and why, where libtest does not hide it.
fn not_run(why: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    // Nobody reads a stream that is closed.
    let _ = writeln!(std::io::stderr(), "not run: {name}: {why}");
}

/// The first word of a lock that begins with an atomic word of 32 bits.
fn word<L>(lock: &L) -> &AtomicU32 {
    // SAFETY: callers pass such a lock.
    unsafe { &*std::ptr::from_ref(lock).cast() }
}

/// Takes the lock and gives it back.
fn own_once(lock: &impl RawLock) {
    lock.lock();
    // SAFETY: taken above.
    unsafe { lock.unlock() };
}

/// The same, as a reader.
fn read_once(lock: &impl RawLock) {
    lock.lock_shared();
    // SAFETY: taken above.
    unsafe { lock.unlock_shared() };
}

/// Tells the threads of a test to end, also if the test panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        // ordering: Relaxed; nothing is read through it.
        self.0.store(true, Relaxed);
    }
}
