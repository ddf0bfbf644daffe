//! The arguments of `machines check`.

use crate::cli::{between_u32, count, whole};
use clap::Args;
use std::path::PathBuf;

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
