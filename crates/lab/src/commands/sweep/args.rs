//! The arguments of `sweep` and of `sweep merge`.

use crate::options::{ShardArgs, between};
use clap::{Args, Subcommand};
use lockwright_sheets::{DocumentArgs, Progress};
use std::path::PathBuf;

/// Arguments of `sweep`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SweepArgs {
    /// What to do with results that are there.
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    /// The question: a file as docs/sweeps.md describes it
    #[arg(value_name = "FILE.toml", required = true)]
    pub question: Option<PathBuf>,
    /// The folder of the results; what is there is not run again [default: FILE.sweep]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Which part.
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Trials at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = between::<u32, 1, 4096>)]
    pub jobs: Option<u32>,
    /// Say how many trials there are and what they cost, print the first ones, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}

/// What can be done with results.
#[derive(Clone, Debug, Subcommand)]
pub enum SweepCommand {
    /// Put the results of all parts into one sorted table
    #[command(before_help = "Examples:
  lockwright sweep merge numa.sweep --csv numa.csv
  lockwright sweep merge numa.sweep --parquet numa.parquet
  lockwright sweep merge here.sweep there.sweep --jsonl all.jsonl
  lockwright sweep merge numa.sweep > numa.jsonl")]
    Merge(MergeArgs),
    /// Say where one lock beats another, how sure that is, and which numbers decide it
    #[command(before_help = "Examples:
  lockwright sweep report numa.toml
  lockwright sweep report numa.toml --of cna --over mcs --csv gains.csv
  lockwright sweep report numa.toml --lines threads --plot lines.svg
  lockwright sweep report numa.toml --map set.pause,threads --html a.html")]
    Report(ReportArgs),
}

/// Arguments of `sweep report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// The question whose results are there
    #[arg(value_name = "FILE.toml")]
    pub question: PathBuf,
    /// The folders of the results [default: FILE.sweep]
    #[arg(long, value_name = "FOLDER,...", value_delimiter = ',')]
    pub from: Vec<PathBuf>,
    /// The lock whose gain it is, with the tunables that tell it from others, such as 'cna spin_pauses=4' [default:
    /// the second one of the question; with --lines none]
    #[arg(long, value_name = "LOCK")]
    pub of: Option<String>,
    /// The lock that it is compared with [default: the first one]
    #[arg(long, value_name = "LOCK")]
    pub over: Option<String>,
    /// Draw a map over two columns of the results, such as set.transfer_remote,threads, with the line where one
    /// lock overtakes the other
    #[arg(long, value_name = "X,Y")]
    pub map: Option<String>,
    /// Instead of the gain, print the throughput and the fairness of all locks over a column of the results, such
    /// as threads or tunables.numa_spinlock_threshold, and draw a line for each lock; with --of they are of its gain
    #[arg(long, value_name = "X")]
    pub lines: Option<String>,
    /// With --lines: print and draw this number of the results, too, such as longest_wait_ns or events.cna_flush
    #[arg(long, value_name = "NUMBER", requires = "lines")]
    pub show: Option<String>,
    /// Write the map or the lines here
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Write a page with all of it, which can be sorted and filtered, here
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Documents.
    #[command(flatten)]
    pub documents: DocumentArgs,
}

/// Arguments of `sweep merge`.
#[derive(Clone, Debug, Args)]
pub struct MergeArgs {
    /// The folders of the results
    #[arg(value_name = "FOLDER", required = true)]
    pub folders: Vec<PathBuf>,
    /// Write a line of JSON for each trial here [default: standard output, unless there is a table]
    #[arg(long, value_name = "FILE")]
    pub jsonl: Option<PathBuf>,
    /// Write a table of comma-separated values here
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a table in Parquet here, for databases and data frames
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Also put results of different code together
    #[arg(long)]
    pub any_code: bool,
}
