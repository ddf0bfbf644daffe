//! Preemption: a thread that is away stalls, and nothing else breaks.

use crate::machines::machine;
use crate::programs::{U32, has, section, with_word};
use lockwright_catalog::registry::{LOCKS, LockClass};
use lockwright_core::platform::{Atomic, Placement as _, QueueNodes, SchedulerHints, Sleeping};
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::{
    Arena, Checks, Config, FailureKind, Preemption, RunReport, Sim, Simulation, thread,
};
use std::cell::Cell;
use std::sync::atomic::Ordering::{Relaxed, Release};

const WINDOW_NS: u64 = 600_000;
/// A thread is away half of the time, and never for longer than 20 us.
const HALF: Preemption = Preemption { every_ns: 10_000, for_ns: 10_000 };

/// What came out, and the longest wait in nanoseconds.
fn torture(name: &str, seed: u64, preemption: Option<Preemption>) -> (RunReport, u64) {
    let longest_ps = Cell::new(0);
    let mut arena = Arena::default();
    let any = AnyLock::named(name);
    let checks = Checks { overtaking_max: Some(u32::MAX), ..any.checks() };
    let config = Config { checks, preemption, ..Config::window(0, WINDOW_NS) };
    let mut simulation = Simulation::new(&machine(2, 4, 1), &mut arena, seed, config);
    let lock = (any.alloc)(&mut simulation);
    let longest = &longest_ps;
    for cpu in 0..8 {
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                let asked_ps = thread::now_ps();
                section(lock, || {
                    longest.set(longest.get().max(thread::now_ps() - asked_ps));
                    thread::work_ns(100);
                });
                thread::op_done();
            }
        });
    }
    let report = simulation.run();
    (report, longest_ps.get() / 1000)
}

#[test]
fn every_lock_holds_while_its_threads_are_preempted() {
    for row in LOCKS {
        let (report, _) = torture(row.name, 1, Some(HALF));
        if row.class == LockClass::Busted {
            continue;
        }
        let AnyLock { waiters_sleep, is_fifo, .. } = AnyLock::named(row.name);
        assert_eq!(report.failures, [], "{}", row.name);
        // A thread that sleeps has no CPU that could be taken away.
        let least = if waiters_sleep { 20 } else { 100 };
        assert!(report.preemptions > least, "{}: {}", row.name, report.preemptions);
        let starved = report.ops.iter().filter(|&&ops| ops == 0).count();
        assert!(!is_fifo || starved == 0, "{}: {:?}", row.name, report.ops);
        assert!(report.ops_total() > 50, "{}: {:?}", row.name, report.ops);
    }
}

#[test]
fn preempting_half_the_waiters_shows_in_the_longest_wait_of_a_fair_lock() {
    let (calm, calm_ns) = torture("ticket", 1, None);
    let (report, longest_ns) = torture("ticket", 1, Some(HALF));
    assert_eq!(calm.preemptions, 0);
    // Eight turns of a section and a handoff.
    assert!(calm_ns < 5_000, "{calm_ns} ns");
    assert!(longest_ns > 20_000, "{longest_ns} ns");
    assert!(report.ops_total() * 2 < calm.ops_total(), "the queue stalls");
}

#[test]
fn the_busted_lock_fails_under_preemption() {
    let (report, _) = torture("busted", 1, Some(HALF));
    assert!(has(&report, |kind| matches!(kind, FailureKind::Exclusion { .. })));
}

#[test]
fn preemptions_come_from_the_seed() {
    let run = |seed| torture("mcs", seed, Some(HALF)).0;
    let (one, same, other) = (run(1), run(1), run(2));
    assert_eq!((one.digest, one.preemptions), (same.digest, same.preemptions));
    assert_ne!(one.digest, other.digest);
}

#[test]
fn overtakes_are_counted_and_a_queue_has_none() {
    assert_eq!(torture("ticket", 1, None).0.most_overtakes, Some(0));
    assert_eq!(torture("mcs", 1, Some(HALF)).0.most_overtakes, Some(0));
    assert!(torture("unfair", 1, None).0.most_overtakes > Some(10));
}

/// Two threads and a word between them.
fn beside(preemption: Preemption, program: impl Fn(usize, &U32)) -> RunReport {
    let config = Config { preemption: Some(preemption), ..Config::default() };
    let program = |word: &U32| program(thread::index(), word);
    with_word(machine(1, 2, 1)).seeded(3).with(config).run(&[(0, &program), (1, &program)])
}

#[test]
fn work_takes_longer_by_the_time_away_and_no_less() {
    let done_ns = Cell::new(0);
    let report = beside(Preemption { every_ns: 1_000, for_ns: 3_000 }, |number, _| {
        if number == 0 {
            thread::hold_ps(1_000_000_000);
            done_ns.set(thread::now_ps() / 1000);
        }
    });
    assert!(report.preemptions > 500);
    // A quarter of the time is left for 1 ms of work.
    assert!((3_000_000..5_500_000).contains(&done_ns.get()), "{} ns", done_ns.get());
}

#[test]
fn the_stores_of_a_thread_that_is_away_become_visible() {
    let (stored_ns, seen_ns, back_ns) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let program = |number: usize, word: &U32| {
        if number == 0 {
            word.store(1, Release);
            stored_ns.set(thread::now_ps() / 1000);
            thread::hold_ps(100_000_000);
            back_ns.set(thread::now_ps() / 1000);
        } else {
            word.cond_load(Relaxed, |value| value == 1);
            seen_ns.set(thread::now_ps() / 1000);
        }
    };
    // Both run for about 10 us, and are away for about a millisecond then.
    let report = beside(Preemption { every_ns: 10_000, for_ns: 1_000_000 }, program);
    assert_eq!(report.failures, []);
    assert!(back_ns.get() > 500_000, "the writer was away for {} ns", back_ns.get());
    let delay_ns = seen_ns.get() - stored_ns.get();
    assert!(delay_ns < 1_000, "{delay_ns} ns");
}

#[test]
fn a_waiter_that_nobody_wakes_is_stuck_also_if_it_is_preempted() {
    let program = |number: usize, word: &U32| {
        if number == 0 {
            word.cond_load(Relaxed, |value| value == 1);
        }
    };
    let report = beside(Preemption { every_ns: 100_000, for_ns: 100_000 }, program);
    let is_stuck =
        |kind: &FailureKind| matches!(kind, FailureKind::Stuck { threads } if threads.len() == 1);
    assert!(has(&report, is_stuck), "{:?}", report.failures);
}

#[test]
fn a_deadlock_under_preemption_is_told_at_once_and_not_at_the_time_limit() {
    let program = |number: usize, word: &U32| {
        if number == 0 {
            word.cond_load(Relaxed, |value| value == 1);
        } else {
            // Sleeps for ever.
            Sim::futex_wait(word, 0, None);
        }
    };
    let report = beside(Preemption { every_ns: 100_000, for_ns: 100_000 }, program);
    let [failure] = &report.failures[..] else { panic!("{:?}", report.failures) };
    assert!(matches!(&failure.kind, FailureKind::Stuck { threads } if threads.len() == 2));
    assert!(failure.at_ps < 1_000_000_000, "after {} ps", failure.at_ps);
    assert!(report.events < 100 && report.preemptions <= 1, "{report:?}");
}

#[test]
fn a_hint_tells_that_the_thread_of_a_node_is_away() {
    let (running, away) = (Cell::new(0), Cell::new(0));
    let node = Cell::new(None);
    let program = |number: usize, word: &U32| {
        if number == 0 {
            let id = Sim::claim_node().expect("a fresh machine has nodes");
            node.set(Some(id));
            assert_eq!(Sim::this_cpu(), 0);
            word.cond_load(Relaxed, |value| value == 1);
            // SAFETY: claimed above.
            unsafe { Sim::release_node(id) };
        } else {
            while node.get().is_none() {
                thread::work_ns(100);
            }
            for _ in 0..1_000 {
                thread::work_ns(100);
                let hint = Sim::is_running(node.get().expect("set above"));
                let count = if hint { &running } else { &away };
                count.set(count.get() + 1);
            }
            word.store(1, Release);
        }
    };
    beside(HALF, program);
    assert!(running.get() > 200 && away.get() > 200, "{} {}", running.get(), away.get());
}

#[test]
fn a_waiter_whose_time_runs_out_while_it_is_away_notices_when_it_is_back() {
    use lockwright_core::platform::{Bound, Budget};
    let late_ns = Cell::new(0);
    let program = |number: usize, word: &U32| {
        if number == 0 {
            let bound = Bound::of(Budget::Nanoseconds(1_000), u32::MAX);
            for _ in 0..100 {
                let start_ps = thread::now_ps();
                assert!(word.cond_load_bounded(Relaxed, bound, |v| v == 1, || false).is_err());
                late_ns.set(late_ns.get().max((thread::now_ps() - start_ps) / 1000));
            }
        }
    };
    let report = beside(HALF, program);
    assert_eq!(report.failures, []);
    assert!((5_000..=22_000).contains(&late_ns.get()), "{} ns", late_ns.get());
}
