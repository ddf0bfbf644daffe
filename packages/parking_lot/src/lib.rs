//! The public interface of parking_lot 0.12, on [Lockwright](lockwright)'s locks.
//!
//! With these two lines in the `Cargo.toml` of a program, every crate of it that uses parking_lot 0.12 uses Lockwright:
//!
//! ```toml
//! [patch.crates-io]
//! parking_lot = { path = "../lockwright/packages/parking_lot" }
//! ```
//!
//! Here the repository of Lockwright is in the folder `lockwright` next to the program.
//!
//! Types, functions and features have the names and the signatures of parking_lot 0.12.5. **They do not promise all
//! that parking_lot's do:**
//!
//! - **A waiter of an [`RwLock`] may be passed for 4 ms.** Its wait has a bound; the documentation of
//!   [`RwLock`](lockwright::RwLock#fairness) of Lockwright states it. With feature `send_guard`, readers that hold the
//!   lock for longer than 10 ms can keep a writer waiting for ever, because a thread does not know what it reads.
//! - **A newly arriving thread takes a free [`Mutex`] although others wait**, until a thread that was woken has found
//!   it held for 4 ms. With parking_lot an unlock hands it over about every 0.5 ms.
//! - **Locks call membarrier(2)**, which interrupts every CPU that runs the process. Under a system call filter a lock
//!   can abort the process; [`prepare`](lockwright::native::prepare) says when.
//! - It works on Linux with x86-64, AArch64, RISC-V and LoongArch. Other targets are refused when it is compiled.
//! - Feature `deadlock_detection` is refused: Lockwright has no deadlock detector.
//! - Features `hardware-lock-elision` and `nightly` change nothing.
//! - A thread that reads may read again with `read` while a writer waits. With parking_lot it may hang.
//! - A [`Condvar`] may be used with several mutexes at once. With parking_lot that is a panic.
//! - [`Mutex`] and [`Condvar`] are larger: 8 and 16 bytes. [`RwLock`] is smaller: 4 bytes.
//! - The functions of `parking_lot_core` know nothing of these locks.
//!
//! As with parking_lot, a wait for a [`Condvar`] ends only with a notification or at its deadline, and notifications
//! say how many threads they notified.
//!
//! How long a thread may wait, and what else a lock promises, is in the documentation of Lockwright's type of the same
//! name.

#[cfg(feature = "deadlock_detection")]
compile_error!(
    "Lockwright has no deadlock detector: turn off the feature `deadlock_detection` of parking_lot, or remove \
     parking_lot from `[patch.crates-io]`"
);

mod mutexes;
mod rwlock;

pub use ::lock_api;
pub use lockwright::{Condvar, Once, OnceState, WaitTimeoutResult};
pub use mutexes::{
    FairMutex, FairMutexGuard, MappedFairMutexGuard, MappedMutexGuard, MappedReentrantMutexGuard,
    Mutex, MutexGuard, RawFairMutex, RawMutex, RawThreadId, ReentrantMutex, ReentrantMutexGuard,
    const_fair_mutex, const_mutex, const_reentrant_mutex,
};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RawRwLock, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard, const_rwlock,
};

#[cfg(feature = "arc_lock")]
pub use lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard,
    ArcRwLockWriteGuard,
};
