//! More threads than CPUs: a program on this machine, and the vCPUs of a simulated guest.

use super::Guide;
use crate::bench::{BenchDocument, Schedule};
use crate::cell::{LabMachine, Settings, Workload};
use crate::cli::MachineArgs;
use crate::crew::{Crew, GuestArgs};
use crate::error::Error;
use crate::machines;
use crate::plan::Matrix;

/// The simulated host.
const HOST: &str = "haswell-2s";
/// One of the three ways to begin: a picture has room for one.
const START: &str = "random-queue";

/// Threads of a program, up to several for each CPU of this machine.
pub fn natively(native: &dyn LabMachine, guide: &Guide) -> Result<BenchDocument, Error> {
    let locks = "qspinlock,park,hybrid,hybrid-lock,std,parking_lot,pthread";
    // Each handoff in a queue of spinners costs a time slice, and every waiter has to end its wait
    // when the time is over: with many CPUs twice as many threads are as much as a tour can bear.
    const FEW_CPUS: usize = 4;
    let cpus = native.cpus();
    let most = if cpus <= FEW_CPUS { 8 } else { 2 };
    let mut counts = vec![1, cpus, cpus * 2, cpus * most / 2, cpus * most];
    counts.sort_unstable();
    let workload = Workload::counter(20, 0);
    let crew = Crew::of_threads(native, workload, &counts)?;
    let plan = Plan { workload, locks, runs: 3, window_ns: 50_000_000, seed: guide.seed };
    plan.run(native, crew, guide)
}

/// vCPUs of a guest, up to three for each CPU of its host.
pub fn in_a_guest(guide: &Guide) -> Result<BenchDocument, Error> {
    let args = MachineArgs {
        on: HOST.into(),
        placement: None,
        numa_spinlock: None,
        numa_spinlock_threshold: None,
        numa_spinlock_threshold_ns: None,
        heavy_barrier_apart_ns: None,
        seed: guide.seed,
        guest: GuestArgs::default(),
    };
    let host = machines::open(&args)?;
    let cpus = host.cpus();
    let vcpus = vec![cpus, cpus * 3 / 2, cpus * 2, cpus * 3];
    let start_state = vec![START.into()];
    let guest = GuestArgs { vcpus, start_state, ..GuestArgs::default() };
    let workload = Workload::counter(1, 0);
    let crew = Crew::asked(host.as_ref(), workload, &MachineArgs { guest, ..args }, &[], &[])?;
    let locks = "qspinlock,park,hybrid,unfair";
    let plan = Plan { workload, locks, runs: 1, window_ns: 50_000_000, seed: guide.seed };
    plan.run(host.as_ref(), crew, guide)
}

/// What is compared.
pub struct Plan<'a> {
    /// What the threads do.
    pub workload: Workload,
    /// Names, separated by commas.
    pub locks: &'a str,
    /// Repetitions.
    pub runs: u32,
    /// How long each is.
    pub window_ns: u64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Plan<'_> {
    /// Runs it.
    pub fn run(
        &self,
        machine: &dyn LabMachine,
        crew: Crew,
        guide: &Guide,
    ) -> Result<BenchDocument, Error> {
        let locks: Vec<String> = self.locks.split(',').map(String::from).collect();
        let schedule = Schedule {
            matrix: Matrix::new(machine, self.workload, &locks, crew)?,
            workload: self.workload,
            cs_loads: Vec::new(),
            runs: self.runs,
            window_ns: self.window_ns,
            seed: self.seed,
            one_at_a_time: false,
        };
        let mut document = BenchDocument::new(&schedule, machine, &Settings::default());
        schedule.run(machine, guide.progress, &mut |sample| {
            document.add(sample);
            Ok(())
        })?;
        document.verdict().map(|()| document)
    }
}
