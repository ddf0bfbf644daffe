//! Options that several commands have, and what options take.

mod build;
mod machine;
mod shard;
mod starve;
mod values;

pub use build::{BuildArgs, HANDOFF_HEADING, LISTED, typed};
pub use machine::{MachineArgs, SIMULATED, SeedArgs, Switch};
pub use shard::ShardArgs;
pub use starve::{STARVE, STARVE_HEADING, STARVE_THREADS, StarveArgs};
pub use values::{
    between, count, long_hold, name, nanoseconds, nested, number_of_machine, one_of,
    read_percent_renamed, seconds, seconds_or_off, whole,
};

/// The options in `line`, as the commands that have them read them.
pub fn read<A: clap::Args>(line: &str) -> A {
    let command = A::augment_args(clap::Command::new("lockwright").no_binary_name(true));
    A::from_arg_matches(&command.get_matches_from(line.split_whitespace()))
        .unwrap_or_else(|error| error.exit())
}
