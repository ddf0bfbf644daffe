//! The arguments of the lists.

use clap::Args;
use std::path::PathBuf;

/// Arguments of the lists.
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Write a JSON document; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}
