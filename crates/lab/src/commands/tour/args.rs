//! The arguments of `tour`.

use crate::options::whole;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `tour`.
#[derive(Clone, Debug, Args)]
pub struct TourArgs {
    /// Write the pictures into this directory
    #[arg(long, alias = "plots", value_name = "DIR", default_value = "plots")]
    pub plot_dir: PathBuf,
    /// Write a JSON document; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the simulated table as CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Seed for random numbers; the same seed repeats the simulated part exactly
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole)]
    pub seed: u64,
    /// Do not show progress
    #[arg(long, short)]
    pub quiet: bool,
}
