//! A condition variable whose notifications are counted, and the waits that they end.

use lockwright::Condvar;
use lockwright_core::park::ParkPlatform;
use lockwright_core::platform::ConstCells;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// More threads than wait at once.
const ALL: u64 = 1 << 16;

/// A condition variable that may not end more waits than it was notified for.
pub struct WatchedCondvar<P: ParkPlatform> {
    pub condvar: Condvar<P>,
    /// How many waits the notifications may end: those of one that is not over yet, as many as it can.
    given: AtomicU64,
    /// How many waits were notified.
    taken: AtomicU64,
}

impl<P: ParkPlatform + ConstCells> WatchedCondvar<P> {
    pub fn new() -> Self {
        let (given, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { condvar: Condvar::new_on(), given, taken }
    }
    pub fn notify_one(&self) {
        self.notify(1, || self.condvar.notify_one().into());
    }
    pub fn notify_all(&self) {
        self.notify(ALL, || self.condvar.notify_all() as u64);
    }
    fn notify(&self, at_most: u64, notify: impl FnOnce() -> u64) {
        self.given.fetch_add(at_most, Relaxed);
        let notified = notify();
        self.given.fetch_sub(at_most - notified, Relaxed);
    }
    /// This number of waits was notified.
    pub fn notified(&self, waits: u64) {
        self.taken.fetch_add(waits, Relaxed);
    }
    pub fn keeps_its_promise(&self) -> bool {
        // In this order: the next notification may come at once.
        let taken = self.taken.load(Relaxed);
        taken <= self.given.load(Relaxed)
    }
}
