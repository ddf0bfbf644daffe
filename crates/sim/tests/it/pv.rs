//! What tells the waiting policies that sleep apart: who passes a head that sleeps.

use crate::machines::{machine, quiet};
use crate::programs::hold;
use lockwright::events::Event;
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::{Arena, Config, RunReport, Simulation, thread};
use std::cell::RefCell;

/// How long the owner has the lock: much longer than the head of the queue spins before it sleeps.
const HELD_NS: u64 = 2_000_000;
/// When a newcomer comes: in the middle of that, when the head sleeps.
const COMES_NS: u64 = 1_000_000;

/// The owner, with number 0, and a waiter, number 1, that becomes the head of the queue and sleeps. Then either
/// number 2 comes, or the owner comes again, as number 2, as soon as it has unlocked. Returns the order in which they
/// get the lock.
fn behind_a_sleeping_head(name: &str, owner_comes_again: bool) -> (Vec<u32>, RunReport) {
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
            take(2, 100);
        }
    });
    simulation.spawn(1, move || {
        thread::work_ns(10_000);
        take(1, 100);
    });
    if !owner_comes_again {
        simulation.spawn(2, move || {
            thread::work_ns(COMES_NS);
            take(2, 100);
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, [], "{name}");
    (order.into_inner(), report)
}

#[test]
fn a_newcomer_that_finds_the_lock_free_steals_it_while_the_head_sleeps_unless_nobody_may() {
    for (name, order, stolen) in
        [("park", [0, 1, 2], 0), ("park-steal", [0, 2, 1], 1), ("hybrid", [0, 2, 1], 1)]
    {
        let (got, report) = behind_a_sleeping_head(name, true);
        assert_eq!(got, order, "{name}");
        assert_eq!(report.count_of(Event::pv_lock_stealing), stolen, "{name}");
        assert_eq!(report.count_of(Event::lock_slowpath), 2 - stolen, "{name}");
    }
}

#[test]
fn a_newcomer_that_finds_the_lock_held_queues_unless_the_policy_has_an_unfair_mode() {
    for (name, order, queued) in
        [("park", [0, 1, 2], 2), ("park-steal", [0, 1, 2], 2), ("hybrid", [0, 2, 1], 1)]
    {
        let (got, report) = behind_a_sleeping_head(name, false);
        assert_eq!(got, order, "{name}");
        assert_eq!(report.count_of(Event::lock_slowpath), queued, "{name}");
        assert_eq!(report.count_of(Event::pv_lock_stealing), 2 - queued, "{name}");
    }
}
