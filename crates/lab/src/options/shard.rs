//! Which part of the work a process does.

use clap::Args;
use lockwright_measure::error::Error;
use lockwright_parts::Part;
use lockwright_sheets::complain;

/// Which part of the work this process does.
#[derive(Clone, Debug, Args)]
pub struct ShardArgs {
    /// Do one part of the work: 3/8 is the third of eight; auto takes the part that Slurm, Kubernetes or GNU parallel
    /// has given this process, and auto/8 where they do not say how many there are
    #[arg(long, value_name = "K/N", default_value = "1/1")]
    pub shard: String,
}

impl ShardArgs {
    /// The part. Says where it was found, if it was not typed.
    pub fn part(&self) -> Result<Part, Error> {
        let parted = Part::of_process(&self.shard).map_err(Error::usage)?;
        if let Some(found) = &parted.found {
            complain(found);
        }
        Ok(parted.part)
    }
}
