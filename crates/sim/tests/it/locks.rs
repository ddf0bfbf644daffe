//! The reference locks of the registry on simulated machines.

use crate::machines::machine;
use crate::programs::section;
use lockwright_catalog::registry::LOCKS;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::{Arena, Config, NodesMode, RunReport, Sim, Simulation, thread};
use std::sync::atomic::Ordering::Relaxed;

/// Each thread increments a plain counter under the lock, this often.
const ROUNDS: u32 = 30;

fn torture(name: &str, threads: u32, seed: u64, nodes: NodesMode) -> (RunReport, u32) {
    let any = AnyLock::named(name);
    let mut arena = Arena::default();
    let config = Config { checks: any.checks(), nodes, ..Config::default() };
    let mut simulation = Simulation::new(&machine(4, 8, 2), &mut arena, seed, config);
    let lock = (any.alloc)(&mut simulation);
    let counter = simulation.alloc(<Sim as Cells>::U32::zeroed());
    for cpu in 0..threads {
        simulation.spawn(cpu, move || {
            for _ in 0..ROUNDS {
                section(lock, || {
                    let value = counter.load(Relaxed);
                    thread::work_ns(20);
                    counter.store(value + 1, Relaxed);
                });
                thread::work_ns(thread::random() % 200);
            }
        });
    }
    let report = simulation.run();
    // That one would look at slots, which only threads of the machine have.
    assert!(name == "percpu-rwlock-in_slots" || !lock.is_locked(), "left locked");
    (report, counter.load(Relaxed))
}

/// The locks that need nothing but this crate's platform to be right.
const SMALL: [&str; 5] = ["unfair", "unfair-backoff", "ticket", "mcs", "clh"];

#[test]
fn small_locks_exclude_and_keep_their_order_with_8_to_64_threads() {
    for name in SMALL {
        for (threads, seed) in [(8, 1), (8, 2), (16, 3), (33, 4), (64, 5)] {
            let (report, counted) = torture(name, threads, seed, NodesMode::PerCpu);
            assert_eq!(report.failures, [], "{name} with {threads} threads");
            assert_eq!(counted, threads * ROUNDS, "{name} with {threads} threads");
        }
    }
}

#[test]
fn queue_locks_work_when_nodes_run_out() {
    for name in ["mcs", "clh"] {
        let (report, counted) = torture(name, 8, 1, NodesMode::Pool(3));
        assert_eq!(report.failures, [], "{name}");
        assert_eq!(counted, 8 * ROUNDS);
    }
}

#[test]
fn every_lock_of_the_registry_that_is_not_busted_excludes() {
    for row in LOCKS.iter().filter(|row| row.is_correct()) {
        for (threads, seed) in [(3, 1), (12, 2), (64, 3)] {
            let (report, counted) = torture(row.name, threads, seed, NodesMode::PerCpu);
            assert_eq!(report.failures, [], "{} with {threads} threads", row.name);
            assert_eq!(counted, threads * ROUNDS, "{} with {threads} threads", row.name);
        }
    }
}

#[test]
fn the_busted_lock_loses_increments() {
    let (report, counted) = torture("busted", 8, 1, NodesMode::PerCpu);
    assert!(counted < 8 * ROUNDS);
    assert!(report.failures_total > 0);
}
