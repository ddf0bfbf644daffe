//! Locks that are broken in one situation only, for the tests of what brings that situation about.

use lockwright_core::native::Native;
use lockwright_core::platform::{Atomic, Bound, Budget, Cells, Zeroed};
use lockwright_core::raw::{Order, RawLock};
use lockwright_sim::{Sim, thread};
use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const THREADS_MAX: usize = 16;

thread_local! {
    /// How many locks each thread that runs on this thread of the host holds.
    static DEPTHS: [Cell<u32>; THREADS_MAX] = const { [const { Cell::new(0) }; THREADS_MAX] };
}

/// Tells the threads apart that run on one thread of the host.
pub trait Who: Cells {
    /// The calling thread.
    fn who() -> usize;
}

impl Who for Native {
    fn who() -> usize {
        0
    }
}

impl Who for Sim {
    fn who() -> usize {
        thread::index()
    }
}

/// How many locks the calling thread holds, which `change` changes; returns the larger of both.
fn depth<P: Who>(change: i32) -> u32 {
    DEPTHS.with(|depths| {
        let before = depths[P::who()].get();
        let after = before.saturating_add_signed(change);
        depths[P::who()].set(after);
        before.max(after)
    })
}

/// Takes nothing if its thread holds another one.
pub struct ForgetsInside<P: Cells>(P::U32);

impl<P: Who> RawLock for ForgetsInside<P> {
    const ORDER: Order = Order::Broken;

    fn new() -> Self {
        Self(Zeroed::zeroed())
    }
    fn lock(&self) {
        if depth::<P>(1) > 1 {
            return;
        }
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.0.cond_load(Relaxed, |word| word == 0);
        }
    }
    fn try_lock(&self) -> bool {
        unreachable!("a torture waits")
    }
    unsafe fn unlock(&self) {
        if depth::<P>(-1) == 1 {
            self.0.store(0, Release);
        }
    }
    fn is_locked(&self) -> bool {
        self.0.load(Relaxed) != 0
    }
}

/// Goes ahead without the lock after having waited for 100 us.
pub struct LosesPatience<P: Cells>(P::U32);

impl<P: Cells> RawLock for LosesPatience<P> {
    const ORDER: Order = Order::Broken;

    fn new() -> Self {
        Self(Zeroed::zeroed())
    }
    fn lock(&self) {
        let bound = Bound::of(Budget::Nanoseconds(100_000), u32::MAX);
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            let seen = self.0.cond_load_bounded(Relaxed, bound, |word| word == 0, || false);
            if seen.is_err() {
                return;
            }
        }
    }
    fn try_lock(&self) -> bool {
        unreachable!("a torture waits")
    }
    unsafe fn unlock(&self) {
        self.0.store(0, Release);
    }
    fn is_locked(&self) -> bool {
        self.0.load(Relaxed) != 0
    }
}
