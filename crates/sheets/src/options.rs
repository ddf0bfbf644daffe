//! The options that say where results go.

use crate::progress::Progress;
use clap::Args;
use std::path::PathBuf;

/// Documents for programs.
#[derive(Clone, Debug, Default, Args)]
pub struct DocumentArgs {
    /// Write a JSON document; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// Documents and a picture.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// Documents.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// Draw the results
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}
