//! Listing, showing, measuring and checking machines.

use super::args::{CheckArgs, MachinesArgs, MachinesCommand, ProbeArgs};
use crate::commands::lists;
use crate::machines::{self, NATIVE};
use crate::thread_counts::ThreadCounts;
use lockwright_measure::error::Error;
use lockwright_measure::native::NativeMachine;
use lockwright_measure::trial::{LabMachine, Settings};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{Destination, Outputs, print};
use lockwright_sim::machine::{Machine, MachineFile};
use lockwright_studies::check::{self, CheckPlan, THREADS};
use std::process::ExitCode;

/// `lockwright machines`, and what can be done with them.
pub fn run(args: &MachinesArgs) -> Result<ExitCode, Error> {
    let done = |()| ExitCode::SUCCESS;
    match &args.command {
        None => lists::machines(&args.list).map(done),
        Some(MachinesCommand::Show(args)) => show(&args.name).map(done),
        Some(MachinesCommand::Probe(args)) => probe(args).map(done),
        Some(MachinesCommand::Check(args)) => check(args),
    }
}

/// Prints the file of a built-in machine.
fn show(name: &str) -> Result<(), Error> {
    // A copy of it is called NAME.toml.
    let name = name.trim_end_matches(".toml");
    let name = name.rsplit('/').next().unwrap_or(name);
    let text = MachineFile::builtin_text(name).ok_or_else(|| {
        if name == NATIVE {
            return Error::usage(
                "this computer has no machine file yet: write one with `lockwright machines probe --out here.toml`",
            );
        }
        Error::unknown("machine", name, Machine::builtin_names(), "lockwright machines")
    })?;
    print(text)
}

/// Measures this computer.
fn probe(args: &ProbeArgs) -> Result<(), Error> {
    let target = args.out.as_ref().map_or(Ok(Destination::Stdout), Destination::open)?;
    lockwright_studies::probe::run(&target, args.quick, args.progress)
}

/// Compares locks here with the same locks simulated.
fn check(args: &CheckArgs) -> Result<ExitCode, Error> {
    let outputs = Outputs::open(&args.documents, None)?;
    let file = args.machine.display();
    if !args.machine.exists() {
        return Err(Error::usage(format!(
            "there is no file {file}: describe this computer with `lockwright machines probe --out {file}`"
        )));
    }
    let name = args.machine.to_str().ok_or_else(|| {
        Error::usage(format!("the name of {file} is not UTF-8: give it another name"))
    })?;
    let simulated = machines::open_simulated(name, Settings::default())?;
    let native = NativeMachine::new(&Settings::default());
    let [cpus, here] = [simulated.cpus(), native.cpus()];
    if here != cpus {
        return Err(Error::usage(format!(
            "`{file}` has {cpus} CPUs, and this process may use {here}: write a new machine file with `lockwright \
             machines probe`"
        )));
    }
    let asked = if args.threads.is_empty() { &THREADS[..] } else { &args.threads };
    let thread_counts = ThreadCounts::of_threads(&simulated, Workload::counter(1, 0), asked)?;
    let plan = CheckPlan::new(
        &args.lock,
        thread_counts.counts(),
        args.runs,
        args.random.seed,
        &simulated,
    )?;
    check::run(&plan, &native, &simulated, &outputs, args.progress)
}
