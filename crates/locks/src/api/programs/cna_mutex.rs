//! The mutex whose waiters spin in CNA order, on `lock_api` 0.4.

use crate::linux::RawCnaMutex;
use crate::native::Native;
use lockwright_core::glue::v04 as lock_api;

/// A [`Mutex`](crate::Mutex) for machines with several NUMA nodes: the threads that spin for it are served node by
/// node, in the order of [`CnaSpinLock`](crate::CnaSpinLock).
///
/// It has the methods and the fairness of [`Mutex`](crate::Mutex): the 4 ms count for a thread of any node. On a
/// machine with one NUMA node, and by default in a virtual machine, it is a [`Mutex`](crate::Mutex).
///
/// # Examples
///
/// ```
/// use lockwright::CnaMutex;
///
/// static LOG: CnaMutex<Vec<u32>> = CnaMutex::new(Vec::new());
///
/// LOG.lock().push(7);
/// assert_eq!(LOG.lock().len(), 1);
/// ```
pub type CnaMutex<T> = lock_api::Mutex<RawCnaMutex<Native>, T>;

/// The guard of a [`CnaMutex`]: unlocks it when it is dropped. It cannot be sent to another thread.
pub type CnaMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawCnaMutex<Native>, T>;

/// The guard of a part of the value of a [`CnaMutex`]; see the list of [`Mutex`](crate::Mutex#methods).
pub type MappedCnaMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawCnaMutex<Native>, T>;

/// The guard of an `Arc<CnaMutex<T>>`, as [`ArcMutexGuard`](crate::ArcMutexGuard).
#[cfg(feature = "arc_lock")]
pub type ArcCnaMutexGuard<T> = lock_api::ArcMutexGuard<RawCnaMutex<Native>, T>;
