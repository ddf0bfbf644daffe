//! Loom as a platform: exhaustive up to a number of preemptions, C11 orderings.

use crate::cell::{CheckedCell, ModelChecker};
use crate::machine::machine;
use crate::raw::{raw_cells, raw_ints};
use ::loom::cell::UnsafeCell;
use ::loom::sync::atomic::{self, AtomicPtr, AtomicU32, AtomicU64};
use lockwright_core::platform::{Atomic, Barriers, Budget, Cells, Placement, RaceTracker, Zeroed};
use lockwright_core::queue::{NodeId, QNode};
use std::sync::atomic::Ordering::{self, SeqCst};

/// The platform of the loom model checker. Usable only inside a [`LoomRun`](crate::LoomRun).
pub struct Loom;

raw_cells! {
    AtomicU32, u32, std::sync::atomic::AtomicU32, 0;
    AtomicU64, u64, std::sync::atomic::AtomicU64, 0;
    AtomicPtr<()>, *mut (), std::sync::atomic::AtomicPtr<()>, std::ptr::null_mut();
}
raw_ints! {
    AtomicU32, u32;
    AtomicU64, u64;
}

impl ModelChecker for Loom {
    const IDLE_MAX: u32 = 1_000;

    fn bounded_looks() -> u32 {
        if MACHINE.world.begins_hurried_wait(Self::this_cpu()) { 1 } else { 2 }
    }
    fn give_way() {
        MACHINE.world.activity.gives_way(Self::this_cpu(), ::loom::thread::yield_now);
    }
    fn wait(address: usize) {
        let yield_now = ::loom::thread::yield_now;
        MACHINE.world.activity.waits(Self::this_cpu(), address, yield_now);
    }
    fn written(address: usize) {
        MACHINE.world.activity.written(address);
    }
    fn writes() -> u32 {
        MACHINE.world.activity.writes()
    }
    fn was_idle(_idle: u32) {
        // Scheduling an idle thread instead of one that can go on changes nothing: what follows is
        // explored where the other one was chosen. Without this bound the exploration does not end.
        if MACHINE.world.activity.has_better_than(Self::this_cpu()) {
            ::loom::skip_branch();
        }
    }
    fn budget_passed(budget: Budget) {
        if let Budget::Nanoseconds(ns) = budget {
            MACHINE.world.pass(ns);
        }
    }
}

/// Shows accesses to plain fields to loom.
pub struct LoomTracker(UnsafeCell<()>);

impl Zeroed for LoomTracker {
    #[track_caller]
    fn zeroed() -> Self {
        Self(UnsafeCell::new(()))
    }
}
// SAFETY: the cell holds nothing; loom checks the accesses.
unsafe impl Sync for LoomTracker {}

impl RaceTracker for LoomTracker {
    fn read<R>(&self, _at: *const (), read: impl FnOnce() -> R) -> R {
        self.0.with(|_| read())
    }
    fn write<R>(&self, _at: *const (), write: impl FnOnce() -> R) -> R {
        self.0.with_mut(|_| write())
    }
}

// Its threads run for ever, and bounded waits end soon: no spinner needs a clock to end.
machine!(Loom, loom, knows_who_runs: true);

impl Cells for Loom {
    type U32 = CheckedCell<AtomicU32, Self>;
    type U64 = CheckedCell<AtomicU64, Self>;
    type Ptr = CheckedCell<AtomicPtr<()>, Self>;
    type Word = CheckedCell<AtomicU32, Self>;
    type Tracker = LoomTracker;
}

// SAFETY: all of them are loom's full fences but for `fence`, which is loom's own.
unsafe impl Barriers for Loom {
    fn fence(order: Ordering) {
        atomic::fence(order);
    }
    fn full_barrier<T: Copy + Eq>(_on: &impl Atomic<T>) {
        atomic::fence(SeqCst);
    }
    fn barrier_after_exchange<T: Copy + Eq>(on: &impl Atomic<T>) {
        Self::full_barrier(on);
    }
    fn light_barrier() {
        atomic::fence(SeqCst);
    }
    fn heavy_barrier() {
        atomic::fence(SeqCst);
    }
    fn has_heavy_barrier() -> bool {
        true
    }
    fn may_use_heavy_barrier() -> bool {
        true
    }
    fn delay(_pauses: u32) {
        if !MACHINE.world.is_in_a_hurry(Self::this_cpu()) {
            Self::give_way();
        }
    }
}
