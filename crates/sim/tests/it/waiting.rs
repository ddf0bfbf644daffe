//! Spinning, sleeping, deadlines, and threads that wait for ever.

use crate::machines::{machine, quiet};
use crate::programs::{U32, with_word};
use lockwright_core::platform::{
    Atomic, AtomicInt, Bound, Clock, Placement, SchedulerHints, Sleeping,
};
use lockwright_sim::{
    Arena, Config, FailureKind, RunReport, Sim, Simulation, StuckThread, WaitKind, thread,
};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Runs programs that share a word, each on a CPU of its own.
fn run(bodies: &[&dyn Fn(&U32)]) -> RunReport {
    let programs: Vec<_> = (0..).zip(bodies.iter().copied()).collect();
    with_word(quiet(machine(2, 4, 1))).run(&programs)
}
/// The same; nothing may fail.
fn ends(bodies: &[&dyn Fn(&U32)]) -> RunReport {
    let report = run(bodies);
    assert_eq!(report.failures, []);
    report
}

fn stuck(report: &RunReport) -> &[StuckThread] {
    match report.failures.as_slice() {
        [failure] => match &failure.kind {
            FailureKind::Stuck { threads } => threads,
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_spinner_sees_the_value_and_takes_no_events_meanwhile() {
    let report = ends(&[
        &|word| {
            assert_eq!(word.cond_load(Acquire, |value| value == 5), 5);
            // The store is issued at 1 ms; upgrade 42.5 ns, then the reader's transfer 50 ns.
            assert_eq!(thread::now_ps(), 1_000_000_000 + 42_500 + 50_000);
        },
        &|word| {
            word.load(Relaxed);
            thread::hold_ps(1_000_000_000 - 150_000);
            word.store(5, Release);
        },
    ]);
    assert!(report.events < 20, "{} events", report.events);
}

#[test]
fn a_lost_wakeup_is_reported_as_stuck_and_not_as_a_hang() {
    let report = run(&[
        &|word| {
            word.cond_load(Acquire, |value| value == 2);
        },
        &|word| word.store(1, Release),
        &|word| {
            thread::hold_ps(5_000_000);
            Sim::futex_wait(word, 1, None);
        },
    ]);
    let threads = stuck(&report);
    assert_eq!(threads.len(), 2);
    assert_eq!((threads[0].thread, threads[0].kind), (0, WaitKind::Spinning));
    assert_eq!(threads[0].seen, Some(1));
    assert_eq!((threads[1].thread, threads[1].kind), (2, WaitKind::Sleeping));
    assert_eq!(threads[0].line, threads[1].line);
    assert!(threads[1].since_ps > 5_700_000);
    let text = report.failures[0].to_string();
    assert!(text.contains("thread 0 on CPU 0 spins on line"), "{text}");
    assert!(text.contains("(SimCell), "), "{text}");
}

#[test]
fn a_futile_spin_costs_the_time_of_its_looks() {
    ends(&[&|word| {
        word.load(Relaxed);
        for looks in [1, 2, 100] {
            let start = thread::now_ps();
            let seen = word.cond_load_bounded(Relaxed, Bound::looks(looks), |v| v != 0, || false);
            assert_eq!(seen, Err(0));
            // A hit is 1.5 ns, a pause 4 ns; no pause follows the last look.
            assert_eq!(thread::now_ps() - start, 1_500 + u64::from(looks - 1) * 5_500);
        }
        let start = Sim::now_ns();
        let seen = word.cond_load_bounded(Relaxed, Bound::nanoseconds(777), |v| v != 0, || false);
        assert_eq!((seen, Sim::now_ns() - start), (Err(0), 777));
    }]);
}

#[test]
fn a_bounded_spin_sees_a_write_before_its_deadline() {
    ends(&[
        &|word| {
            let bound = Bound::nanoseconds(5_000);
            assert_eq!(word.cond_load_bounded(Acquire, bound, |v| v == 3, || false), Ok(3));
            assert!(Sim::now_ns() < 1_300);
            // Writes that do not help are looked at and change nothing about the deadline.
            let start = Sim::now_ns();
            assert_eq!(word.cond_load_bounded(Acquire, bound, |v| v == 9, || false), Err(8));
            assert_eq!(Sim::now_ns() - start, 5_000);
        },
        &|word| {
            thread::hold_ps(1_000_000);
            word.store(3, Release);
            for value in 4..9 {
                thread::hold_ps(500_000);
                word.store(value, Release);
            }
        },
    ]);
}

#[test]
fn the_stop_condition_is_asked_in_time_and_at_wakeups() {
    let asked = RefCell::new(Vec::new());
    ends(&[
        &|word| {
            word.load(Relaxed);
            let bound = Bound::until_stopped(100);
            let stop = || {
                asked.borrow_mut().push(thread::now_ps());
                asked.borrow().len() == 4
            };
            assert_eq!(word.cond_load_bounded(Relaxed, bound, |v| v == 9, stop), Err(1));
        },
        &|word| {
            // Shared, so that the spinner's next look is a miss and sees the new value.
            word.load(Relaxed);
            thread::hold_ps(1_500_000);
            word.store(1, Release);
        },
    ]);
    // Twice after 100 looks of 5.5 ns, at the write, and 100 looks later.
    let asked: Vec<u64> = asked.into_inner().windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(asked.len(), 3);
    assert_eq!((asked[0], asked[2]), (550_000, 550_000));
    assert!(asked[1] < 550_000);
}

#[test]
fn a_stepping_wait_works_while_it_waits_and_then_sleeps_on_the_line() {
    let steps = Cell::new(0);
    ends(&[
        &|word| {
            let step = || {
                steps.set(steps.get() + 1);
                thread::work_ns(10);
                steps.get() < 5
            };
            assert_eq!(word.cond_load_stepping(Acquire, |v| v == 1, step), 1);
        },
        &|word| {
            thread::hold_ps(1_000_000);
            word.store(1, Release);
        },
    ]);
    assert_eq!(steps.get(), 5);
}

#[test]
fn sleepers_wake_in_order_and_only_as_many_as_asked_for() {
    let order = RefCell::new(Vec::new());
    let sleep = |after_us: u64| {
        let order = &order;
        move |word: &U32| {
            thread::hold_ps(after_us * 1_000_000);
            Sim::futex_wait(word, 0, None);
            order.borrow_mut().push((thread::index(), Sim::now_ns()));
        }
    };
    let sleepers = [sleep(3), sleep(1), sleep(2)];
    ends(&[&sleepers[0], &sleepers[1], &sleepers[2], &|word| {
        thread::hold_ps(10_000_000);
        assert_eq!(Sim::idle_cpus(), 7);
        Sim::futex_wake(word, 2);
        Sim::futex_wake(word, u32::MAX);
        word.store(1, Relaxed);
        // The value is not the expected one: returns at once.
        Sim::futex_wait(word, 0, None);
    }]);
    // A wake-up call takes 500 ns, waking 2,000 ns.
    assert_eq!(order.into_inner(), [(1, 12_500), (2, 12_500), (0, 13_000)]);
}

#[test]
fn a_sleep_ends_at_its_deadline() {
    ends(&[&|word| {
        for deadline_ns in [5_000, 7_000] {
            Sim::futex_wait(word, 0, Some(deadline_ns));
            assert_eq!(Sim::now_ns(), deadline_ns);
        }
        // Already over: costs the call and the look.
        Sim::futex_wait(word, 0, Some(1));
        assert_eq!(thread::now_ps(), 7_000_000 + 700_000 + 1_500);
    }]);
}

#[test]
fn a_wakeup_before_the_sleep_does_not_get_lost_if_the_word_changed() {
    // The waker changes the word and wakes while the sleeper is on its way into the kernel.
    for delay_ns in (0..2_000).step_by(50) {
        let report = run(&[
            &|word| {
                while word.load(Acquire) == 0 {
                    Sim::futex_wait(word, 0, None);
                }
            },
            &|word| {
                thread::hold_ps(delay_ns * 1000);
                word.store(1, Release);
                Sim::futex_wake(word, 1);
            },
        ]);
        assert_eq!(report.failures, [], "delay {delay_ns} ns");
    }
}

#[test]
fn a_run_ends_at_its_limits() {
    let limited = |config: Config| {
        with_word(machine(1, 2, 1)).with(config).run(&[
            (0, &|word| while word.fetch_add(1, Relaxed) != u32::MAX {}),
            (1, &|word| _ = word.cond_load(Acquire, |value| value == u32::MAX)),
        ])
    };
    let report = limited(Config { time_limit_ns: 10_000, ..Config::default() });
    assert!(report.end_ps <= 10_000_000);
    let [failure] = report.failures.as_slice() else { panic!("{:?}", report.failures) };
    let FailureKind::TimeLimit { threads } = &failure.kind else { panic!("{failure}") };
    assert_eq!(threads[0].kind, WaitKind::Running);
    assert_eq!(threads[1].kind, WaitKind::Spinning);

    let report = limited(Config { events_max: 1_000, ..Config::default() });
    assert_eq!(report.events, 1_000);
    assert!(matches!(report.failures[0].kind, FailureKind::EventLimit { .. }));
}

#[test]
fn a_thread_knows_where_it_is() {
    let mut arena = Arena::default();
    let machine = machine(2, 4, 2);
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    for (cpu, socket) in [(0, 0), (5, 1), (8, 0), (15, 1)] {
        simulation.spawn(cpu, move || {
            assert_eq!(Sim::this_cpu(), cpu);
            assert_eq!(Sim::numa_node_of(cpu), socket);
            assert_eq!(Sim::numa_nodes(), 2);
            assert!(!Sim::is_urgent());
            thread::set_urgent(true);
            assert!(Sim::is_urgent());
            assert!(!Sim::must_not_spin());
            thread::set_must_not_spin(true);
            assert!(Sim::must_not_spin());
        });
    }
    assert_eq!(simulation.run().failures, []);
}

#[test]
fn work_takes_longer_while_the_sibling_is_busy() {
    let mut arena = Arena::default();
    let machine = quiet(machine(1, 2, 2));
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let took_ps = |ns, expected_ps| {
        move || {
            let start = thread::now_ps();
            thread::work_ns(ns);
            let took = thread::now_ps() - start;
            assert!(u64::abs_diff(took, expected_ps) <= 1, "{took} ps");
        }
    };
    simulation.spawn(0, took_ps(1000, 1_100_000));
    simulation.spawn(1, took_ps(1000, 1_000_000));
    simulation.spawn(2, || thread::hold_ps(3_000_000));
    assert_eq!(simulation.run().failures, []);
}
