//! The reader-writer lock for programs on a simulated machine.

use crate::machines::{machine, quiet};
use crate::programs::hold;
use lockwright::events::Event;
use lockwright::mutex::RawMutex;
use lockwright::raw::RawLock;
use lockwright::rwlock::RawRwLock;
use lockwright_sim::{Arena, Config, Sim, Simulation, thread};
use std::cell::RefCell;

type Lock = RawRwLock<Sim>;

fn read(lock: &Lock, section: impl FnOnce()) {
    lock.lock_shared();
    section();
    // SAFETY: taken above.
    unsafe { lock.unlock_shared() };
}

#[test]
fn a_reader_that_reads_again_waits_once_for_a_reservation() {
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&quiet(machine(2, 4, 1)), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    // A long section, so the lock is reserved for the line.
    simulation.spawn(0, || hold(lock, || thread::work_ns(500_000)));
    // The first of the line. The reservation goes to the writer behind it.
    simulation.spawn(1, || {
        thread::work_ns(100_000);
        read(lock, || (0..100).for_each(|_| read(lock, || ())));
    });
    simulation.spawn(2, || {
        thread::work_ns(200_000);
        hold(lock, || ());
    });
    let report = simulation.run();
    assert_eq!(report.failures, []);
    assert_eq!(report.count_of(Event::rwlock_pass), 1);
}

#[test]
fn only_a_fair_unlock_keeps_the_owner_from_coming_back_before_the_waiter() {
    for (is_fair, expected) in [(false, ["owner", "waiter"]), (true, ["waiter", "owner"])] {
        let order = RefCell::new(Vec::new());
        let mut arena = Arena::default();
        let mut simulation =
            Simulation::new(&quiet(machine(2, 4, 1)), &mut arena, 1, Config::default());
        let lock = simulation.alloc(Lock::new());
        let comes_back = || {
            lock.lock();
            // Shorter than what makes a release reserve the lock.
            thread::work_ns(45_000);
            match is_fair {
                // SAFETY: taken above.
                true => unsafe { lock.unlock_fair() },
                // SAFETY: taken above.
                false => unsafe { lock.unlock() },
            }
            hold(lock, || order.borrow_mut().push("owner"));
        };
        simulation.spawn(0, comes_back);
        simulation.spawn(1, || {
            thread::work_ns(1_000);
            hold(lock, || order.borrow_mut().push("waiter"));
        });
        assert_eq!(simulation.run().failures, []);
        assert_eq!(*order.borrow(), expected);
    }
}

/// Returns true if a thread sleeps for a lock that is held for 2 us more.
fn sleeps_for<L: RawLock + 'static>(must_not_spin: bool, sleep: Event) -> bool {
    let mut arena = Arena::default();
    let machine = quiet(machine(2, 4, 1));
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let lock = simulation.alloc(L::new());
    simulation.spawn(0, || hold(lock, || thread::work_ns(3_000)));
    simulation.spawn(1, || {
        thread::set_must_not_spin(must_not_spin);
        thread::work_ns(1_000);
        hold(lock, || ());
    });
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report.count_of(sleep) > 0
}

#[test]
fn a_thread_that_must_not_spin_sleeps_at_once_and_others_spin() {
    for must_not_spin in [false, true] {
        let for_mutex = sleeps_for::<RawMutex<Sim>>(must_not_spin, Event::mutex_sleep);
        assert_eq!(for_mutex, must_not_spin);
        assert_eq!(sleeps_for::<Lock>(must_not_spin, Event::rwlock_sleep), must_not_spin);
    }
}
