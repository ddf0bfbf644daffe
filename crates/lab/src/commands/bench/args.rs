//! The arguments of `bench`.

use crate::options::{
    BuildArgs, HANDOFF_HEADING, MachineArgs, SIMULATED, ShardArgs, StarveArgs, Switch, between,
    count, long_hold, name, one_of, read_percent_renamed, seconds,
};
use clap::Args;
use lockwright_measure::cell::{ReaderOrder, Section};
use lockwright_sheets::OutputArgs;

/// Where the help lists the parameters of workloads.
const COUNTER: &str = "Workload `counter` (a shared counter behind one lock)";
const LOCKTORTURE: &str = "Workload `locktorture` (as in the kernel)";

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
    /// What the threads do; see `lockwright workloads`
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
    /// Which part of the lines; simulated machines only.
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Show on standard error how fast the simulation runs on one core
    #[arg(long, help_heading = SIMULATED)]
    pub speed: bool,
    /// Length of the critical section, in pause instructions (4 to 40 ns each); several values run one
    /// after the other [default: 1]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = COUNTER,
          value_parser = between::<u32, 0, 1_000_000_000>)]
    pub cs_load: Vec<u32>,
    /// Pause instructions between critical sections [default: 0]
    #[arg(long, value_name = "N", help_heading = COUNTER,
          value_parser = between::<u32, 0, 1_000_000_000>)]
    pub think_load: Option<u32>,
    /// Percentage of the operations that only read, 0 to 100 [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = between::<u32, 0, 100>, help_heading = COUNTER)]
    pub read_percent: Option<u32>,
    /// The old name of `--read-percent`.
    #[arg(long, hide = true, value_name = "PERCENT", value_parser = read_percent_renamed)]
    pub readers: Option<u32>,
    /// Which operations read: alternate (evenly spread) or random [default: alternate]
    #[arg(long, value_parser = one_of(ReaderOrder::ALL, ReaderOrder::name), value_name = "ORDER",
          help_heading = COUNTER, hide_possible_values = true)]
    pub reader_order: Option<ReaderOrder>,
    /// Critical sections only pause and do not touch the counter [default: off; on for simulated
    /// readers, as in the published benchmark]
    #[arg(long, value_enum, value_name = "on|off", num_args = 0..=1, default_missing_value = "on",
          help_heading = COUNTER, hide_possible_values = true)]
    pub empty_section: Option<Switch>,
    /// Hold the lock for a long time now and then: 100ms, as in the kernel, or off [default: 100ms
    /// simulated, where a formula adds it; off on this computer]
    #[arg(long, value_name = "TIME", value_parser = long_hold, num_args = 0..=1,
          default_missing_value = "100ms", help_heading = LOCKTORTURE)]
    pub long_hold: Option<u64>,
    /// Parameters of `kbuild`, `handoff` and `aim7`.
    #[command(flatten)]
    pub build: BuildArgs,
    /// Parameters of `starve`.
    #[command(flatten)]
    pub starve: StarveArgs,
    /// What the owner does in its critical section, for --section-ns: sleep, spin, or compute, in which only time on
    /// a CPU counts (`handoff` takes spin for compute) [default: sleep]
    #[arg(long, value_enum, help_heading = HANDOFF_HEADING, hide_possible_values = true)]
    pub section: Option<Section>,
}
