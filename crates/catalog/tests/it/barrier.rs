//! The barrier as programs use it.

use super::alone;
use lockwright::Barrier;
use std::mem::size_of;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Long enough for the others to sleep.
const WHILE: Duration = Duration::from_millis(20);

#[test]
fn at_a_barrier_for_no_thread_or_one_everybody_leads() {
    static ONE: Barrier = Barrier::new(1);
    for barrier in [&ONE, &Barrier::new(0)] {
        assert!(barrier.wait().is_leader() && barrier.wait().is_leader());
    }
    assert_eq!(format!("{ONE:?}"), "Barrier { threads: 1, arrived: 0 }");
    assert_eq!(format!("{:?}", ONE.wait()), "BarrierWaitResult { is_leader: true }");
    assert_eq!(size_of::<Barrier>(), 16);
}

/// `threads` threads meet `rounds` times, each of which also sleeps before it arrives if `sleeps` says so.
fn meet(threads: usize, rounds: usize, sleeps: impl Fn(usize, usize) -> bool + Sync) {
    let barrier = Barrier::new(threads);
    let (arrived, led) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for thread in 0..threads {
            let (barrier, arrived, led, sleeps) = (&barrier, &arrived, &led, &sleeps);
            scope.spawn(move || {
                for round in 1..=rounds {
                    if sleeps(thread, round) {
                        thread::sleep(WHILE);
                    }
                    arrived.fetch_add(1, Relaxed);
                    led.fetch_add(usize::from(barrier.wait().is_leader()), Relaxed);
                    assert!(arrived.load(Relaxed) >= threads * round, "not all have arrived");
                    assert!(led.load(Relaxed) <= round, "two leaders");
                    // All have to see that before anybody arrives again.
                    barrier.wait();
                }
            });
        }
    });
    assert_eq!((arrived.load(Relaxed), led.load(Relaxed)), (threads * rounds, rounds));
}

#[test]
fn threads_that_spin_meet_again_and_again() {
    let _alone = alone();
    meet(2, 2000, |_, _| false);
}

#[test]
fn threads_that_sleep_are_all_woken_by_the_last() {
    let _alone = alone();
    meet(6, 4, |thread, round| thread == round);
}

#[test]
fn more_threads_than_cpus_meet() {
    let _alone = alone();
    meet(32, 20, |_, _| false);
}

#[test]
fn a_thread_that_has_arrived_is_shown_and_waits() {
    let _alone = alone();
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        let first = scope.spawn(|| barrier.wait().is_leader());
        while !format!("{barrier:?}").contains("arrived: 1") {
            thread::yield_now();
        }
        thread::sleep(WHILE);
        assert!(!first.is_finished(), "it went on alone");
        assert!(barrier.wait().is_leader() && !first.join().unwrap());
    });
    assert_eq!(format!("{barrier:?}"), "Barrier { threads: 2, arrived: 0 }");
}

#[test]
fn more_threads_than_take_part_go_on_in_groups() {
    let _alone = alone();
    for _ in 0..50 {
        let barrier = Barrier::new(3);
        let led: usize = thread::scope(|scope| {
            let threads = [(); 9].map(|()| scope.spawn(|| barrier.wait().is_leader()));
            threads.map(|thread| usize::from(thread.join().unwrap())).into_iter().sum()
        });
        assert_eq!(led, 3);
    }
}
