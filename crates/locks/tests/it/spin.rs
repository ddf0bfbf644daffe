//! Spinlocks for programs: time-outs.

use super::alone;
use lockwright::{CnaSpinLock, SpinLock};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn an_attempt_with_a_time_out_fails_on_a_held_lock_and_takes_a_free_one() {
    let _alone = alone();
    let lock = SpinLock::new(0);
    let guard = lock.lock();
    thread::scope(|scope| {
        let attempt = || {
            let begin = Instant::now();
            assert!(lock.try_lock_for(SHORT).is_none());
            assert!(begin.elapsed() >= SHORT, "a time-out before its time");
            assert!(lock.try_lock_for(Duration::ZERO).is_none());
            assert!(lock.try_lock_until(begin).is_none());
        };
        scope.spawn(attempt);
    });
    drop(guard);
    *lock.try_lock_for(Duration::ZERO).expect("it is free") += 1;
    *lock.try_lock_until(Instant::now()).expect("it is free") += 1;
    *lock.try_lock_for(Duration::MAX).expect("it is free") += 1;
    assert_eq!(*lock.lock(), 3);
}

#[test]
fn a_waiter_behind_one_that_has_left_gets_the_lock() {
    let _alone = alone();
    fn check<R: lock_api::RawMutex + lock_api::RawMutexTimed<Duration = Duration> + Sync>() {
        let lock = lock_api::Mutex::<R, u32>::new(0);
        let guard = lock.lock();
        thread::scope(|scope| {
            // The first waits as the pending waiter, the second as the head of the queue.
            for _ in 0..2 {
                scope.spawn(|| *lock.lock() += 1);
                thread::sleep(SHORT);
            }
            let left = scope.spawn(|| lock.try_lock_for(SHORT).is_none());
            assert!(left.join().expect("no panic"));
            scope.spawn(|| *lock.lock() += 1);
            thread::sleep(SHORT);
            drop(guard);
        });
        assert_eq!(*lock.lock(), 3);
    }
    check::<lockwright::qspinlock::QSpinlock<lockwright::native::Native>>();
    check::<lockwright::qspinlock::CnaSpinlock<lockwright::native::Native>>();
    let _: CnaSpinLock<u32> = CnaSpinLock::new(0);
}
