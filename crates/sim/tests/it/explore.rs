//! Exploration finds what it is there to find, says when it has seen everything, and what it found
//! can be repeated.

use crate::machines::machine;
use crate::programs::{U32, hold};
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright_catalog::busted::BustedLock;
use lockwright_core::platform::{
    Atomic, AtomicInt, Barriers, Bound, Guarded, QueueNodes, SchedulerHints, Sleeping, Zeroed,
};
use lockwright_core::raw::RawLock;
use lockwright_linux::ticket::TicketLock;
use lockwright_sim::explore::{Explorer, Findings, Limits, Plan, PolicyKind, Schedule};
use lockwright_sim::machine::Machine;
use lockwright_sim::{Config, FailureKind, Sim, Simulation, WaitKind, watch};
use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const RANDOM: [PolicyKind; 3] = [PolicyKind::Random, PolicyKind::Pct(3), PolicyKind::Pos];
const SEARCH: PolicyKind = PolicyKind::Dfs(2);
const ALL: [PolicyKind; 4] = [RANDOM[0], RANDOM[1], RANDOM[2], SEARCH];

fn plan(policy: PolicyKind, schedules: u64) -> Plan {
    Plan { policies: vec![policy], schedules, limits: Limits::default() }
}

fn explore(policy: PolicyKind, schedules: u64, program: &dyn Fn(&mut Simulation<'_>)) -> Findings {
    let machine = machine(2, 4, 1);
    let mut explorer = Explorer::new(&machine, 1, Config::default(), program);
    explorer.explore(&plan(policy, schedules), |_| true)
}

/// The same; nothing may be found.
fn holds(policy: PolicyKind, schedules: u64, program: &dyn Fn(&mut Simulation<'_>)) -> Findings {
    let findings = explore(policy, schedules, program);
    assert!(findings.failure.is_none(), "{policy:?}: {findings:?}");
    findings
}

/// A panic that says this is found.
fn panics(policy: PolicyKind, schedules: u64, program: &dyn Fn(&mut Simulation<'_>), text: &str) {
    let kind = found(&explore(policy, schedules, program), program);
    assert!(
        matches!(&kind, FailureKind::Panicked { message } if message.contains(text)),
        "{kind:?}"
    );
}

/// Runs a schedule of `program`, as text, once.
fn replay(schedule: &str, program: &dyn Fn(&mut Simulation<'_>)) -> Option<FailureKind> {
    let machine = machine(2, 4, 1);
    let mut explorer = Explorer::new(&machine, 1, Config::default(), program);
    let schedule: Schedule = schedule.parse().expect("a schedule");
    explorer.replay(&schedule, Limits::default()).map(|failure| failure.kind)
}

/// What was found, which must happen again when its schedule is replayed.
fn found(findings: &Findings, program: &dyn Fn(&mut Simulation<'_>)) -> FailureKind {
    let found = findings.failure.as_ref().expect("a failure");
    let kind = found.failure.kind.clone();
    assert_eq!(replay(&found.schedule.to_string(), program), Some(kind.clone()));
    assert!(found.schedule.switches() <= found.before.1, "shortening made it longer");
    kind
}

/// Takes a lock of three states with a waiter that sleeps without looking again, if it is hasty.
fn sleepers(simulation: &mut Simulation<'_>, is_hasty: bool) {
    let word = simulation.alloc(U32::zeroed());
    let flag = simulation.alloc(U32::zeroed());
    simulation.spawn(0, move || {
        while word.load(Acquire) == 0 {
            if is_hasty {
                // The word may be written in between; no thread will write the flag.
                Sim::futex_wait(flag, 0, None);
            } else {
                Sim::futex_wait(word, 0, None);
            }
        }
    });
    simulation.spawn(4, move || {
        word.store(1, Release);
        let sleeps_on = if is_hasty { flag } else { word };
        Sim::futex_wake(sleeps_on, 1);
    });
}

/// Searches for all schedules on a machine within some limits. A failure must happen again.
pub fn search(
    machine: &Machine,
    limits: Limits,
    schedules: u64,
    program: &dyn Fn(&mut Simulation<'_>),
) -> Findings {
    let plan = Plan { policies: vec![PolicyKind::Dfs(3)], schedules, limits };
    let mut explorer = Explorer::new(machine, 1, Config::default(), program);
    let findings = explorer.explore(&plan, |_| true);
    if let Some(found) = &findings.failure {
        let again = explorer.replay(&found.schedule, limits).map(|failure| failure.kind);
        assert_eq!(again, Some(found.failure.kind.clone()), "{}", found.schedule);
    }
    findings
}

#[test]
fn a_lost_wake_up_is_found_as_a_stuck_sleeper() {
    for policy in ALL {
        let hasty = |simulation: &mut Simulation<'_>| sleepers(simulation, true);
        let FailureKind::Stuck { threads } = found(&explore(policy, 2_000, &hasty), &hasty) else {
            panic!("the failure is that a thread is stuck")
        };
        assert_eq!(threads.len(), 1);
        assert_eq!((threads[0].thread, threads[0].kind), (0, WaitKind::Sleeping));
        holds(policy, 2_000, &|simulation| sleepers(simulation, false));
    }
}

#[test]
fn a_trace_says_what_each_move_did_to_which_object() {
    let hasty = |simulation: &mut Simulation<'_>| sleepers(simulation, true);
    let machine = machine(2, 4, 1);
    let mut explorer = Explorer::new(&machine, 1, Config::default(), &hasty);
    let findings = explorer.explore(&plan(RANDOM[0], 2_000), |_| true);
    let schedule = findings.failure.expect("a lost wake-up").schedule;
    let (failure, trace) = explorer.replay_traced(&schedule, Limits::default());
    assert!(matches!(failure.map(|it| it.kind), Some(FailureKind::Stuck { .. })));
    let has = |thread, what: &str, values: &str| {
        trace
            .iter()
            .position(|line| (line.thread, &*line.what, &*line.values) == (thread, what, values))
    };
    let looked = has(0, "load", "0x0").expect("thread 0 looks at the word");
    let slept = has(0, "sleeps", "").expect("thread 0 sleeps");
    let written = has(1, "store becomes visible", "0x0 -> 0x1").expect("thread 1 writes");
    assert!(looked < written && looked < slept, "{trace:#?}");
    assert_ne!(trace[slept].place, "", "the object that it sleeps on");
    assert!(trace.is_sorted_by_key(|line| line.number), "{trace:#?}");
    assert!(trace.last().map(|line| line.number) <= Some(schedule.moves.len() as u64));
    assert!(has(0, "wakes thread a", "").is_none() && has(1, "wakes thread a", "").is_none());
}

/// Each of two threads writes its word and reads the other's.
fn store_buffering(simulation: &mut Simulation<'_>, barrier: fn(&U32)) {
    let words = simulation.alloc([U32::zeroed(), U32::zeroed()]);
    let seen = simulation.alloc([const { Cell::new(u32::MAX) }; 2]);
    for me in 0..2 {
        simulation.spawn(me as u32 * 4, move || {
            words[me].store(1, Relaxed);
            barrier(&words[me]);
            seen[me].set(words[1 - me].load(Relaxed));
            let seen = (seen[0].get(), seen[1].get());
            assert_ne!(seen, (0, 0), "both read before the other's store");
        });
    }
}

#[test]
fn store_buffering_is_seen_unless_there_is_a_full_barrier() {
    for policy in ALL {
        panics(policy, 2_000, &|s| store_buffering(s, |_| ()), "both read");
        holds(policy, 2_000, &|s| store_buffering(s, Sim::full_barrier));
        holds(policy, 2_000, &|s| store_buffering(s, |_| Sim::heavy_barrier()));
    }
}

/// Three threads write a word each and read another one's; one of them passes the heavy barrier.
/// Returns what was read: by thread 0 the second word and the first one, then by 1 and by 2.
fn heavy_and_light(simulation: &mut Simulation<'_>, check: fn([u32; 4])) {
    let words = simulation.alloc([U32::zeroed(), U32::zeroed(), U32::zeroed()]);
    let seen = simulation.alloc([const { Cell::new(u32::MAX) }; 4]);
    let [x, a, b] = words;
    let done = move |at: usize, value| {
        seen[at].set(value);
        if seen.iter().all(|seen| seen.get() != u32::MAX) {
            check(core::array::from_fn(|at| seen[at].get()));
        }
    };
    simulation.spawn(0, move || {
        x.store(1, Relaxed);
        Sim::heavy_barrier();
        let first = b.load(Relaxed);
        done(1, a.load(Relaxed));
        done(0, first);
    });
    for (cpu, mine, other) in [(1, a, b), (2, b, x)] {
        simulation.spawn(cpu, move || {
            mine.store(1, Relaxed);
            Sim::light_barrier();
            done(cpu as usize + 1, other.load(Relaxed));
        });
    }
}

#[test]
fn a_heavy_barrier_drains_each_thread_at_a_moment_of_its_own() {
    // Thread 2 reads before its store is visible, is drained, and thread 1 buffers its own store
    // after it was drained: there is no moment at which all buffers are empty.
    let one_by_one = |simulation: &mut Simulation<'_>| {
        heavy_and_light(simulation, |seen| assert_ne!(seen, [1, 0, 0, 0], "one by one"));
    };
    // A random walk takes tens of thousands of schedules.
    for policy in [RANDOM[1], RANDOM[2], SEARCH] {
        panics(policy, 20_000, &one_by_one, "one by one");
    }
}

#[test]
fn of_a_heavy_and_a_light_barrier_one_side_sees_the_other() {
    let dekker = |simulation: &mut Simulation<'_>| {
        // Thread 0 reads `b`, which thread 2 wrote before it read `x`.
        heavy_and_light(simulation, |[b, _, _, x]| assert_ne!((b, x), (0, 0), "neither saw"));
    };
    for policy in RANDOM {
        holds(policy, 5_000, &dekker);
    }
    assert!(holds(PolicyKind::Dfs(1), 200_000, &dekker).is_exhausted);
}

/// Two threads that do two steps each on one cell.
fn two_by_two(simulation: &mut Simulation<'_>) {
    let word = simulation.alloc(U32::zeroed());
    for cpu in 0..2 {
        simulation.spawn(cpu, move || {
            word.fetch_add(1, Relaxed);
            word.fetch_add(1, Relaxed);
        });
    }
}

#[test]
fn a_search_says_when_there_is_nothing_left() {
    // Each thread makes three moves: it begins, and it adds twice. Orders of three and three: 20.
    let all = explore(PolicyKind::Dfs(10), 1_000, &two_by_two);
    assert_eq!((all.schedules, all.distinct, all.is_exhausted), (20, 20, true));
    // Without preemptions one thread runs after the other.
    let none = explore(PolicyKind::Dfs(0), 1_000, &two_by_two);
    assert_eq!((none.schedules, none.is_exhausted), (2, true));
    let cut = explore(PolicyKind::Dfs(10), 19, &two_by_two);
    assert_eq!((cut.schedules, cut.is_exhausted), (19, false));
    for policy in RANDOM {
        let findings = explore(policy, 1_000, &two_by_two);
        assert_eq!((findings.schedules, findings.is_exhausted), (1_000, false));
        assert!(findings.distinct > 2, "{policy:?} always does the same");
    }
}

#[test]
fn a_search_whose_schedules_got_too_long_does_not_say_that_there_is_nothing_left() {
    let machine = machine(2, 4, 1);
    for (steps_max, is_exhausted) in [(10, false), (12, true)] {
        let limits = Limits { steps_max, ..Limits::default() };
        let mut explorer = Explorer::new(&machine, 1, Config::default(), &two_by_two);
        // From half of the moves on all is fair; every schedule has six.
        let plan = Plan { limits, ..plan(PolicyKind::Dfs(10), 1_000) };
        let findings = explorer.explore(&plan, |_| true);
        assert!(findings.failure.is_none() && findings.schedules < 1_000, "{findings:?}");
        assert_eq!(findings.is_exhausted, is_exhausted, "{steps_max}");
    }
}

/// Four threads count under a lock, watched.
fn counting<L: RawLock>(simulation: &mut Simulation<'_>) {
    let lock = simulation.alloc(L::new());
    let count = simulation.alloc(Guarded::<Sim, u64>::new(0));
    for cpu in 0..4 {
        simulation.spawn(cpu, move || {
            hold(lock, || {
                watch::entered(lock);
                // SAFETY: the lock is held, if it is one; there is one host thread.
                let before = unsafe { count.get() };
                // SAFETY: as above.
                unsafe { count.set(before + 1) };
                watch::left(lock);
            });
        });
    }
}

#[test]
fn two_owners_are_found_and_the_schedule_is_short() {
    for policy in ALL {
        let findings = explore(policy, 1_000, &counting::<BustedLock<Sim>>);
        let kind = found(&findings, &counting::<BustedLock<Sim>>);
        assert!(matches!(kind, FailureKind::Exclusion { .. }), "{kind:?}");
        let found = findings.failure.expect("a failure");
        assert!(found.schedule.switches() <= 2, "{} is long", found.schedule);
        holds(policy, 1_000, &counting::<TicketLock<Sim>>);
    }
}

#[test]
fn a_lock_that_has_a_number_has_the_same_one_in_each_schedule() {
    // The second exploration has been preceded by many such locks.
    for _ in 0..2 {
        holds(PolicyKind::Random, 10, &counting::<InSlots<Sim>>);
    }
}

#[test]
fn a_program_that_depends_on_the_world_outside_is_told_apart() {
    let runs = Cell::new(0);
    let moody = |simulation: &mut Simulation<'_>| {
        runs.set(runs.get() + 1);
        let more = runs.get();
        let word = simulation.alloc(U32::zeroed());
        simulation.spawn(0, move || {
            for _ in 0..more {
                word.load(Relaxed);
            }
        });
    };
    let findings = explore(PolicyKind::Random, 100, &moody);
    assert_eq!(findings.schedules, 1);
    let kind = findings.failure.expect("a failure").failure.kind;
    assert!(matches!(kind, FailureKind::Nondeterministic { step: 2 }), "{kind:?}");
}

#[test]
fn the_first_schedule_of_every_policy_is_repeated_and_its_values_are_compared() {
    let runs = Cell::new(0);
    // Makes the same moves in every run, and writes another value from the fourth one on.
    let moody = |simulation: &mut Simulation<'_>| {
        runs.set(runs.get() + 1);
        let value = runs.get() / 4;
        let word = simulation.alloc(U32::zeroed());
        simulation.spawn(0, move || _ = word.swap(value, Relaxed));
    };
    let machine = machine(2, 4, 1);
    let mut explorer = Explorer::new(&machine, 1, Config::default(), &moody);
    let policies = vec![PolicyKind::Random, PolicyKind::Pos];
    let findings = explorer.explore(&Plan { policies, ..plan(SEARCH, 100) }, |_| true);
    let found = findings.failure.expect("a failure");
    let kind = found.failure.kind;
    assert!(matches!(kind, FailureKind::Nondeterministic { .. }), "{kind:?}");
    assert_eq!((found.number, found.policy), (1, PolicyKind::Pos));
}

#[test]
fn going_round_in_circles_is_told_apart_from_being_slow() {
    // Each thread waits for the other one to give up first.
    let polite = |simulation: &mut Simulation<'_>| {
        let word = simulation.alloc(U32::zeroed());
        for cpu in 0..2 {
            simulation.spawn(cpu, move || {
                while word.load(Relaxed) == 0 {
                    Sim::delay(1);
                }
            });
        }
    };
    // The same, but one thread comes to an end.
    let rescued = |simulation: &mut Simulation<'_>| {
        let word = simulation.alloc(U32::zeroed());
        simulation.spawn(0, move || while word.load(Relaxed) == 0 {});
        simulation.spawn(1, move || word.store(1, Relaxed));
    };
    for policy in ALL {
        let findings = explore(policy, 2, &polite);
        let kind = found(&findings, &polite);
        assert!(matches!(kind, FailureKind::EventLimit { .. }), "{policy:?}: {kind:?}");
        assert!(findings.failure.expect("a failure").schedule.moves.is_empty());
        holds(policy, 20, &rescued);
    }
}

#[test]
fn the_time_of_a_wait_may_run_out_whenever_it_waits_and_need_not() {
    let waits = |simulation: &mut Simulation<'_>, expected: Option<bool>| {
        let word = simulation.alloc(U32::zeroed());
        simulation.spawn(1, move || word.store(1, Relaxed));
        simulation.spawn(2, move || {
            let bound = Bound::looks(1_000_000);
            let waited = word.cond_load_bounded(Relaxed, bound, |value| value == 1, || false);
            assert_ne!(Some(waited.is_ok()), expected, "it went this way");
            // A sleeper with a deadline does not need anybody.
            Sim::futex_wait(word, waited.unwrap_or(0), Some(1 << 40));
        });
    };
    assert!(holds(SEARCH, 10_000, &|simulation| waits(simulation, None)).is_exhausted);
    for way in [true, false] {
        panics(SEARCH, 10_000, &|simulation| waits(simulation, Some(way)), "it went this way");
    }
}

#[test]
fn sleepers_wake_up_for_no_reason() {
    let trusting = |simulation: &mut Simulation<'_>| {
        let word = simulation.alloc(U32::zeroed());
        simulation.spawn(0, move || {
            Sim::futex_wait(word, 0, None);
            assert_eq!(word.load(Acquire), 1, "woken too early");
        });
        simulation.spawn(1, move || {
            word.store(1, Release);
            Sim::futex_wake(word, 1);
        });
    };
    for policy in ALL {
        panics(policy, 2_000, &trusting, "woken too early");
    }
}

#[test]
fn the_schedulers_hints_say_who_has_no_cpu() {
    let hints = |simulation: &mut Simulation<'_>| {
        let id = simulation.alloc(Cell::new(None));
        let done = simulation.alloc(U32::zeroed());
        simulation.spawn(0, move || {
            id.set(Sim::claim_node());
            done.cond_load(Relaxed, |done| done == 1);
        });
        simulation.spawn(1, move || {
            done.load(Relaxed);
            if let Some(id) = id.get() {
                let is_running = Sim::is_running(id);
                assert_eq!(is_running, !Sim::need_resched(), "one of two has lost its CPU");
                assert!(is_running, "the other one has lost its CPU");
            }
            done.store(1, Relaxed);
        });
    };
    for policy in RANDOM {
        panics(policy, 2_000, &hints, "the other one");
    }
    holds(SEARCH, 2_000, &hints);
}

#[test]
fn a_schedule_that_does_not_fit_is_not_replayed() {
    // Thread 2 does not exist; thread 0 is done after three steps.
    for schedule in ["0:ac", "0:a4", "0:aA"] {
        let kind = replay(schedule, &two_by_two);
        assert!(matches!(kind, Some(FailureKind::Diverged { .. })), "{schedule}");
    }
    // After its end the program goes on by itself.
    assert_eq!(replay("0:aba", &two_by_two), None);
}
