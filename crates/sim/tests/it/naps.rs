//! Woken waiters of the mutex that nap, and what ends a nap.

use crate::machines::{machine, quiet};
use crate::programs::hold;
use lockwright::condvar::RawCondvar;
use lockwright::mutex::RawMutex;
use lockwright_core::events::Event;
use lockwright_core::platform::Clock;
use lockwright_core::raw::RawLock;
use lockwright_sim::{Arena, Config, Sim, Simulation, thread};
use std::cell::Cell;

type Lock = RawMutex<Sim>;

/// The length of a section, in nanoseconds.
const SECTION_NS: u64 = 2_500;

/// Takes the lock again and again until that time.
fn take_until(lock: &Lock, until_ns: u64, sections: &Cell<u64>) {
    while Sim::now_ns() < until_ns {
        hold(lock, || thread::work_ns(SECTION_NS));
        sections.set(sections.get() + 1);
    }
}

/// Four threads take the lock again and again, with that number of CPUs. Returns the numbers of wake-ups and sections.
fn wakes_and_sections(cpus: u32) -> (u64, u64) {
    let sections = Cell::new(0);
    let sections = &sections;
    let mut arena = Arena::default();
    let machine = quiet(machine(1, cpus, 1));
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let lock: &Lock = simulation.alloc(Lock::new());
    for cpu in 0..4 {
        simulation.spawn(cpu, move || take_until(lock, 20_000_000, sections));
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    let sections = sections.get();
    assert!(sections > 4_000, "{sections} sections");
    (report.count_of(Event::mutex_wake), sections)
}

/// A thread that is woken while the owner takes the lock again and again finds it held. So hardly any release wakes
/// one.
#[test]
fn few_releases_wake_a_thread_where_owners_take_the_lock_again_at_once() {
    let (wakes, sections) = wakes_and_sections(4);
    assert!(wakes < sections / 20, "{wakes} wake-ups for {sections} sections");
}

/// Where most of many CPUs are idle, a waiter does not nap.
#[test]
fn a_waiter_does_not_nap_where_32_cpus_are_idle() {
    let (wakes, sections) = wakes_and_sections(36);
    assert!(wakes > sections / 20, "{wakes} wake-ups for {sections} sections");
}

/// A waiter naps, because the owner takes the lock again and again. Then the owner does `leave` with the lock held, and
/// does not hold it afterwards. Returns how long the waiter waited from then on.
fn waits_after(leave: impl Fn(&Lock, &RawCondvar<Sim>)) -> u64 {
    let (left_ns, took_ns) = (Cell::new(0), Cell::new(0));
    let (left, took) = (&left_ns, &took_ns);
    let mut arena = Arena::default();
    let machine = quiet(machine(1, 2, 1));
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let (lock, condvar) = simulation.alloc((Lock::new(), RawCondvar::<Sim>::new()));
    simulation.spawn(0, || {
        hold(lock, || thread::work_ns(10_000));
        // The other thread sleeps by now. The next release wakes it, and it naps before the last one.
        take_until(lock, 150_000, &Cell::new(0));
        lock.lock();
        left.set(Sim::now_ns());
        leave(lock, condvar);
    });
    simulation.spawn(1, || {
        thread::work_ns(1_000);
        hold(lock, || took.set(Sim::now_ns()));
    });
    let report = simulation.run();
    assert_eq!(report.failures, []);
    assert!(left.get() > 0 && took.get() > left.get(), "the waiter came too soon to have napped");
    took.get() - left.get()
}

/// Less than what is left of a nap, and time for a wake-up.
const HANDED_NS: u64 = 50_000;

/// An owner that waits on a condition variable leaves the lock to the others. A waiter does not nap on then.
#[test]
fn a_waiter_does_not_nap_while_the_owner_waits_on_a_condition_variable() {
    let late_ns = waits_after(|lock, condvar| {
        let until_ns = Sim::now_ns() + 10_000_000;
        // SAFETY: the caller has taken it.
        unsafe { condvar.wait(lock, Some(until_ns)) };
        // SAFETY: a wait returns with the lock.
        unsafe { lock.unlock() };
    });
    assert!(late_ns < HANDED_NS, "it napped for {late_ns} ns, although the lock was free");
}

#[test]
fn a_waiter_does_not_nap_when_the_owner_gives_the_lock_away() {
    let late_ns = waits_after(|lock, _| {
        // SAFETY: the caller has taken it.
        unsafe { lock.unlock_fair() };
    });
    assert!(late_ns < HANDED_NS, "it napped for {late_ns} ns, although the lock was free");
}

/// A release wakes no napper. Without this the two tests above would show nothing.
#[test]
fn a_waiter_naps_on_after_any_other_release() {
    let late_ns = waits_after(|lock, _| {
        // SAFETY: the caller has taken it.
        unsafe { lock.unlock() };
    });
    assert!(late_ns > HANDED_NS, "a release has woken it after {late_ns} ns");
}
