//! What tells the waiting policies that sleep apart: who passes a head that sleeps.

use crate::machines::{machine, quiet};
use crate::programs::hold;
use lockwright_core::events::Event;
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::machine::Machine;
use lockwright_sim::{
    Arena, Config, RunReport, ScheduledKind, Scheduling, Simulation, StartState, thread,
};
use std::cell::RefCell;

/// How long the owner has the lock: much longer than the head of the queue spins before it sleeps.
const HELD_NS: u64 = 2_000_000;
/// When a newcomer comes: in the middle of that, when the head sleeps.
const COMES_NS: u64 = 1_000_000;

/// The owner, with number 0, and a waiter, number 1, that becomes the head of the queue and sleeps. Then either
/// number 2 comes, or the owner comes again, as number 2, as soon as it has unlocked. Returns the order in which they
/// get the lock. Number 2 has it for `hold_ns`.
fn behind_a_sleeping_head(
    name: &str,
    owner_comes_again: bool,
    hold_ns: u64,
) -> (Vec<u32>, RunReport) {
    let order = RefCell::new(Vec::new());
    let machine = quiet(machine(1, 4, 1));
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let lock = (AnyLock::named(name).alloc)(&mut simulation);
    let take = |number, hold_ns| {
        hold(lock, || {
            order.borrow_mut().push(number);
            thread::work_ns(hold_ns);
        });
    };
    let take = &take;
    simulation.spawn(0, move || {
        take(0, HELD_NS);
        if owner_comes_again {
            take(2, hold_ns);
        }
    });
    simulation.spawn(1, move || {
        thread::work_ns(10_000);
        take(1, 100);
    });
    if !owner_comes_again {
        simulation.spawn(2, move || {
            thread::work_ns(COMES_NS);
            take(2, hold_ns);
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, [], "{name}");
    (order.into_inner(), report)
}

#[test]
fn a_newcomer_that_finds_the_lock_free_steals_it_while_the_head_sleeps_unless_nobody_may() {
    for (name, order, stolen) in [
        ("park", [0, 1, 2], 0),
        ("park-full_spin", [0, 1, 2], 0),
        ("park-steal", [0, 2, 1], 1),
        ("park-steal-full_spin", [0, 2, 1], 1),
        ("hybrid", [0, 2, 1], 1),
    ] {
        let (got, report) = behind_a_sleeping_head(name, true, 100);
        assert_eq!(got, order, "{name}");
        assert_eq!(report.count_of(Event::pv_lock_stealing), stolen, "{name}");
        assert_eq!(report.count_of(Event::lock_slowpath), 2 - stolen, "{name}");
    }
}

#[test]
fn a_newcomer_that_finds_the_lock_held_queues_unless_the_policy_has_an_unfair_mode() {
    for (name, order, queued) in [
        ("park", [0, 1, 2], 2),
        ("park-steal", [0, 1, 2], 2),
        ("park-steal-full_spin", [0, 1, 2], 2),
        ("hybrid", [0, 2, 1], 1),
    ] {
        let (got, report) = behind_a_sleeping_head(name, false, 100);
        assert_eq!(got, order, "{name}");
        assert_eq!(report.count_of(Event::lock_slowpath), queued, "{name}");
        assert_eq!(report.count_of(Event::pv_lock_stealing), 2 - queued, "{name}");
    }
}

#[test]
fn a_waiter_behind_a_sleeping_head_sleeps_early_unless_it_spins_for_as_long_as_it_may() {
    for (name, early) in
        [("park", 1), ("park-full_spin", 0), ("park-steal", 1), ("park-steal-full_spin", 0)]
    {
        let (_, report) = behind_a_sleeping_head(name, false, 100);
        assert_eq!(report.count_of(Event::pv_wait_early), early, "{name}");
        assert_eq!(report.count_of(Event::pv_wait_node), 1, "{name}");
    }
}

/// The kernel counts each wait of the head, and each but the first a second time. It also counts those of a head that
/// was robbed after its wake-up and only spins, because these waits end at once.
#[test]
fn the_waits_of_the_head_are_counted_as_in_the_kernel() {
    let waits = |name| {
        let (_, report) = behind_a_sleeping_head(name, true, HELD_NS);
        let count = |event| report.count_of(event);
        (count(Event::pv_wait_head), count(Event::pv_wait_again), count(Event::pv_kick_unlock))
    };
    // No thread robs this head. Number 2 halts behind it at its first look, so it is kicked, too.
    assert_eq!(waits("park"), (1, 0, 2));
    for name in ["park-steal", "hybrid"] {
        let (head, again, kicks) = waits(name);
        assert!(head > 5, "{name} has spun {head} times as long as it spins before it sleeps");
        assert_eq!((again, kicks), (head - 1, 1), "{name}");
    }
    // This head sleeps again.
    let (head, again, kicks) = waits("hybrid-bounded");
    assert!(head > 1, "{head}");
    assert_eq!((again, kicks), (head - 1, head));
}

/// The events that tell the rules of the halts and kicks apart.
fn counts(report: &RunReport) -> [u64; 7] {
    [
        Event::pv_wait_node,
        Event::pv_wait_early,
        Event::pv_wait_head,
        Event::pv_wait_again,
        Event::pv_hash_hops,
        Event::pv_kick_unlock,
        Event::pv_lock_stealing,
    ]
    .map(|event| report.count_of(event))
}

/// Runs threads, each on a CPU of its own: when it comes for the lock, and then for how long it has the lock, each
/// time. Returns the order in which they get it.
fn taking_turns(name: &str, threads: &'static [(u64, &'static [u64])]) -> (Vec<u32>, RunReport) {
    taking_turns_on(&quiet(machine(1, 4, 1)), name, threads)
}

fn taking_turns_on(
    machine: &Machine,
    name: &str,
    threads: &[(u64, &[u64])],
) -> (Vec<u32>, RunReport) {
    let order = RefCell::new(Vec::new());
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(machine, &mut arena, 1, Config::default());
    let lock = (AnyLock::named(name).alloc)(&mut simulation);
    let order = &order;
    for (number, (comes_ns, hold_ns)) in (0..).zip(threads) {
        simulation.spawn(number, move || {
            thread::work_ns(*comes_ns);
            for hold_ns in *hold_ns {
                hold(lock, || {
                    order.borrow_mut().push(number);
                    thread::work_ns(*hold_ns);
                });
            }
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, [], "{name}");
    (order.take(), report)
}

/// A waiter asks about its predecessor at its first look. So a queue of waiters halts at once behind one that halts.
/// A wake-up takes less time here than 256 looks: who asks later finds the head awake.
#[test]
fn waiters_behind_a_sleeping_head_halt_at_their_first_look() {
    const THREADS: &[(u64, &[u64])] =
        &[(0, &[HELD_NS]), (10_000, &[100]), (HELD_NS - 300, &[100]), (HELD_NS - 200, &[100])];
    let mut machine = quiet(machine(1, 4, 1));
    (machine.costs.wake_call_ns, machine.costs.wake_latency_ns) = (50.0, 50.0);
    for (name, halts) in [("park", 2), ("park-steal", 2), ("park-full_spin", 0)] {
        let (order, report) = taking_turns_on(&machine, name, THREADS);
        assert_eq!(order, [0, 1, 2, 3], "{name}");
        let [node, early, head, again, ..] = counts(&report);
        assert_eq!([node, early, head, again], [halts, halts, 1, 0], "{name}");
    }
}

/// Number 1 is the head. It falls asleep, and the owner soon wakes it by its release. Number 2 came a while before. It
/// asks at its first look, and then after 256 looks. In between it does not ask, also if number 3 writes to its node as
/// it links itself. So number 3 makes no difference to number 2.
#[test]
fn a_waiter_asks_once_in_256_looks_also_if_another_one_links_itself_behind_it() {
    let mut machine = quiet(machine(1, 4, 1));
    (machine.costs.wake_call_ns, machine.costs.wake_latency_ns) = (50.0, 50.0);
    let run = |threads: &[(u64, &[u64])]| taking_turns_on(&machine, "park-steal", threads).1;
    let sleeps = |hold_ns: u64| {
        let report = run(&[(0, &[hold_ns]), (10_000, &[100])]);
        report.count_of(Event::pv_wait_head) == 1
    };
    let (mut awake_ns, mut asleep_ns) = (20_000, HELD_NS);
    while awake_ns + 10 < asleep_ns {
        let middle = (awake_ns + asleep_ns) / 2;
        *if sleeps(middle) { &mut asleep_ns } else { &mut awake_ns } = middle;
    }
    let halts = |before_ns, waiters| {
        let threads: [(u64, &[u64]); 4] = [
            (0, &[asleep_ns + 300]),
            (10_000, &[100]),
            (asleep_ns - before_ns, &[100]),
            (asleep_ns + 50, &[100]),
        ];
        run(&threads[..=waiters]).count_of(Event::pv_wait_early) > 0
    };
    let alone: Vec<bool> = (100..6_000).step_by(100).map(|before_ns| halts(before_ns, 2)).collect();
    let mut seen = [0, 0];
    // Number 3 also delays number 2 by the time of a cache miss. So the edges do not count.
    for (index, near) in (3..).zip(alone.windows(5)).filter(|(_, near)| near == &[near[2]; 5]) {
        assert_eq!(halts(index * 100, 3), near[2], "number 2 came {} ns before", index * 100);
        seen[usize::from(near[2])] += 1;
    }
    assert!(seen[0] > 5 && seen[1] > 5, "{seen:?}");
}

/// A release does not write the state of the head that it kicks. Until the head itself runs, a waiter that comes
/// behind it sees that it does not run, and halts.
#[test]
fn a_waiter_behind_a_head_that_was_kicked_and_does_not_run_yet_halts() {
    const THREADS: &[(u64, &[u64])] =
        &[(0, &[HELD_NS]), (10_000, &[100]), (HELD_NS + 1_000, &[100])];
    let (order, report) = taking_turns("park", THREADS);
    assert_eq!(order, [0, 1, 2]);
    assert_eq!(counts(&report)[..2], [1, 1]);
}

/// Number 1 sleeps as the head, number 2 behind it. Number 1 takes the lock, grants number 2, which sleeps, and comes
/// again when it has released the lock: it steals. Number 2 has no entry then, and makes none. So there are two
/// entries and two kicks, and the rest of its wait counts.
#[test]
fn a_head_that_was_granted_asleep_and_robbed_makes_no_second_entry() {
    const THREADS: &[(u64, &[u64])] =
        &[(0, &[HELD_NS]), (10_000, &[1_000, HELD_NS]), (COMES_NS, &[100])];
    let (order, report) = taking_turns("park-steal", THREADS);
    assert_eq!(order, [0, 1, 1, 2]);
    let [node, early, head, again, hops, kicks, stealing] = counts(&report);
    assert_eq!([node, early, hops, kicks, stealing], [1, 1, 2, 2, 1]);
    assert!(head > 2, "number 2 waits again and again: {head}");
    // One wait of number 1, and the first one of number 2.
    assert_eq!(again, head - 2);
}

/// Five vCPUs share three CPUs in turns of 10 us. The run is so short that no waiter spins for as long as it may, so
/// none says that it halts before another one has halted early. A waiter halts because the hypervisor tells that the
/// vCPU in front of it does not run, or not at all.
#[test]
fn a_waiter_halts_behind_one_whose_cpu_does_not_run() {
    for (name, is_told) in [("park-steal", true), ("hybrid", true), ("park-steal-full_spin", false)]
    {
        let mut machine = quiet(machine(1, 3, 1));
        let scheduler = machine.scheduler.as_mut().expect("it has one");
        (scheduler.slice_ns, scheduler.wake_granularity_ns) = (10_000.0, 2_000.0);
        let kind = ScheduledKind::Guest { virtual_numa: false };
        let scheduling = Some(Scheduling { kind, start: StartState::Running });
        let mut arena = Arena::default();
        let mut simulation =
            Simulation::new(&machine, &mut arena, 1, Config { scheduling, ..Config::default() });
        let lock = (AnyLock::named(name).alloc)(&mut simulation);
        for comes_ns in [0, 200, 400, 600, 800] {
            simulation.spawn_scheduled(move || {
                thread::work_ns(comes_ns);
                hold(lock, || thread::work_ns(10_000));
            });
        }
        let report = simulation.run();
        assert_eq!(report.failures, [], "{name}");
        assert_eq!(report.count_of(Event::pv_wait_early) > 0, is_told, "{name}");
    }
}
