//! A small machine, and clients on it.

use lockwright_clients::AnyClient;
use lockwright_core::platform::Barriers;
use lockwright_sim::machine::{Costs, Machine, Topology};
use lockwright_sim::{Sim, Simulation, thread, watch};
use std::cell::Cell;
use std::rc::Rc;

/// Adds the threads of a client to a run; if they have real-time priorities, they say so.
pub fn spawn<'a>(
    simulation: &mut Simulation<'a>,
    client: &'a dyn AnyClient,
    threads: usize,
    by_priority: bool,
) {
    let running = Rc::new(Cell::new(threads));
    for number in 0..threads {
        let running = Rc::clone(&running);
        simulation.spawn(number as u32, move || {
            thread::set_must_not_spin(by_priority);
            let body = || client.body(number);
            match client.has_handler() {
                true => thread::handling(|| client.handle(number), body),
                false => body(),
            }
            running.set(running.get() - 1);
            // In a forked child the others are not done but gone.
            if running.get() == 0 && !thread::has_forked() {
                // Who waits for the end of a thread sees all its stores.
                Sim::heavy_barrier();
                watch::done();
                client.finish();
            }
        });
    }
}

/// Two sockets of two cores, with round costs.
pub fn machine() -> Machine {
    Machine {
        name: "conformance".into(),
        description: "a machine to hold to the laws".into(),
        topology: Topology {
            sockets: 2,
            cores_per_socket: 2,
            threads_per_core: 1,
            sockets_per_node: 1,
            distance: vec![vec![0, 1], vec![1, 0]],
        },
        costs: Costs {
            load_hit_ns: 1.5,
            store_issue_ns: 0.5,
            rmw_extra_ns: 5.0,
            pause_ns: 40.0,
            spin_reaction_ns: 10.0,
            transfer_local_ns: 50.0,
            transfer_remote_ns: vec![130.0],
            upgrade_local_factor: 0.8,
            upgrade_remote_factor: 1.0,
            shared_load_ns: 20.0,
            dram_local_ns: 80.0,
            dram_remote_ns: 140.0,
            remote_inflation: 0.0,
            smt_factor: 1.0,
            owner_retention: 0.5,
            arbitration: 0.0,
            arbitration_remote_factor: 1.0,
            transfer_jitter: 0.25,
            work_jitter: 0.1,
            heavy_barrier_ns: 1_000.0,
            heavy_barrier_per_cpu_ns: 100.0,
            wake_call_ns: 1_000.0,
            wake_latency_ns: 5_000.0,
            sleep_call_ns: 1_000.0,
            migratory: 0.0,
            rmw_shield: 0.0,
            width_mismatch_ns: 0.0,
        },
        scheduler: None,
    }
}
