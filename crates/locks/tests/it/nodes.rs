//! The node pool: thread life cycle and exhaustion.

use super::alone;
use lockwright::events::Event;
use lockwright::native::{self, Native};
use lockwright::node::NODES_MAX;
use lockwright::platform::QueueNodes;
use lockwright::qspinlock::QSpinlock;
use lockwright::raw::RawLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;

/// Holds `lock` until `waiting` threads are in its slow path, as far as one can tell from outside.
fn contend(lock: &QSpinlock<Native>, waiters: usize, hold: std::time::Duration) {
    thread::scope(|scope| {
        lock.lock();
        for _ in 0..waiters {
            scope.spawn(|| {
                lock.lock();
                // SAFETY: taken above.
                unsafe { lock.unlock() };
            });
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
    let _alone = alone();
    static LOCK: QSpinlock<Native> = QSpinlock::INIT;
    static INSIDE: AtomicBool = AtomicBool::new(false);
    native::count_events(true);
    native::reset_events();
    native::limit_nodes(0);
    for _ in 0..20 {
        contend(&LOCK, 3, std::time::Duration::from_millis(1));
    }
    native::limit_nodes(1);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    LOCK.lock();
                    assert!(!INSIDE.swap(true, Relaxed));
                    INSIDE.store(false, Relaxed);
                    // SAFETY: taken above.
                    unsafe { LOCK.unlock() };
                }
            });
        }
    });
    native::limit_nodes(NODES_MAX);
    native::count_events(false);
    assert!(native::event_count(Event::lock_no_node) > 0, "the pool was never exhausted");
    assert!(!LOCK.is_locked());
}
