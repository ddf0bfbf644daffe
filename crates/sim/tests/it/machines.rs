//! Machines made by hand, with round numbers.

use lockwright_sim::machine::{Costs, Machine, Scheduler, Topology};

/// Sockets in a row: the distance class of two is how far they are apart, at most 2.
pub fn machine(sockets: u32, cores_per_socket: u32, threads_per_core: u32) -> Machine {
    let row = |a: u32| (0..sockets).map(|b| a.abs_diff(b).min(2)).collect();
    Machine {
        name: "test".to_owned(),
        description: "made by hand".to_owned(),
        topology: Topology {
            sockets,
            cores_per_socket,
            threads_per_core,
            sockets_per_node: 1,
            distance: (0..sockets).map(row).collect(),
        },
        costs: costs(),
        scheduler: Some(scheduler()),
    }
}

/// Costs with the usual noise.
pub fn costs() -> Costs {
    Costs {
        load_hit_ns: 1.5,
        store_issue_ns: 0.4,
        rmw_extra_ns: 7.0,
        pause_ns: 4.0,
        spin_reaction_ns: 4.0,
        transfer_local_ns: 50.0,
        transfer_remote_ns: vec![130.0, 190.0],
        upgrade_local_factor: 0.85,
        upgrade_remote_factor: 0.9,
        shared_load_ns: 20.0,
        dram_local_ns: 100.0,
        dram_remote_ns: 180.0,
        remote_inflation: 0.36,
        smt_factor: 1.1,
        owner_retention: 0.5,
        arbitration: 0.0,
        arbitration_remote_factor: 1.0,
        transfer_jitter: 0.25,
        work_jitter: 0.1,
        heavy_barrier_ns: 1000.0,
        heavy_barrier_per_cpu_ns: 100.0,
        wake_call_ns: 500.0,
        wake_latency_ns: 2000.0,
        sleep_call_ns: 700.0,
        migratory: 0.0,
        rmw_shield: 0.0,
        width_mismatch_ns: 0.0,
    }
}

/// A host with round numbers and without noise.
pub fn scheduler() -> Scheduler {
    Scheduler {
        slice_ns: 1_000_000.0,
        context_switch_ns: 2_000.0,
        wake_granularity_ns: 100_000.0,
        halt_exit_ns: 1_500.0,
        kick_call_ns: 1_000.0,
        kick_latency_ns: 20_000.0,
        noise_ns: 0.0,
        pause_loop_window_ns: 0.0,
        pause_loop_gap_ns: 50.0,
        wake_local: 0.0,
        wake_local_call_ns: 0.0,
        steal_after_ns: 0.0,
        hides_preemption: 0.0,
    }
}

/// The same machine without noise and without inflation: closed forms hold exactly.
pub fn quiet(mut machine: Machine) -> Machine {
    machine.costs.transfer_jitter = 0.0;
    machine.costs.work_jitter = 0.0;
    machine.costs.remote_inflation = 0.0;
    machine
}
