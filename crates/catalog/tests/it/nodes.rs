//! The node pool: thread life cycle and exhaustion.

use super::{alone, not_run, own_once};
use lockwright_core::events::Event;
use lockwright_core::native::{self, Native};
use lockwright_core::platform::{Clock, QueueNodes};
use lockwright_core::queue::NODES_MAX;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::{Fifo, HybridBounded, Park, QSpinlock};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;

/// Holds `lock` until `waiting` threads are in its slow path, as far as one can tell from outside.
fn contend<L: RawLock>(lock: &L, waiters: usize, hold: std::time::Duration) {
    thread::scope(|scope| {
        lock.lock();
        for _ in 0..waiters {
            scope.spawn(|| own_once(lock));
        }
        thread::sleep(hold);
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    });
}

#[test]
fn a_hundred_thousand_short_threads_leave_no_node_behind() {
    let _alone = alone();
    const THREADS: u32 = 100_000;
    const GROUP: u32 = 4;
    static LOCK: QSpinlock<Native> = QSpinlock::INIT;
    let taken = AtomicU32::new(0);
    for _ in 0..THREADS / GROUP {
        thread::scope(|scope| {
            LOCK.lock();
            for _ in 0..GROUP {
                let small = thread::Builder::new().stack_size(32 << 10);
                let lock_once = || {
                    LOCK.lock();
                    taken.store(taken.load(Relaxed) + 1, Relaxed);
                    // SAFETY: taken above.
                    unsafe { LOCK.unlock() };
                };
                small.spawn_scoped(scope, lock_once).expect("a thread");
            }
            // SAFETY: taken above.
            unsafe { LOCK.unlock() };
        });
    }
    assert_eq!(taken.load(Relaxed), THREADS);
    assert_eq!(claimable(NODES_MAX), NODES_MAX, "a thread has kept a node");
}

/// How many nodes can be claimed, up to `enough`; gives them back.
fn claimable(enough: usize) -> usize {
    let nodes: Vec<_> = (0..enough).map_while(|_| Native::claim_node()).collect();
    let count = nodes.len();
    let distinct: std::collections::BTreeSet<_> = nodes.iter().collect();
    assert_eq!(distinct.len(), count, "a node was handed out twice");
    for id in nodes {
        // SAFETY: claimed above and used for nothing.
        unsafe { Native::release_node(id) };
    }
    count
}

#[test]
fn without_nodes_the_lock_still_excludes_and_makes_progress() {
    static LOCK: QSpinlock<Native> = QSpinlock::INIT;
    works_without_nodes(&LOCK);
}

#[test]
fn without_nodes_a_lock_whose_waiters_sleep_does_too() {
    static PARK: QSpinlock<Native, Fifo, Park> = QSpinlock::INIT;
    works_without_nodes(&PARK);
    static BOUNDED: QSpinlock<Native, Fifo, HybridBounded> = QSpinlock::INIT;
    works_without_nodes(&BOUNDED);
}

fn works_without_nodes<L: RawLock>(lock: &'static L) {
    let _alone = alone();
    let is_inside = AtomicBool::new(false);
    native::count_events(true);
    native::reset_events();
    native::limit_nodes(0);
    for _ in 0..20 {
        contend(lock, 3, std::time::Duration::from_millis(1));
    }
    native::limit_nodes(1);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    lock.lock();
                    assert!(!is_inside.swap(true, Relaxed));
                    is_inside.store(false, Relaxed);
                    // SAFETY: taken above.
                    unsafe { lock.unlock() };
                }
            });
        }
    });
    native::limit_nodes(NODES_MAX);
    native::count_events(false);
    assert!(native::event_count(Event::lock_no_node) > 0, "the pool was never exhausted");
    assert!(!lock.is_locked());
}

#[test]
fn hundreds_of_threads_that_sleep_for_a_lock_all_get_it() {
    const THREADS: u32 = 400;
    const EACH: u32 = 5;
    let _alone = alone();
    static LOCK: QSpinlock<Native, Fifo, HybridBounded> = QSpinlock::INIT;
    let taken = AtomicU32::new(0);
    native::count_events(true);
    native::reset_events();
    let started = thread::scope(|scope| {
        LOCK.lock();
        let start = |_| {
            let small = thread::Builder::new().stack_size(32 << 10);
            let lock_some_times = || {
                for _ in 0..EACH {
                    LOCK.lock();
                    taken.store(taken.load(Relaxed) + 1, Relaxed);
                    // SAFETY: taken above.
                    unsafe { LOCK.unlock() };
                }
            };
            small.spawn_scoped(scope, lock_some_times).is_ok()
        };
        let started = (0..THREADS).map(start).take_while(|is_started| *is_started).count();
        // SAFETY: taken above.
        unsafe { LOCK.unlock() };
        started
    });
    native::count_events(false);
    if started < THREADS as usize {
        return not_run("the user may not have that many threads");
    }
    assert_eq!(taken.load(Relaxed), THREADS * EACH);
    assert_eq!(claimable(NODES_MAX), NODES_MAX, "a thread has kept a node");
    let slept = native::event_count(Event::pv_wait_node);
    assert!(slept >= u64::from(THREADS) / 2, "only {slept} slept");
}

#[test]
fn attempts_that_time_out_leave_no_more_than_one_node_of_a_thread() {
    let _alone = alone();
    static LOCK: QSpinlock<Native> = QSpinlock::INIT;
    const SHORT: std::time::Duration = std::time::Duration::from_millis(1);
    let deadline = || Native::now_ns() + SHORT.as_nanos() as u64;
    LOCK.lock();
    thread::scope(|scope| {
        // One that is pending, and the head of the queue.
        for _ in 0..2 {
            scope.spawn(|| own_once(&LOCK));
            thread::sleep(20 * SHORT);
        }
        for _ in 0..20 {
            assert!(!LOCK.lock_until(deadline()), "it is held");
        }
        let in_use = NODES_MAX - claimable(NODES_MAX);
        assert_eq!(in_use, 2, "the node of the head, and the one that was left");
        // SAFETY: taken above.
        unsafe { LOCK.unlock() };
    });
    assert_eq!(claimable(NODES_MAX), NODES_MAX, "a node was kept");
    assert!(LOCK.lock_until(deadline()), "it is free");
    // SAFETY: taken above.
    unsafe { LOCK.unlock() };
}
