//! The arguments of `machines` and of what can be done with them.

use crate::options::{SeedArgs, between, count, name};
use clap::{Args, Subcommand};
use lockwright_sheets::{DocumentArgs, Progress};
use std::path::PathBuf;

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
    /// Where results go.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}
