//! Signal handlers that take locks while their thread is queued.

use super::alone;
use lockwright::native::priority::UrgentScope;
use lockwright::native::{Native, topology};
use lockwright::qspinlock::{CnaSpinlock, QSpinlock};
use lockwright::raw::RawLock;
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

/// Taken by the threads, most of the time in contention.
static OUTER: CnaSpinlock<Native> = CnaSpinlock::INIT;
/// Taken by the handlers only, so that a handler never waits for the thread it interrupted.
static INNER: QSpinlock<Native> = QSpinlock::INIT;
static OUTER_COUNT: AtomicU64 = AtomicU64::new(0);
static INNER_COUNT: AtomicU64 = AtomicU64::new(0);
static HANDLED: AtomicU64 = AtomicU64::new(0);
static OVER: AtomicBool = AtomicBool::new(false);

extern "C" fn handler(_: c_int) {
    let _urgent = UrgentScope::new();
    INNER.lock();
    INNER_COUNT.store(INNER_COUNT.load(Relaxed) + 1, Relaxed);
    // SAFETY: taken above.
    unsafe { INNER.unlock() };
    HANDLED.fetch_add(1, Relaxed);
}

#[test]
fn a_handler_may_lock_while_its_thread_is_queued() {
    let _alone = alone();
    topology::set_fake(2, 1);
    // SAFETY: the handler takes a lock that nothing else takes, and touches statics only.
    unsafe { signal(SIGUSR1, handler) };
    let (rounds, sent) = storm();
    assert_eq!(OUTER_COUNT.load(Relaxed), rounds, "the outer lock did not exclude");
    assert_eq!(INNER_COUNT.load(Relaxed), HANDLED.load(Relaxed), "the inner lock did not exclude");
    assert!(sent > 50 && HANDLED.load(Relaxed) > 50, "too few signals to mean anything");
    topology::clear_fake();
}

/// What a worker does until it is over; returns its rounds.
fn work() -> u64 {
    let mut rounds = 0;
    while !OVER.load(Relaxed) {
        OUTER.lock();
        OUTER_COUNT.store(OUTER_COUNT.load(Relaxed) + 1, Relaxed);
        // SAFETY: taken above.
        unsafe { OUTER.unlock() };
        rounds += 1;
    }
    rounds
}

/// Three workers, so that some are queued whenever they run, under a storm of signals. Returns the
/// rounds of all of them and the number of signals sent.
fn storm() -> (u64, u64) {
    let workers: Vec<_> = (0..3).map(|_| thread::spawn(work)).collect();
    let end = Instant::now() + Duration::from_millis(400);
    let mut sent = 0;
    while Instant::now() < end {
        for worker in &workers {
            // SAFETY: the thread has not been joined.
            sent += u64::from(unsafe { pthread_kill(worker.as_pthread_t(), SIGUSR1) } == 0);
        }
        thread::sleep(Duration::from_micros(200));
    }
    OVER.store(true, Relaxed);
    (workers.into_iter().map(|worker| worker.join().expect("no panic")).sum(), sent)
}
