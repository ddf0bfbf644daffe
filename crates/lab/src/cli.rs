//! The arguments.

use crate::cell::Section;
use crate::cell::{PlacementPolicy, ReaderOrder, Settings};
use crate::compare::CompareArgs;
use crate::crew::GuestArgs;
use crate::explore::ExploreArgs;
use crate::kbuild::BuildArgs;
use crate::machines::MachinesArgs;
use crate::report::complain;
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use lockwright::tunables::{NUMA_AUTO, NUMA_OFF, NUMA_ON, Tunable};
use std::path::PathBuf;
use std::process::ExitCode;

/// The Linux kernel's scalable locks: measure, torture and simulate them.
///
/// Without a command: a tour of under a minute.
#[derive(Debug, Parser)]
#[command(name = "lockwright", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What the tour may be told.
    #[command(flatten)]
    pub tour: TourArgs,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the locks.
    Locks(ListArgs),
    /// List the machines that `--on` knows; or measure this computer into a description of one.
    Machines(MachinesArgs),
    /// List the workloads and their knobs.
    Workloads(ListArgs),
    /// List the lock events that are counted.
    Events(ListArgs),
    /// Measure locks: throughput, waiting times, fairness.
    Bench(BenchArgs),
    /// Measure our locks against every peer, here, and say which goals they meet.
    Compare(CompareArgs),
    /// Try to break locks; exit code 1 if one breaks.
    Torture(TortureArgs),
    /// Run locks in many orders, simulated; exit code 1 if one breaks.
    Explore(ExploreArgs),
    /// Simulate published tables, beside what was published.
    Reproduce(ReproduceArgs),
    /// Answer a question that no published table answers, simulated.
    Study(StudyArgs),
    /// Fit a simulated machine to published measurements of unpatched code.
    Calibrate(CalibrateArgs),
}

/// Arguments of the tour.
#[derive(Debug, Args)]
pub struct TourArgs {
    /// Where the tour puts its pictures.
    #[arg(long, value_name = "DIRECTORY", default_value = "plots")]
    pub plots: PathBuf,
    /// Write a JSON document; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the simulated table as CSV; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Say nothing on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of the lists.
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Write a JSON document; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// Where results go.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Write a JSON document; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the results.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Say nothing on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which machine, and how its locks are set.
#[derive(Clone, Debug, Args)]
pub struct MachineArgs {
    /// `native`, a simulated machine's name, or a path to a `.toml`.
    #[arg(long, value_name = "MACHINE", default_value = "native", value_parser = name)]
    pub on: String,
    /// Simulated: how threads are put on CPUs [default: what the workload's benchmark did].
    #[arg(long, value_enum)]
    pub placement: Option<PlacementPolicy>,
    /// NUMA-aware succession of the CNA locks [default: auto].
    #[arg(long, value_enum, value_name = "MODE")]
    pub numa_spinlock: Option<NumaMode>,
    /// CNA by count: handoffs within a NUMA node before the others get their turn, as a power of
    /// two.
    #[arg(long, value_name = "0..31", value_parser = clap::value_parser!(u64).range(0..=31))]
    pub numa_spinlock_threshold: Option<u64>,
    /// CNA by time: nanoseconds before the others get their turn.
    #[arg(long, value_name = "N")]
    pub numa_spinlock_threshold_ns: Option<u64>,
    /// Mutex: nanoseconds after a heavy barrier before locks rely on the next one [default: 100000 for each CPU].
    #[arg(long, value_name = "N")]
    pub heavy_barrier_apart_ns: Option<u64>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// A guest.
    #[command(flatten)]
    pub guest: GuestArgs,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// `numa_spinlock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NumaMode {
    /// On if the machine has more than one NUMA node.
    Auto,
    /// Always on.
    On,
    /// Always off.
    Off,
}

impl MachineArgs {
    /// What is the same for all cells.
    pub fn settings(&self) -> Settings {
        let mode = self.numa_spinlock.map(|mode| match mode {
            NumaMode::Auto => NUMA_AUTO,
            NumaMode::On => NUMA_ON,
            NumaMode::Off => NUMA_OFF,
        });
        let tunables = [
            (Tunable::numa_spinlock, mode),
            (Tunable::numa_spinlock_threshold, self.numa_spinlock_threshold),
            (Tunable::numa_spinlock_threshold_ns, self.numa_spinlock_threshold_ns),
            (Tunable::heavy_barrier_apart_ns, self.heavy_barrier_apart_ns),
        ];
        let set = tunables.into_iter().filter_map(|(tunable, value)| Some((tunable, value?)));
        Settings { tunables: set.collect(), placement: self.placement }
    }
}

/// Arguments of `bench`.
#[derive(Clone, Debug, Args)]
pub struct BenchArgs {
    /// Which machine.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// What the threads do; `lockwright workloads` lists the names.
    #[arg(long, default_value = "counter", value_parser = name)]
    pub workload: String,
    /// Locks or patterns such as 'cna-*', separated by commas; `all` is every right lock, `usual` leaves
    /// out combinations of a succession and a waiting policy.
    #[arg(long, value_delimiter = ',', default_value = crate::subject::USUAL)]
    pub lock: Vec<String>,
    /// Numbers of threads, separated by commas [default: powers of two up to the CPUs].
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = count,
          allow_negative_numbers = true)]
    pub threads: Vec<usize>,
    /// Repetitions of each cell; the locks take turns within each [default: 5, 1 for threads that
    /// share simulated CPUs].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: Option<u32>,
    /// Seconds of each repetition: native or simulated ones [default: 0.1 native, 0.005 simulated, 1
    /// for threads that share simulated CPUs].
    #[arg(long, allow_negative_numbers = true)]
    pub secs: Option<f64>,
    /// Workload `counter`: pause instructions inside the critical section, each of several numbers
    /// separated by commas in turn [default: 1].
    #[arg(long, value_name = "PAUSES", value_delimiter = ',')]
    pub cs_load: Vec<u32>,
    /// Workload `counter`: pause instructions between critical sections [default: 0].
    #[arg(long, value_name = "PAUSES")]
    pub think_load: Option<u32>,
    /// Workload `counter`: of 100 operations of each thread, so many read [default: 0].
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub readers: Option<u32>,
    /// Workload `counter`: which operations read [default: alternate, evenly spread].
    #[arg(long, value_enum, value_name = "ORDER")]
    pub reader_order: Option<ReaderOrder>,
    /// Workload `counter`: whether sections touch nothing, only pauses [default: off; with
    /// --readers on simulated machines on, as in the published benchmark].
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "on")]
    pub empty_section: Option<Switch>,
    /// Workload `locktorture`: whether the rare hold of 100 ms happens [default: on simulated
    /// machines, where it is added by formula].
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "on")]
    pub long_hold: Option<Switch>,
    /// Workload `handoff`: what the owner of the lock does in its section, for --section-ns [default: sleep].
    #[arg(long, value_enum)]
    pub section: Option<Section>,
    /// Workload `kbuild`.
    #[command(flatten)]
    pub build: BuildArgs,
    /// Simulated: print on standard error how fast the simulation runs on one core.
    #[arg(long)]
    pub speed: bool,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `torture`.
#[derive(Clone, Debug, Args)]
pub struct TortureArgs {
    /// Which machine.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Locks or patterns such as 'cna-*', separated by commas; `all` is every right lock, `usual` leaves
    /// out combinations of a succession and a waiting policy.
    #[arg(long, value_delimiter = ',', default_value = "all")]
    pub lock: Vec<String>,
    /// Numbers of threads, separated by commas [default: 2 native, 8 simulated].
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = count,
          allow_negative_numbers = true)]
    pub threads: Vec<usize>,
    /// So many of the threads read, and the others write [default: half of them if the lock has readers;
    /// without --threads as many again].
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub readers: Option<usize>,
    /// Seconds for each lock: native or simulated ones [default: 0.25 native, 0.02 simulated, 0.25 for
    /// threads that share simulated CPUs].
    #[arg(long, allow_negative_numbers = true)]
    pub secs: Option<f64>,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
    /// What is mixed in.
    #[command(flatten)]
    pub stress: StressArgs,
}

/// What a torture adds to locktorture's loop.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What is mixed in; 0 leaves it out")]
pub struct StressArgs {
    /// Rare long holds of so many milliseconds; alone, 100 as in the kernel [default: 1/250 of the
    /// seconds, 1/2500 for threads that share simulated CPUs, at most 100 ms].
    #[arg(
        long,
        alias = "long-holds",
        value_name = "MS",
        num_args = 0..=1,
        default_missing_value = "100",
        value_parser = amount,
        allow_negative_numbers = true
    )]
    pub long_hold: Option<f64>,
    /// All threads run and pause in turn, together, for so long each [default: a tenth of the
    /// seconds].
    #[arg(long, value_name = "SECONDS", value_parser = amount, allow_negative_numbers = true)]
    pub stutter: Option<f64>,
    /// Native: so often all threads are moved off one CPU, or back to another one each [default: a
    /// seventh of the seconds if there are two CPUs].
    #[arg(long, value_name = "SECONDS", value_parser = amount, allow_negative_numbers = true)]
    pub shuffle: Option<f64>,
    /// Up to so many further locks are taken inside, at most 8 [default: 2].
    #[arg(long, value_name = "N", value_parser = nested)]
    pub nested: Option<usize>,
    /// Simulated: threads are preempted at random, for a fifth of the time.
    #[arg(long, alias = "preempt")]
    pub faults: bool,
}

/// Arguments of `reproduce`.
#[derive(Clone, Debug, Args)]
pub struct ReproduceArgs {
    /// The table: the name of its file in data/published, with or without `.csv`.
    #[arg(value_name = "TABLE", value_parser = name)]
    pub table: Option<String>,
    /// All tables.
    #[arg(long)]
    pub all: bool,
    /// Fewer and shorter runs: minutes become seconds, and intervals wider.
    #[arg(long)]
    pub quick: bool,
    /// Draw each table into this directory, as TABLE.svg.
    #[arg(long, value_name = "DIRECTORY")]
    pub plots: Option<PathBuf>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `study`.
#[derive(Clone, Debug, Args)]
pub struct StudyArgs {
    /// `cna-threshold`, `cna-variants` or `hybrid-cna-overcommit`.
    #[arg(value_name = "STUDY", value_parser = name)]
    pub study: String,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `calibrate`.
#[derive(Clone, Debug, Args)]
pub struct CalibrateArgs {
    /// The machine to fit.
    #[arg(value_name = "MACHINE", value_parser = name)]
    pub machine: String,
    /// Where the calibration goes [default: machines/MACHINE.calibration.toml].
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Write a JSON document; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the rows as CSV; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Say nothing on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// A number of threads in a list, with or without blanks around it.
pub fn count(typed: &str) -> Result<usize, &'static str> {
    typed.trim().parse().map_err(|_| "give a whole number from 1 on, with at most 19 digits")
}

/// A number of anything.
pub fn whole(typed: &str) -> Result<u64, &'static str> {
    typed.trim().parse().map_err(|_| "give a whole number from 0 on, with at most 19 digits")
}

/// A number that can be switched off.
fn amount(typed: &str) -> Result<f64, std::num::ParseFloatError> {
    match typed.trim() {
        "off" => Ok(0.0),
        number => number.parse(),
    }
}

/// How many nested locks.
fn nested(typed: &str) -> Result<usize, String> {
    let most = lockwright_clients::workload::locktorture::NESTED_MAX;
    let asked = if typed.trim() == "off" { Ok(0) } else { count(typed) };
    let asked = asked?;
    if asked <= most { Ok(asked) } else { Err(format!("give at most {most}")) }
}

/// A name, with or without blanks around it.
fn name(typed: &str) -> Result<String, std::convert::Infallible> {
    Ok(typed.trim().into())
}

/// Answers instead of a command: help, the version, or what is wrong with the arguments.
pub fn answer(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        complain(&format!("error: {}", one_line(error)));
        return ExitCode::from(2);
    }
    // Nobody reads standard output any more if this fails.
    let _ = error.print();
    ExitCode::SUCCESS
}

/// What clap has to say about arguments it cannot read, on one line.
fn one_line(error: &clap::Error) -> String {
    let rendered = error.render().to_string();
    let told = rendered.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let mut line = String::new();
    for part in told.filter(|part| !part.is_empty() && !part.starts_with("For more")) {
        line += if part.starts_with("tip:") { "; " } else { " " };
        line += part;
    }
    if error.kind() == ErrorKind::InvalidSubcommand && !line.contains("tip:") {
        line += "; `lockwright --help` shows what there is";
    }
    // What was typed may contain anything.
    let clean: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.trim().trim_start_matches("error: ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn blanks_around_names_and_numbers_do_not_matter() {
        let line = ["lockwright", "bench", "--on", " x5-4", "--threads", "1, 2 ,4"];
        let Some(Command::Bench(args)) = Cli::parse_from(line).command else {
            panic!("`bench` is a command");
        };
        assert_eq!((&*args.machine.on, &args.threads[..]), ("x5-4", &[1, 2, 4][..]));
    }

    #[test]
    fn what_clap_says_fits_on_one_line() {
        for line in [&["lockwright", "benhc"][..], &["lockwright", "bench", "--threads", "two"]] {
            let error = Cli::try_parse_from(line).expect_err("bad input");
            let text = one_line(&error);
            assert!(!text.contains('\n') && !text.starts_with("error"), "{text}");
        }
    }

    #[test]
    fn tunables_that_were_not_set_are_left_to_the_locks() {
        let line = ["lockwright", "bench", "--numa-spinlock", "off"];
        let Some(Command::Bench(args)) = Cli::parse_from(line).command else {
            panic!("`bench` is a command");
        };
        assert_eq!(args.machine.settings().tunables, [(Tunable::numa_spinlock, NUMA_OFF)]);
    }
}
