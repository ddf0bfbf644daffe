//! Which core gets a line that its last owner wants back.

use crate::machines::machine;
use crate::programs::hold;
use lockwright_core::raw::RawLock;
use lockwright_linux::unfair::UnfairLock;
use lockwright_sim::machine::Machine;
use lockwright_sim::{Arena, Config, RunReport, Sim, Simulation, thread};
use std::cell::Cell;

/// Two sockets of eight cores.
fn arbitrating(chance: f64, remote_factor: f64) -> Machine {
    let mut machine = machine(2, 8, 1);
    machine.costs.arbitration = chance;
    machine.costs.arbitration_remote_factor = remote_factor;
    machine
}

/// All CPUs of `machine` do nothing but take an unfair lock, at home in socket 0, for `window_us`. Also
/// returns how often it changed hands.
fn storm(machine: &Machine, window_us: u64) -> (RunReport, u64) {
    let mut arena = Arena::default();
    let config = Config::window(0, window_us * 1_000);
    let (last, changes) = (Cell::new(0), Cell::new(0));
    let mut simulation = Simulation::new(machine, &mut arena, 1, config);
    let lock = simulation.alloc(UnfairLock::<Sim>::new());
    for cpu in 0..machine.topology.cpus() {
        let (last, changes) = (&last, &changes);
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                hold(lock, || {
                    changes.set(changes.get() + u64::from(last.replace(cpu) != cpu));
                    // Until the line is with the others.
                    thread::work_ns(40);
                });
                thread::op_done();
            }
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    (report, changes.get())
}

fn share(ops: &[u64]) -> f64 {
    ops.iter().sum::<u64>() as f64
}

#[test]
fn without_arbitration_the_rest_of_its_numbers_changes_no_history() {
    let history = |remote_factor| storm(&arbitrating(0.0, remote_factor), 200).0.digest;
    assert_eq!(history(1.0), history(0.25));
    let (arbitrated, _) = storm(&arbitrating(0.1, 1.0), 200);
    assert_ne!(arbitrated.digest, history(1.0));
    assert_eq!(arbitrated.digest, storm(&arbitrating(0.1, 1.0), 200).0.digest);
}

#[test]
fn without_arbitration_an_unfair_lock_has_one_winner_and_with_it_none() {
    let (retained, _) = storm(&arbitrating(0.0, 1.0), 2_000);
    let most = retained.ops.iter().max().copied().unwrap_or(0);
    assert!(most as f64 > 0.95 * share(&retained.ops), "{:?}", retained.ops);
    let (arbitrated, _) = storm(&arbitrating(0.1, 1.0), 20_000);
    let average = share(&arbitrated.ops) / arbitrated.ops.len() as f64;
    let is_near = |&ops: &u64| (0.5..1.5).contains(&(ops as f64 / average));
    assert!(arbitrated.ops.iter().all(is_near), "{:?}", arbitrated.ops);
}

#[test]
fn an_owner_loses_as_often_as_the_machine_says() {
    for chance in [0.02, 0.1, 0.5] {
        let (report, changes) = storm(&arbitrating(chance, 1.0), 10_000);
        let lost = changes as f64 / share(&report.ops);
        assert!((0.85..1.15).contains(&(lost / chance)), "{lost} of its retries, not {chance}");
    }
}

#[test]
fn waiters_in_the_other_socket_win_as_often_as_their_weight_says() {
    for factor in [1.0, 0.25, 0.0] {
        let (report, _) = storm(&arbitrating(0.1, factor), 20_000);
        let (home, remote) = report.ops.split_at(8);
        let ratio = share(remote) / share(home);
        assert!((ratio - factor).abs() < 0.1, "{ratio}, not {factor}: {:?}", report.ops);
    }
}
