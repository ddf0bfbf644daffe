//! The arguments of `bench`.

use crate::options::{
    FolderArgs, MachineArgs, SIMULATED, WorkloadArgs, between, count, name, read_percent_renamed,
    seconds,
};
use clap::Args;
use lockwright_sheets::OutputArgs;

/// Arguments of `bench`.
#[derive(Clone, Debug, Args)]
pub struct BenchArgs {
    /// Locks to run: names or patterns ('cna-*'), comma-separated; `all` (without the
    /// kernel's history), or `usual` (without the combinations of CNA and a waiting policy, either).
    /// See `lockwright locks`
    #[arg(long, value_name = "LOCK,...", value_delimiter = ',', default_value = lockwright_measure::subject::USUAL)]
    pub lock: Vec<String>,
    /// Numbers of threads [default: powers of two up to the CPUs]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = count)]
    pub threads: Vec<usize>,
    /// What the threads do; see `lockwright workloads`. A number of a parameter may be several, which run one after the
    /// other
    #[arg(long, value_name = "NAME", default_value = "counter", value_parser = name)]
    pub workload: String,
    /// Repetitions; the locks take turns within each [default: 5; 1 with --vcpus or
    /// more threads than simulated CPUs]
    #[arg(long, value_name = "N", value_parser = between::<u32, 1, 10_000>)]
    pub runs: Option<u32>,
    /// Length of a repetition, in real or simulated time [default: 100ms on this computer, 5ms
    /// simulated, 1s with --vcpus or more threads than simulated CPUs]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub secs: Option<f64>,
    /// Which machine.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Where records are kept, and which part of the work this process does.
    #[command(flatten)]
    pub folder: FolderArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Show on standard error how fast the simulation runs on one core
    #[arg(long, help_heading = SIMULATED, conflicts_with = "out")]
    pub speed: bool,
    /// The old name of `--read-percent`.
    #[arg(long, hide = true, value_name = "PERCENT", value_parser = read_percent_renamed)]
    pub readers: Option<u32>,
    /// Parameters of the workload.
    #[command(flatten)]
    pub parameters: WorkloadArgs,
}
