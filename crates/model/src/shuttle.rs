//! Shuttle as a platform: random schedules, sequentially consistent memory, many threads.

use crate::cell::{CheckedCell, Checker};
use crate::machine::machine;
use crate::raw::{ConstRawCell, raw_cells, raw_ints};
use ::shuttle::sync::atomic::{self, AtomicBool, AtomicPtr, AtomicU32, AtomicU64};
use lockwright::node::{NodeId, QNode};
use lockwright::platform::{
    Atomic, Barriers, Budget, Cells, ConstZeroed, Placement, RaceTracker, Zeroed,
};
use lockwright::zoo::Bug;
use std::sync::atomic::Ordering::{self, Relaxed, SeqCst};

/// The platform of the shuttle schedule explorer. Usable only inside a
/// [`ShuttleRun`](crate::ShuttleRun).
pub struct Shuttle;

raw_cells! {
    AtomicU32, u32, std::sync::atomic::AtomicU32, 0;
    AtomicU64, u64, std::sync::atomic::AtomicU64, 0;
    AtomicPtr<()>, *mut (), std::sync::atomic::AtomicPtr<()>, std::ptr::null_mut();
}
raw_ints! {
    AtomicU32, u32;
    AtomicU64, u64;
}

macro_rules! const_cells {
    ($($atomic:ty, $zero:expr;)+) => { $(
        impl ConstRawCell for $atomic {
            #[allow(clippy::declare_interior_mutable_const)]
            const ZERO: Self = <$atomic>::new($zero);
        }
    )+ };
}
const_cells! {
    AtomicU32, 0;
    AtomicU64, 0;
    AtomicPtr<()>, std::ptr::null_mut();
}

impl Checker for Shuttle {
    const BOUNDED_LOOKS: u32 = 8;
    // Shuttle fails an execution that takes a million steps.
    const IDLE_MAX: u32 = u32::MAX;

    fn give_way() {
        ::shuttle::thread::yield_now();
    }
    fn wait(_address: usize) {
        Self::give_way();
    }
    fn written(address: usize) {
        MACHINE.world.activity.written(address);
    }
    fn writes() -> u32 {
        MACHINE.world.activity.writes()
    }
    fn was_idle(_idle: u32) {}
    fn budget_passed(budget: Budget) {
        if let Budget::Nanoseconds(ns) = budget {
            MACHINE.world.pass(ns);
        }
    }
}

/// Finds accesses to a plain field that overlap: each one is two steps of the schedule, and no
/// other may happen between them.
pub struct ShuttleTracker(AtomicBool);

impl Zeroed for ShuttleTracker {
    fn zeroed() -> Self {
        Self::ZEROED
    }
}
impl ConstZeroed for ShuttleTracker {
    #[allow(clippy::declare_interior_mutable_const)]
    const ZEROED: Self = Self(AtomicBool::new(false));
}

impl RaceTracker for ShuttleTracker {
    fn read<R>(&self, _at: *const (), read: impl FnOnce() -> R) -> R {
        assert!(!self.0.load(SeqCst), "a plain field is read while another thread writes it");
        read()
    }
    fn write<R>(&self, _at: *const (), write: impl FnOnce() -> R) -> R {
        let is_written = self.0.swap(true, SeqCst);
        assert!(!is_written, "a plain field is written by two threads at once");
        let result = write();
        self.0.store(false, SeqCst);
        result
    }
}

machine!(Shuttle, shuttle);

impl Cells for Shuttle {
    type U32 = CheckedCell<AtomicU32, Self>;
    type U64 = CheckedCell<AtomicU64, Self>;
    type Ptr = CheckedCell<AtomicPtr<()>, Self>;
    type Word = CheckedCell<AtomicU32, Self>;
    type Tracker = ShuttleTracker;

    fn is_seeded(bug: Bug) -> bool {
        MACHINE.world.settings.bug == Some(bug)
    }
}

impl Barriers for Shuttle {
    fn fence(order: Ordering) {
        atomic::fence(order);
    }
    fn full_barrier<T: Copy + Eq>(_on: &impl Atomic<T>) {
        atomic::fence(SeqCst);
    }
    fn light_barrier() {}
    fn heavy_barrier() {
        atomic::fence(SeqCst);
    }
    fn delay(_pauses: u32) {
        Self::give_way();
    }
}
