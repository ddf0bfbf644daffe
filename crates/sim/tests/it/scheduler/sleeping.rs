//! Halting, kicking, and where a thread wakes up.

use super::{MS, RunsGuests as _, U32, US, host, run_as, schedule, with, works};
use lockwright_core::platform::{Atomic, Placement as _, Sleeping};
use lockwright_sim::{ScheduledKind, Sim, StartState, thread};
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

#[test]
fn a_halt_a_kick_and_its_latency_cost_what_the_machine_says() {
    let (asleep, kicked, awake) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let report = host(1, 2).run(&[
        &|word| {
            word.load(Relaxed);
            let called = thread::now_ps();
            Sim::futex_wait(word, 1, None);
            // The word is 0: only the exit and a look.
            asleep.set(thread::now_ps() - called);
            Sim::futex_wait(word, 0, None);
            awake.set(thread::now_ps());
        },
        &|word| {
            thread::hold_ps(100 * US);
            let called = thread::now_ps();
            Sim::futex_wake(word, 1);
            kicked.set(thread::now_ps());
            assert_eq!(kicked.get() - called, US);
        },
    ]);
    assert_eq!(asleep.get(), 1_500_000 + 1_500);
    assert_eq!(awake.get() - kicked.get(), 20 * US);
    let schedule = schedule(&report);
    assert_eq!((schedule.kicks, &schedule.voluntary_switches[..]), (1, &[1, 0][..]));
    // It ran until it slept, and not at all afterwards.
    assert!(schedule.run_ps[0] < 4 * US, "{schedule:?}");
}

#[test]
fn the_threads_of_a_program_sleep_and_wake_at_the_costs_of_system_calls() {
    let (kicked, awake) = (Cell::new(0), Cell::new(0));
    let bodies: [&dyn Fn(&U32); 2] = [
        &|word| {
            Sim::futex_wait(word, 0, None);
            awake.set(thread::now_ps());
        },
        &|word| {
            thread::hold_ps(100 * US);
            let called = thread::now_ps();
            Sim::futex_wake(word, 1);
            kicked.set(thread::now_ps());
            assert_eq!(kicked.get() - called, US / 2);
        },
    ];
    let report = run_as(&host(1, 2), ScheduledKind::Program, StartState::Running, &bodies);
    assert_eq!(report.failures, []);
    assert_eq!(awake.get() - kicked.get(), 2 * US);
}

#[test]
fn who_wakes_up_preempts_a_thread_that_has_run_for_a_while() {
    let (awake, done) = (Cell::new(0), Cell::new(0));
    let sleeper = |word: &U32| {
        Sim::futex_wait(word, 0, Some(500_000));
        awake.set(thread::now_ps());
    };
    let report = host(1, 1).run(&[&sleeper, &works(3 * MS, &done)]);
    assert_eq!(awake.get(), 502 * US);
    assert_eq!(schedule(&report).involuntary_switches, [0, 1]);
}

#[test]
fn who_wakes_up_waits_behind_all_if_the_thread_on_the_cpu_has_just_got_it() {
    let (awake, done) = (Cell::new(0), Cell::new(0));
    let sleeper = |word: &U32| {
        Sim::futex_wait(word, 0, Some(1_050_000));
        awake.set(thread::now_ps());
    };
    let (a, b) = (works(4 * MS, &done), works(4 * MS, &done));
    host(1, 1).ends(&[&sleeper, &a, &b]);
    // It slept after its exit and a miss. At 1050 us the third thread has had the CPU for 44 us; the
    // second has another slice after it.
    assert_eq!(awake.get(), 1_600_000 + 3 * MS + 4 * 2 * US);
}

#[test]
fn a_thread_that_was_preempted_by_a_wake_up_goes_on_with_the_rest_of_its_slice() {
    let done = [Cell::new(0), Cell::new(0), Cell::new(0)];
    let sleeper = |word: &U32| {
        Sim::futex_wait(word, 0, Some(500_000));
        thread::hold_ps(10 * US);
        done[0].set(thread::now_ps());
    };
    let (a, b) = (works(MS / 2 + 300 * US, &done[1]), works(MS / 2, &done[2]));
    host(1, 1).ends(&[&sleeper, &a, &b]);
    assert_eq!(done[0].get(), 512 * US);
    // 100 ps after the sleeper began, its exit and miss, a switch, the work, and the interruption
    // of two switches and 10 us. The third waits although its turn would have come first.
    let begun = 1_600_000 + 2 * US;
    assert_eq!(done[1].get(), begun + 100 + 800 * US + 14 * US);
    assert_eq!(done[2].get(), done[1].get() + 2 * US + 200 + MS / 2);
}

#[test]
fn who_wakes_up_gets_its_last_cpu_or_an_idle_one_near_it() {
    let cpus: [Cell<Option<u32>>; 6] = Default::default();
    let (before, after) = (Cell::new(0), Cell::new(0));
    let stays = |ps: u64| {
        let cpus = &cpus;
        move |_: &U32| {
            cpus[thread::index()].set(Some(Sim::this_cpu()));
            thread::hold_ps(ps);
        }
    };
    let sleeper = |word: &U32| {
        before.set(Sim::this_cpu());
        Sim::futex_wait(word, 0, Some(200_000));
        assert_eq!(thread::now_ps(), 200 * US, "its own CPU is idle");
        assert_eq!(Sim::this_cpu(), before.get());
        Sim::futex_wait(word, 0, Some(600_000));
        after.set(Sim::this_cpu());
        assert_eq!(thread::now_ps(), 600 * US, "an idle CPU was at hand");
    };
    // A second sleeper takes the first one's CPU while that sleeps: it has slept there, too.
    let usurper = |word: &U32| {
        Sim::futex_wait(word, 0, Some(400_000));
        thread::hold_ps(5 * MS);
    };
    let (long, short) = (stays(5 * MS), stays(10 * US));
    let machine = host(2, 2);
    let bodies: [&dyn Fn(&U32); 5] = [&sleeper, &short, &short, &long, &usurper];
    let report = run_as(&machine, ScheduledKind::Program, StartState::Running, &bodies);
    assert_eq!(report.failures, []);
    let idle: Vec<u32> = [1, 2].iter().filter_map(|&i| cpus[i].get()).collect();
    let near = |cpu: &&u32| **cpu / 2 == before.get() / 2;
    match idle.iter().find(near) {
        Some(&cpu) => assert_eq!(after.get(), cpu),
        None => assert!(idle.contains(&after.get())),
    }
}

#[test]
fn who_wakes_up_on_busy_cpus_gets_the_one_that_the_fewest_want() {
    let (other, before, after) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let sleeper = |word: &U32| {
        before.set(Sim::this_cpu());
        Sim::futex_wait(word, 0, Some(500_000));
        assert_eq!(thread::now_ps(), 502 * US, "it preempts who is there");
        after.set(Sim::this_cpu());
    };
    let short = |_: &U32| other.set(Sim::this_cpu());
    let long = |_: &U32| thread::hold_ps(MS);
    // Two are left on the first CPU and one on the second.
    let bodies: [&dyn Fn(&U32); 5] = [&sleeper, &short, &long, &long, &long];
    let report = run_as(&host(1, 2), ScheduledKind::Program, StartState::Running, &bodies);
    assert_eq!(report.failures, []);
    assert_ne!(before.get(), other.get());
    assert_eq!(after.get(), other.get());
}

/// When a thread runs that is woken, from the beginning of the call: its last CPU is the one of its waker,
/// which has had it for long, and another one is idle.
fn runs_after_ps(wake_local: f64) -> u64 {
    let (called, awake) = (Cell::new(0), Cell::new(0));
    let bodies: [&dyn Fn(&U32); 3] = [
        &|word| {
            Sim::futex_wait(word, 0, None);
            awake.set(thread::now_ps());
        },
        &|_| thread::hold_ps(50 * US),
        &|word| {
            thread::hold_ps(300 * US);
            called.set(thread::now_ps());
            Sim::futex_wake(word, 1);
        },
    ];
    let machine = with(host(1, 2), |scheduler| {
        scheduler.wake_local = wake_local;
        scheduler.wake_local_call_ns = 100.0;
    });
    let report = run_as(&machine, ScheduledKind::Program, StartState::Running, &bodies);
    assert_eq!(report.failures, []);
    awake.get() - called.get()
}

#[test]
fn who_is_woken_may_wait_for_its_busy_cpu_for_a_cheap_call_and_a_switch() {
    assert_eq!(runs_after_ps(0.0), US / 2 + 2 * US);
    assert_eq!(runs_after_ps(1.0), US / 10 + 2 * US);
}
