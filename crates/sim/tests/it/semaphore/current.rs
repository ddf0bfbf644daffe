//! Readers that queue, and a handoff that a reader inherits.

use crate::machines::machine;
use lockwright_core::platform::{Atomic, Cells, Clock, Zeroed};
use lockwright_core::raw::RawLock;
use lockwright_core::tunables::Tunable;
use lockwright_linux::rwsem::{
    BATCH, Current, Policy, RwSem, RwSemPolicy, Until, V5_11, V5_16, V5_19, WriterSpin,
};
use lockwright_sim::explore::{Explorer, Findings, Limits, Plan, PolicyKind};
use lockwright_sim::{Arena, Config, Sim, Simulation, thread};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

/// Lets the thread work until this time.
fn work_until(ns: u64) {
    thread::work_ns(ns.saturating_sub(Sim::now_ns()));
}

/// More readers than one wake-up grants.
const READERS: u32 = BATCH as u32 + 2;

/// More readers than are granted together wait for a writer, which ends after 1 ms. Those that are granted read until
/// 3 ms have passed. One more reader comes after 2 ms. Returns how many readers it finds when it has the lock.
fn readers_that_the_last_one_joins<C: RwSemPolicy>() -> u32 {
    let described = machine(2, READERS / 4 + 1, 2);
    let (reading, found) = (&Cell::new(0_u32), &Cell::new(0));
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(&described, &mut arena, 1, Config::default());
    let lock = simulation.alloc(<RwSem<Sim, C> as RawLock>::new());
    simulation.spawn(0, || {
        lock.lock();
        work_until(1_000_000);
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    });
    for reader in 1..=READERS + 1 {
        simulation.spawn(reader, move || {
            let is_last = reader > READERS;
            work_until(if is_last { 2_000_000 } else { 10_000 });
            lock.lock_shared();
            if is_last {
                found.set(reading.get());
            } else {
                reading.set(reading.get() + 1);
                work_until(3_000_000);
                reading.set(reading.get() - 1);
            }
            // SAFETY: taken above.
            unsafe { lock.unlock_shared() };
        });
    }
    assert_eq!(simulation.run().failures, []);
    found.get()
}

/// The semaphore of 6.3 but for what a reader does that queues.
enum QueuesInSilence {}
impl RwSemPolicy for QueuesInSilence {
    const POLICY: Policy = Policy { reader_wakes_readers: false, ..Current::POLICY };
}

#[test]
fn a_reader_that_queues_takes_readers_along_that_one_wake_up_has_left_behind() {
    assert!(readers_that_the_last_one_joins::<Current>() >= BATCH as u32);
    assert_eq!(readers_that_the_last_one_joins::<QueuesInSilence>(), 0);
    assert_eq!(readers_that_the_last_one_joins::<V5_11>(), 0);
    assert_eq!(readers_that_the_last_one_joins::<V5_16>(), 0);
    assert!(readers_that_the_last_one_joins::<V5_19>() >= BATCH as u32);
}

/// The semaphore of 6.3 with writers that queue at once.
enum QueuesAtOnce {}
impl RwSemPolicy for QueuesAtOnce {
    const POLICY: Policy = Policy { writer_spin: WriterSpin::No, ..Current::POLICY };
}

/// Thread 1, a writer, has the lock reserved and gives up. If thread 2, a reader, is then the only waiter and the lock
/// is still reserved, thread 3, a writer, comes, and the owner gives the lock back. It must not pass the reader.
fn inherits(simulation: &mut Simulation<'_>) {
    let lock = simulation.alloc(<RwSem<Sim, QueuesAtOnce> as RawLock>::new());
    let phase = simulation.alloc(<Sim as Cells>::U32::zeroed());
    let (is_reserved, is_served) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)));
    let await_phase = |number| _ = phase.cond_load(Relaxed, |now| now >= number);
    let reserved = Rc::clone(&is_reserved);
    simulation.spawn(0, move || {
        lock.lock();
        phase.store(1, Relaxed);
        await_phase(2);
        lock.await_waiters();
        reserved.set(lock.has_handoff_soon(1));
        phase.store(3, Relaxed);
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    });
    simulation.spawn(1, move || {
        await_phase(1);
        thread::set_urgent(true);
        let until = Until::deadline(Sim::now_ns() + 100);
        assert!(!lock.lock_within(until), "the owner has it until later");
        phase.store(2, Relaxed);
    });
    let served = Rc::clone(&is_served);
    simulation.spawn(2, move || {
        await_phase(1);
        lock.lock_shared();
        served.set(true);
        // SAFETY: taken above.
        unsafe { lock.unlock_shared() };
    });
    simulation.spawn(3, move || {
        await_phase(3);
        lock.lock();
        assert!(is_served.get() || !is_reserved.get(), "the reader was passed");
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    });
}

/// Explores that, with a reader that has waited long enough after this time.
fn explored(patience_ns: u64) -> Findings {
    let machine = machine(1, 4, 1);
    let tunables = vec![(Tunable::rwsem_handoff_ns, patience_ns)];
    let config = Config { tunables, ..Config::default() };
    let policies = vec![PolicyKind::Random, PolicyKind::Pct(3), PolicyKind::Pos];
    let plan = Plan { policies, schedules: 20_000, limits: Limits::default() };
    Explorer::new(&machine, 1, config, &inherits).explore(&plan, |_| true)
}

#[test]
fn a_reservation_that_a_late_reader_inherits_is_its_own() {
    let findings = explored(0);
    assert!(findings.failure.is_none(), "{findings:?}");
    // Before it has waited long enough, any thread that waits may take the lock.
    let findings = explored(u64::MAX);
    let found = findings.failure.expect("a writer that passes").failure;
    assert!(found.to_string().contains("the reader was passed"), "{found}");
}
