//! The loops of the benchmarks, generic over the lock and over the machine that runs them.
//!
//! A workload is a module with three things: the state its threads share, made of cells of the
//! platform and zero at the start, so that it can live in a box, in a static or in the memory of a
//! simulated machine; its parameters; and `run`, what one thread does until its [`Worker`] says that it
//! is over.

pub mod aim7;
pub mod attempts;
pub mod counter;
pub mod handoff;
pub mod kbuild;
pub mod lock2;
pub mod locktorture;
pub mod lru;
pub mod map;
pub mod open1;
pub mod pingpong;
pub mod queue;
pub mod readrandom;
pub mod sections;
pub mod shards;
pub mod uncontended;

use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::raw::RawLock;

/// The thread that runs a workload, as the workload sees it.
///
/// Natively the loop body *is* the software, and the calls about software are empty; on a simulated
/// machine they pass simulated time.
pub trait Worker {
    /// The machine.
    type P: Platform;

    /// True to do another operation. Reads no clock natively: it looks at a flag.
    fn keep_going(&mut self) -> bool;
    /// Says that an operation is complete.
    fn op_done(&mut self);
    /// Says that this thread got on with something that is not an operation of its own.
    fn step_done(&mut self) {}
    /// The next number of this thread's seeded generator.
    fn random(&mut self) -> u64;
    /// This thread's number, from 0.
    fn index(&self) -> usize;
    /// Instructions that exist in the real benchmark and take time there, named by the machine's
    /// calibration (`outside`, `inside`, ...). Natively nothing.
    fn software(&mut self, part: &'static str);
    /// A delay of `ns` nanoseconds that the benchmark makes on purpose.
    fn hold_ns(&mut self, ns: u64);
    /// Computes for about `ns` nanoseconds, in which only time on a CPU counts.
    fn compute_ns(&mut self, ns: u64);
    /// As [`compute_ns`](Self::compute_ns), outside of a kernel: whose lock this is may take the CPU
    /// away meanwhile.
    fn user_ns(&mut self, ns: u64) {
        self.compute_ns(ns);
    }
    /// Announces that the words at these addresses will be written soon: misses that an
    /// out-of-order core overlaps. Natively nothing (the core does it by itself).
    fn overlap(&mut self, words: &[*const ()]);
}

/// Something that has a cache line to itself.
#[repr(C, align(64))]
pub struct OwnLine<T>(T);

impl<T> OwnLine<T> {
    /// Puts `value` at the start of a line.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T: Zeroed> Zeroed for OwnLine<T> {
    fn zeroed() -> Self {
        Self(T::zeroed())
    }
}

impl<T> Deref for OwnLine<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Holds `lock` while `section` runs.
#[inline(always)]
fn locked<L: RawLock, R>(lock: &L, section: impl FnOnce() -> R) -> R {
    lock.lock();
    let result = section();
    // SAFETY: taken above, and `section` has no way to give it back. If it panics the lock stays
    // held, which ends the benchmark.
    unsafe { lock.unlock() };
    result
}

/// Reads under `lock` while `section` runs.
#[inline(always)]
fn locked_shared<L: RawLock, R>(lock: &L, section: impl FnOnce() -> R) -> R {
    lock.lock_shared();
    let result = section();
    // SAFETY: taken above, as in `locked`.
    unsafe { lock.unlock_shared() };
    result
}

#[cfg(test)]
mod scripted;

/// A lock and what it guards, a line each.
pub struct LockAndValue<P: Cells, L> {
    pub(crate) lock: OwnLine<L>,
    pub(crate) value: OwnLine<P::U64>,
}

impl<P: Cells, L: RawLock> Zeroed for LockAndValue<P, L> {
    fn zeroed() -> Self {
        Self { lock: OwnLine::new(L::new()), value: Zeroed::zeroed() }
    }
}

impl<P: Cells, L> LockAndValue<P, L> {
    /// The value. Only when all threads are done.
    pub fn value(&self) -> u64 {
        // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
        self.value.load(Relaxed)
    }
}
