//! The options that say where results go.

use crate::{Outputs, Progress};
use clap::Args;
use lockwright_cells::error::Error;
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

impl OutputArgs {
    /// Checks and prepares what was asked for.
    pub fn open(&self) -> Result<Outputs, Error> {
        Outputs::open(&self.documents, self.plot.as_ref())
    }
}
