//! The arguments of `man`.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write a page for each command into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
