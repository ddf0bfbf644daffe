//! Waiters that stand still: what a release says of one stays in the word as long as the test wants.

use super::mutex::await_sleep_of;
use std::ffi::c_int;
use std::os::unix::thread::{JoinHandleExt, RawPthread};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

unsafe extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn siginterrupt(number: c_int, flag: c_int) -> c_int;
    fn pthread_kill(thread: RawPthread, number: c_int) -> c_int;
}
const SIGUSR1: c_int = 10;

/// True while the handler keeps its thread.
static PARKS: AtomicBool = AtomicBool::new(false);
static IS_PARKED: AtomicBool = AtomicBool::new(false);

extern "C" fn park_here(_: c_int) {
    while PARKS.load(Relaxed) {
        IS_PARKED.store(true, Relaxed);
        thread::sleep(Duration::from_micros(100));
    }
    IS_PARKED.store(false, Relaxed);
}

/// A thread that takes a lock and gives it back. One of a process stands still at a time.
pub(super) struct Waiter {
    thread: JoinHandle<()>,
    number: i32,
}

impl Waiter {
    /// Starts a thread that does this, and waits until it sleeps.
    pub(super) fn asleep(takes_and_gives_back: impl FnOnce() + Send + 'static) -> Self {
        // SAFETY: the handler reads and writes statics, and sleeps.
        unsafe { signal(SIGUSR1, park_here) };
        // SAFETY: only sets a flag of the signal, so that a sleep ends with it.
        unsafe { siginterrupt(SIGUSR1, 1) };
        static NUMBER: AtomicI32 = AtomicI32::new(0);
        NUMBER.store(0, Relaxed);
        let thread = thread::spawn(|| {
            NUMBER.store(super::mutex::this_thread(), Relaxed);
            takes_and_gives_back();
        });
        while NUMBER.load(Relaxed) == 0 {
            thread::yield_now();
        }
        let number = NUMBER.load(Relaxed);
        await_sleep_of(number);
        Self { thread, number }
    }

    /// Ends its sleep, and waits until it sleeps again.
    pub(super) fn rouse(&self) {
        // SAFETY: the thread has not been joined.
        unsafe { pthread_kill(self.thread.as_pthread_t(), SIGUSR1) };
        thread::sleep(Duration::from_millis(5));
        await_sleep_of(self.number);
    }

    /// Stops it where it is: asleep. It wakes up when it is [resumed](Self::resume).
    pub(super) fn park(&self) {
        PARKS.store(true, Relaxed);
        // SAFETY: the thread has not been joined.
        unsafe { pthread_kill(self.thread.as_pthread_t(), SIGUSR1) };
        while !IS_PARKED.load(Relaxed) {
            thread::yield_now();
        }
    }

    /// Lets it go on, and waits for its end.
    pub(super) fn resume(self) {
        PARKS.store(false, Relaxed);
        self.thread.join().expect("no panic");
    }
}
