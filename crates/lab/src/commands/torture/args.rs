//! The arguments of `torture`.

use crate::options::{
    FolderArgs, MachineArgs, STARVE, StarveArgs, count, long_hold, name, nested, seconds,
    seconds_or_off, whole,
};
use clap::Args;
use lockwright_measure::error::Error;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::Workload;
use lockwright_sheets::OutputArgs;

/// Where the help lists what is mixed in.
const STRESS: &str = "Stress that is mixed in (TIME: off leaves it out)";

/// The workloads of a torture.
const LOCKTORTURE: &str = "locktorture";

/// Arguments of `torture`.
#[derive(Clone, Debug, Args)]
pub struct TortureArgs {
    /// Locks to run: names or patterns ('cna-*'), comma-separated; `all` (without the
    /// kernel's history), or `usual` (without the combinations of CNA and a waiting policy, either).
    /// See `lockwright locks`
    #[arg(long, value_name = "LOCK,...", value_delimiter = ',', default_value = "all")]
    pub lock: Vec<String>,
    /// Numbers of threads [default: 2 on this computer, 8 simulated]
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = count)]
    pub threads: Vec<usize>,
    /// Number of threads that read; the others write [default: half of the threads for reader-writer
    /// locks, 0 for others; without --threads, the readers are added to the default number]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub readers: Option<usize>,
    /// Time for each lock, real or simulated [default: 250ms on this computer, 20ms simulated, 250ms
    /// with --vcpus or more threads than simulated CPUs]
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
    /// What is mixed in.
    #[command(flatten)]
    pub stress: StressArgs,
    /// What the threads do: locktorture or starve [default: locktorture]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub workload: Option<String>,
    /// Parameters of `starve`.
    #[command(flatten)]
    pub starve: StarveArgs,
}

/// What a torture adds to locktorture's loop.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = STRESS)]
pub struct StressArgs {
    /// Hold the lock for TIME now and then; without a TIME 100ms, as in locktorture [default: 1/250 of
    /// --secs, at most 100ms; 1/2500 with --vcpus]
    #[arg(
        long,
        alias = "long-holds",
        value_name = "TIME",
        num_args = 0..=1,
        default_missing_value = "100ms",
        value_parser = long_hold
    )]
    pub long_hold: Option<u64>,
    /// All threads run for TIME, then all pause for TIME, and so on [default: a tenth of --secs]
    #[arg(long, value_name = "TIME", value_parser = seconds_or_off)]
    pub stutter: Option<f64>,
    /// On this computer: move all threads to other CPUs every TIME, as locktorture's shuffle_interval
    /// [default: a seventh of --secs, with two CPUs or more]
    #[arg(long, value_name = "TIME", value_parser = seconds_or_off)]
    pub shuffle: Option<f64>,
    /// Take up to N more locks inside the tested one, 0 to 8 [default: 2]
    #[arg(long, value_name = "N", value_parser = nested)]
    pub nested: Option<usize>,
    /// Simulated: preempt threads at random, for a fifth of the time
    #[arg(long, alias = "preempt")]
    pub faults: bool,
}

impl TortureArgs {
    /// The workload `starve`, if it was asked for.
    pub fn starve(&self, machine: &dyn LabMachine) -> Result<Option<Workload>, Error> {
        let stress = &self.stress;
        let others = [
            ("--readers", self.readers.is_some()),
            ("--long-hold", stress.long_hold.is_some()),
            ("--nested", stress.nested.is_some()),
            ("--faults", stress.faults),
        ];
        let others = others.into_iter().filter_map(|(flag, is)| is.then_some(flag));
        let wrong = |flag: &str, owner: &str, instead: &str| {
            Err(Error::usage(format!(
                "{flag} is for the workload `{owner}`: leave it out, or {instead}"
            )))
        };
        match self.workload.as_deref().unwrap_or(LOCKTORTURE) {
            LOCKTORTURE => match self.starve.0.flags().next() {
                Some(flag) => wrong(&flag, STARVE, "add --workload starve"),
                None => Ok(None),
            },
            STARVE => match others.into_iter().next() {
                Some(flag) => wrong(flag, LOCKTORTURE, "leave out --workload"),
                None => {
                    let all = self.starve.0.workloads(STARVE, machine, false)?;
                    Ok(all.into_iter().next())
                }
            },
            other => {
                let names = [LOCKTORTURE, STARVE].into_iter();
                Err(Error::unknown("workload", other, names, "lockwright torture --help"))
            }
        }
    }
}
