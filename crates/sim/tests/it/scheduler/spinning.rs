//! Spinners that lose their CPU, and threads that wait for ever.

use super::{MS, RunsGuests as _, U32, US, host, schedule, with};
use lockwright_core::platform::{Atomic, Bound, Budget, Sleeping};
use lockwright_sim::{FailureKind, Sim, thread};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::{Relaxed, Release};

#[test]
fn a_spinner_keeps_its_cpu_for_its_slice_unless_pause_loop_exiting_is_on() {
    for (window_us, exits) in [(0, 0), (10, 1)] {
        let machine = with(host(1, 1), |scheduler| {
            scheduler.pause_loop_window_ns = window_us as f64 * 1_000.0;
        });
        let seen = Cell::new(0);
        let report = machine.run(&[
            &|word| {
                word.cond_load(Relaxed, |value| value == 1);
                seen.set(thread::now_ps());
            },
            &|word| word.store(1, Release),
        ]);
        let schedule = schedule(&report);
        assert_eq!(schedule.pause_loop_exits, exits);
        assert_eq!(schedule.voluntary_switches, [exits, 0]);
        let slice_us = if window_us == 0 { 1_000 } else { window_us };
        let expected = (slice_us + 4) * US;
        assert!((expected..expected + US).contains(&seen.get()), "{} ps", seen.get());
    }
}

#[test]
fn short_spins_are_one_go_if_the_gap_between_them_is_short() {
    let machine = with(host(1, 1), |scheduler| scheduler.pause_loop_window_ns = 10_000.0);
    for (gap_ns, expected_us) in [(40, 10), (60, 1_000)] {
        let other_began = Cell::new(0);
        machine.ends(&[
            &|word| {
                let bound = Bound::nanoseconds(1_000);
                while word.cond_load_bounded(Relaxed, bound, |v| v == 1, || false).is_err() {
                    // What comes between two spins: this, and the first look of the next.
                    thread::hold_ps(gap_ns * 1_000);
                }
            },
            &|word| {
                other_began.set(thread::now_ps() - 2 * US);
                word.store(1, Release);
            },
        ]);
        let expected = expected_us * US;
        assert!((expected..expected + US).contains(&other_began.get()), "{other_began:?}");
    }
}

#[test]
fn a_slow_read_of_its_line_ends_the_loop_of_a_spinner() {
    // A read takes 50 ns, and comes 4 ns after a write that takes 42.5 and is served first: 88.5 ns.
    for (gap_ns, expected_us) in [(88.0, 30 + 10), (89.0, 10)] {
        let machine = with(host(1, 2), |scheduler| {
            scheduler.pause_loop_window_ns = 10_000.0;
            scheduler.pause_loop_gap_ns = gap_ns;
        });
        let other_began = Cell::new(0);
        let report = machine.run(&[
            &|word| {
                word.cond_load(Relaxed, |value| value == 7);
            },
            // Never leaves the spinner alone for a window, until it has written the sixth value.
            &|word| {
                for value in 1..=6 {
                    thread::hold_ps(5 * US);
                    word.store(value, Relaxed);
                }
                thread::hold_ps(MS);
                word.store(7, Relaxed);
            },
            &|_| other_began.set(thread::now_ps() - 2 * US),
        ]);
        assert_eq!(schedule(&report).pause_loop_exits, 1);
        let expected = expected_us * US;
        assert!((expected..expected + US).contains(&other_began.get()), "{other_began:?}");
    }
}

#[test]
fn the_stores_of_a_thread_that_has_lost_its_cpu_become_visible() {
    let (stored, seen, back) = (Cell::new(0), Cell::new(0), Cell::new(0));
    host(1, 2).ends(&[
        &|word| {
            thread::hold_ps(MS - 10_000);
            word.store(1, Release);
            stored.set(thread::now_ps());
            thread::hold_ps(US);
            back.set(thread::now_ps());
        },
        &|word| {
            word.cond_load(Relaxed, |value| value == 1);
            seen.set(thread::now_ps());
            thread::hold_ps(3 * MS);
        },
        // Waits for the first CPU until its slice is over.
        &|_| thread::hold_ps(MS / 2),
    ]);
    assert!(back.get() > 3 * MS / 2, "{back:?}");
    assert!(stored.get() < MS && seen.get() < MS + 200_000, "{stored:?} {seen:?}");
}

#[test]
fn the_looks_of_a_spinner_count_only_while_it_has_a_cpu() {
    let [looks, asking, time] = [Cell::new(0), Cell::new(0), Cell::new(0)];
    // A look is 5.5 ns: 1.5 ms.
    let (for_looks, for_time) = (Budget::Looks(272_728), Budget::Nanoseconds(1_500_000));
    let bounds = [
        (Bound::of(for_looks, u32::MAX), &looks),
        (Bound::of(for_looks, 1_000), &asking),
        (Bound::of(for_time, u32::MAX), &time),
    ];
    for (bound, ended) in bounds {
        host(1, 1).ends(&[
            &|word| {
                assert!(word.cond_load_bounded(Relaxed, bound, |v| v == 1, || false).is_err());
                ended.set(thread::now_ps());
            },
            &|_| thread::hold_ps(3 * MS),
        ]);
    }
    // On the CPU for 1 ms, off it for 1.004 ms, then the rest, and the first miss.
    for looks in [looks, asking] {
        let rest = looks.get() - (2 * MS + 4 * US);
        assert!((490 * US..510 * US).contains(&rest), "{} ps", looks.get());
    }
    // The other deadline passes while the thread has no CPU, and is noticed when it has one.
    let late = time.get() - (2 * MS + 4 * US);
    assert!(late < US, "{} ps", time.get());
}

#[test]
fn a_spinner_asks_its_stop_condition_when_it_gets_a_cpu_again() {
    // The looks between two questions take 5.5 ms, or 1.2 ms, which pass while it has none.
    for stop_every in [1_000_000, 218_182] {
        let asked = RefCell::new(Vec::new());
        host(1, 1).ends(&[
            &|word| {
                let bound = Bound::until_stopped(stop_every);
                let stop = || {
                    asked.borrow_mut().push(thread::now_ps());
                    true
                };
                assert!(word.cond_load_bounded(Relaxed, bound, |v| v == 1, stop).is_err());
            },
            &|_| thread::hold_ps(MS / 2),
        ]);
        // It is back after a slice, a switch, half a millisecond and a switch.
        let [at] = asked.borrow()[..] else { panic!("asked at {:?}", asked.borrow()) };
        let back = MS + 2 * US + MS / 2 + 2 * US;
        assert!((back..back + US).contains(&at), "{at} ps");
    }
}

#[test]
fn a_lost_wake_up_is_found_at_once_and_a_dead_spinner_after_a_slice() {
    let noisy = with(host(1, 2), |scheduler| scheduler.noise_ns = 100_000.0);
    let sleeps = |word: &U32| Sim::futex_wait(word, 0, None);
    let bodies: Vec<&dyn Fn(&U32)> = vec![&sleeps; 5];
    let report = noisy.run(&bodies);
    let [failure] = &report.failures[..] else { panic!("{:?}", report.failures) };
    assert!(matches!(&failure.kind, FailureKind::Stuck { threads } if threads.len() == 5));
    assert!(failure.at_ps < 200 * US, "{failure}");

    let spins = |word: &U32| {
        word.cond_load(Relaxed, |value| value == 1);
    };
    let report = noisy.run(&[&sleeps, &spins, &sleeps, &spins]);
    let [failure] = &report.failures[..] else { panic!("{:?}", report.failures) };
    assert!(matches!(&failure.kind, FailureKind::Stuck { threads } if threads.len() == 4));
    assert!(failure.at_ps < 2 * MS, "{failure}");
}
