//! Waiters on a condition variable: how they are woken, and when they look for a notification.

use crate::machines::{machine, quiet};
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright_core::events::Event;
use lockwright_core::raw::RawLock;
use lockwright_sim::{
    Arena, Config, NodesMode, RunReport, ScheduledKind, Scheduling, Sim, Simulation, StartState,
    thread,
};
use std::cell::Cell;

type Lock = RawMutex<Sim>;

/// Two threads send each other messages with the lock held, on that number of CPUs.
fn messages(cpus: u32) -> RunReport {
    let mut arena = Arena::default();
    let machine = quiet(machine(1, cpus, 1));
    let scheduling = Some(Scheduling { kind: ScheduledKind::Program, start: StartState::Running });
    let config = Config { scheduling, nodes: NodesMode::Pool(64), ..Config::default() };
    let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
    let (lock, condvar) = simulation.alloc((Lock::new(), RawCondvar::<Sim>::new()));
    let turn = &Cell::new(0);
    for me in 0..2 {
        simulation.spawn_scheduled(move || {
            for _ in 0..50 {
                lock.lock();
                while turn.get() != me {
                    // SAFETY: taken above.
                    unsafe { condvar.wait(lock, None) };
                }
                turn.set(1 - me);
                condvar.notify_one();
                thread::work_ns(2_500);
                // SAFETY: taken above, or by the wait.
                unsafe { lock.unlock() };
                // The other one does not look for a notification for so long.
                thread::work_ns(300_000 * (1 - me));
            }
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report
}

/// On a single CPU a notification wakes the waiter at once. With more CPUs it leaves that to the release.
#[test]
fn a_notification_leaves_a_waiter_to_the_release_unless_there_is_a_single_cpu() {
    assert_eq!(messages(1).count_of(Event::condvar_leave), 0);
    assert!(messages(2).count_of(Event::condvar_leave) > 0);
}

/// One thread puts messages into a queue of 64 places and one takes them out. Before that, each has waited for the
/// other for long, so that they no longer look for notifications. To wake a thread takes longer than a waiter usually
/// looks. Returns how often a thread slept.
fn sleeps_of_a_queue_that_was_slow() -> u64 {
    const MESSAGES: u64 = 200_000;
    const PLACES: u64 = 64;
    let mut arena = Arena::default();
    let mut machine = quiet(machine(1, 2, 1));
    machine.costs.wake_latency_ns = 25_000.0;
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let (lock, has_room, has_message) =
        simulation.alloc((Lock::new(), RawCondvar::<Sim>::new(), RawCondvar::<Sim>::new()));
    let (added, taken) = (Cell::new(0), Cell::new(0));
    let (added, taken) = (&added, &taken);
    let wait = |condvar: &RawCondvar<Sim>, is_over: &dyn Fn() -> bool| {
        lock.lock();
        while !is_over() {
            // SAFETY: taken above.
            unsafe { condvar.wait(lock, None) };
        }
    };
    // SAFETY: `wait` takes the lock.
    let unlock = || unsafe { lock.unlock() };
    let slow = |count: &Cell<u64>| if count.get() < 20 { 200_000 } else { 0 };
    simulation.spawn(0, move || {
        while added.get() < MESSAGES {
            thread::work_ns(slow(added));
            wait(has_room, &|| {
                added.get() - taken.get() < if slow(added) > 0 { 1 } else { PLACES }
            });
            added.set(added.get() + 1);
            unlock();
            has_message.notify_one();
        }
    });
    simulation.spawn(1, move || {
        while taken.get() < MESSAGES {
            wait(has_message, &|| added.get() > taken.get());
            thread::work_ns(slow(taken));
            taken.set(taken.get() + 1);
            unlock();
            has_room.notify_one();
        }
    });
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report.count_of(Event::mutex_sleep)
}

/// Two threads that sleep in turns find that it pays to look again.
#[test]
fn two_threads_that_waited_for_each_other_asleep_look_again_when_messages_come_soon() {
    let sleeps = sleeps_of_a_queue_that_was_slow();
    assert!(sleeps < 1_000, "{sleeps} sleeps for 200,000 messages");
}
