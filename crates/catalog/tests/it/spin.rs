//! Spinlocks for programs: time-outs, and the one that reports deadlocks.

use super::alone;
use lockwright::{CnaSpinLock, LockErrorKind, ResilientSpinLock, SpinLock};
use std::ffi::c_int;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(60);

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
    // Those of 292 years and more, too, which the clock cannot count.
    for timeout in [Duration::from_nanos(1 << 63), Duration::from_secs(10_000_000_000)] {
        let guard = lock.lock();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| lock.try_lock_for(timeout).is_some());
            thread::sleep(SHORT);
            drop(guard);
            assert!(waiter.join().expect("it waits"), "{timeout:?}");
        });
    }
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
    check::<lockwright_linux::qspinlock::QSpinlock<lockwright_core::native::Native>>();
    check::<lockwright_linux::qspinlock::CnaSpinlock<lockwright_core::native::Native>>();
    let _: CnaSpinLock<u32> = CnaSpinLock::new(0);
}

#[test]
fn a_thread_that_takes_a_lock_which_it_holds_is_told_so_at_once() {
    static LOCK: ResilientSpinLock<u32> = ResilientSpinLock::new(7);
    let guard = LOCK.lock().expect("it is free");
    let error = LOCK.lock().expect_err("it is held");
    assert_eq!(error.kind(), LockErrorKind::AlreadyHeld);
    assert_eq!(error.lock(), (&raw const LOCK).addr());
    assert_eq!(
        (error.other_lock(), error.other_thread()),
        (Some(error.lock()), Some(error.thread()))
    );
    assert!(error.to_string().contains("which it holds itself"), "{error}");
    assert_eq!(LOCK.lock_for(LONG).expect_err("it is held").kind(), LockErrorKind::AlreadyHeld);
    assert!(LOCK.try_lock().is_none());
    drop(guard);
    assert_eq!(*LOCK.lock().expect("it is free"), 7);
}

#[test]
fn a_deadlock_of_two_threads_names_both_locks_and_both_threads() {
    let _alone = alone();
    static LOCKS: [ResilientSpinLock<()>; 2] =
        [ResilientSpinLock::new(()), ResilientSpinLock::new(())];
    let address = |at: usize| (&raw const LOCKS[at]).addr();
    let both_hold = Barrier::new(2);
    let (tell, told) = channel();
    let cross = |first: usize| {
        let second = 1 - first;
        let guard = LOCKS[first].lock().expect("it is free");
        both_hold.wait();
        let outcome = LOCKS[second].lock().map(drop);
        tell.send((first, outcome)).expect("the test waits");
        drop(guard);
    };
    thread::scope(|scope| {
        let cross = &cross;
        scope.spawn(move || cross(0));
        cross(1);
    });
    drop(tell);
    let outcomes: Vec<_> = told.iter().collect();
    // The thread that finds the deadlock first gives its lock back, so the other one may get it.
    let (first, error) = outcomes
        .iter()
        .find_map(|(first, outcome)| Some((*first, outcome.err()?)))
        .expect("a deadlock");
    assert_eq!(error.kind(), LockErrorKind::Deadlock, "{error}");
    assert_eq!(error.lock(), address(1 - first));
    assert_eq!(error.other_lock(), Some(address(first)));
    assert_ne!(error.other_thread(), Some(error.thread()));
    assert!(error.to_string().starts_with("deadlock: thread "), "{error}");
}

#[test]
fn a_time_out_names_the_owner_and_what_it_waits_for() {
    let _alone = alone();
    static LOCK: ResilientSpinLock<()> = ResilientSpinLock::new(());
    let guard = LOCK.lock().expect("it is free");
    let owner = LOCK.lock().expect_err("it is held").thread();
    let error = thread::spawn(|| LOCK.lock_for(SHORT).map(drop).expect_err("it is held"));
    let error = error.join().expect("no panic");
    assert_eq!(error.kind(), LockErrorKind::TimedOut);
    assert_eq!((error.other_thread(), error.other_lock()), (Some(owner), None));
    assert_ne!(error.thread(), owner);
    drop(guard);
}

#[test]
fn locks_may_be_released_in_any_order_and_be_more_than_the_table_has_room_for() {
    let locks: Vec<_> = (0..40).map(ResilientSpinLock::new).collect();
    let mut guards: Vec<_> = locks.iter().map(|lock| lock.lock().expect("it is free")).collect();
    for _ in 0..2 {
        let error = locks[0].lock_for(SHORT).expect_err("it is held");
        assert_eq!(error.kind(), LockErrorKind::AlreadyHeld, "its own lock is in the table");
    }
    while !guards.is_empty() {
        drop(guards.swap_remove(guards.len() / 2));
    }
    for lock in &locks {
        let guard = lock.lock().expect("it is free");
        assert_eq!(lock.lock().expect_err("it is held").kind(), LockErrorKind::AlreadyHeld);
        drop(guard);
        assert!(lock.try_lock().is_some(), "it is free");
    }
}

/// Those that found no room are released last.
#[test]
fn a_thread_that_held_more_locks_than_have_room_is_told_at_once_afterwards() {
    let (locks, one) = ([const { ResilientSpinLock::new(0) }; 64], ResilientSpinLock::new(0));
    let guards: Vec<_> = locks.iter().map(|lock| lock.lock().expect("it is free")).collect();
    drop(guards);
    let _guard = one.lock().expect("it is free");
    let error = one.lock().expect_err("this thread holds it");
    assert_eq!(error.kind(), LockErrorKind::AlreadyHeld);
}

#[test]
fn a_thread_that_ends_with_a_lock_leaves_no_trace_to_the_next_one() {
    static HELD: ResilientSpinLock<()> = ResilientSpinLock::new(());
    thread::spawn(|| std::mem::forget(HELD.lock())).join().expect("no panic");
    for _ in 0..40 {
        let attempt = thread::spawn(|| HELD.lock_for(Duration::ZERO).map(drop).expect_err("held"));
        assert_eq!(attempt.join().expect("no panic").kind(), LockErrorKind::TimedOut);
    }
}

unsafe extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn pthread_kill(thread: std::os::unix::thread::RawPthread, number: c_int) -> c_int;
}
const SIGUSR2: c_int = 12;

#[test]
fn a_handler_that_takes_the_resilient_lock_of_its_thread_never_waits_for_it() {
    let _alone = alone();
    static LOCK: ResilientSpinLock<u64> = ResilientSpinLock::new(0);
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    static HANDLED: AtomicU64 = AtomicU64::new(0);
    static TOLD: AtomicU64 = AtomicU64::new(0);
    static LATE: AtomicU64 = AtomicU64::new(0);
    extern "C" fn handler(_: c_int) {
        HANDLED.fetch_add(1, Relaxed);
        match LOCK.lock().map(|mut count| *count += 1) {
            Ok(()) => {}
            Err(error) if error.kind() == LockErrorKind::AlreadyHeld => {
                TOLD.fetch_add(1, Relaxed);
            }
            Err(_) => {
                LATE.fetch_add(1, Relaxed);
            }
        }
    }
    // The first use is not in a handler.
    *LOCK.lock().expect("it is free") += 1;
    // SAFETY: the handler uses a lock that handlers may use, and atomics.
    unsafe { signal(SIGUSR2, handler) };
    let user = thread::spawn(|| {
        while !IS_OVER.load(Relaxed) {
            *LOCK.lock().expect("no handler keeps it") += 1;
        }
    });
    // Each signal lands at another instruction.
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(2) {
        // SAFETY: the thread has not been joined.
        assert_eq!(unsafe { pthread_kill(user.as_pthread_t(), SIGUSR2) }, 0);
    }
    IS_OVER.store(true, Relaxed);
    user.join().expect("no panic");
    assert!(HANDLED.load(Relaxed) > 0, "no signal came");
    assert_eq!(LATE.load(Relaxed), 0, "a handler has waited for its own thread");
    println!("told at once: {} of {}", TOLD.load(Relaxed), HANDLED.load(Relaxed));
}

#[test]
fn a_forgotten_guard_makes_a_later_lock_at_its_address_an_error_and_never_two_owners() {
    let _alone = alone();
    let mut lock = ResilientSpinLock::new(1);
    std::mem::forget(lock.lock().expect("it is free"));
    // Another lock, at the same address.
    lock = ResilientSpinLock::new(2);
    assert_eq!(*lock.lock().expect("it is free"), 2);
    let (tell, told) = channel();
    let (go_on, goes_on) = channel();
    thread::scope(|scope| {
        let lock = &lock;
        scope.spawn(move || {
            let guard = lock.lock().expect("it is free");
            tell.send(()).expect("the test waits");
            goes_on.recv().expect("the test goes on");
            drop(guard);
        });
        told.recv().expect("the thread has the lock");
        let error = lock.lock().expect_err("another thread has it");
        assert_eq!(error.kind(), LockErrorKind::AlreadyHeld, "as the documentation says");
        go_on.send(()).expect("the thread waits");
    });
    assert_eq!(*lock.lock().expect("it is free"), 2);
}
