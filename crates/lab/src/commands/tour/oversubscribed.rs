//! More threads than CPUs: a program on this machine, and the vCPUs of a simulated guest.

use super::guide::Guide;
use super::plan::StopPlan;
use crate::commands::bench::BenchDocument;
use crate::machines;
use crate::options::{self, MachineArgs};
use crate::thread_counts::ThreadCounts;
use lockwright_measure::error::Error;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::Workload;

/// The guest: three quarters of a host's CPUs to three times as many, from one of the three start
/// states, because a picture has room for one.
const GUEST: &str = "--on haswell-2s --start-state random-queue --vcpus 36,54,72,108";

/// Threads of a program, up to several for each CPU of this machine.
pub fn natively(native: &dyn LabMachine, guide: &Guide) -> Result<BenchDocument, Error> {
    // Each handoff in a queue of spinners costs a time slice, and every waiter has to end its wait
    // when the time is over: with many CPUs a tour has time for twice as many threads only.
    const FEW_CPUS: usize = 4;
    let cpus = native.cpus();
    let most = if cpus <= FEW_CPUS { 8 } else { 2 };
    let workload = Workload::counter(20, 0);
    let thread_counts = ThreadCounts::of_threads(native, workload, &[cpus, cpus * most])?;
    let locks = "mutex,std,parking_lot,qspinlock";
    let plan = StopPlan { workload, locks, runs: 3, window_ns: 50_000_000, seed: guide.seed };
    plan.run(native, thread_counts, guide)
}

/// vCPUs of a guest, up to three for each CPU of its host.
pub fn in_a_guest(guide: &Guide) -> Result<BenchDocument, Error> {
    let asked: MachineArgs = options::read(GUEST);
    let host = machines::open(&asked)?;
    let workload = Workload::counter(1, 0);
    let thread_counts = ThreadCounts::asked(host.as_ref(), workload, &asked, &[], &[])?;
    let locks = "qspinlock,park,hybrid,unfair";
    let plan = StopPlan { workload, locks, runs: 1, window_ns: 50_000_000, seed: guide.seed };
    plan.run(host.as_ref(), thread_counts, guide)
}
