//! The Linux kernel's scalable locks, reimplemented for programs: each as it was posted, and in later versions.
//!
//! A *preset* is a type that makes one of the choices that the kernel's developers made, or discussed. The lab of
//! Lockwright calls it by its name: `lockwright bench --lock cna-v15`. `docs/postings.md` of the repository says, rule
//! by rule, where a preset differs from its posting.
//!
//! | posted | preset | lab | type |
//! |---|---|---|---|
//! | the queued spinlock, Linux 4.2 (2015) | [`qspinlock::QSpinlock`] | `qspinlock` | [`SpinLock`] |
//! | *Add NUMA-awareness to qspinlock* (CNA), v10, April 2020 | [`qspinlock::cna::V10`] as its code, [`V10AsDescribed`](qspinlock::cna::V10AsDescribed) as its text | `cna`, `cna-v10_as_described` | [`CnaSpinLock`] |
//! | the three attachments of its review | [`V10Time`](qspinlock::cna::V10Time), [`V10Limited`](qspinlock::cna::V10Limited), [`V10Culling`](qspinlock::cna::V10Culling) | `cna-v10_time`, `cna-v10_limited`, `cna-v10_culling` | [`CnaV10TimeSpinLock`](presets::CnaV10TimeSpinLock), ... |
//! | CNA v11 (2020), v13 (December 2020), v15 (May 2021) | [`V11`](qspinlock::cna::V11), [`V13`](qspinlock::cna::V13), [`V15`](qspinlock::cna::V15) | `cna-v11`, `cna-v13`, `cna-v15` | [`CnaV15SpinLock`](presets::CnaV15SpinLock), ... |
//! | paravirtual waiting, Linux 4.4, and limited stealing as of 4.11 to 4.14 | [`qspinlock::pv`]: [`ParkFullSpin`](qspinlock::ParkFullSpin), [`StealOnce`](qspinlock::StealOnce), and two of ours between them | `park-full_spin`, `park-steal`, ... | [`ParkStealSpinLock`](presets::ParkStealSpinLock), ... |
//! | *Implement hybrid PV queued/unfair locks*, November 2017 | [`Hybrid`](qspinlock::Hybrid), tuned for programs [`HybridBounded`](qspinlock::HybridBounded) | `hybrid`, `hybrid-bounded` | [`HybridSpinLock`](presets::HybridSpinLock), ... |
//! | the hierarchical queued spinlock (HQ), November 2025 | [`hq::HqSpinlock`] | `hq` | [`HqSpinLock`](presets::HqSpinLock) |
//! | the resilient queued spinlock, Linux 6.15 (2025) and 6.19 (2026), and its form for guests | [`qspinlock::resilient`] | `resilient`, `resilient-v6_19`, `resilient-guest` | [`ResilientSpinLock`] |
//! | the queued rwlock, Linux 3.16 (2014) | [`qrwlock`] | `qrwlock` | [`QRwLock`] |
//! | the reader-writer semaphore, from Linux 3.12 to 6.3 and later, with the patches of four series one by one | [`rwsem`] | `rwsem`, `rwsem-v5_10`, ... | [`RwSemLock`], [`RwSemV5_10`](presets::RwSemV5_10), ... |
//! | the queue of optimistic spinners, 2014 | [`osq`] | `osq` | raw: [`osq::OsqLock`] |
//! | the mutex | [`kernel_mutex`] | `kernel-mutex` | raw: [`kernel_mutex::KernelMutex`] |
//! | the ticket lock, before 2015 | [`ticket`] | `ticket` | [`TicketSpinLock`](presets::TicketSpinLock) |
//! | the test-and-set lock of guests | [`unfair`] | `unfair` | [`UnfairSpinLock`](presets::UnfairSpinLock) |
//!
//! Most programs are better off with the crate `lockwright`: its `Mutex` and `RwLock` work with more threads than CPUs.
//!
//! # Examples
//!
//! The types are those of `lock_api`, with guards:
//!
#![cfg_attr(all(feature = "std", feature = "lock_api"), doc = "```")]
#![cfg_attr(not(all(feature = "std", feature = "lock_api")), doc = "```ignore")]
//! use lockwright_linux::{CnaSpinLock, QRwLock, ResilientSpinLock, RwSemLock, SpinLock};
//!
//! static HITS: SpinLock<u64> = SpinLock::new(0);
//! static LOG: CnaSpinLock<Vec<u64>> = CnaSpinLock::new(Vec::new());
//! static LIMIT: QRwLock<u64> = QRwLock::new(3);
//! static NAMES: RwSemLock<Vec<&str>> = RwSemLock::new(Vec::new());
//! static TOTAL: ResilientSpinLock<u64> = ResilientSpinLock::new(0);
//!
//! *HITS.lock() += 1;
//! LOG.lock().push(*LIMIT.read());
//! NAMES.write().push("queue");
//! *TOTAL.lock().expect("no deadlock") += 1;
//! assert_eq!((*HITS.lock(), LOG.lock().len(), NAMES.read().len()), (1, 1, 1));
//! ```
//!
//! Each preset is such a type in module [`presets`]:
//!
#![cfg_attr(all(feature = "std", feature = "lock_api"), doc = "```")]
#![cfg_attr(not(all(feature = "std", feature = "lock_api")), doc = "```ignore")]
//! use lockwright_linux::presets::{CnaV15SpinLock, HqSpinLock, HybridSpinLock, RwSemV5_10};
//!
//! static LAST_CNA: CnaV15SpinLock<u32> = CnaV15SpinLock::new(1);
//! static IN_GUEST: HybridSpinLock<u32> = HybridSpinLock::new(2);
//! static BY_NODE: HqSpinLock<u32> = HqSpinLock::new(3);
//! static READERS_SPIN: RwSemV5_10<u32> = RwSemV5_10::new(4);
//! assert_eq!(*LAST_CNA.lock() + *IN_GUEST.lock() + *BY_NODE.lock() + *READERS_SPIN.read(), 10);
//! ```
//!
//! A raw lock has no value and no guard:
//!
#![cfg_attr(feature = "std", doc = "```")]
#![cfg_attr(not(feature = "std"), doc = "```ignore")]
//! use lockwright_core::raw::RawLock;
//! use lockwright_linux::{Native, kernel_mutex::KernelMutex};
//!
//! let mutex = KernelMutex::<Native>::new();
//! mutex.lock();
//! assert!(!mutex.try_lock() && mutex.is_locked());
//! // SAFETY: taken above.
//! unsafe { mutex.unlock() };
//! ```
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | locks for programs on Linux |
//! | `lock_api` | yes | with `std`: the types of this page, on `lock_api` 0.4 |
//! | `lock_api_05` | no | with `std`: the same types on `lock_api` 0.5, in module `v05` |
//! | `arc_lock`, `serde` | no | the features of `lock_api` with these names |
//!
//! Without `std` the locks are algorithms on a platform of your own: see `lockwright-core`.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
// The front page names items of all features.
#![cfg_attr(
    not(all(feature = "std", feature = "lock_api")),
    allow(rustdoc::broken_intra_doc_links)
)]

#[cfg(all(feature = "std", target_os = "linux"))]
extern crate std;

#[cfg(all(feature = "std", target_os = "linux"))]
pub mod api;
#[cfg(any(feature = "lock_api", feature = "lock_api_05"))]
mod behind_lock_api;
pub mod hq;
pub mod kernel_mutex;
pub mod osq;
pub mod qrwlock;
pub mod qspinlock;
pub mod rwsem;
pub mod ticket;
pub mod unfair;

#[cfg(all(feature = "std", target_os = "linux"))]
#[doc(inline)]
pub use api::*;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use lockwright_core::native::{self, Native};
pub use lockwright_core::{events, tunables};
#[doc(inline)]
pub use rwsem::{Interrupt, Until};

/// What was posted, and the rules that tell it from its near misses: the cards of each family of presets, in TOML.
#[doc(hidden)]
pub const CARDS: &[(&str, &str)] = &[
    ("pv", include_str!("qspinlock/pv/cards.toml")),
    ("cna", include_str!("qspinlock/cna/cards.toml")),
    ("rwsem", include_str!("rwsem/cards.toml")),
    ("hq", include_str!("hq/cards.toml")),
    ("resilient", include_str!("qspinlock/resilient/cards.toml")),
];

use lockwright_core::{held, park, platform, queue, raw};
