//! The arguments of `machines check`.

use crate::cli::count;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `machines check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// The description, as `machines probe` writes it.
    #[arg(value_name = "FILE.toml")]
    pub machine: PathBuf,
    /// Locks or patterns, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = crate::subject::USUAL)]
    pub lock: Vec<String>,
    /// Numbers of threads, separated by commas [default: 1,2,8,16,32,64].
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = count,
          allow_negative_numbers = true)]
    pub threads: Vec<usize>,
    /// Native repetitions of each cell [default: 5].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub runs: Option<u32>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write a JSON document; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Say nothing on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}
