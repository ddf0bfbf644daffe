//! How long the lock for programs may pass the head of its queue.

use super::{US, host};
use crate::programs::hold;
use lockwright_core::platform::{Cells, Clock, Sleeping, Zeroed};
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::{Fifo, HybridBounded, QSpinlock};
use lockwright_sim::{
    Arena, Config, NodesMode, ScheduledKind, Scheduling, Sim, Simulation, StartState, thread,
};
use std::cell::Cell;

const WINDOW_NS: u64 = 200_000_000;

type Lock = QSpinlock<Sim, Fifo, HybridBounded>;

/// What comes of it when a thread asks for the lock now and then.
struct Passed {
    longest_wait_ns: u64,
    waits: u64,
    /// Of the two others.
    sections: u64,
}

/// Two threads take the lock for `section_ns` again and again, and give it back for an instant in between;
/// a third one asks for it every 50 us. There are `cpus` CPUs.
fn pass(cpus: u32, section_ns: u64) -> Passed {
    let machine = host(1, cpus);
    let mut arena = Arena::default();
    let scheduling = Some(Scheduling { kind: ScheduledKind::Program, start: StartState::Running });
    let nodes = NodesMode::Pool(64);
    let config = Config { scheduling, nodes, ..Config::window(0, WINDOW_NS) };
    let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
    let lock = simulation.alloc(Lock::new());
    let [longest, waits, sections] = [(); 3].map(|()| Cell::new(0));
    for _ in 0..2 {
        simulation.spawn_scheduled(|| {
            while !thread::is_over() {
                hold(lock, || thread::work_ns(section_ns));
                sections.set(sections.get() + 1);
            }
        });
    }
    simulation.spawn_scheduled(|| {
        while !thread::is_over() {
            let asked_ns = Sim::now_ns();
            hold(lock, || longest.set(longest.get().max(Sim::now_ns() - asked_ns)));
            waits.set(waits.get() + 1);
            thread::work_ns(50_000);
        }
    });
    assert_eq!(simulation.run().failures, []);
    Passed { longest_wait_ns: longest.get(), waits: waits.get(), sections: sections.get() }
}

#[test]
fn the_head_of_the_queue_is_passed_for_half_a_millisecond_at_most() {
    for section_ns in [100, 3_000, 20_000, 100_000] {
        let Passed { longest_wait_ns, waits, sections } = pass(4, section_ns);
        // Behind one other: twice the time in unfair mode, two sections and two wake-ups.
        let bound_ns = 2 * (500_000 + 2 * section_ns + 2 * 50_000);
        assert!(longest_wait_ns < bound_ns, "sections of {section_ns} ns: {longest_wait_ns} ns");
        assert!(waits > 20 && sections > 500, "{section_ns}: {waits} waits, {sections} sections");
    }
}

/// With fewer CPUs than threads it takes time slices, 1 ms each, until the head of the queue runs; meanwhile
/// the lock is not kept for it.
#[test]
fn on_one_cpu_the_head_waits_for_slices_and_the_lock_for_nobody() {
    for section_ns in [100, 3_000, 20_000, 100_000] {
        let Passed { longest_wait_ns, sections, .. } = pass(1, section_ns);
        assert!(longest_wait_ns < 8_000_000, "sections of {section_ns} ns: {longest_wait_ns} ns");
        // The third thread computes for a third of the time.
        let held_ns = sections * section_ns;
        assert!(held_ns > WINDOW_NS * 2 / 5, "sections of {section_ns} ns: {sections}");
    }
}

/// The head has reserved the lock and sleeps. Just before the lock is released, its CPU is given to a thread
/// that computes, so the wake-up is followed by a wait for the rest of a slice.
#[test]
fn a_lock_reserved_for_a_head_without_a_cpu_is_free_for_others_after_50_us() {
    let machine = host(1, 2);
    let mut arena = Arena::default();
    let scheduling = Some(Scheduling { kind: ScheduledKind::Program, start: StartState::Running });
    let config = Config { scheduling, nodes: NodesMode::Pool(64), ..Config::default() };
    let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
    let lock = simulation.alloc(Lock::new());
    let bed = simulation.alloc(<Sim as Cells>::U32::zeroed());
    let [released, taken_again, taken_by_head] = [(); 3].map(|()| Cell::new(0));
    // SAFETY: each caller has the lock.
    let unlock = || unsafe { lock.unlock() };
    simulation.spawn_scheduled(|| {
        lock.lock();
        thread::hold_ps(800 * US);
        unlock();
        // The head, on its way, has waited for more than half a millisecond: it makes the reservation.
        lock.lock();
        thread::hold_ps(200 * US);
        Sim::futex_wake(bed, 1);
        thread::hold_ps(50 * US);
        released.set(Sim::now_ns());
        unlock();
        lock.lock();
        taken_again.set(Sim::now_ns());
        unlock();
        // An idle CPU would steal the head.
        thread::hold_ps(5_000 * US);
    });
    simulation.spawn_scheduled(|| {
        thread::hold_ps(20 * US);
        lock.lock();
        taken_by_head.set(Sim::now_ns());
        unlock();
    });
    simulation.spawn_scheduled(|| {
        Sim::futex_wait(bed, 0, None);
        thread::hold_ps(5_000 * US);
    });
    assert_eq!(simulation.run().failures, []);
    let waited_ns = taken_again.get() - released.get();
    assert!((50_000..100_000).contains(&waited_ns), "{waited_ns} ns");
    let head_waited_ns = taken_by_head.get().saturating_sub(released.get());
    assert!(head_waited_ns > 900_000, "the head had a CPU: {head_waited_ns} ns");
}
