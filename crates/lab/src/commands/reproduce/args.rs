//! The arguments of `reproduce`.

use crate::options::{FolderArgs, SeedArgs, name};
use clap::Args;
use lockwright_sheets::OutputArgs;
use std::path::PathBuf;

/// Arguments of `reproduce`.
#[derive(Clone, Debug, Args)]
pub struct ReproduceArgs {
    /// The table, by its name in `lockwright tables`; without one they are listed
    #[arg(value_name = "TABLE", value_parser = name)]
    pub table: Option<String>,
    /// Simulate all tables
    #[arg(long)]
    pub all: bool,
    /// Locks to simulate next to those of the table, in its unit: names or patterns, comma-separated. Prints a text for
    /// a mailing list
    #[arg(long, value_name = "LOCK,...", value_delimiter = ',', value_parser = name)]
    pub lock: Vec<String>,
    /// Fewer and shorter runs: seconds instead of minutes, and wider intervals
    #[arg(long)]
    pub quick: bool,
    /// Draw each table into this directory, as TABLE.svg
    #[arg(long, alias = "plots", value_name = "DIR")]
    pub plot_dir: Option<PathBuf>,
    /// The seed.
    #[command(flatten)]
    pub random: SeedArgs,
    /// Where records are kept, and which part of the work this process does.
    #[command(flatten)]
    pub folder: FolderArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
