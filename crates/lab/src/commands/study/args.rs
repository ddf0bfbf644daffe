//! The arguments of `study`.

use crate::options::{SeedArgs, name};
use clap::Args;
use lockwright_report::OutputArgs;

/// Arguments of `study`.
#[derive(Clone, Debug, Args)]
pub struct StudyArgs {
    /// The study, by its name in `lockwright studies`; without one they are listed
    #[arg(value_name = "STUDY", value_parser = name)]
    pub study: Option<String>,
    /// Locks to run instead of the study's own, and next to the first of these: names or patterns
    /// ('cna-*'), comma-separated. See `lockwright locks` [default: the study's own]
    #[arg(long, value_name = "LOCK,...", value_delimiter = ',')]
    pub lock: Vec<String>,
    /// The seed.
    #[command(flatten)]
    pub random: SeedArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
