//! The checkers catch what they are for.

use crate::machines::{costs, machine};
use crate::programs::{U32, has, section, sharing, with_word};
use lockwright_catalog::busted::{BustedLock, BustedRwLock};
use lockwright_core::platform::{Atomic, Cells, LockWordOps, QueueNodes, Zeroed};
use lockwright_core::queue::NodeId;
use lockwright_core::raw::RawLock;
use lockwright_linux::ticket::TicketLock;
use lockwright_linux::unfair::UnfairLock;
use lockwright_sim::{
    Arena, Checks, Config, FailureKind, NodesMode, RunReport, Sim, Simulation, thread, watch,
};
use std::sync::atomic::Ordering::{Relaxed, Release};

type Word = <Sim as Cells>::Word;

fn torture<L: RawLock>(threads: u32, checks: Checks) -> RunReport {
    let mut arena = Arena::default();
    let config = Config { checks, ..Config::window(0, 50_000) };
    let mut simulation = Simulation::new(&machine(2, 16, 2), &mut arena, 1, config);
    let lock = simulation.alloc(L::new());
    for cpu in 0..threads {
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                section(lock, || thread::work_ns(50));
                thread::op_done();
            }
        });
    }
    simulation.run()
}

/// One thread on a small machine.
fn alone(config: Config, body: impl Fn(&Word)) -> RunReport {
    sharing(Word::zeroed(), machine(1, 1, 1)).with(config).run(&[(0, &body)])
}

#[test]
fn the_exclusion_watcher_catches_the_busted_lock() {
    let report = torture::<BustedLock<Sim>>(4, Checks::default());
    assert!(has(&report, |kind| matches!(kind, FailureKind::Exclusion { .. })));
    assert!(report.failures_total > 100);
    // It is also the only thing wrong: the run goes on.
    assert!(report.ops_total() > 100);
    assert_eq!(torture::<UnfairLock<Sim>>(4, Checks::default()).failures, []);
}

#[test]
fn the_exclusion_watcher_catches_readers_that_take_nothing_and_only_them() {
    let with_readers = |readers: u32| {
        let mut arena = Arena::default();
        let config = Config::window(0, 50_000);
        let mut simulation = Simulation::new(&machine(2, 16, 2), &mut arena, 1, config);
        let lock = simulation.alloc(BustedRwLock::<Sim>::new());
        for cpu in 0..4 {
            simulation.spawn(cpu, move || {
                while !thread::is_over() {
                    if cpu < readers {
                        watch::requested(lock);
                        lock.lock_shared();
                        watch::entered_shared(lock);
                        thread::work_ns(50);
                        watch::left_shared(lock);
                        // SAFETY: taken above.
                        unsafe { lock.unlock_shared() };
                    } else {
                        section(lock, || thread::work_ns(50));
                    }
                    thread::op_done();
                }
            });
        }
        simulation.run()
    };
    for readers in 1..4 {
        let report = with_readers(readers);
        let is_beside =
            |kind: &FailureKind| matches!(kind, FailureKind::Exclusion { readers: 1.., .. });
        assert!(has(&report, is_beside), "{readers}: {:?}", report.failures);
    }
    // Among themselves neither writers nor readers are wrong.
    assert_eq!(with_readers(0).failures, []);
    assert_eq!(with_readers(4).failures, []);
}

#[test]
fn the_order_watcher_catches_a_lock_without_order() {
    let checks = Checks { fifo: true, ..Checks::default() };
    assert_eq!(torture::<TicketLock<Sim>>(32, checks).failures, []);
    // A test-and-set lock never queues, so there is no order to break; one that hands its tickets
    // out of order has one.
    let report = torture::<LastComeFirstServed>(8, checks);
    assert!(has(&report, |kind| matches!(kind, FailureKind::OutOfOrder { .. })));
    assert!(!has(&report, |kind| matches!(kind, FailureKind::Exclusion { .. })));
}

/// Excludes. A thread that waits announces itself in the word first and is then served in any order.
struct LastComeFirstServed {
    held: UnfairLock<Sim>,
    arrivals: U32,
}

impl RawLock for LastComeFirstServed {
    const ORDER: lockwright_core::raw::Order = lockwright_core::raw::Order::None;

    fn new() -> Self {
        Self { held: UnfairLock::new(), arrivals: U32::zeroed() }
    }
    fn lock(&self) {
        use lockwright_core::platform::AtomicInt;
        let ticket = self.arrivals.fetch_add(1, Relaxed);
        // Waits, so that its place in the order is settled; even ones let others pass.
        self.arrivals.cond_load(Relaxed, |arrivals| arrivals > ticket);
        if ticket.is_multiple_of(2) {
            thread::work_ns(1000);
        }
        self.held.lock();
    }
    fn try_lock(&self) -> bool {
        self.held.try_lock()
    }
    unsafe fn unlock(&self) {
        // SAFETY: by the contract of this function.
        unsafe { self.held.unlock() };
    }
    fn is_locked(&self) -> bool {
        self.held.is_locked()
    }
}

#[test]
fn the_fairness_watcher_catches_starvation() {
    let bounded = |max| Checks { overtaking_max: Some(max), ..Checks::default() };
    let report = torture::<UnfairLock<Sim>>(16, bounded(16));
    assert!(has(&report, |kind| matches!(kind, FailureKind::Overtaken { max: 16, .. })));
    // Between its request and its ticket a thread may be passed by each other thread, not more.
    assert_eq!(torture::<TicketLock<Sim>>(16, bounded(16)).failures, []);
}

#[test]
fn the_legality_watcher_catches_an_illegal_word() {
    let checks =
        Checks { word_is_legal: Some(UnfairLock::<Sim>::word_is_legal), ..Checks::default() };
    assert_eq!(torture::<UnfairLock<Sim>>(8, checks).failures, []);
    let config = Config { checks, ..Config::default() };
    // By a store that commits after the thread has returned, and by a read-modify-write.
    let report = alone(config.clone(), |word| word.store_byte1(1, Release));
    assert!(has(&report, |kind| matches!(kind, FailureKind::IllegalWord { word: 0x100, .. })));
    let report = alone(config, |word| assert_eq!(word.swap_half1(7, Release), 0));
    assert!(has(&report, |kind| matches!(kind, FailureKind::IllegalWord { word: 0x70000, .. })));
}

#[test]
fn every_kind_of_access_to_what_was_freed_is_a_failure_and_those_before_are_not() {
    let accesses: [fn(&Word); 3] = [
        |word| assert_eq!(word.load(Relaxed), 0),
        |word| assert_eq!(word.swap(0, Relaxed), 0),
        |word| assert_eq!(word.cond_load(Relaxed, |value| value == 0), 0),
    ];
    for access in accesses {
        let report = alone(Config::default(), |word| {
            access(word);
            // On its way when the same thread frees the word.
            word.store_byte0(0, Release);
            watch::freed(word);
        });
        assert_eq!(report.failures, []);
        let report = alone(Config::default(), |word| {
            watch::freed(word);
            access(word);
        });
        assert!(has(&report, |kind| matches!(kind, FailureKind::Freed { .. })), "{report:?}");
    }
}

#[test]
fn a_store_to_what_somebody_else_freed_is_a_failure() {
    let report = sharing(Word::zeroed(), machine(1, 2, 1)).run(&[
        (0, &|word| watch::freed(word)),
        (1, &|word| {
            thread::work_ns(1000);
            word.store_byte0(0, Release);
        }),
    ]);
    assert!(has(&report, |kind| matches!(kind, FailureKind::Freed { .. })), "{report:?}");
}

#[test]
fn giving_back_what_one_does_not_hold_is_a_failure() {
    let report = alone(Config::default(), watch::left);
    assert!(has(&report, |kind| *kind == FailureKind::NotHeld { holder: None }));
}

#[test]
fn a_panic_ends_the_run_and_becomes_a_failure() {
    // Waits and writes in a destructor, while the panic unwinds.
    struct Guard<'a>(&'a U32);
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.0.store(1, Release);
            self.0.swap(2, Release);
        }
    }
    let report = with_word(machine(1, 4, 1)).run(&[
        (0, &|word| _ = word.cond_load(Relaxed, |value| value == 1)),
        (1, &|word| {
            let _guard = Guard(word);
            thread::hold_ps(5_000_000);
            panic!("on {}", "purpose");
        }),
    ]);
    let [failure] = report.failures.as_slice() else { panic!("{:?}", report.failures) };
    assert_eq!(failure.thread, Some(1));
    assert_eq!(failure.kind, FailureKind::Panicked { message: "on purpose".to_owned() });
    // The host thread is as good as new.
    assert!(!std::thread::panicking());
    assert_eq!(torture::<TicketLock<Sim>>(4, Checks::default()).failures, []);
}

#[test]
fn a_destructor_that_waits_for_others_while_a_panic_unwinds_ends_the_run() {
    struct WaitsForever<'a>(&'a U32);
    impl Drop for WaitsForever<'_> {
        fn drop(&mut self) {
            self.0.cond_load(Relaxed, |value| value == 1);
        }
    }
    // On a host thread of its own, whose panic never ends.
    let run = || {
        let panics = |word: &U32| {
            let _guard = WaitsForever(word);
            panic!("on purpose");
        };
        with_word(machine(1, 1, 1)).run(&[(0, &panics)]).failures
    };
    let failures = std::thread::spawn(run).join().expect("a report");
    assert!(failures[0].to_string().contains("a destructor had to wait"), "{failures:?}");
}

#[test]
fn a_predicate_that_panics_fails_its_own_thread() {
    let report = with_word(machine(1, 4, 1)).run(&[
        (0, &|word| {
            word.cond_load(Relaxed, |value| {
                assert_eq!(value, 0, "saw a write");
                false
            });
        }),
        (1, &|word| {
            thread::hold_ps(1_000_000);
            word.store(1, Release);
            thread::hold_ps(1_000_000);
        }),
    ]);
    assert_eq!(report.failures.len(), 1);
    assert_eq!(report.failures[0].thread, Some(0));
    assert!(report.failures[0].to_string().contains("saw a write"));
}

#[test]
fn a_cell_outside_of_the_arena_is_refused() {
    let report = alone(Config::default(), |_| {
        let elsewhere = U32::zeroed();
        elsewhere.store(1, Relaxed);
    });
    let text = report.failures[0].to_string();
    assert!(text.contains("thread 0 touched a cell outside of the arena"), "{text}");
}

#[test]
fn cells_are_plain_memory_before_and_after_a_run() {
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(&machine(1, 1, 1), &mut arena, 1, Config::default());
    let word = simulation.alloc(U32::zeroed());
    word.store(3, Relaxed);
    simulation.spawn(0, move || word.store(word.load(Relaxed) + 1, Relaxed));
    assert_eq!(simulation.run().failures, []);
    assert_eq!(word.load(Relaxed), 4);
}

#[test]
fn queue_nodes_are_per_cpu_and_nesting_level_or_a_pool() {
    let claim_all = |nodes, expected: &'static [u16]| {
        let report = alone(Config { nodes, ..Config::default() }, |_| {
            let claimed: Vec<NodeId> = std::iter::from_fn(Sim::claim_node).collect();
            let numbers: Vec<u16> = claimed.iter().map(|id| id.number()).collect();
            assert_eq!(numbers, expected);
            for (level, &id) in claimed.iter().enumerate() {
                let deepest = if nodes == NodesMode::PerCpu { level as u32 } else { 0 };
                assert_eq!(Sim::nesting_of(id), deepest);
                // SAFETY: claimed above and not used by any thread.
                unsafe { Sim::release_node(id) };
            }
            assert!(Sim::claim_node().is_some());
        });
        assert_eq!(report.failures, []);
    };
    claim_all(NodesMode::PerCpu, &[0, 1, 2, 3]);
    claim_all(NodesMode::Pool(3), &[0, 1, 2]);
}

#[test]
#[should_panic(expected = "has a thread already")]
fn two_threads_on_one_cpu_are_refused() {
    sharing((), machine(1, 2, 1)).run(&[(1, &|()| ()), (1, &|()| ())]);
}

#[test]
#[should_panic(expected = "has no transfer cost")]
fn a_machine_with_a_distance_without_cost_is_refused() {
    let mut incomplete = machine(3, 1, 1);
    incomplete.costs = costs();
    incomplete.costs.transfer_remote_ns.truncate(1);
    Simulation::new(&incomplete, &mut Arena::default(), 1, Config::default());
}
