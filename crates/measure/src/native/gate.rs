//! Telling the threads of a run to work, to pause or to stop.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

const WORK: u32 = 0;
const PAUSE: u32 = 1;
const STOP: u32 = 2;
const WARM_UP: u32 = 3;

/// What the threads of a run look at before every operation, on a cache line of its own.
#[repr(align(128))]
#[derive(Default)]
pub struct Gate {
    says: AtomicU32,
    /// Threads that have done something during the warm-up.
    warm: AtomicU32,
    /// Threads that pause; held while `says` is changed.
    pausing: Mutex<u32>,
    changed: Condvar,
}

impl Gate {
    /// Returns true if a thread may go on without further ado.
    #[inline]
    pub fn is_open(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.says.load(Ordering::Relaxed) == WORK
    }
    /// Sleeps while all threads pause, and counts it as one of the `pauses`. Returns true if the thread is to go on
    /// then.
    #[cold]
    pub fn pass(&self, pauses: &mut u64) -> bool {
        let mut guard = self.lock();
        // ordering: Relaxed; written while `pausing` is held.
        let is_pause = self.says.load(Ordering::Relaxed) == PAUSE;
        *guard += u32::from(is_pause);
        // ordering: Relaxed; written while `pausing` is held.
        while self.says.load(Ordering::Relaxed) == PAUSE {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        *guard -= u32::from(is_pause);
        let goes_on = self.is_open();
        *pauses += u64::from(is_pause && goes_on);
        goes_on
    }
    /// Returns true if the threads only warm up: what they do does not count yet.
    pub fn is_warm_up(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.says.load(Ordering::Relaxed) == WARM_UP
    }
    /// Says that one more thread has warmed up.
    pub fn report_warm(&self) {
        // ordering: Relaxed; nothing is read through it.
        self.warm.fetch_add(1, Ordering::Relaxed);
    }
    /// How many threads have warmed up.
    pub fn warm_threads(&self) -> u32 {
        // ordering: Relaxed; nothing is read through it.
        self.warm.load(Ordering::Relaxed)
    }
    /// Lets the threads warm up, until the gate opens.
    pub fn warm_up(&self) {
        self.say(WARM_UP);
    }
    /// Makes the threads pause, each at the end of its operation.
    pub fn pause(&self) {
        self.say(PAUSE);
    }
    /// Lets the threads go on, all at once.
    pub fn open(&self) {
        self.say(WORK);
    }
    /// Ends the run.
    pub fn stop(&self) {
        self.say(STOP);
    }
    fn say(&self, what: u32) {
        let _guard = self.lock();
        // ordering: Relaxed; it orders nothing.
        self.says.store(what, Ordering::Relaxed);
        self.changed.notify_all();
    }
    fn lock(&self) -> MutexGuard<'_, u32> {
        // Nothing panics while it is held.
        self.pausing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_pauses_goes_on_when_the_gate_opens_and_returns_when_it_stops() {
        let gate = Gate::default();
        let mut pauses = 0;
        assert!(gate.is_open() && gate.pass(&mut pauses));
        assert_eq!(pauses, 0, "who finds the gate open has not paused");
        for (end, goes_on) in [(Gate::open as fn(&Gate), true), (Gate::stop, false)] {
            gate.pause();
            assert!(!gate.is_open());
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| gate.pass(&mut pauses));
                while *gate.lock() == 0 && !waiter.is_finished() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                assert!(!waiter.is_finished(), "it has not paused");
                end(&gate);
                assert_eq!(waiter.join().expect("no panic"), goes_on);
            });
        }
        assert_eq!(pauses, 1, "the last one was not a pause but the end");
    }
}
