//! The Linux kernel's scalable locks, for any program.
//!
//! A lock is written once, generic over [`platform::Platform`], and the same source runs natively,
//! on simulated machines and under model checkers. The modules, from the ground up:
//!
//! - [`platform`] is the seam: everything a lock may ask of the machine below it. Its laws are in
//!   `PLATFORM.md`.
//! - [`native`] (feature `std`) is that machine for a program on Linux.
//! - [`node`] is the queue node that all queued locks share; [`events`] and [`tunables`] are the
//!   tables of what is counted and of what can be set at run time.
//! - [`qspinlock`] is the queued spinlock: the kernel's word, and two questions as type
//!   parameters, *who is next* and *how does one wait*.
//! - [`mutex`], [`condvar`] and [`semaphore`] are for programs; their waiters sleep in the [`sleep_table`].
//! - [`rwsem`] is the reader-writer semaphore, with the patches of its history as policies;
//!   [`qrwlock`] is the kernel's reader-writer lock whose waiters spin; readers of a [`seqlock`] write nothing;
//!   [`osq`] is the queue in which the spinners of a sleeping lock wait, and which they may leave.
//! - [`unfair`], [`ticket`], [`mcs`] and [`clh`] are the references it is measured against, and
//!   [`busted`] holds locks that are wrong on purpose.
//! - [`zoo`] lists the historical bugs that the checkers seed in these locks to prove themselves.
//! - [`raw`] is the interface all of them have, [`registry`] the one list of them, and [`api`] the
//!   types a program uses.
#![no_std]
#![warn(missing_docs)]

#[cfg(feature = "std")]
extern crate std;

#[cfg(all(feature = "std", not(target_os = "linux")))]
compile_error!(
    "feature `std` of lockwright is the platform for programs on Linux: for another system, build with `default-features = false` and implement `Platform`"
);

pub mod condvar;
mod contest;
pub mod events;
mod is_locked;
pub mod mutex;
pub mod node;
mod patience;
pub mod percpu_rwlock;
pub mod platform;
pub mod ptr;
pub mod raw;
pub mod registry;
pub mod rwlock;
pub mod rwsem;
pub mod semaphore;
pub mod sleep_table;
pub mod tunables;
pub mod zoo;

pub mod busted;
pub mod clh;
pub mod mcs;
pub mod osq;
pub mod qrwlock;
pub mod qspinlock;
pub mod seqlock;
pub mod ticket;
pub mod unfair;

pub mod api;
#[cfg(all(feature = "std", target_os = "linux"))]
pub mod native;

#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api"))]
pub use api::v04::*;
#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api_05"))]
pub use api::v05;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    feature = "lock_api_05",
    not(feature = "lock_api")
))]
pub use api::v05::*;
pub use api::{Record, SeqLock};
#[cfg(all(feature = "std", target_os = "linux"))]
pub use api::{Semaphore, SemaphorePermit};
