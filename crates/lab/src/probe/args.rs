//! The arguments of `machines probe`.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `machines probe`.
#[derive(Clone, Debug, Args)]
pub struct ProbeArgs {
    /// Where the description goes [default: standard output].
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Measure for a second only: numbers to try things with.
    #[arg(long)]
    pub quick: bool,
    /// Say nothing on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}
