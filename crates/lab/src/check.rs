//! `lockwright machines check`: workload `counter` natively and simulated on the machine file
//! of this computer, lock by lock.

use crate::cli::{between_u32, count, whole};
use crate::crew::Crew;
use crate::machines;
use clap::Args;
use lockwright_cells::cell::{LabMachine, Settings, Workload};
use lockwright_cells::error::Error;
use lockwright_cells::native::NativeMachine;
use lockwright_report::{OutputArgs, Outputs, Progress};
use lockwright_repro::check::{self, Plan, THREADS};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `machines check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// The machine file, as `lockwright machines probe` writes it
    #[arg(value_name = "FILE.toml")]
    pub machine: PathBuf,
    /// Locks to run: names or patterns, comma-separated
    #[arg(long, value_name = "LOCK,...", value_delimiter = ',', default_value = lockwright_cells::subject::USUAL)]
    pub lock: Vec<String>,
    /// Numbers of threads [default: 1,2,8,16,32,64]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = count,
          allow_negative_numbers = true)]
    pub threads: Vec<usize>,
    /// Repetitions of each cell on this computer [default: 5]
    #[arg(long, value_name = "N", value_parser = between_u32::<1, 1_000>, allow_negative_numbers = true)]
    pub runs: Option<u32>,
    /// Seed for random numbers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole)]
    pub seed: u64,
    /// Write a JSON document; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Do not show progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// `lockwright machines check`.
pub fn run(args: &CheckArgs) -> Result<ExitCode, Error> {
    let CheckArgs { json, csv, quiet, .. } = args.clone();
    let outputs = Outputs::open(&OutputArgs { json, csv, ..OutputArgs::default() })?;
    let file = args.machine.display();
    if !args.machine.exists() {
        return Err(Error::usage(format!(
            "there is no file {file}: describe this computer with `lockwright machines probe --out {file}`"
        )));
    }
    let simulated = machines::open_simulated(&args.machine.to_string_lossy(), Settings::default())?;
    let native = NativeMachine::new(&Settings::default());
    let [cpus, here] = [simulated.cpus(), native.cpus()];
    if here != cpus {
        return Err(Error::usage(format!(
            "`{file}` has {cpus} CPUs, and this process may use {here}: write a new machine file with `lockwright \
             machines probe`"
        )));
    }
    let asked = if args.threads.is_empty() { &THREADS[..] } else { &args.threads };
    let crew = Crew::of_threads(&simulated, Workload::counter(1, 0), asked)?;
    let plan = Plan::new(&args.lock, crew.counts(), args.runs, args.seed, &simulated)?;
    check::run(&plan, &native, &simulated, &outputs, Progress::new(quiet))
}
