//! The additions of feature `linux`: the types of `lockwright-linux`, and the mutex in CNA order.

use crate::mutex::RawMutex;
use lockwright_linux::qspinlock::cna;

/// The mutex whose waiters spin in CNA order.
pub type RawCnaMutex<P> = RawMutex<P, cna::V10>;
