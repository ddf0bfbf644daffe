//! `lockwright machines`: the machines, and what can be done with one.

use crate::commands::lists;
use crate::machines::{self, NATIVE};
use crate::options::{KeptArgs, SeedArgs, between, count, name};
use crate::thread_counts::ThreadCounts;
use clap::{Args, Subcommand};
use lockwright_measure::error::Error;
use lockwright_measure::native::NativeMachine;
use lockwright_measure::trial::{LabMachine, Settings};
use lockwright_measure::workload::Workload;
use lockwright_parts::Part;
use lockwright_sheets::{Destination, DocumentArgs, Outputs, Progress, print};
use lockwright_sim::machine::{Machine, MachineFile};
use lockwright_studies::check::{self, CheckPlan, THREADS};
use lockwright_studies::probe;
use lockwright_studies::records::Folder;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `machines`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct MachinesArgs {
    /// What to do instead of listing them.
    #[command(subcommand)]
    pub command: Option<MachinesCommand>,
    /// The list.
    #[command(flatten)]
    pub list: DocumentArgs,
}

/// What can be done with machines.
#[derive(Clone, Debug, Subcommand)]
pub enum MachinesCommand {
    /// Print the file of a simulated machine, to copy and change
    #[command(before_help = "Examples:
  lockwright machines show x5-4
  lockwright machines show x5-4 > mine.toml
  lockwright bench --on ./mine.toml --threads 36")]
    Show(ShowArgs),
    /// Measure this computer and write a machine file for --on (half a minute)
    #[command(before_help = "Examples:
  lockwright machines probe > here.toml
  lockwright machines probe --out here.toml
  lockwright machines probe --quick")]
    Probe(ProbeArgs),
    /// Compare locks on this computer with the same locks simulated on its machine file (minutes)
    #[command(before_help = "Examples:
  lockwright machines check here.toml
  lockwright machines check here.toml --lock mutex,std --threads 1,2,8
  lockwright machines check here.toml --json check.json")]
    Check(CheckArgs),
}

/// Arguments of `machines show`.
#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// The machine, by its name in `lockwright machines`
    #[arg(value_name = "NAME", value_parser = name)]
    pub name: String,
}

/// Arguments of `machines probe`.
#[derive(Clone, Debug, Args)]
pub struct ProbeArgs {
    /// Write the machine file here [default: standard output]
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Measure for a second only: good enough to try things out
    #[arg(long)]
    pub quick: bool,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}

/// Arguments of `machines check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// The machine file, as `lockwright machines probe` writes it
    #[arg(value_name = "FILE.toml")]
    pub machine: PathBuf,
    /// Locks to run: names or patterns, comma-separated
    #[arg(long, value_name = "LOCK,...", value_delimiter = ',', default_value = lockwright_measure::subject::USUAL)]
    pub lock: Vec<String>,
    /// Numbers of threads [default: 1,2,8,16,32,64]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = count)]
    pub threads: Vec<usize>,
    /// Repetitions of each cell on this computer [default: 5]
    #[arg(long, value_name = "N", value_parser = between::<u32, 1, 1_000>)]
    pub runs: Option<u32>,
    /// The seed.
    #[command(flatten)]
    pub random: SeedArgs,
    /// Where records are kept.
    #[command(flatten)]
    pub kept: KeptArgs,
    /// Where results go.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}

/// `lockwright machines`, and what can be done with them.
pub fn run(args: &MachinesArgs) -> Result<ExitCode, Error> {
    let done = |()| ExitCode::SUCCESS;
    match &args.command {
        None => lists::machines(&args.list).map(done),
        Some(MachinesCommand::Show(args)) => show(&args.name).map(done),
        Some(MachinesCommand::Probe(args)) => {
            let target = args.out.as_ref().map_or(Ok(Destination::Stdout), Destination::open)?;
            probe::run(&target, args.quick, args.progress).map(done)
        }
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
    let folder = args.kept.open(Part::default(), args.progress)?;
    let ended = check::run(&plan, &native, &simulated, folder.as_ref(), &outputs, args.progress);
    folder.map_or(Ok(()), Folder::finish).and(ended)
}
