//! The arguments of `tour`.

use crate::options::SeedArgs;
use clap::Args;
use lockwright_sheets::{DocumentArgs, Progress};
use std::path::PathBuf;

/// Arguments of `tour`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("csv", |csv| csv.help("Write the simulated table as CSV; - is standard output")))]
pub struct TourArgs {
    /// Write the pictures into this directory
    #[arg(long, alias = "plots", value_name = "DIR", default_value = "plots")]
    pub plot_dir: PathBuf,
    /// Where results go.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// The seed.
    #[command(flatten)]
    pub random: SeedArgs,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}
