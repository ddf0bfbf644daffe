//! Closed forms of whole locks: what the literature says about their throughput.

use crate::machines::{machine, quiet};
use crate::programs::hold;
use lockwright_catalog::mcs::McsLock;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::raw::{Order, RawLock};
use lockwright_linux::ticket::TicketLock;
use lockwright_sim::machine::Machine;
use lockwright_sim::{Arena, Config, Sim, Simulation, thread};
use std::cell::Cell;
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

/// What each thread does with the lock held.
const SECTION_NS: u64 = 40;

/// Nanoseconds per acquisition with `threads` threads on one socket that do next to nothing but lock.
fn period_ns<L: RawLock>(threads: u32) -> f64 {
    period_with_arbitration_ns::<L>(threads, 0.0)
}

/// The same on a machine that takes the line, with this chance, from a core that comes back to it.
fn period_with_arbitration_ns<L: RawLock>(threads: u32, chance: f64) -> f64 {
    let mut machine = quiet(machine(1, 32, 1));
    machine.costs.arbitration = chance;
    // Computing in between is long enough for the thread not to be the next one again.
    1e9 / ops_per_s::<L>(&machine, Config::window(20_000, 500_000), threads, 100)
}

/// Acquisitions per second of threads that compute for `think_ns` in between.
fn ops_per_s<L: RawLock>(machine: &Machine, config: Config, threads: u32, think_ns: u64) -> f64 {
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(machine, &mut arena, 1, config);
    let lock = simulation.alloc(L::new());
    for cpu in 0..threads {
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                hold(lock, || {
                    // Long enough for the line to be with the others then.
                    thread::work_ns(SECTION_NS);
                });
                thread::op_done();
                thread::work_ns(think_ns);
            }
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report.ops_per_s()
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
fn a_ticket_lock_slows_down_by_half_of_a_shared_load_per_waiter() {
    // Every release and every arrival is read by every waiter, reads of a clean line pipeline at a
    // quarter of their time, and whatever is next queues behind them.
    let [few, some, many] = [8, 16, 32].map(period_ns::<TicketLock<Sim>>);
    println!("ticket: {few:.0}, {some:.0}, {many:.0} ns");
    assert!(few < some);
    let slope_ns = (many - some) / 16.0;
    assert!((9.0..11.0).contains(&slope_ns), "{slope_ns} ns per waiter");
}

/// Acquisitions per nanosecond of `threads` threads on one socket that compute for `think_ns` in between.
fn rate_of_ticket(threads: u32, think_ns: u64) -> f64 {
    let mut machine = quiet(machine(1, 48, 1));
    machine.costs.work_jitter = 0.9;
    let config = Config::window(200_000, 2_000_000);
    ops_per_s::<TicketLock<Sim>>(&machine, config, threads, think_ns) * 1e-9
}

/// The Markov chain of Boyd-Wickizer, Kaashoek, Morris and Zeldovich ("Non-scalable locks are
/// dangerous", 2012): with `k` of `n` threads at the lock the others come at rate (n - k) / think, and the
/// lock takes `service_ns(k)` for one of them.
fn markov_rate(threads: u32, think_ns: f64, service_ns: impl Fn(u32) -> f64) -> f64 {
    let service = |at_lock: u32| 1.0 / service_ns(at_lock);
    let mut weights = vec![1.0];
    for at_lock in 1..=threads {
        let arrivals = f64::from(threads - at_lock + 1) / think_ns;
        weights.push(weights[weights.len() - 1] * arrivals / service(at_lock));
    }
    let all: f64 = weights.iter().sum();
    (1..=threads).map(|at_lock| weights[at_lock as usize] / all * service(at_lock)).sum()
}

#[test]
fn a_ticket_lock_collapses_as_the_markov_chain_says() {
    const THINK_NS: f64 = 4_000.0;
    let rate = |threads| rate_of_ticket(threads, THINK_NS as u64);
    // How many threads are at the lock and what a handoff takes then, from two runs far beyond the collapse. By
    // Little's law all threads are at the lock that do not think. In between the time is linear in the waiters.
    let overloaded = |threads: u32| {
        let rate = rate(threads);
        (f64::from(threads) - rate * THINK_NS, 1.0 / rate)
    };
    let ((at_lock, few_ns), (more_at_lock, many_ns)) = (overloaded(40), overloaded(48));
    let per_waiter_ns = (many_ns - few_ns) / (more_at_lock - at_lock);
    // A thread that finds the lock free takes one transfer and the critical section.
    let alone_ns = 50.0 + 7.0 + SECTION_NS as f64;
    let service_ns = |threads: u32| match threads {
        1 => alone_ns,
        more => few_ns + (f64::from(more) - at_lock) * per_waiter_ns,
    };
    let mut peak: f64 = 0.0;
    for threads in [2, 4, 8, 16, 20, 24, 28, 32] {
        let simulated = rate(threads);
        let expected = markov_rate(threads, THINK_NS, service_ns);
        println!("ticket, {threads} threads: {simulated:.6} per ns, expected {expected:.6}");
        assert!(
            (0.85..1.15).contains(&(simulated / expected)),
            "{threads}: {simulated} {expected}"
        );
        peak = peak.max(simulated);
    }
    assert!(1.0 / many_ns < 0.75 * peak, "it does not collapse: {many_ns} ns");
}

/// Nanoseconds per acquisition of an MCS lock by 16 threads on `sockets` sockets that are equally far from each other,
/// where a remote transfer takes `remote_ns`; and the share of the handoffs that went to another socket.
fn mcs_period_ns(sockets: u32, remote_ns: f64) -> (f64, f64) {
    let mut arena = Arena::default();
    let mut machine = quiet(machine(sockets, 16, 1));
    machine.topology.distance =
        (0..sockets).map(|a| (0..sockets).map(|b| u32::from(a != b)).collect()).collect();
    machine.costs.transfer_remote_ns = vec![remote_ns; usize::from(sockets > 1)];
    machine.costs.work_jitter = 0.9;
    let config = Config::window(50_000, 2_000_000);
    let (last, changes) = (Cell::new(0), Cell::new(0));
    let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
    let lock = simulation.alloc(McsLock::<Sim>::new());
    for index in 0..16 {
        let (last, changes, socket) = (&last, &changes, index % sockets);
        simulation.spawn(socket * 16 + index / sockets, move || {
            while !thread::is_over() {
                hold(lock, || {
                    changes.set(changes.get() + u64::from(last.replace(socket) != socket));
                    thread::work_ns(SECTION_NS);
                });
                thread::op_done();
                thread::work_ns(1_000);
            }
        });
    }
    let report = simulation.run();
    (1e9 / report.ops_per_s(), changes.get() as f64 / report.ops_total() as f64)
}

#[test]
fn an_mcs_lock_has_a_plateau_of_local_and_remote_transfers() {
    const LOCAL_NS: f64 = 50.0;
    let (local_period_ns, _) = mcs_period_ns(1, 0.0);
    for sockets in [2, 4] {
        // f + t ((1 - p) local + p remote), of which a share p of the t transfers is remote: what one
        // more nanosecond of a remote transfer costs is t p.
        let [(near, share), (far, _)] = [130.0, 190.0].map(|ns| mcs_period_ns(sockets, ns));
        let transfers = (far - near) / 60.0 / share;
        let expected = local_period_ns + transfers * share * (130.0 - LOCAL_NS);
        println!(
            "mcs, {sockets} sockets: {share:.2} remote, {transfers:.2} transfers, {near:.0} ns, \
             expected {expected:.0}"
        );
        assert!((0.4..1.0).contains(&share), "{share} of the handoffs are remote");
        assert!((2.0..4.0).contains(&transfers), "{transfers} transfers in a handoff");
        assert!((0.9..1.1).contains(&(near / expected)), "{near} ns, not {expected}");
    }
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
