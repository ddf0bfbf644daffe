//! The mutex and the condition variable for programs: deadlines, handing over, notifications.

use super::process::in_a_process_of_its_own;
use super::{Over, alone};
use lockwright::{Condvar, Mutex, SendMutex};
use lockwright_core::events::Event;
use lockwright_core::native;
use lockwright_core::platform::QueueNodes;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(10);

#[test]
fn it_is_eight_bytes_and_zero_is_unlocked() {
    assert_eq!(size_of::<lockwright::mutex::RawMutex<native::Native>>(), 8);
    assert_eq!(size_of::<Condvar>(), 16);
    // SAFETY: all words are atomic integers, for which zero is a value.
    let mutex: Mutex<()> = unsafe { std::mem::zeroed() };
    assert!(mutex.try_lock().is_some());
}

#[test]
fn an_attempt_ends_at_its_deadline_and_leaves_one_look_at_most() {
    let _alone = alone();
    let mutex = Mutex::new(0);
    let guard = mutex.lock();
    thread::scope(|scope| {
        let tried = scope.spawn(|| {
            let start = Instant::now();
            assert!(mutex.try_lock_for(SHORT).is_none());
            start.elapsed()
        });
        assert!(tried.join().expect("no panic") >= SHORT);
    });
    native::count_events(true);
    native::reset_events();
    drop(guard);
    assert!(native::event_count(Event::mutex_wake) <= 1, "one release may look for it");
    native::reset_events();
    assert!(mutex.try_lock().is_some());
    native::count_events(false);
    assert_eq!(native::event_count(Event::mutex_wake), 0, "the mutex still says that it sleeps");
    assert!(mutex.try_lock_until(Instant::now()).is_some(), "a free lock needs no time");
}

#[test]
fn the_sleeper_behind_one_that_gives_up_is_woken() {
    let _alone = alone();
    let mutex = Mutex::new(());
    for _ in 0..20 {
        let guard = mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| mutex.try_lock_for(Duration::from_millis(5)).is_none());
            thread::sleep(Duration::from_millis(2));
            let second = scope.spawn(|| mutex.try_lock_for(LONG).is_some());
            // About when the first one gives up.
            thread::sleep(Duration::from_millis(3));
            drop(guard);
            assert!(second.join().expect("no panic"), "nobody woke the second sleeper");
        });
    }
}

#[test]
fn a_fair_unlock_hands_over_to_the_one_that_has_slept() {
    let _alone = alone();
    let mutex = Mutex::new(0);
    let guard = mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| *mutex.lock() = 1);
        thread::sleep(SHORT);
        lock_api::MutexGuard::unlock_fair(guard);
        // A newcomer, the very next moment.
        assert_eq!(*mutex.lock(), 1, "the owner was faster than the one it handed over to");
    });
}

#[test]
fn nobody_starves_beside_a_thread_that_hardly_ever_lets_go() {
    let _alone = alone();
    let mutex = Mutex::new(());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let over = Over(&is_over);
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    let _guard = mutex.lock();
                    let start = Instant::now();
                    while start.elapsed() < Duration::from_micros(500) {}
                }
            });
        }
        thread::sleep(SHORT);
        for _ in 0..5 {
            assert!(mutex.try_lock_for(LONG).is_some(), "starved");
        }
        drop(over);
    });
}

pub(super) fn this_thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}
/// Waits until the thread that stores its number there sleeps.
pub(super) fn await_sleep(thread: &AtomicI32) {
    while thread.load(Relaxed) == 0 {
        thread::yield_now();
    }
    await_sleep_of(thread.load(Relaxed));
}
/// Waits until the kernel says that this thread sleeps.
pub(super) fn await_sleep_of(thread: i32) {
    let path = format!("/proc/self/task/{thread}/stat");
    let end = Instant::now() + LONG;
    loop {
        let line = std::fs::read_to_string(&path).expect("a thread that runs has this file");
        if line.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S')) {
            return;
        }
        assert!(Instant::now() < end, "thread {thread} does not sleep: {line}");
        thread::yield_now();
    }
}

#[test]
fn each_notification_wakes_one_waiter_and_no_other() {
    let _alone = alone();
    const WAITERS: u64 = 4;
    let (mutex, changed, woken) = (Mutex::new(0), Condvar::new(), AtomicU64::new(0));
    assert!(!changed.notify_one() && changed.notify_all() == 0, "nobody waits");
    thread::scope(|scope| {
        for _ in 0..WAITERS {
            scope.spawn(|| {
                let mut waiting = mutex.lock();
                *waiting += 1;
                // With a deadline, so that a test that fails ends.
                assert!(!changed.wait_for(&mut waiting, LONG).timed_out(), "not notified");
                woken.fetch_add(1, Relaxed);
            });
        }
        while *mutex.lock() < WAITERS {
            thread::yield_now();
        }
        let all_that = |count| {
            let end = Instant::now() + LONG;
            while woken.load(Relaxed) < count && Instant::now() < end {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(5));
            woken.load(Relaxed)
        };
        assert!(changed.notify_one());
        assert_eq!(all_that(1), 1);
        let guard = mutex.lock();
        assert_eq!(changed.notify_all(), 3);
        drop(guard);
        assert_eq!(all_that(WAITERS), WAITERS);
    });
}

/// Each waiter waits without a loop for what was put down for one of those that wait.
#[test]
fn no_wait_ends_without_a_notification() {
    #[derive(Default)]
    struct Tokens {
        waiting: u64,
        tokens: u64,
        returns: u64,
    }
    let _alone = alone();
    let (state, changed, is_over) =
        (Mutex::new(Tokens::default()), Condvar::new(), AtomicBool::new(false));
    let given = thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let mut state = state.lock();
                    if is_over.load(Relaxed) {
                        return;
                    }
                    state.waiting += 1;
                    changed.wait(&mut state);
                    state.waiting -= 1;
                    state.returns += 1;
                    state.tokens = state.tokens.checked_sub(1).expect("put down for this thread");
                }
            });
        }
        let end = Instant::now() + Duration::from_millis(300);
        let mut given = 0;
        loop {
            let mut state = state.lock();
            is_over.store(Instant::now() >= end, Relaxed);
            let open = state.waiting - state.tokens;
            let notified = match given % 7 {
                0 => changed.notify_all() as u64,
                _ => changed.notify_one().into(),
            };
            assert_eq!(notified, if given % 7 == 0 { open } else { open.min(1) });
            state.tokens += notified;
            given += notified;
            let waiting = state.waiting;
            drop(state);
            if is_over.load(Relaxed) && waiting == 0 {
                return given;
            }
            thread::yield_now();
        }
    });
    assert_eq!(state.lock().returns, given);
}

#[test]
fn a_wait_ends_at_its_deadline_with_the_mutex() {
    let _alone = alone();
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let start = Instant::now();
    let mut guard = mutex.lock();
    assert!(changed.wait_for(&mut guard, SHORT).timed_out());
    assert!(start.elapsed() >= SHORT && mutex.is_locked());
    assert!(!changed.notify_one(), "the one that gave up still counts");
    let until = changed.wait_while_for(&mut guard, |()| true, SHORT);
    assert!(until.timed_out());
    assert!(!changed.wait_while_for(&mut guard, |()| false, SHORT).timed_out());
    let deadline = Instant::now() + SHORT;
    assert!(changed.wait_while_until(&mut guard, |()| true, deadline).timed_out());
    assert!(Instant::now() >= deadline && mutex.is_locked());
    assert!(!changed.wait_while_until(&mut guard, |()| false, deadline).timed_out());
}

#[test]
fn a_wait_until_a_deadline_goes_on_while_the_condition_holds() {
    let _alone = alone();
    let (count, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                *count.lock() += 1;
                changed.notify_all();
                thread::sleep(Duration::from_millis(1));
            }
        });
        let mut guard = count.lock();
        let deadline = Instant::now() + LONG;
        let waited = changed.wait_while_until(&mut guard, |count| *count < 3, deadline);
        assert!(!waited.timed_out() && *guard == 3, "{} of 3", *guard);
    });
}

/// A queue of one place: each side waits for the other one all the time.
#[test]
fn no_notification_is_lost_between_two_sides() {
    let _alone = alone();
    let (place, changed) = (Mutex::new(None), Condvar::new());
    let rounds = 2_000_u64;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for round in 0..rounds {
                    let mut place = place.lock();
                    changed.wait_while(&mut place, |place| place.is_some());
                    *place = Some(round);
                    changed.notify_all();
                }
            });
        }
        let sum: u64 = (0..2 * rounds)
            .map(|_| {
                let mut place = place.lock();
                changed.wait_while(&mut place, |place| place.is_none());
                changed.notify_all();
                place.take().expect("waited for")
            })
            .sum();
        assert_eq!(sum, rounds * (rounds - 1));
    });
}

#[test]
fn more_threads_than_queue_nodes_share_a_mutex_and_a_condition_variable() {
    in_a_process_of_its_own(|| {
        let nodes: Vec<_> = std::iter::from_fn(native::Native::claim_node).collect();
        assert!(nodes.len() > 60_000, "{} nodes", nodes.len());
        let (counter, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        *counter.lock() += 1;
                        thread::yield_now();
                    }
                    changed.notify_one();
                });
            }
            let mut guard = counter.lock();
            changed.wait_while(&mut guard, |count| *count < 160);
            let late = scope.spawn(|| counter.try_lock_for(SHORT).is_none());
            assert!(late.join().expect("no panic"), "the mutex is held");
        });
        assert_eq!(*counter.lock(), 160);
        for id in nodes {
            // SAFETY: claimed above, and never in a queue.
            unsafe { native::Native::release_node(id) };
        }
        assert!(native::Native::claim_node().is_some());
    });
}

/// The mutex is taken in one thread, waited with in another and unlocked there.
#[test]
fn a_guard_that_was_sent_waits_for_a_notification() {
    let (turn, changed) = (SendMutex::new(0), Condvar::new());
    let mut guard = turn.lock();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            *guard += 1;
            let late = changed.wait_while_for(&mut guard, |turn| *turn < 2, LONG);
            drop(guard);
            late.timed_out()
        });
        while turn.try_lock().is_none_or(|turn| *turn != 1) {
            thread::yield_now();
        }
        *turn.lock() += 1;
        changed.notify_one();
        assert!(!waiter.join().expect("no panic"));
    });
    assert!(turn.try_lock().is_some_and(|turn| *turn == 2));
}
