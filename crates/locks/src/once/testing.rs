//! A once as a lock, for the checks that every lock has to pass.

use super::{Begun, EventPlatform, OnceProgress, POISONED, RUNNING, RawOnce, STATE, progress_of};
use crate::platform::barrier_before_look;
use crate::raw::{Order, RawLock, Schedules};

/// A lock whose owner is the thread that has begun. An owner that unlocks gives up, so the once is never done.
pub struct OnceMutex<P: EventPlatform> {
    once: RawOnce<P>,
}

impl<P: EventPlatform> RawLock for OnceMutex<P> {
    const ORDER: Order = Order::None;
    const WAITERS_SLEEP: bool = true;
    const SCHEDULES: Schedules = Schedules::OfRows;

    fn new() -> Self {
        Self { once: RawOnce::new() }
    }
    fn lock(&self) {
        let turn = self.once.begin(true);
        assert!(matches!(turn, Begun::Ours(_)), "a lock that is never done is done");
        core::mem::forget(turn);
    }
    fn try_lock(&self) -> bool {
        let seen = self.once.look();
        progress_of(seen) != OnceProgress::Running && self.once.take(seen)
    }
    unsafe fn unlock(&self) {
        self.once.end(POISONED);
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.once.word);
        self.once.look() & STATE == RUNNING
    }
}
