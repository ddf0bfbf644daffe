//! Which part of the work a process does, and where it keeps the records.

use clap::Args;
use lockwright_measure::error::Error;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::Workload;
use lockwright_parts::Part;
use lockwright_sheets::{Progress, complain, wrapped};
use lockwright_studies::records::{Folder, quote};
use std::path::PathBuf;

/// Where the help lists what keeps, divides and names long runs.
const LONG_RUNS: &str = "Long runs";

/// Which part of the work this process does.
#[derive(Clone, Debug, Args)]
pub struct ShardArgs {
    /// Do one part of the work: 3/8 is the third of eight; auto takes the part that Slurm, Kubernetes or GNU parallel
    /// has given this process, and auto/8 where they do not say how many there are
    #[arg(long, value_name = "K/N", default_value = "1/1", help_heading = LONG_RUNS)]
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
    /// The part, which is all of it on this computer.
    pub fn part_of(&self, is_simulated: bool) -> Result<Part, Error> {
        let part = self.part()?;
        if !is_simulated && part != Part::default() {
            return Err(Error::usage(
                "--shard is for simulated machines, because locks on this computer take turns in one process: add --on \
                 x5-4",
            ));
        }
        Ok(part)
    }
}

/// Where a command keeps the record of each run.
#[derive(Clone, Debug, Args)]
pub struct KeptArgs {
    /// Keep the record of each run in this folder, and do not run what is there: after Ctrl-C or a kill the same
    /// command goes on; if parts of the work are there, without --shard it puts them together
    #[arg(long, value_name = "DIR", help_heading = LONG_RUNS)]
    pub out: Option<PathBuf>,
}

impl KeptArgs {
    /// The folder, if there is one, for a part of the work.
    pub fn open(&self, part: Part, progress: Progress) -> Result<Option<Folder>, Error> {
        let Some(path) = &self.out else { return Ok(None) };
        let folder = Folder::open(path, part)?;
        if folder.were_there() > 0 {
            progress.say(&format!("{} records are in {}", folder.were_there(), path.display()));
        }
        Ok(Some(folder))
    }
}

/// Where a command keeps the record of each run, and which part of the work this process does.
#[derive(Clone, Debug, Args)]
pub struct FolderArgs {
    /// Which part of the work this process does.
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Where records are kept.
    #[command(flatten)]
    pub kept: KeptArgs,
    /// End the text with a line to quote: the version, the machine, the seed, and how far the fit is off
    #[arg(long, help_heading = LONG_RUNS)]
    pub quote: bool,
}

impl FolderArgs {
    /// The line to quote of what `machine` ran; nothing if nobody asked for it.
    pub fn quoted(&self, machine: &dyn LabMachine, workload: Workload, seed: u64) -> String {
        if !self.quote {
            return String::new();
        }
        format!("\n{}", wrapped(&quote(machine, workload, seed)))
    }
    /// What is said after Ctrl-C.
    pub fn interrupted(&self) -> String {
        let goes_on =
            if self.kept.out.is_some() { "; the same command goes on from there" } else { "" };
        format!("interrupted: the results cover what was measured until then{goes_on}")
    }
}
