//! Closed forms of whole locks: what the literature says about their throughput.

use crate::machines::{machine, quiet};
use lockwright::mcs::McsLock;
use lockwright::platform::{Atomic, Cells, Zeroed};
use lockwright::raw::{Order, RawLock};
use lockwright::ticket::TicketLock;
use lockwright_sim::{Arena, Config, Sim, Simulation, thread};
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

/// Spins on the locked operation itself.
struct TestAndSet(<Sim as Cells>::U32);

impl RawLock for TestAndSet {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(Zeroed::zeroed())
    }
    fn lock(&self) {
        while !self.try_lock() {}
    }
    fn try_lock(&self) -> bool {
        self.0.swap(1, AcqRel) == 0
    }
    unsafe fn unlock(&self) {
        self.0.store(0, Release);
    }
    fn is_locked(&self) -> bool {
        self.0.load(Relaxed) != 0
    }
}

/// Nanoseconds per acquisition with `threads` threads on one socket that do nothing but lock.
fn period_ns<L: RawLock>(threads: u32) -> f64 {
    period_with_arbitration_ns::<L>(threads, 0.0)
}

/// The same on a machine that takes the line from who comes back to it with this chance.
fn period_with_arbitration_ns<L: RawLock>(threads: u32, chance: f64) -> f64 {
    let mut arena = Arena::default();
    let config = Config::window(20_000, 500_000);
    let mut machine = quiet(machine(1, 32, 1));
    machine.costs.arbitration = chance;
    let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
    let lock = simulation.alloc(L::new());
    for cpu in 0..threads {
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                lock.lock();
                // SAFETY: taken above.
                unsafe { lock.unlock() };
                thread::op_done();
                // Long enough for the thread not to be the next one again.
                thread::work_ns(100);
            }
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    1e9 / report.ops_per_s()
}

#[test]
fn a_test_and_set_lock_serves_one_over_n_transfers() {
    // The releasing store queues behind the attempts of all others.
    let transfer_ns = 50.0 + 7.0;
    for (threads, chance) in [(8, 0.0), (16, 0.0), (32, 0.0), (8, 0.5), (16, 0.5), (32, 0.5)] {
        let period = period_with_arbitration_ns::<TestAndSet>(threads, chance);
        let expected = f64::from(threads) * transfer_ns;
        println!("test-and-set, {threads} threads: {period:.0} ns, expected {expected:.0}");
        assert!((0.8..1.2).contains(&(period / expected)), "{threads}, {chance}: {period} ns");
    }
}

#[test]
fn a_ticket_lock_slows_down_by_a_quarter_of_a_shared_load_per_waiter() {
    // Every release is read by every waiter, reads of a clean line pipeline, and the next release
    // queues behind them.
    let [few, some, many] = [8, 16, 32].map(period_ns::<TicketLock<Sim>>);
    println!("ticket: {few:.0}, {some:.0}, {many:.0} ns");
    assert!(few < some);
    let slope_ns = (many - some) / 16.0;
    assert!((4.5..5.5).contains(&slope_ns), "{slope_ns} ns per waiter");
}

#[test]
fn an_mcs_lock_keeps_its_pace() {
    // Three transfers a handoff (the link, the grant, the node that the next waiter links to),
    // whatever the number of waiters.
    let [few, some, many] = [8, 16, 32].map(period_ns::<McsLock<Sim>>);
    println!("mcs: {few:.0}, {some:.0}, {many:.0} ns");
    assert!((few / many - 1.0).abs() < 0.02);
    assert!((few / some - 1.0).abs() < 0.02);
}
