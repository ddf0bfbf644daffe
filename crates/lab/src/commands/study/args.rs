//! The arguments of `study`.

use crate::options::{name, whole};
use clap::Args;
use lockwright_report::OutputArgs;

/// Arguments of `study`.
#[derive(Clone, Debug, Args)]
pub struct StudyArgs {
    /// The study, by its name in `lockwright studies`; without one they are listed
    #[arg(value_name = "STUDY", value_parser = name)]
    pub study: Option<String>,
    /// Seed for random numbers; the same seed repeats a study exactly
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole)]
    pub seed: u64,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
