//! A type for each preset, on `lock_api` 0.4, to use the lock of a posting or of a release in a program.
//!
//! All have the methods of [`lock_api::Mutex`] or [`lock_api::RwLock`]. The spinlocks are for threads that have a CPU
//! to themselves, as [`SpinLock`](crate::SpinLock) says; waiters of the paravirtual ones sleep. Those of CNA,
//! and all semaphores, have time-outs, too. Other combinations are types as well:
//! `lock_api::Mutex<QSpinlock<Native, Succession, Waiting>, T>`.
//!
//! # Paravirtual spinlocks, and the unfair one
//!
//! ```
//! use lockwright_linux::presets::*;
//!
//! static UNFAIR: UnfairSpinLock<u32> = UnfairSpinLock::new(1);
//! static LINUX_4_4: ParkFullSpinLock<u32> = ParkFullSpinLock::new(2);
//! static LINUX_4_14: ParkStealSpinLock<u32> = ParkStealSpinLock::new(3);
//! static NOVEMBER_2017: HybridSpinLock<u32> = HybridSpinLock::new(4);
//! static FOR_PROGRAMS: HybridBoundedSpinLock<u32> = HybridBoundedSpinLock::new(5);
//! static FAIR: ParkSpinLock<u32> = ParkSpinLock::new(6);
//!
//! *NOVEMBER_2017.lock() += *UNFAIR.lock() + *LINUX_4_4.lock() + *LINUX_4_14.lock();
//! *FAIR.lock() += *FOR_PROGRAMS.lock();
//! assert_eq!((*NOVEMBER_2017.lock(), *FAIR.lock()), (10, 11));
//! ```
//!
//! # NUMA-aware spinlocks
//!
//! ```
//! use lockwright_linux::presets::*;
//! use std::time::Duration;
//!
//! static NO_THRESHOLD: CnaV10WithoutThresholdSpinLock<u32> = CnaV10WithoutThresholdSpinLock::new(0);
//! static AS_DESCRIBED: CnaV10AsDescribedSpinLock<u32> = CnaV10AsDescribedSpinLock::new(1);
//! static TIME: CnaV10TimeSpinLock<u32> = CnaV10TimeSpinLock::new(2);
//! static LIMITED: CnaV10LimitedSpinLock<u32> = CnaV10LimitedSpinLock::new(3);
//! static CULLING: CnaV10CullingSpinLock<u32> = CnaV10CullingSpinLock::new(4);
//! static V11: CnaV11SpinLock<u32> = CnaV11SpinLock::new(5);
//! static V13: CnaV13SpinLock<u32> = CnaV13SpinLock::new(6);
//! static V15: CnaV15SpinLock<u32> = CnaV15SpinLock::new(7);
//! static HQ: HqSpinLock<u32> = HqSpinLock::new(8);
//!
//! *HQ.lock() += *AS_DESCRIBED.lock() + *TIME.lock() + *LIMITED.lock() + *CULLING.lock();
//! *HQ.lock() += *NO_THRESHOLD.lock() + *V11.lock() + *V13.lock();
//! *HQ.lock() += *V15.try_lock_for(Duration::from_secs(1)).expect("it is free");
//! assert_eq!(*HQ.lock(), 36);
//! ```
//!
//! # Tickets and semaphores
//!
//! ```
//! use lockwright_linux::presets::*;
//!
//! static TICKETS: TicketSpinLock<u32> = TicketSpinLock::new(1);
//! static LINUX_3_12: RwSemV3_12<u32> = RwSemV3_12::new(2);
//! static LINUX_4_14: RwSemV4_14<u32> = RwSemV4_14::new(3);
//! static LINUX_5_10: RwSemV5_10<u32> = RwSemV5_10::new(4);
//! static LINUX_6_3: RwSemCurrent<u32> = RwSemCurrent::new(5);
//!
//! *LINUX_6_3.write() += *TICKETS.lock() + *LINUX_3_12.read() + *LINUX_4_14.read() + *LINUX_5_10.read();
//! assert_eq!(*LINUX_6_3.read(), 15);
//! ```
//!
//! Semaphores that lose wake-ups as they were posted have no type here; their policies end with `AsPosted`.

use crate::hq::HqSpinlock;
use crate::native::Native;
use crate::qspinlock::{
    CnaSpinlock, Fifo, Hybrid, HybridBounded, Park, ParkFullSpin, QSpinlock, StealOnce, cna,
};
use crate::rwsem::{self, RwSem};
use crate::ticket::TicketLock;
use crate::unfair::UnfairLock;
use lockwright_core::glue::v04 as lock_api;

/// Lock `unfair`: test-and-test-and-set, which Linux uses in guests without paravirtual support.
pub type UnfairSpinLock<T> = lock_api::Mutex<UnfairLock<Native>, T>;
/// Lock `ticket`: the kernel's spinlock before 2015.
pub type TicketSpinLock<T> = lock_api::Mutex<TicketLock<Native>, T>;
/// Lock `park-full_spin`: the paravirtual spinlock of Linux 4.4.
pub type ParkFullSpinLock<T> = lock_api::Mutex<QSpinlock<Native, Fifo, ParkFullSpin>, T>;
/// Lock `park-steal`: the paravirtual spinlock of Linux 4.11 to 4.14.
pub type ParkStealSpinLock<T> = lock_api::Mutex<QSpinlock<Native, Fifo, StealOnce>, T>;
/// Lock `park`: as `park-steal`, without stealing (ours).
pub type ParkSpinLock<T> = lock_api::Mutex<QSpinlock<Native, Fifo, Park>, T>;
/// Lock `hybrid`: the hybrid paravirtual spinlock of November 2017.
pub type HybridSpinLock<T> = lock_api::Mutex<QSpinlock<Native, Fifo, Hybrid>, T>;
/// Lock `hybrid-bounded`: the hybrid tuned for programs (ours).
pub type HybridBoundedSpinLock<T> = lock_api::Mutex<QSpinlock<Native, Fifo, HybridBounded>, T>;
/// Lock `cna-v10_as_described`: CNA v10 by its text. [`CnaSpinLock`](crate::CnaSpinLock) is its code.
pub type CnaV10AsDescribedSpinLock<T> =
    lock_api::Mutex<CnaSpinlock<Native, cna::V10AsDescribed>, T>;
/// Lock `cna-v10_no_threshold`: CNA v10 without its fourth patch. Waiters of other NUMA nodes may wait for ever.
pub type CnaV10WithoutThresholdSpinLock<T> =
    lock_api::Mutex<CnaSpinlock<Native, cna::V10WithoutThreshold>, T>;
/// Lock `cna-v10_time`: CNA v10 with the first attachment of its review.
pub type CnaV10TimeSpinLock<T> = lock_api::Mutex<CnaSpinlock<Native, cna::V10Time>, T>;
/// Lock `cna-v10_limited`: CNA v10 with the second attachment of its review.
pub type CnaV10LimitedSpinLock<T> = lock_api::Mutex<CnaSpinlock<Native, cna::V10Limited>, T>;
/// Lock `cna-v10_culling`: CNA v10 with the third attachment of its review.
pub type CnaV10CullingSpinLock<T> = lock_api::Mutex<CnaSpinlock<Native, cna::V10Culling>, T>;
/// Lock `cna-v11`: CNA v11.
pub type CnaV11SpinLock<T> = lock_api::Mutex<CnaSpinlock<Native, cna::V11>, T>;
/// Lock `cna-v13`: CNA v13.
pub type CnaV13SpinLock<T> = lock_api::Mutex<CnaSpinlock<Native, cna::V13>, T>;
/// Lock `cna-v15`: CNA v15, the last one.
pub type CnaV15SpinLock<T> = lock_api::Mutex<CnaSpinlock<Native, cna::V15>, T>;
/// Lock `hq`: the hierarchical queued spinlock of November 2025.
pub type HqSpinLock<T> = lock_api::Mutex<HqSpinlock<Native>, T>;

/// Semaphore `rwsem-current`; see [`rwsem::Current`].
pub type RwSemCurrent<T> = lock_api::RwLock<RwSem<Native, rwsem::Current>, T>;
/// Semaphore `rwsem-v5_19`; see [`rwsem::V5_19`].
pub type RwSemV5_19<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_19>, T>;
/// Semaphore `rwsem-v5_16`; see [`rwsem::V5_16`].
pub type RwSemV5_16<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_16>, T>;
/// Semaphore `rwsem-v5_11`; see [`rwsem::V5_11`].
pub type RwSemV5_11<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_11>, T>;
/// Semaphore `rwsem-v5_10_no_rspin`; see [`rwsem::V5_10NoRspin`].
pub type RwSemV5_10NoRspin<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_10NoRspin>, T>;
/// Semaphore `rwsem-v5_10_limit_rspin`; see [`rwsem::V5_10LimitRspin`].
pub type RwSemV5_10LimitRspin<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_10LimitRspin>, T>;
/// Semaphore `rwsem-v5_10_before`; see [`rwsem::V5_10Before`].
pub type RwSemV5_10Before<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_10Before>, T>;
/// Semaphore `rwsem-v5_10_stealing`; see [`rwsem::V5_10Stealing`].
pub type RwSemV5_10Stealing<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_10Stealing>, T>;
/// Semaphore `rwsem-v5_10_starvation`; see [`rwsem::V5_10Starvation`].
pub type RwSemV5_10Starvation<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_10Starvation>, T>;
/// Semaphore `rwsem-v5_10`; see [`rwsem::V5_10`].
pub type RwSemV5_10<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_10>, T>;
/// Semaphore `rwsem-v5_2_timed_spin`; see [`rwsem::V5_2TimedSpin`].
pub type RwSemV5_2TimedSpin<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_2TimedSpin>, T>;
/// Semaphore `rwsem-v5_2_reader_spin`; see [`rwsem::V5_2ReaderSpin`].
pub type RwSemV5_2ReaderSpin<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_2ReaderSpin>, T>;
/// Semaphore `rwsem-v5_2_all_readers`; see [`rwsem::V5_2AllReaders`].
pub type RwSemV5_2AllReaders<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_2AllReaders>, T>;
/// Semaphore `rwsem-v5_2_handoff`; see [`rwsem::V5_2Handoff`].
pub type RwSemV5_2Handoff<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_2Handoff>, T>;
/// Semaphore `rwsem-v5_2_new_count`; see [`rwsem::V5_2NewCount`].
pub type RwSemV5_2NewCount<T> = lock_api::RwLock<RwSem<Native, rwsem::V5_2NewCount>, T>;
/// Semaphore `rwsem-v4_14_handoff`; see [`rwsem::V4_14Handoff`].
pub type RwSemV4_14Handoff<T> = lock_api::RwLock<RwSem<Native, rwsem::V4_14Handoff>, T>;
/// Semaphore `rwsem-v4_14_bits`; see [`rwsem::V4_14Bits`].
pub type RwSemV4_14Bits<T> = lock_api::RwLock<RwSem<Native, rwsem::V4_14Bits>, T>;
/// Semaphore `rwsem-v4_14`; see [`rwsem::V4_14`].
pub type RwSemV4_14<T> = lock_api::RwLock<RwSem<Native, rwsem::V4_14>, T>;
/// Semaphore `rwsem-v3_12_wake_flag`; see [`rwsem::V3_12WakeFlag`].
pub type RwSemV3_12WakeFlag<T> = lock_api::RwLock<RwSem<Native, rwsem::V3_12WakeFlag>, T>;
/// Semaphore `rwsem-v3_12_series_wake_flag`; see [`rwsem::V3_12SeriesWakeFlag`].
pub type RwSemV3_12SeriesWakeFlag<T> =
    lock_api::RwLock<RwSem<Native, rwsem::V3_12SeriesWakeFlag>, T>;
/// Semaphore `rwsem-v3_12_series`; see [`rwsem::V3_12Series`].
pub type RwSemV3_12Series<T> = lock_api::RwLock<RwSem<Native, rwsem::V3_12Series>, T>;
/// Semaphore `rwsem-v3_12`; see [`rwsem::V3_12`].
pub type RwSemV3_12<T> = lock_api::RwLock<RwSem<Native, rwsem::V3_12>, T>;
/// Semaphore `rwsem-v3_12_on_32_bits`; see [`rwsem::V3_12On32Bits`].
pub type RwSemV3_12On32Bits<T> = lock_api::RwLock<RwSem<Native, rwsem::V3_12On32Bits>, T>;
