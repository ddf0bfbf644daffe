//! How fast the simulator is: a contended lock on 142 CPUs of four sockets, in lock operations and
//! events per second of wall time.
//!
//! `cargo run --release -p lockwright-sim --example speed [THREADS] [WINDOW_US]`

use lockwright::platform::{Atomic, Cells, Zeroed};
use lockwright::raw::RawLock;
use lockwright::registry::{LockRow, LockVisitor, visit};
use lockwright_sim::machine::{Costs, Machine, Topology};
use lockwright_sim::{Arena, Config, RunReport, Sim, Simulation, thread};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Four sockets of 18 cores with two threads each; round numbers.
fn machine() -> Machine {
    Machine {
        name: "speed".to_owned(),
        description: "four sockets, round numbers".to_owned(),
        topology: Topology {
            sockets: 4,
            cores_per_socket: 18,
            threads_per_core: 2,
            distance: (0..4).map(|a| (0..4).map(|b| u32::from(a != b)).collect()).collect(),
        },
        costs: Costs {
            load_hit_ns: 1.5,
            store_issue_ns: 0.4,
            rmw_extra_ns: 7.0,
            pause_ns: 4.0,
            spin_reaction_ns: 4.0,
            transfer_local_ns: 74.0,
            transfer_remote_ns: vec![128.0],
            upgrade_local_factor: 0.85,
            upgrade_remote_factor: 0.9,
            shared_load_ns: 20.0,
            dram_local_ns: 135.0,
            dram_remote_ns: 200.0,
            remote_inflation: 0.36,
            smt_factor: 1.1,
            owner_retention: 0.5,
            transfer_jitter: 0.25,
            work_jitter: 0.1,
            heavy_barrier_ns: 1000.0,
            heavy_barrier_per_cpu_ns: 100.0,
            wake_call_ns: 500.0,
            wake_latency_ns: 2000.0,
            sleep_call_ns: 700.0,
        },
    }
}

#[repr(align(64))]
struct Padded<T>(T);

/// The loop of a lock torture: two shared lines inside, statistics of four threads a line outside.
fn torture<L: RawLock>(threads: u32, window_us: u64) -> RunReport {
    let mut arena = Arena::default();
    let config = Config::window(20_000, window_us * 1000);
    let mut simulation = Simulation::new(&machine(), &mut arena, 1, config);
    let lock = simulation.alloc(L::new());
    let word = |_| Padded(<Sim as Cells>::U32::zeroed());
    let shared = simulation.alloc_slice_at(0, 2, word);
    let statistics =
        simulation.alloc_slice_at(0, threads as usize * 2, |_| <Sim as Cells>::U64::zeroed());
    for cpu in 0..threads {
        let own = &statistics[cpu as usize * 2];
        simulation.spawn(cpu, move || {
            while !thread::is_over() {
                thread::work_ns(36);
                lock.lock();
                let lines = shared.each_address();
                thread::prefetch_for_write(&lines);
                shared[0].0.store(1, Relaxed);
                thread::work_ns(70);
                own.store(own.load(Relaxed) + 1, Relaxed);
                shared[0].0.store(0, Relaxed);
                // SAFETY: taken above.
                unsafe { lock.unlock() };
                thread::work_ns(36);
                thread::op_done();
            }
        });
    }
    simulation.run()
}

trait EachAddress {
    fn each_address(&self) -> [*const (); 2];
}

impl<T> EachAddress for [Padded<T>] {
    fn each_address(&self) -> [*const (); 2] {
        [&raw const self[0].0, &raw const self[1].0].map(<*const T>::cast)
    }
}

struct Torture {
    threads: u32,
    window_us: u64,
}

impl LockVisitor<Sim> for Torture {
    type Output = RunReport;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> RunReport {
        torture::<L>(self.threads, self.window_us)
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse().ok());
    let threads = arguments.next().unwrap_or(142) as u32;
    let window_us = arguments.next().unwrap_or(20_000);
    println!("{threads} threads, {window_us} us simulated");
    println!("lock       simulated Mop/s  events/op  switches/op  Mevents/s  kop/s of wall time");
    for name in ["qspinlock", "cna", "mcs", "clh", "ticket", "unfair"] {
        let start = Instant::now();
        let Some(report) = visit(name, Torture { threads, window_us }) else { continue };
        let wall = start.elapsed().as_secs_f64();
        let ops = report.ops_total() as f64;
        println!(
            "{name:<10} {:>15.3} {:>10.1} {:>12.1} {:>10.2} {:>19.0}",
            report.ops_per_s() / 1e6,
            report.events as f64 / ops,
            report.switches as f64 / ops,
            report.events as f64 / wall / 1e6,
            ops / wall / 1e3,
        );
        for failure in &report.failures {
            println!("  {failure}");
        }
    }
}
