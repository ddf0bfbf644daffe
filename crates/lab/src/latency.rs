//! Measuring how long `lock` takes, for any lock on any machine.

use crate::stats::Histogram;
use lockwright::platform::Platform;
use lockwright::raw::{Order, RawLock};
use std::cell::RefCell;
use std::marker::PhantomData;

thread_local! {
    /// Waits of this thread; in a simulation, of all simulated threads that it runs.
    static WAITS: RefCell<Histogram> = RefCell::default();
}

/// The waits recorded on this thread since the last call.
pub fn take_waits() -> Histogram {
    WAITS.take()
}

/// A lock whose acquisitions are timed by the platform's clock and recorded on the thread.
pub struct Timed<P, L> {
    inner: L,
    _platform: PhantomData<fn() -> P>,
}

impl<P: Platform, L: RawLock> RawLock for Timed<P, L> {
    const ORDER: Order = L::ORDER;
    const WAITERS_SLEEP: bool = L::WAITERS_SLEEP;

    fn new() -> Self {
        Self { inner: L::new(), _platform: PhantomData }
    }
    #[inline]
    fn lock(&self) {
        let start_ns = P::now_ns();
        self.inner.lock();
        let wait_ns = P::now_ns().saturating_sub(start_ns);
        WAITS.with_borrow_mut(|waits| waits.record(wait_ns));
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.inner.try_lock()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.inner.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }
    fn word_is_legal(word: u32) -> bool {
        L::word_is_legal(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright::native::Native;
    use lockwright::ticket::TicketLock;

    #[test]
    fn every_acquisition_is_recorded_once() {
        take_waits();
        let lock = Timed::<Native, TicketLock<Native>>::new();
        for _ in 0..10 {
            lock.lock();
            // SAFETY: taken on the line above.
            unsafe { lock.unlock() };
        }
        assert_eq!(take_waits().count(), 10);
        assert_eq!(take_waits().count(), 0);
    }
}
