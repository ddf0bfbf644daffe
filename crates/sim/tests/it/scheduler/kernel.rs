//! Tasks of a kernel, which keep their CPU until they give it up.

use super::{MS, U32, US, host, run_as, schedule};
use lockwright_core::platform::{Atomic, SchedulerHints, Sleeping};
use lockwright_sim::{RunReport, ScheduledKind, Sim, StartState, thread};
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

fn run(cpus: u32, bodies: &[&dyn Fn(&U32)]) -> RunReport {
    run_as(&host(1, cpus), ScheduledKind::Kernel, StartState::Running, bodies)
}

/// When the second of two tasks on one CPU begins, while the first does this.
fn second_begins(first: &dyn Fn(&U32)) -> (u64, RunReport) {
    let begins = Cell::new(0);
    let report = run(1, &[first, &|_| begins.set(thread::now_ps())]);
    (begins.get(), report)
}

#[test]
fn a_task_keeps_its_cpu_until_it_returns() {
    let (begins, report) = second_begins(&|_| thread::hold_ps(5 * MS));
    assert_eq!(begins, 5 * MS + 2 * US + 100);
    assert_eq!(schedule(&report).involuntary_switches, [0, 0]);
}

#[test]
fn a_task_gives_way_where_it_says_so_and_only_if_it_was_asked() {
    let (begins, report) = second_begins(&|_| {
        thread::hold_ps(MS / 2);
        thread::may_reschedule();
        assert!(!Sim::need_resched(), "the slice is not over");
        thread::hold_ps(2 * MS);
        assert!(Sim::need_resched(), "it is, and a thread waits");
        thread::may_reschedule();
        assert!(!Sim::need_resched(), "no thread waits now");
        thread::hold_ps(2 * MS);
        assert!(!Sim::need_resched(), "and no thread did");
    });
    assert_eq!(begins, 5 * MS / 2 + 2 * US + 100);
    assert_eq!(schedule(&report).involuntary_switches, [1, 0]);
}

#[test]
fn a_task_that_was_asked_gives_way_by_sleeping() {
    let (begins, report) = second_begins(&|word| {
        thread::hold_ps(2 * MS);
        assert!(Sim::need_resched());
        Sim::futex_wait(word, 0, Some(3_000_000));
        assert!(!Sim::need_resched());
    });
    assert!((2 * MS..2 * MS + 10 * US).contains(&begins), "{begins} ps");
    assert_eq!(schedule(&report).voluntary_switches, [1, 0]);
    assert_eq!(schedule(&report).involuntary_switches, [0, 0]);
}

#[test]
fn user_mode_loses_its_cpu_at_the_end_of_the_slice_and_the_kernel_does_not() {
    let done = Cell::new(0);
    let (begins, report) = second_begins(&|_| {
        thread::user_ns(3_000_000);
        done.set(thread::now_ps());
        thread::hold_ps(2 * MS);
    });
    assert_eq!(begins, MS + 2 * US + 100);
    // The rest of the work after two switches.
    let back = done.get();
    assert!((3 * MS + 4 * US..3 * MS + 5 * US).contains(&back), "{back} ps");
    assert_eq!(schedule(&report).involuntary_switches, [1, 0]);
}

#[test]
fn whoever_wakes_up_preempts_user_mode_and_waits_for_the_kernel_in_front_of_the_others() {
    let order = std::cell::RefCell::new(Vec::new());
    let sleeper = |word: &U32| {
        Sim::futex_wait(word, 0, Some(500_000));
        order.borrow_mut().push(("sleeper", thread::now_ps() / MS));
    };
    let busy = |_: &U32| {
        thread::hold_ps(3 * MS);
        assert!(Sim::need_resched());
        thread::may_reschedule();
    };
    let waits = |_: &U32| order.borrow_mut().push(("waits", thread::now_ps() / MS));
    assert_eq!(run(1, &[&sleeper, &busy, &waits]).failures, []);
    assert_eq!(order.take(), [("sleeper", 3), ("waits", 3)]);

    let woken_at = Cell::new(0);
    let sleeper = |word: &U32| {
        Sim::futex_wait(word, 0, Some(500_000));
        woken_at.set(thread::now_ps());
    };
    let user = |_: &U32| thread::user_ns(3_000_000);
    assert_eq!(run(1, &[&sleeper, &user]).failures, []);
    assert!(woken_at.get() < MS, "{} ps", woken_at.get());
}

#[test]
fn a_spinner_does_not_wait_for_an_owner_without_a_cpu() {
    // The word is a lock: its owner holds it across the end of its slice, while a third task waits for
    // one of the two CPUs.
    let waited_ps = |kind| {
        let waited_ps = Cell::new(0);
        let owner = |word: &U32| {
            word.store(1, Relaxed);
            thread::hold_ps(1_500 * US);
            word.store(0, Relaxed);
            thread::may_reschedule();
            thread::hold_ps(MS);
        };
        let spinner = |word: &U32| {
            thread::hold_ps(US);
            word.cond_load(Relaxed, |value| value == 0);
            waited_ps.set(thread::now_ps());
        };
        let third = |_: &U32| thread::hold_ps(MS);
        let bodies: [&dyn Fn(&U32); 3] = [&owner, &spinner, &third];
        assert_eq!(run_as(&host(1, 2), kind, StartState::Running, &bodies).failures, []);
        waited_ps.get()
    };
    let (kernel, program) = (waited_ps(ScheduledKind::Kernel), waited_ps(ScheduledKind::Program));
    assert!((1_500 * US..1_501 * US).contains(&kernel), "{kernel} ps");
    assert!(program > 2 * MS, "{program} ps");
}

#[test]
fn a_wake_up_that_finds_nobody_asleep_costs_what_one_does_that_interrupts_nobody() {
    let machine = super::with(host(1, 2), |scheduler| scheduler.wake_local_call_ns = 100.0);
    let cost = |kind, sleeps: bool| {
        let cost = Cell::new(0);
        let waker = |word: &U32| {
            thread::hold_ps(100 * US);
            let called = thread::now_ps();
            Sim::futex_wake(word, 1);
            cost.set(thread::now_ps() - called);
        };
        let sleeper = |word: &U32| {
            if sleeps {
                Sim::futex_wait(word, 0, None);
            }
        };
        let bodies: [&dyn Fn(&U32); 2] = [&waker, &sleeper];
        assert_eq!(run_as(&machine, kind, StartState::Running, &bodies).failures, []);
        cost.get()
    };
    let (kernel, program) = (ScheduledKind::Kernel, ScheduledKind::Program);
    assert_eq!((cost(kernel, false), cost(kernel, true)), (US / 10, US / 2));
    assert_eq!((cost(program, false), cost(program, true)), (US / 2, US / 2));
}

#[test]
fn no_wake_up_is_lost_whenever_it_comes() {
    for offset_ns in (0..3_000).step_by(20) {
        let sleeper = |word: &U32| {
            thread::hold_ps(US);
            while word.load(Relaxed) == 0 {
                Sim::futex_wait(word, 0, None);
            }
        };
        let waker = |word: &U32| {
            thread::hold_ps(offset_ns * 1_000 + US);
            word.store(1, Relaxed);
            Sim::futex_wake(word, 1);
        };
        assert_eq!(run(2, &[&sleeper, &waker]).failures, [], "after {offset_ns} ns");
    }
}
