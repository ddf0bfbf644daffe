//! How often threads ask the kernel to sleep or to wake a thread: counted, with threads that stand where a test wants.

use super::hooked::{Hooked, IN_BUCKET, SLEEPS, WAKES};
use super::mutex::{await_sleep, this_thread};
use super::{alone, read_once};
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright::rwlock::RawRwLock;
use lockwright_core::raw::RawLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// As where a thread loses its CPU in a bucket. With naps of 50 us, a thread that needs the bucket would look there
/// some hundred times.
#[test]
fn a_thread_that_needs_a_bucket_in_use_sleeps_until_it_is_free() {
    let _alone = alone();
    static LOCK: RawRwLock<Hooked> = RawRwLock::INIT;
    static IS_IN: AtomicBool = AtomicBool::new(false);
    static GOES_ON: AtomicBool = AtomicBool::new(false);
    static LATER: AtomicI32 = AtomicI32::new(0);
    fn stand() {
        IS_IN.store(true, SeqCst);
        while !GOES_ON.load(SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let read = || {
        read_once(&LOCK);
    };
    LOCK.lock();
    let sleeps = thread::scope(|scope| {
        scope.spawn(|| {
            IN_BUCKET.set(Some(stand));
            read();
        });
        while !IS_IN.load(SeqCst) {
            thread::yield_now();
        }
        let later = scope.spawn(|| {
            LATER.store(this_thread(), SeqCst);
            read();
            SLEEPS.get()
        });
        await_sleep(&LATER);
        thread::sleep(Duration::from_millis(20));
        GOES_ON.store(true, SeqCst);
        // SAFETY: taken above.
        unsafe { LOCK.unlock() };
        later.join().expect("no panic")
    });
    // One for the bucket, one for the lock, and some for sleeps that end by themselves.
    assert!((1..10).contains(&sleeps), "it slept {sleeps} times");
}

/// One waiter looks for a notification and one sleeps: a notification of one is for the first, which costs no system
/// call, but for each 256th.
#[test]
fn each_256th_notification_is_for_a_waiter_that_sleeps() {
    let _alone = alone();
    static MUTEX: RawMutex<Hooked> = RawMutex::INIT;
    static CHANGED: RawCondvar<Hooked> = RawCondvar::INIT;
    let mut with_wake = Vec::new();
    for round in 1..=600 {
        MUTEX.lock();
        let mut waiting = [CHANGED.begin_wait(&MUTEX, None), CHANGED.begin_wait(&MUTEX, None)];
        // SAFETY: taken above.
        unsafe { MUTEX.unlock() };
        let before = WAKES.get();
        assert!(CHANGED.notify_one());
        if WAKES.get() > before {
            with_wake.push(round);
        }
        // The two take part in one thread, so the first to ask takes the permit.
        let ends = waiting.each_mut().map(|waiting| CHANGED.give_up(waiting));
        assert_eq!(ends.map(|end| end.is_notified), [true, false]);
        for (waiting, end) in waiting.into_iter().zip(ends) {
            waiting.take_again(&MUTEX, end);
            // SAFETY: taken again.
            unsafe { MUTEX.unlock() };
        }
    }
    assert_eq!(with_wake, [256, 512]);
}
