//! Locks for Rust programs on Linux, with the designs of the Linux kernel and the interface of `parking_lot`.
//!
//! | you have | use |
//! |---|---|
//! | some state that threads change | [`Mutex`], with a [`Condvar`] to wait for a change; on several NUMA nodes [`CnaMutex`] |
//! | the same, and an owner that may take the lock again | [`ReentrantMutex`] |
//! | the same, and threads that must take turns | [`FairMutex`] |
//! | mostly reads that take several hundred nanoseconds or more | [`RwLock`] (recursive reads allowed), or [`FairRwLock`] (first come, first served) |
//! | above about a million reads for each write | [`PercpuRwLock`] |
//! | a few words that one thread writes and others read all the time | [`SeqLock`] |
//! | N identical things | [`Semaphore`] |
//! | something to be done or made once | [`LazyLock`], [`OnceLock`], [`Once`] |
//! | threads that wait for each other | [`Barrier`] |
//! | a CPU for every thread, critical sections below a microsecond | [`SpinLock`], [`CnaSpinLock`] (several NUMA nodes), [`QRwLock`] (readers), [`ResilientSpinLock`] (reports deadlocks) |
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
//! The method names are those of `parking_lot`, because both crates build on `lock_api`. What differs:
//!
//! - From `std`: `lock()` returns the guard, not a `Result`, because there is no poisoning. A panic in a critical
//!   section unlocks the lock.
//! - From `std`: a [`Condvar`] takes `&mut guard`. `wait_timeout` is called `wait_for`, and `wait_timeout_while` is
//!   `wait_while_for`.
//! - From `parking_lot`: readers that leave no gap keep a writer of an [`RwLock`] out for ever. They do not in a
//!   [`FairRwLock`].
//! - From `parking_lot`: there is no deadlock detection, and one [`Condvar`] may be used with several mutexes.
//! - From `parking_lot`: [`RwLock::read`](RwLock#methods) may be called by a thread that already reads. It can be 10 ms
//!   late if a writer waits.
//! - The guards of [`Mutex`], [`CnaMutex`], [`FairMutex`], [`ReentrantMutex`], [`RwLock`], [`FairRwLock`] and
//!   [`PercpuRwLock`] stay in their thread. [`SendMutex`] and [`SendRwLock`] have guards that can be sent.
//! - Locks call the system call `membarrier`, which interrupts the CPUs that run the process. Under a system call filter
//!   a lock can abort the process; see [Environment](#environment).
//!
//! # Plug-ins
//!
//! A program and a library that it opens with `dlopen` have two copies of this crate if both link it. A lock must not be
//! used by two copies, not even of the same version: each has its own tables of the threads that wait and read. So a
//! thread that sleeps by one copy is not woken by the other, and a writer may come next to a reader of the other. Let one
//! side own the lock, and export functions that use it. `docs/migrating.md` of the repository names other ways.
//!
//! # Sanitizers
//!
//! ThreadSanitizer, MemorySanitizer and AddressSanitizer follow the locks: with `-Zsanitizer` the build script of this
//! crate has lock words accessed without assembly, which they do not see.
//!
//! # Time-outs
//!
//! [`Mutex`], [`CnaMutex`], [`FairMutex`], [`ReentrantMutex`], [`SpinLock`], [`CnaSpinLock`], [`RwLock`],
//! [`FairRwLock`], [`PercpuRwLock`], [`RwSemLock`], [`Semaphore`], [`ResilientSpinLock`] and [`Condvar`] have time-outs. [`QRwLock`] has none: a
//! spinning waiter cannot leave the middle of its queue. [`SeqLock`] has none either; its
//! [`try_read`](SeqLock::try_read) never waits. Nor have [`Once`], [`OnceLock`], [`LazyLock`] and [`Barrier`].
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
//! Elsewhere, Android included, a build with feature `std` ends with one error. Without `std` the crate also compiles for
//! other systems, and for processors with 32 bits.
//!
//! Rust 1.85 or newer; feature `lock_api_05` needs 1.95, as `lock_api` 0.5 does. Only a minor release (0.1 to 0.2) may
//! need a newer compiler, and then one that is at least six months old.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | locks for programs on Linux. Alone: [`Semaphore`], [`SeqLock`], [`ResilientSpinLock`], [`Once`], [`OnceLock`], [`LazyLock`], [`Barrier`] and [`native`] |
//! | `lock_api` | yes | with `std`: all other types of this page, on `lock_api` 0.4 |
//! | `lock_api_05` | no | with `std`: the same types on `lock_api` 0.5, in module `v05`. Without feature `lock_api` they are also at the root; a library should name `v05`, because another crate may turn `lock_api` on |
//! | `arc_lock` | no | with a version of `lock_api`: `lock_arc`, `read_arc` and the like for locks in an `Arc`, whose guards have no lifetime |
//! | `serde` | no | with a version of `lock_api`: its types can be serialized and deserialized with serde |
//!
//! Without `std` the crate is `no_std` and has no platform: there are algorithms, and no lock works until you implement
//! one. See [below](#for-lock-builders).
//!
//! # Environment
//!
//! `LOCKWRIGHT_MEMBARRIER=off`, read once when a lock first needs `membarrier`, keeps locks from interrupting other CPUs
//! with that system call. Then unlocking a [`Mutex`] costs an atomic exchange, and a [`PercpuRwLock`] is a [`RwLock`]. A
//! program that installs a system call filter calls [`native::prepare`] first, and reads there what a filter must allow:
//! if it refuses `membarrier` and `sched_setaffinity` after locks came to rely on them, a lock aborts the process.
//! `docs/choosing.md` of the repository says why this is on here and off in the library that replaces glibc's locks.
//!
//! `LOCKWRIGHT_` and the name of a [tunable](tunables) in capital letters sets that tunable, as
//! `LOCKWRIGHT_NUMA_SPINLOCK=on` does. A program that calls [`native::set_tunable`] has the last word. Each
//! variable with a value out of range, or whose name begins so and is unknown, is refused with a line on standard error.
//!
//! # What `RawMutex<Native>` in a message means
//!
//! Most types here are aliases, and the compiler and `{:?}` show what is behind them:
//!
//! | in a message | is |
//! |---|---|
//! | `lock_api::Mutex<RawMutex<Native>, T>` | [`Mutex<T>`](Mutex); with `Cna<...>` inside, [`CnaMutex<T>`](CnaMutex) |
//! | `lock_api::Mutex<RawFairMutex<Native>, T>` | [`FairMutex<T>`](FairMutex) |
//! | `lock_api::ReentrantMutex<RawMutex<Native>, ThreadNumber<Native>, T>` | [`ReentrantMutex<T>`](ReentrantMutex) |
//! | `lock_api::Mutex<QSpinlock<Native>, T>` | [`SpinLock<T>`](SpinLock); with `Cna<...>` inside, [`CnaSpinLock<T>`](CnaSpinLock) |
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
//! A lock is written once, generic over the traits of `platform`, and the same source runs natively, on simulated
//! machines and under model checkers. The modules for that are public, may change at any time, and are left out of
//! these pages. To read them, run `cargo doc -p lockwright --all-features --open`. The modules that only checkers need
//! exist with the feature `internals` only.
//!
//! - `platform` is all that a lock may ask of the machine below it; PLATFORM.md in the repository has its rules.
//!   [`native`] is that machine for a program on Linux.
//! - `raw` is the interface that all locks have, and `registry` is the one list of them. `api` makes types for programs
//!   of them.
//! - `queue` has what all locks with a queue of spinning waiters share: the queue node, links, and the waits for them.
//! - `qspinlock` is the queued spinlock, with the order of its waiters and their way of waiting as type parameters.
//! - `park` has the marks of locks whose waiters sleep in the kernel's queue (`mutex`, `condvar`), and the table in
//!   which the waiters of `semaphore`, `rwlock` and `percpu_rwlock` sleep. The waiters of `once` and `barrier` sleep in
//!   the kernel's queue, too, and are all woken at once.
//! - `rwsem` is the kernel's reader-writer semaphore, with the patches of its history as policies; `osq` is the queue
//!   of its spinners. `qrwlock` and `seqlock` are the kernel's, too, and `hq` was posted to become its; `hq-bounded` is a
//!   tuned form of `hq`.
//! - `unfair`, `ticket`, `mcs`, `clh`, `futex3`, `word_lock` and `kernel_mutex` are reference locks to compare with,
//!   and `busted` has locks that are broken on purpose.
//! - [`events`] lists what is counted, and [`tunables`] what can be set at run time.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
// The front page speaks of all features.
#![cfg_attr(
    all(feature = "std", any(feature = "lock_api", feature = "lock_api_05")),
    deny(rustdoc::broken_intra_doc_links)
)]
#![cfg_attr(
    not(all(feature = "std", any(feature = "lock_api", feature = "lock_api_05"))),
    allow(rustdoc::broken_intra_doc_links)
)]

#[cfg(all(feature = "std", target_os = "linux"))]
extern crate std;

#[cfg(all(
    feature = "std",
    not(all(
        target_os = "linux",
        target_pointer_width = "64",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64",
            target_arch = "loongarch64"
        )
    ))
))]
compile_error!(
    "feature `std` of lockwright needs Linux on a 64-bit processor of x86, Arm, RISC-V or LoongArch; elsewhere, write `default-features = false` and implement the traits of `lockwright::platform`"
);

// Modules for lock builders: not in the documentation, unless it is made for them. Not at docs.rs, which has all
// features on: there it is made for programs.
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod api;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod barrier;
#[cfg(feature = "internals")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod busted;
#[cfg(feature = "internals")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod capabilities;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod clh;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod condvar;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod futex3;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod hardware;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod held;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod hq;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod kernel_mutex;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod mcs;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod mutex;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod once;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod osq;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod park;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod percpu_rwlock;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod platform;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod qrwlock;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod qspinlock;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod queue;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod raw;
#[cfg(feature = "internals")]
#[cfg_attr(docsrs, doc(hidden))]
pub mod registry;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod rwlock;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod rwsem;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod semaphore;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod seqlock;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod ticket;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod unfair;
#[cfg_attr(any(docsrs, not(feature = "internals")), doc(hidden))]
pub mod word_lock;

#[cfg(all(feature = "std", target_os = "linux"))]
pub mod native;

#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(feature = "lock_api", feature = "lock_api_05")
))]
#[doc(inline)]
pub use api::WaitTimeoutResult;
#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api"))]
#[doc(inline)]
pub use api::v04::*;
#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api_05"))]
#[doc(inline)]
pub use api::v05;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    feature = "lock_api_05",
    not(feature = "lock_api")
))]
#[doc(inline)]
pub use api::v05::*;
#[cfg(all(feature = "std", target_os = "linux"))]
#[doc(inline)]
pub use api::{
    Barrier, BarrierWaitResult, LazyLock, LockError, LockErrorKind, Once, OnceLock, OnceState,
    OwnedSemaphorePermit, ResilientSpinLock, ResilientSpinLockGuard, Semaphore, SemaphorePermit,
};
#[doc(inline)]
pub use api::{Record, SeqLock};
#[doc(inline)]
pub use platform::{events, tunables};
#[doc(inline)]
pub use rwsem::{Interrupt, Until};
