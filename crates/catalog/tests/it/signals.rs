//! Signal handlers that take locks while their thread is queued.

use super::alone;
use lockwright::mutex::RawMutex;
use lockwright_core::events::Event;
use lockwright_core::native::priority::UrgentScope;
use lockwright_core::native::{self, Native, topology};
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::{CnaSpinlock, HybridBounded, cna};
use std::ffi::c_int;
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn pthread_kill(thread: std::os::unix::thread::RawPthread, number: c_int) -> c_int;
}
const SIGUSR1: c_int = 10;

/// Taken by the handlers only, so that a handler never waits for the thread it interrupted.
static INNER: RawMutex<Native> = RawMutex::INIT;
static INNER_COUNT: AtomicU64 = AtomicU64::new(0);
static HANDLED: AtomicU64 = AtomicU64::new(0);

/// A lock that threads take, most of the time in contention.
struct Outer<L> {
    lock: L,
    count: AtomicU64,
    /// How long a section is.
    section: Duration,
    is_over: AtomicBool,
}

extern "C" fn handler(_: c_int) {
    let _urgent = UrgentScope::new();
    INNER.lock();
    INNER_COUNT.store(INNER_COUNT.load(Relaxed) + 1, Relaxed);
    // SAFETY: taken above.
    unsafe { INNER.unlock() };
    HANDLED.fetch_add(1, Relaxed);
}

impl<L: RawLock> Outer<L> {
    const fn new(lock: L, section: Duration) -> Self {
        Self { lock, count: AtomicU64::new(0), section, is_over: AtomicBool::new(false) }
    }
    /// What a worker does until it is over; returns its rounds.
    fn work(&self) -> u64 {
        let mut rounds = 0;
        while !self.is_over.load(Relaxed) {
            self.lock.lock();
            let count = self.count.load(Relaxed);
            let start = Instant::now();
            while start.elapsed() < self.section {}
            self.count.store(count + 1, Relaxed);
            // SAFETY: taken above.
            unsafe { self.lock.unlock() };
            rounds += 1;
        }
        rounds
    }
    /// Three workers, so that some are queued whenever they run, under a storm of signals.
    fn weathers_a_storm(&'static self) {
        topology::set_fake(2, 1);
        // SAFETY: the handler takes a lock that nothing else takes, and touches statics only.
        unsafe { signal(SIGUSR1, handler) };
        let handled = HANDLED.load(Relaxed);
        let workers: Vec<_> = (0..3).map(|_| thread::spawn(|| self.work())).collect();
        let end = Instant::now() + Duration::from_millis(400);
        let mut sent = 0;
        while Instant::now() < end {
            for worker in &workers {
                // SAFETY: the thread has not been joined.
                sent += u64::from(unsafe { pthread_kill(worker.as_pthread_t(), SIGUSR1) } == 0);
            }
            thread::sleep(Duration::from_micros(200));
        }
        self.is_over.store(true, Relaxed);
        let rounds: u64 = workers.into_iter().map(|worker| worker.join().expect("no panic")).sum();
        assert_eq!(self.count.load(Relaxed), rounds, "the outer lock did not exclude");
        assert_eq!(INNER_COUNT.load(Relaxed), HANDLED.load(Relaxed), "the inner one did not");
        let handled = HANDLED.load(Relaxed) - handled;
        assert!(sent > 50 && handled > 50, "too few signals to mean anything");
        topology::clear_fake();
    }
}

#[test]
fn a_handler_may_lock_while_its_thread_is_queued() {
    let _alone = alone();
    static OUTER: Outer<CnaSpinlock<Native>> = Outer::new(CnaSpinlock::INIT, Duration::ZERO);
    OUTER.weathers_a_storm();
}

#[test]
fn a_handler_may_lock_while_its_thread_sleeps_in_the_queue() {
    let _alone = alone();
    type Lock = CnaSpinlock<Native, cna::V10, HybridBounded>;
    // Longer than anybody spins.
    static OUTER: Outer<Lock> = Outer::new(CnaSpinlock::INIT, Duration::from_micros(100));
    native::count_events(true);
    native::reset_events();
    OUTER.weathers_a_storm();
    native::count_events(false);
    let slept = native::event_count(Event::pv_wait_head) + native::event_count(Event::pv_wait_node);
    assert!(slept > 50, "{slept} sleeps are too few to mean anything");
}

#[test]
fn a_handler_may_lock_while_its_thread_sleeps_for_a_mutex() {
    let _alone = alone();
    static OUTER: Outer<RawMutex<Native>> = Outer::new(RawMutex::INIT, Duration::from_micros(100));
    native::count_events(true);
    native::reset_events();
    OUTER.weathers_a_storm();
    native::count_events(false);
    let slept = native::event_count(Event::mutex_sleep);
    assert!(slept > 50, "{slept} sleeps are too few to mean anything");
}
