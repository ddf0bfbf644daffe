//! The options that say where results go.

use clap::Args;
use std::path::PathBuf;

/// Where results go.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Write a JSON document; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the results
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Do not show progress
    #[arg(long, short)]
    pub quiet: bool,
}
