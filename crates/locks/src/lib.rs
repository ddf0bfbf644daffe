//! Locks for Rust programs on Linux, with the designs of the Linux kernel and the interface of `parking_lot`.
//!
//! | you have | use |
//! |---|---|
//! | some state that threads change | [`Mutex`], with a [`Condvar`] to wait for a change; on several NUMA nodes [`CnaMutex`] (feature `linux`) |
//! | the same, and an owner that may take the lock again | [`ReentrantMutex`] |
//! | the same, and threads that must take turns | [`FairMutex`] |
//! | mostly reads that take several hundred nanoseconds or more | [`RwLock`] (recursive reads allowed), or [`FairRwLock`] (first come, first served) |
//! | above about a million reads for each write | [`PercpuRwLock`] |
//! | a few words that one thread writes and others read all the time | [`SeqLock`] |
//! | N identical things | [`Semaphore`] |
//! | something to be done or made once | [`LazyLock`], [`OnceLock`], [`Once`] |
//! | threads that wait for each other | [`Barrier`] |
//! | a CPU for every thread, critical sections below a microsecond | with feature `linux`: [`SpinLock`], [`CnaSpinLock`] (several NUMA nodes), [`QRwLock`] (readers), [`ResilientSpinLock`] (reports deadlocks) |
//!
//! All of them work in statics, allocate nothing ([`PercpuRwLock`] and [`ResilientSpinLock`]: see there), and are
//! unlocked when their memory is zero.
//!
//! [`PercpuRwLock`] is worth it only above about a million reads for each write. Below that it can be several times
//! slower than [`RwLock`] or [`Mutex`]. To estimate: reads per second times the seconds between two writes.
//!
#![cfg_attr(
    not(all(feature = "std", any(feature = "lock_api", feature = "lock_api_05"))),
    doc = "```ignore"
)]
#![cfg_attr(all(feature = "std", any(feature = "lock_api", feature = "lock_api_05")), doc = "```")]
//! use lockwright::{Condvar, Mutex};
//! use std::time::Duration;
//!
//! static JOBS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
//! static ADDED: Condvar = Condvar::new();
//!
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let mut jobs = JOBS.lock();
//!         ADDED.wait_while(&mut jobs, |jobs| jobs.is_empty());
//!         assert_eq!(jobs.pop(), Some(7));
//!     });
//!     JOBS.lock().push(7);
//!     ADDED.notify_one();
//! });
//!
//! // A time-out instead of waiting for ever.
//! match JOBS.try_lock_for(Duration::from_millis(5)) {
//!     Some(jobs) => assert!(jobs.is_empty()),
//!     None => println!("busy"),
//! }
//! ```
//!
//! # Coming from `std` or `parking_lot`
//!
//! The method names are those of `parking_lot`, because both crates build on `lock_api`. These things differ:
//!
//! - From `std`: `lock()` returns the guard, not a `Result`, because there is no poisoning. A panic in a critical
//!   section unlocks the lock.
//! - From `std`: a [`Condvar`] takes `&mut guard`. `wait_timeout` is called `wait_for`, and `wait_timeout_while` is
//!   `wait_while_for`.
//! - From `parking_lot`: a waiter of an [`RwLock`] may be passed for 4 ms, and its wait [has a bound](RwLock#fairness).
//! - From `parking_lot`: there is no deadlock detection, and one [`Condvar`] may be used with several mutexes.
//! - From `parking_lot`: [`RwLock::read`](RwLock#methods) may be called by a thread that already reads, even if a writer
//!   waits.
//! - The guards of [`Mutex`], [`CnaMutex`], [`FairMutex`], [`ReentrantMutex`], [`RwLock`], [`FairRwLock`] and
//!   [`PercpuRwLock`] stay in their thread. [`SendMutex`] and [`SendRwLock`] have guards that can be sent.
//! - Locks call the system call `membarrier`, which interrupts the CPUs that run the process. Under a system call
//!   filter a lock can abort the process; see [Environment](#environment).
//!
//! # Plug-ins
//!
//! A program and a library that it opens with `dlopen` have two copies of this crate if both link it. A lock must not
//! be used by two copies, not even of the same version: each has its own tables of the threads that wait and read. So a
//! thread that sleeps by one copy is not woken by the other, and a writer may come next to a reader of the other. Let
//! one side own the lock, and export functions that use it. `docs/migrating.md` of the repository names other ways.
//!
//! # Sanitizers
//!
//! ThreadSanitizer, MemorySanitizer and AddressSanitizer follow the locks. Sanitizers do not see assembly. So with
//! `-Zsanitizer` the build script of `lockwright-core` makes locks access their words without it.
//!
//! # Time-outs
//!
//! [`Mutex`], [`CnaMutex`], [`FairMutex`], [`ReentrantMutex`], [`SpinLock`], [`CnaSpinLock`], [`RwLock`],
//! [`FairRwLock`], [`PercpuRwLock`], [`RwSemLock`], [`Semaphore`], [`ResilientSpinLock`] and [`Condvar`] have
//! time-outs. [`QRwLock`] has none: a spinning waiter cannot leave the middle of its queue. [`SeqLock`] has none
//! either; its [`try_read`](SeqLock::try_read) never waits. [`Once`], [`OnceLock`], [`LazyLock`] and [`Barrier`] have
//! none.
//!
//! # Platforms
//!
//! Linux, on these processors:
//!
//! | target | what is tested |
//! |---|---|
//! | x86-64 with glibc | everything: the tests, the checkers and the measurements run there |
//! | x86-64 with musl | the tests of this crate |
//! | AArch64 with glibc | never run on hardware. The unit tests and small programs, in an emulator: that says nothing about memory ordering, which the model checkers explore, or about speed |
//! | RISC-V (64 bits), LoongArch (64 bits) | nothing: the crate is only compiled for them |
//!
//! Elsewhere, Android included, a build with feature `std` ends with one error. Without `std` the crate also compiles
//! for other systems, and for processors with 32 bits.
//!
//! Rust 1.85 or newer; feature `lock_api_05` needs 1.95, as `lock_api` 0.5 does. Only a minor release (0.1 to 0.2) may
//! need a newer compiler, and then one that is at least six months old.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | locks for programs on Linux. Alone: [`Semaphore`], [`SeqLock`], [`Once`], [`OnceLock`], [`LazyLock`], [`Barrier`] and [`native`] |
//! | `lock_api` | yes | with `std`: all other types of this page, on `lock_api` 0.4 |
//! | `lock_api_05` | no | with `std`: the same types on `lock_api` 0.5, in module `v05`. Without feature `lock_api` they are also at the root; a library should name `v05`, because another crate may turn `lock_api` on |
//! | `arc_lock` | no | with a version of `lock_api`: `lock_arc`, `read_arc` and the like for locks in an `Arc`, whose guards have no lifetime |
//! | `linux` | no | the Linux kernel's locks, of the crate `lockwright-linux`: [`SpinLock`], [`CnaSpinLock`], [`QRwLock`], [`RwSemLock`] with [`InterruptibleRwLock`], [`ResilientSpinLock`]; and [`CnaMutex`] |
//! | `serde` | no | with a version of `lock_api`: its types can be serialized and deserialized with serde |
//!
//! Without `std` the crate is `no_std` and has no platform: there are algorithms, and no lock works until you implement
//! one. See [below](#for-lock-builders).
//!
//! # Environment
//!
//! `LOCKWRIGHT_MEMBARRIER=off`, read once when a lock first needs `membarrier`, keeps locks from interrupting other
//! CPUs with that system call. Then unlocking a [`Mutex`] costs an atomic exchange, and a [`PercpuRwLock`] is a
//! [`RwLock`]. A program that installs a system call filter calls [`native::prepare`] first, and reads there what a
//! filter must allow: if it refuses `membarrier` and `sched_setaffinity` after locks came to rely on them, a lock
//! aborts the process. `docs/choosing.md` of the repository says why this is on here and off in the library that
//! replaces glibc's locks.
//!
//! `LOCKWRIGHT_` and the name of a [tunable](tunables) in capital letters sets that tunable, as
//! `LOCKWRIGHT_NUMA_SPINLOCK=on` does. A program that calls [`native::set_tunable`] has the last word. Each variable
//! with a value out of range, or whose name begins so and is unknown, is refused with a line on standard error.
//!
//! # What `RawMutex<Native>` in a message means
//!
//! Most types here are aliases, and the compiler and `{:?}` show what is behind them:
//!
//! | in a message | is |
//! |---|---|
//! | `lock_api::Mutex<RawMutex<Native>, T>` | [`Mutex<T>`](Mutex); with `cna::V10` inside, [`CnaMutex<T>`](CnaMutex) |
//! | `lock_api::Mutex<RawFairMutex<Native>, T>` | [`FairMutex<T>`](FairMutex) |
//! | `lock_api::ReentrantMutex<RawMutex<Native>, ThreadNumber<Native>, T>` | [`ReentrantMutex<T>`](ReentrantMutex) |
//! | `lock_api::Mutex<QSpinlock<Native>, T>` | [`SpinLock<T>`](SpinLock); with `cna::V10` inside, [`CnaSpinLock<T>`](CnaSpinLock) |
//! | `lock_api::RwLock<RawRwLock<Native>, T>` | [`RwLock<T>`](RwLock); with `Fair` inside, [`FairRwLock<T>`](FairRwLock) |
//! | `lock_api::RwLock<RawPercpuRwLock<Native>, T>` | [`PercpuRwLock<T>`](PercpuRwLock) |
//! | `lock_api::RwLock<RawQRwLock<Native>, T>` | [`QRwLock<T>`](QRwLock) |
//! | `lock_api::RwLock<RwSem<Native>, T>` | [`RwSemLock<T>`](RwSemLock) |
//! | `Sendable<...>` inside one of these | [`SendMutex<T>`](SendMutex) or [`SendRwLock<T>`](SendRwLock) |
//!
//! Guards have the same first parameter. [`Native`](native::Native) is the platform of ordinary programs. Two more
//! messages:
//!
//! - "`*mut ()` cannot be sent between threads safely" is about a guard that has to stay in its thread. Lock inside the
//!   thread, or use [`SendMutex`] or [`SendRwLock`]. [`PercpuRwLock`] has no such type.
//! - "its trait bounds were not satisfied" for `try_lock_for` is about a lock without time-outs.
//!
//! # For lock builders
//!
//! A lock is written once, generic over the traits of a platform, and the same source runs natively, on simulated
//! machines and under model checkers.
//!
//! - The crate `lockwright-core` has these traits, [`native`], which is the platform of a program on Linux, and the
//!   parts that locks stand on: queues of spinners, the table of sleepers, the queued spinlock.
//! - `lockwright-linux` has the kernel's locks with the versions of their history.
//! - Here, [`mutex`], [`condvar`], [`rwlock`], [`percpu_rwlock`], [`semaphore`], [`seqlock`], [`once`] and [`barrier`]
//!   are the locks behind the types, on every platform. They may change in every release.
//! - [`events`] lists the events that are counted, and [`tunables`] the numbers that can be set at run time.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
// The front page speaks of all features.
#![cfg_attr(
    not(all(feature = "std", feature = "lock_api", feature = "linux")),
    allow(rustdoc::broken_intra_doc_links)
)]

#[cfg(all(feature = "std", target_os = "linux"))]
extern crate std;

pub mod api;
pub mod barrier;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod behind_lock_api;
pub mod condvar;
#[cfg(feature = "linux")]
pub mod linux;
pub mod mutex;
pub mod once;
pub mod percpu_rwlock;
pub mod rwlock;
pub mod semaphore;
pub mod seqlock;

#[cfg(all(
    feature = "std",
    target_os = "linux",
    feature = "lock_api_05",
    not(feature = "lock_api")
))]
#[doc(inline)]
pub use api::v05::*;
#[doc(inline)]
pub use api::*;
#[cfg(all(feature = "std", target_os = "linux"))]
#[doc(inline)]
pub use lockwright_core::native;
#[doc(inline)]
pub use lockwright_core::{events, tunables};
#[cfg(feature = "linux")]
#[doc(inline)]
pub use lockwright_linux::{Interrupt, Until};
#[cfg(all(feature = "std", target_os = "linux", feature = "linux"))]
#[doc(inline)]
pub use lockwright_linux::{LockError, LockErrorKind, ResilientSpinLock, ResilientSpinLockGuard};

use lockwright_core::{park, platform, qspinlock, queue, raw};
