//! The queued reader-writer spinlock on simulated machines: which threads overtake which.

use crate::machines::machine;
use crate::programs::hold;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::raw::RawLock;
use lockwright_linux::qrwlock::RawQRwLock;
use lockwright_sim::{Arena, Checks, Config, RunReport, Sim, Simulation, thread};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::Relaxed;

type Lock = RawQRwLock<Sim>;

/// Runs `bodies`, each on a CPU of its own, with one lock.
fn run(bodies: &[&dyn Fn(&Lock)]) -> RunReport {
    let mut arena = Arena::default();
    let checks = Checks { word_is_legal: Some(Lock::word_is_legal), ..Checks::default() };
    let config = Config { checks, ..Config::default() };
    let mut simulation = Simulation::new(&machine(2, 4, 1), &mut arena, 1, config);
    let lock = simulation.alloc(Lock::new());
    for (cpu, body) in bodies.iter().enumerate() {
        simulation.spawn(cpu as u32, move || body(lock));
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    assert!(!lock.is_locked(), "left locked");
    report
}

fn read_for(lock: &Lock, ns: u64) {
    lock.lock_shared();
    thread::work_ns(ns);
    // SAFETY: taken above.
    unsafe { lock.unlock_shared() };
}

fn write_for(lock: &Lock, ns: u64) {
    hold(lock, || thread::work_ns(ns));
}

#[test]
fn a_waiting_writer_is_passed_by_urgent_readers_and_by_no_others() {
    let order = RefCell::new(Vec::new());
    let at = |ns, what, lock: &Lock, is_urgent: bool| {
        thread::work_ns(ns);
        thread::set_urgent(is_urgent);
        lock.lock_shared();
        order.borrow_mut().push(what);
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
    };
    run(&[
        &|lock| read_for(lock, 20_000),
        &|lock| {
            thread::work_ns(5_000);
            hold(lock, || order.borrow_mut().push("writer"));
        },
        &|lock| at(10_000, "reader", lock, false),
        &|lock| at(11_000, "urgent reader", lock, true),
    ]);
    assert_eq!(*order.borrow(), ["urgent reader", "writer", "reader"]);
}

#[test]
fn readers_that_keep_coming_do_not_starve_a_writer() {
    let waited_ns = Cell::new(0);
    let reads = Cell::new(0);
    let reader = |lock: &Lock| {
        for _ in 0..200 {
            read_for(lock, 1_000);
            reads.set(reads.get() + 1);
        }
    };
    let writer = |lock: &Lock| {
        thread::work_ns(10_000);
        let asked_ps = thread::now_ps();
        write_for(lock, 100);
        waited_ns.set((thread::now_ps() - asked_ps) / 1000);
        assert!(reads.get() < 600, "it came last");
    };
    run(&[&reader, &reader, &reader, &writer]);
    // What the readers that were there take, and some transfers of the lines.
    assert!(waited_ns.get() < 5_000, "{} ns", waited_ns.get());
}

#[test]
fn readers_hold_it_at_the_same_time() {
    let rounds = 100;
    let alone = run(&[&|lock| (0..rounds).for_each(|_| read_for(lock, 2_000))]);
    let reader = |lock: &Lock| (0..rounds).for_each(|_| read_for(lock, 2_000));
    let together = run(&[&reader, &reader, &reader, &reader]);
    assert!(together.end_ps < 2 * alone.end_ps, "four readers take turns");
}

#[test]
fn writers_that_become_readers_let_readers_in_and_no_writer() {
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(&machine(2, 4, 1), &mut arena, 1, Config::default());
    let lock = simulation.alloc(Lock::new());
    let value = simulation.alloc(<Sim as Cells>::U32::zeroed());
    for cpu in 0..6 {
        simulation.spawn(cpu, move || {
            for _ in 0..50 {
                lock.lock();
                let written = value.load(Relaxed) + 1;
                value.store(written, Relaxed);
                // SAFETY: taken above.
                unsafe { lock.downgrade() };
                thread::work_ns(300);
                assert_eq!(value.load(Relaxed), written, "a writer came in between");
                // SAFETY: downgraded above.
                unsafe { lock.unlock_shared() };
            }
        });
    }
    assert_eq!(simulation.run().failures, []);
    assert_eq!(value.load(Relaxed), 300);
}
