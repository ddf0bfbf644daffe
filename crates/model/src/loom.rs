//! Loom as a platform: exhaustive up to a number of preemptions, C11 orderings.

use crate::cell::{CheckedCell, ModelChecker};
use crate::machine::machine;
use crate::raw::raw_cells;
use ::loom::cell::UnsafeCell;
use ::loom::sync::atomic::{self, AtomicPtr, AtomicU32, AtomicU64};
use lockwright_core::platform::{Atomic, Barriers, Budget, Cells, Placement, RaceTracker, Zeroed};
use lockwright_core::queue::{NodeId, QNode};
use std::sync::atomic::Ordering::{self, SeqCst};

/// The platform of the loom model checker. Usable only inside a [`LoomRun`](crate::LoomRun).
pub struct Loom;

raw_cells!();

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
machine!(Loom, loom, LoomTracker, knows_who_runs: true, light_barrier: atomic::fence(SeqCst));
