//! The arguments of `machines probe`.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `machines probe`.
#[derive(Clone, Debug, Args)]
pub struct ProbeArgs {
    /// Write the machine file here [default: standard output]
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Measure for a second only: good enough to try things out
    #[arg(long)]
    pub quick: bool,
    /// Do not show progress
    #[arg(long, short)]
    pub quiet: bool,
}
