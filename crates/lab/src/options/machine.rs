//! Which machine, and how its locks are set.

use super::values::{between, count, name, nanoseconds, one_of, whole};
use crate::machines::NATIVE;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use lockwright_core::tunables::{NUMA_AUTO, NUMA_OFF, NUMA_ON, Tunable};
use lockwright_measure::error::Error;
use lockwright_measure::trial::Settings;
use lockwright_sim::StartState;
use lockwright_sim::machine::ThreadPlacement;
use std::path::PathBuf;

/// Where the help lists the options about simulated machines.
pub const SIMULATED: &str = "Simulated machines";
/// Where the help lists the tunables of the locks.
const TUNABLES: &str = "Tunables of the locks";

/// Which machine, and how its locks are set.
#[derive(Clone, Debug, Args)]
pub struct MachineArgs {
    /// This computer (native), a simulated machine by name, or its file (./mine.toml); several simulated machines run
    /// one after the other
    #[arg(long, value_name = "MACHINE,...", default_value = "native", value_parser = name)]
    pub on: String,
    /// The seed.
    #[command(flatten)]
    pub random: SeedArgs,
    /// The file with the fitted numbers of a built-in machine, as `lockwright calibrate` writes it [default:
    /// NAME.calibration.toml next to the machine file, or the built-in one]. A machine file of your own
    /// borrows one with `calibrated_as = "x5-4"`
    #[arg(long, value_name = "FILE", help_heading = SIMULATED)]
    pub calibration: Option<PathBuf>,
    /// Where threads are pinned: compact (socket by socket), spread (round robin over the sockets),
    /// random, or scheduler-5.6 (as Linux 5.6 placed threads: random, but a run with two threads has both on
    /// one socket) [default: as in the published benchmark that the workload models, else compact]
    #[arg(long, value_parser = one_of(ThreadPlacement::ALL, ThreadPlacement::name), help_heading = SIMULATED,
          hide_possible_values = true)]
    pub placement: Option<ThreadPlacement>,
    /// A guest.
    #[command(flatten)]
    pub guest: GuestArgs,
    /// NUMA-aware order (succession) of the CNA locks: auto (with two NUMA nodes or more, not in a guest), on, off
    /// [default: auto]
    #[arg(long, value_enum, value_name = "MODE", help_heading = TUNABLES, hide_possible_values = true)]
    pub numa_spinlock: Option<NumaMode>,
    /// CNA versions whose threshold is a number of handoffs: after 2^N handoffs within a NUMA node the
    /// other nodes get their turn (0 to 31) [default: 16]
    #[arg(long, value_name = "N", value_parser = between::<u64, 0, 31>, help_heading = TUNABLES)]
    pub numa_spinlock_threshold: Option<u64>,
    /// CNA versions whose threshold is a time: how long until the other NUMA nodes get their turn [default:
    /// each lock's own]
    #[arg(long, value_name = "TIME", value_parser = nanoseconds, help_heading = TUNABLES)]
    pub numa_spinlock_threshold_ns: Option<u64>,
    /// Mutex: minimum time between two membarrier(2) calls; until it has passed, unlock uses an atomic
    /// exchange instead of a plain store [default: 100us times the number of CPUs]
    #[arg(long, value_name = "TIME", value_parser = nanoseconds, help_heading = TUNABLES)]
    pub heavy_barrier_apart_ns: Option<u64>,
}

/// More threads than CPUs, or a guest.
#[derive(Clone, Debug, Default, Args)]
pub struct GuestArgs {
    /// Run a guest with these numbers of vCPUs, instead of threads; one row for each start state
    #[arg(long, help_heading = SIMULATED, value_delimiter = ',', value_name = "N,...", value_parser = count)]
    pub vcpus: Vec<usize>,
    /// The guest sees the machine's sockets as NUMA nodes, and its vCPUs stay on theirs
    #[arg(long, help_heading = SIMULATED)]
    pub virtual_numa: bool,
    /// How a run of a guest or an oversubscribed program starts: everybody-running (a thread on each
    /// CPU at once), random-queue (threads start at random moments, in random order), after-preemption (a
    /// thread on each CPU, then half of the CPUs do something else for a time slice), all [default: all]
    #[arg(
        long,
        help_heading = SIMULATED,
        hide_possible_values = true,
        value_delimiter = ',',
        value_name = "NAME,...",
        value_parser = PossibleValuesParser::new(start_states())
    )]
    pub start_state: Vec<String>,
}

/// What stands for every start state.
const ALL_STARTS: &str = "all";

/// The names of the start states.
fn start_states() -> impl Iterator<Item = &'static str> {
    StartState::ALL.iter().map(|state| state.name()).chain([ALL_STARTS])
}

impl GuestArgs {
    /// How runs begin, in the order of the list.
    pub fn starts(&self) -> Vec<StartState> {
        let is_asked = |state: &StartState| {
            let mut names = self.start_state.iter();
            self.start_state.is_empty()
                || names.any(|name| name == state.name() || name == ALL_STARTS)
        };
        StartState::ALL.iter().copied().filter(is_asked).collect()
    }
}

/// Where random numbers begin.
#[derive(Clone, Copy, Debug, Args)]
pub struct SeedArgs {
    /// Seed for random numbers; the same seed repeats a simulated run exactly
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>)]
    pub seed: u64,
}

/// `numa_spinlock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NumaMode {
    /// On if the machine has more than one NUMA node and is no guest.
    Auto,
    /// Always on.
    On,
    /// Always off.
    Off,
}

/// The machines of a list, which `--on` takes.
pub fn machines_of(on: &str) -> Result<Vec<&str>, Error> {
    let all: Vec<&str> = on.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if all.len() > 1 && all.contains(&NATIVE) {
        return Err(Error::usage(
            "--on takes this computer alone, or several simulated machines: leave out `native`",
        ));
    }
    Ok(if all.is_empty() { vec![on] } else { all })
}

impl MachineArgs {
    /// The same for each machine alone. A `plot` has room for one.
    pub fn each(&self, plot: Option<&PathBuf>) -> Result<Vec<Self>, Error> {
        let all = machines_of(&self.on)?;
        if all.len() > 1 && plot.is_some() {
            return Err(Error::usage("--plot draws one machine: name only one in --on"));
        }
        Ok(all.into_iter().map(|on| Self { on: on.into(), ..self.clone() }).collect())
    }
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
        Settings {
            tunables: set.collect(),
            placement: self.placement,
            calibration: self.calibration.clone(),
        }
    }
}
