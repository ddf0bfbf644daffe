//! What tells the waiting policies that sleep apart: who passes a head that sleeps.

use crate::machines::{machine, quiet};
use crate::programs::hold;
use lockwright_core::events::Event;
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::{Arena, Config, RunReport, Simulation, thread};
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
    // Nobody robs this head.
    assert_eq!(waits("park"), (1, 0, 1));
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
