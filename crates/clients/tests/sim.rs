//! Simulated machines keep the laws of `PLATFORM.md`.

use lockwright_clients::Threads;
use lockwright_clients::conformance::laws;
use lockwright_sim::machine::{Costs, Machine, Topology};
use lockwright_sim::{Arena, Config, NodesMode, Sim, Simulation};

/// Two sockets of two cores, with round costs.
fn machine() -> Machine {
    Machine {
        name: "conformance".into(),
        description: "a machine to hold to the laws".into(),
        topology: Topology {
            sockets: 2,
            cores_per_socket: 2,
            threads_per_core: 1,
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
            transfer_jitter: 0.25,
            work_jitter: 0.1,
            heavy_barrier_ns: 1_000.0,
            heavy_barrier_per_cpu_ns: 100.0,
            wake_call_ns: 1_000.0,
            wake_latency_ns: 5_000.0,
            sleep_call_ns: 1_000.0,
        },
        scheduler: None,
    }
}

/// Threads of one run: the seed decides about its noise.
struct SimThreads {
    seed: u64,
    nodes: NodesMode,
}

impl Threads for SimThreads {
    fn run<S: Send + Sync + 'static>(&self, state: S, bodies: &[fn(&S)], finish: fn(&S)) {
        let mut arena = Arena::default();
        let config = Config { nodes: self.nodes, ..Config::default() };
        let mut simulation = Simulation::new(&machine(), &mut arena, self.seed, config);
        let state = simulation.alloc(state);
        for (cpu, body) in (0..).zip(bodies) {
            simulation.spawn(cpu, || body(state));
        }
        let report = simulation.run();
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        finish(state);
    }
    fn node_limit(&self) -> Option<usize> {
        Some(4)
    }
}

#[test]
fn simulated_machines_keep_every_law() {
    // Four nodes for each CPU as in a kernel, or four for all as in a small program.
    for nodes in [NodesMode::PerCpu, NodesMode::Pool(4)] {
        for law in laws::<Sim, SimThreads>() {
            println!("{} {} with {nodes:?}", law.number, law.name);
            for seed in 0..20 {
                (law.check)(&SimThreads { seed, nodes });
            }
        }
    }
}

#[test]
#[should_panic(expected = "the law is broken")]
fn a_body_that_panics_fails_its_law() {
    let threads = SimThreads { seed: 1, nodes: NodesMode::PerCpu };
    threads.run((), &[|()| (), |()| panic!("the law is broken")], |()| ());
}
