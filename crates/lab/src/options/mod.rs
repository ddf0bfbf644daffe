//! Options that several commands have, and what options take.

mod machine;
mod shard;
mod values;
mod workload;

pub use machine::{MachineArgs, SIMULATED, SeedArgs, machines_of};
pub use shard::{FolderArgs, KeptArgs, ShardArgs};
pub use values::{
    between, count, long_hold, name, nested, number_of_machine, read_percent_renamed, seconds,
    seconds_or_off, whole,
};
pub use workload::{STARVE, StarveArgs, WorkloadArgs, written};

/// The options in `line`, as the commands that have them read them.
pub fn read<A: clap::Args>(line: &str) -> A {
    let command = A::augment_args(clap::Command::new("lockwright").no_binary_name(true));
    A::from_arg_matches(&command.get_matches_from(line.split_whitespace()))
        .unwrap_or_else(|error| error.exit())
}
