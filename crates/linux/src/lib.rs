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
//! | the three attachments of its review | [`V10Time`](qspinlock::cna::V10Time), [`V10Limited`](qspinlock::cna::V10Limited), [`V10Culling`](qspinlock::cna::V10Culling) | `cna-v10_time`, `cna-v10_limited`, `cna-v10_culling` | [below](#examples) |
//! | CNA v11 (2020), v13 (December 2020), v15 (May 2021) | [`V11`](qspinlock::cna::V11), [`V13`](qspinlock::cna::V13), [`V15`](qspinlock::cna::V15) | `cna-v11`, `cna-v13`, `cna-v15` | below |
//! | paravirtual waiting, Linux 4.4, and limited stealing as of 4.11 to 4.14 | [`qspinlock::pv`]: [`ParkFullSpin`](qspinlock::ParkFullSpin), [`StealOnce`](qspinlock::StealOnce), and two of ours between them | `park-full_spin`, `park-steal`, ... | below |
//! | *Implement hybrid PV queued/unfair locks*, November 2017 | [`Hybrid`](qspinlock::Hybrid), tuned for programs [`HybridBounded`](qspinlock::HybridBounded) | `hybrid`, `hybrid-bounded` | below |
//! | the hierarchical queued spinlock (HQ), November 2025 | [`hq::HqPosted`], tuned [`hq::HqBounded`] | `hq`, `hq-bounded` | raw: [`hq::HqSpinlock`] |
//! | the resilient queued spinlock, Linux 6.15 (2025) | [`qspinlock::resilient`] | `resilient` | [`ResilientSpinLock`] |
//! | the queued rwlock, Linux 3.16 (2014) | [`qrwlock`] | `qrwlock` | [`QRwLock`] |
//! | the reader-writer semaphore, from Linux 3.12 to 6.3 and later, with the patches of four series one by one | [`rwsem`] | `rwsem`, `rwsem-v5_10`, ... | [`RwSemLock`] |
//! | the queue of optimistic spinners, 2014 | [`osq`] | `osq` | raw: [`osq::OsqLock`] |
//! | the mutex | [`kernel_mutex`] | `kernel-mutex` | raw: [`kernel_mutex::KernelMutex`] |
//! | the ticket lock, before 2015 | [`ticket`] | `ticket` | below |
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
//! Each preset makes such a type:
//!
#![cfg_attr(all(feature = "std", feature = "lock_api"), doc = "```")]
#![cfg_attr(not(all(feature = "std", feature = "lock_api")), doc = "```ignore")]
//! use lockwright_linux::qspinlock::{CnaSpinlock, Fifo, Hybrid, QSpinlock, cna};
//! use lockwright_linux::rwsem::{RwSem, V5_10};
//! use lockwright_linux::ticket::TicketLock;
//! use lockwright_linux::{Native, lock_api};
//!
//! /// CNA as it was posted last.
//! type LastCna<T> = lock_api::Mutex<CnaSpinlock<Native, cna::V15>, T>;
//! /// The spinlock of Linux in a guest.
//! type InGuest<T> = lock_api::Mutex<QSpinlock<Native, Fifo, Hybrid>, T>;
//! /// The semaphore of Linux 5.10, whose readers spin.
//! type Rwsem5_10<T> = lock_api::RwLock<RwSem<Native, V5_10>, T>;
//! type Ticket<T> = lock_api::Mutex<TicketLock<Native>, T>;
//!
//! static A: LastCna<u32> = LastCna::new(1);
//! static B: InGuest<u32> = InGuest::new(2);
//! static C: Rwsem5_10<u32> = Rwsem5_10::new(3);
//! static D: Ticket<u32> = Ticket::new(4);
//! assert_eq!(*A.lock() + *B.lock() + *C.read() + *D.lock(), 10);
//! ```
//!
//! A raw lock has no value and no guard:
//!
#![cfg_attr(feature = "std", doc = "```")]
#![cfg_attr(not(feature = "std"), doc = "```ignore")]
//! use lockwright_core::raw::RawLock;
//! use lockwright_linux::{Native, hq::HqSpinlock, kernel_mutex::KernelMutex};
//!
//! let (hq, mutex) = (HqSpinlock::<Native>::new(), KernelMutex::<Native>::new());
//! hq.lock();
//! mutex.lock();
//! assert!(!hq.try_lock() && mutex.is_locked());
//! // SAFETY: taken above, each.
//! unsafe { hq.unlock() };
//! // SAFETY: as above.
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
];

use lockwright_core::{held, park, platform, queue, raw};
