//! The locks on the real machine. Bounded by time, at most two spinning threads, one test at a
//! time: tests take [`alone`] because they share the process-wide node pool and settings.

mod fork;
mod hooked;
mod mutex;
mod nodes;
mod qrwlock;
mod registry;
mod reuse;
mod rwlock;
mod rwsem;
mod semaphore;
mod seqlock;
mod signals;
mod statics;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps other tests of this binary out until it is dropped.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
