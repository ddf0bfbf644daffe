//! `lockwright machines probe`: measures this computer and writes a machine file.

use clap::Args;
use lockwright_cells::error::Error;
use lockwright_report::{Progress, Target};
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

/// `lockwright machines probe`.
pub fn run(args: &ProbeArgs) -> Result<(), Error> {
    let target = args.out.as_ref().map_or(Ok(Target::Stdout), Target::open)?;
    lockwright_repro::probe::run(&target, args.quick, Progress::new(args.quiet))
}
