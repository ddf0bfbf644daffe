//! Shuttle as a platform: random schedules, sequentially consistent memory, many threads.

use crate::cell::{ANY_CELL, CheckedCell, ModelChecker};
use crate::machine::machine;
use crate::raw::{ConstRawCell, raw_cells};
use ::shuttle::sync::atomic::{self, AtomicBool, AtomicPtr, AtomicU32, AtomicU64};
use ::shuttle::thread::{self, Thread};
use lockwright_core::platform::{
    Atomic, Barriers, Budget, Cells, ConstZeroed, Placement, RaceTracker, Zeroed,
};
use lockwright_core::queue::{NodeId, QNode};
use std::cell::RefCell;
use std::sync::atomic::Ordering::{self, SeqCst};

/// The platform of the shuttle schedule explorer. Usable only inside a
/// [`ShuttleRun`](crate::ShuttleRun).
pub struct Shuttle;

raw_cells!();

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

impl ModelChecker for Shuttle {
    // Only a thread that steps while it waits is scheduled without news. A thread that can bring news is not passed
    // over that many times by chance.
    const IDLE_MAX: u32 = 1000;

    fn bounded_looks() -> u32 {
        if MACHINE.world.begins_hurried_wait(Self::this_cpu()) { 1 } else { 8 }
    }
    fn give_way() {
        thread::yield_now();
    }
    /// No other thread runs between the load that led here and this.
    fn wait(address: usize) {
        if address == ANY_CELL {
            // It may go on without news.
            return Self::give_way();
        }
        let waiter = Waiter { address, thread: thread::current() };
        WAITING.with_borrow_mut(|waiting| waiting.push(waiter));
        thread::park();
    }
    /// Nor between the store and taking the waiters out of the list.
    fn written(address: usize) {
        MACHINE.world.activity.written(address);
        let is_meant = |waiter: &mut Waiter| waiter.address == address;
        let woken: Vec<_> =
            WAITING.with_borrow_mut(|waiting| waiting.extract_if(.., is_meant).collect());
        for waiter in woken {
            waiter.thread.unpark();
        }
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

/// A thread that cannot go on before a cell is written.
struct Waiter {
    /// The cell.
    address: usize,
    thread: Thread,
}

std::thread_local! {
    // Shuttle runs all threads of an execution on the thread that called it.
    static WAITING: RefCell<Vec<Waiter>> = const { RefCell::new(Vec::new()) };
}

impl Shuttle {
    /// Forgets the threads that waited when the last execution ended.
    pub(crate) fn forget_waiting() {
        WAITING.with_borrow_mut(Vec::clear);
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

// As natively, where spinners end by the clock.
machine!(Shuttle, shuttle, ShuttleTracker, knows_who_runs: false, light_barrier: {});
