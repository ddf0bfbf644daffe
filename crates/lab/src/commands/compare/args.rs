//! The arguments of `compare`, and what they mean.

use super::cells::{self, CellKind};
use super::effort::CompareEffort;
use super::locks::{OURS, OURS_MIXED, OURS_RW, Versions, all_peers, rw_locks_of};
use super::plan::{ComparePlan, Side};
use super::simulated;
use crate::matrix::window_ns;
use crate::options::{FolderArgs, SIMULATED, SeedArgs, between, name, number_of_machine, seconds};
use clap::Args;
use lockwright_catalog::registry::LockClass;
use lockwright_measure::error::Error;
use lockwright_measure::native::locks::readers_share;
use lockwright_measure::peers::{Comparison, usual_peers};
use lockwright_measure::subject::{Asked, FLOOR, Selection, Subject, SubjectOrigin};
use lockwright_measure::trial::LabMachine;
use lockwright_sheets::{DocumentArgs, Progress};

/// Where the help lists how the cells are measured, and more choices of them.
const MEASURING: &str = "Which cells, and how they are measured";

/// Which cells of real use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum NeighbourChoice {
    /// Those in which another thread computes on every CPU.
    With,
    /// Those in which no other thread does.
    Without,
}

/// Arguments of `compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Fewer and shorter repetitions: under 5 minutes instead of under 60
    #[arg(long)]
    pub quick: bool,
    /// A simulated machine, by name or file, or several [default: native]
    #[arg(long, value_name = "MACHINE,...", value_parser = name)]
    pub on: Option<String>,
    /// Peers: names or patterns. A library's name selects all of its locks and versions: `parking_lot`
    /// is four [default: all]
    #[arg(long, value_delimiter = ',', value_name = "LOCK,...")]
    pub peer: Vec<String>,
    /// Lockwright's locks: one exclusive lock, and reader-writer locks, of which the best counts
    /// [default: mutex,rwlock,percpu-rwlock]
    #[arg(long, value_delimiter = ',', value_name = "LOCK,...")]
    pub ours: Vec<String>,
    /// Cells: names or patterns such as pair, 'cs1-*' (1 pause in the section), 'r90-*' (90 % reads), '*+busy' (busy
    /// neighbours) [default: all]
    #[arg(long, alias = "cells", value_delimiter = ',', value_name = "CELL,...")]
    pub cell: Vec<String>,
    /// Kinds: pair, exclusive and rw (counters), queue, blocking (long sections), work (maps), sleep (readers sleep)
    /// [default: all but sleep]
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "KIND,...",
        hide_possible_values = true
    )]
    pub kind: Vec<CellKind>,
    /// Cells of kinds queue, blocking and work: with a busy neighbour on every CPU, or without [default:
    /// both]
    #[arg(long, value_enum, value_name = "WHICH", help_heading = MEASURING)]
    pub neighbours: Option<NeighbourChoice>,
    /// Only this part: rwlock is our RwLock against reader-writer locks of others, with short sections and where
    /// readers sleep (as --ours rwlock --kind rw,sleep)
    #[arg(long, value_name = "PART", value_parser = [OURS_MIXED], conflicts_with_all = ["ours", "kind"],
          hide_possible_values = true, help_heading = MEASURING)]
    pub only: Option<String>,
    /// Repetitions of each cell, 2 or more: the best peer is chosen on one half and scored on the other
    /// [default: 10, with readers and in queue, blocking and work 6; with --quick 6 and 4; simulated 6
    /// and 2]
    #[arg(long, value_name = "N", help_heading = MEASURING, value_parser = between::<u32, 2, 10_000>)]
    pub runs: Option<u32>,
    /// Length of a repetition [default: what fits into the time; simulated 30ms, with --quick 10ms, and longer with
    /// many threads or long sections]
    #[arg(long, value_name = "TIME", help_heading = MEASURING, value_parser = seconds)]
    pub secs: Option<f64>,
    /// Other numbers for the simulated machine: names as in its file (`lockwright machines show x5-4`), times in
    /// nanoseconds, such as pause=45,wake_latency=2000; cpus=8 makes it one socket with 8 cores
    #[arg(long, value_delimiter = ',', value_name = "NAME=NUMBER,...", help_heading = SIMULATED,
          value_parser = number_of_machine)]
    pub set: Vec<(String, f64)>,
    /// The seed.
    #[command(flatten)]
    pub random: SeedArgs,
    /// Where records are kept, and which part of the work this process does.
    #[command(flatten)]
    pub folder: FolderArgs,
    /// Where results go.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}

impl CompareArgs {
    /// What is to be run, checked.
    pub fn plan(&self, machine: &dyn LabMachine) -> Result<ComparePlan, Error> {
        let effort = if self.quick { CompareEffort::Quick } else { CompareEffort::Full };
        let secs = self.secs.map(|secs| window_ns(Some(secs), secs)).transpose()?;
        let only_kinds = [CellKind::Rw, CellKind::Sleep];
        let kinds = if self.only.is_some() { &only_kinds } else { &self.kind[..] };
        let mut cells = cells::select(&self.cell, kinds)?;
        let left_out = match machine.is_simulated() {
            true => simulated::leave_out_cells(&mut cells, machine)?,
            false => Vec::new(),
        };
        if let Some(choice) = self.neighbours {
            let has = choice == NeighbourChoice::With;
            cells.retain(|cell| cell.has_neighbours == has);
            if cells.is_empty() {
                return Err(Error::usage(
                    "no cell of --cell and --kind is left by --neighbours: leave out --neighbours",
                ));
            }
        }
        let ours = self.our_locks()?;
        let (reading, owning): (Vec<Subject>, Vec<Subject>) =
            ours.iter().partition(|&&lock| readers_share(lock));
        let ours: Vec<Subject> = owning.into_iter().chain(reading.clone()).take(1).collect();
        let exclusive = Side { peers: self.peers(&ours, machine)?, ours };
        let rw = Side { peers: self.rw_peers(&reading, machine)?, ours: reading };
        let [real_use, rw_real_use] =
            [self.in_real_use(&exclusive, false, machine)?, self.in_real_use(&rw, true, machine)?];
        let mut plan = ComparePlan {
            exclusive,
            rw,
            real_use,
            rw_real_use,
            cells,
            effort,
            asked_runs: self.runs,
            leaves_out_neighbours: false,
            spared_runs: 0,
            asked_window_ns: secs,
            seed: self.random.seed,
            cpus: machine.cpus(),
            is_simulated: machine.is_simulated(),
            left_out,
        };
        plan.leave_out_lonely_cells()?;
        plan.spare_runs();
        Ok(plan)
    }
    /// Our locks, each once.
    fn our_locks(&self) -> Result<Vec<Subject>, Error> {
        let usual = || std::iter::once(&OURS).chain(OURS_RW).map(|name| name.to_string()).collect();
        let asked = self.only.iter().chain(&self.ours).cloned().collect::<Vec<_>>();
        let names = if asked.is_empty() { usual() } else { asked };
        let mut locks: Vec<Subject> = Vec::new();
        for name in &names {
            let lock = our_lock(name)?;
            if !locks.contains(&lock) {
                locks.push(lock);
            }
        }
        let owning: Vec<&str> =
            locks.iter().filter(|&&l| !readers_share(l)).map(|lock| lock.name()).collect();
        match owning[..] {
            [first, second, ..] => Err(Error::usage(format!(
                "--ours takes one exclusive lock, and `{first}` and `{second}` are two: leave out one of them"
            ))),
            _ => Ok(locks),
        }
    }
    /// The peers in cells without readers.
    fn peers(&self, ours: &[Subject], machine: &dyn LabMachine) -> Result<Vec<Asked>, Error> {
        self.peer.iter().try_for_each(|name| needs_c_peers(name))?;
        let is_named = !self.peer.is_empty();
        let names =
            if is_named { both_versions(&self.peer) } else { usual(Comparison::Owning, machine) };
        let mut peers = Selection::of(&names)?.subjects;
        peers.iter_mut().for_each(|peer| peer.explicitly &= is_named);
        for peer in &peers {
            let is_lock = peer.subject.origin != SubjectOrigin::Floor;
            if !is_lock || peer.subject.row.class == LockClass::Busted {
                let name = peer.subject.name();
                return Err(Error::usage(format!(
                    "`{name}` is not a lock to compare with: --peer takes {}",
                    all_peers()
                )));
            }
        }
        // No thread reads in these cells: a reader-writer lock that is not a usual peer has to be named. So has a lock
        // of the history.
        let is_meant = |peer: &Asked| {
            let name = peer.subject.name();
            let is_usual = usual_peers(Comparison::Owning).any(|usual| usual == name);
            let is_old = peer.subject.row.class == LockClass::History;
            peer.explicitly || is_usual || !readers_share(peer.subject) && !is_old
        };
        simulated::leave_out_foreign(&mut peers, machine)?;
        peers.retain(|peer| !ours.contains(&peer.subject) && is_meant(peer));
        Ok(peers)
    }
    /// The locks in cells of real use: peers that nearly every program uses, unless others are named.
    fn in_real_use(
        &self,
        side: &Side,
        share: bool,
        machine: &dyn LabMachine,
    ) -> Result<Side, Error> {
        let ours = side.ours.clone();
        if !self.peer.is_empty() {
            return Ok(Side { peers: side.peers.clone(), ours });
        }
        let mut peers = Selection::of(&usual(Comparison::RealUse, machine))?.subjects;
        peers.iter_mut().for_each(|peer| peer.explicitly = false);
        peers.retain(|peer| !ours.contains(&peer.subject) && readers_share(peer.subject) == share);
        Ok(Side { peers, ours })
    }
    /// The peers in cells with readers.
    fn rw_peers(&self, ours: &[Subject], machine: &dyn LabMachine) -> Result<Vec<Asked>, Error> {
        let is_named = !self.peer.is_empty();
        let with_family = |name: String| {
            let family = rw_locks_of(name.trim()).map(|name| name.to_string());
            std::iter::once(name.clone()).chain(family).collect::<Vec<_>>()
        };
        let names: Vec<String> = match is_named {
            true => both_versions(&self.peer).into_iter().flat_map(with_family).collect(),
            false => usual(Comparison::Reading, machine),
        };
        let mut peers = Selection::of(&names)?.subjects;
        peers.iter_mut().for_each(|peer| peer.explicitly &= is_named);
        simulated::leave_out_foreign(&mut peers, machine)?;
        peers.retain(|peer| !ours.contains(&peer.subject) && readers_share(peer.subject));
        Ok(peers)
    }
}

fn our_lock(name: &str) -> Result<Subject, Error> {
    let not_ours = |name: &str| {
        Err(Error::usage(format!(
            "--ours takes Lockwright's own locks, and `{name}` is not one: leave it out, or name one such as \
             `{OURS}`"
        )))
    };
    if name.trim() == FLOOR {
        return not_ours(FLOOR);
    }
    let lock = Subject::find(name.trim())?;
    match lock.origin {
        SubjectOrigin::Registry if lock.row.is_correct() => Ok(lock),
        _ => not_ours(lock.name()),
    }
}

/// The peers on `machine`, unless others are named.
fn usual(comparison: Comparison, machine: &dyn LabMachine) -> Vec<String> {
    match machine.is_simulated() {
        true => simulated::usual_peers(comparison).map(String::from).collect(),
        false => usual_peers(comparison).map(String::from).collect(),
    }
}

/// The names, and the name of the newer version of a lock that has two.
fn both_versions(names: &[String]) -> Vec<String> {
    let newer = |name: &String| Some(Versions::of(name.trim())?.labels[1].to_string());
    names.iter().cloned().chain(names.iter().filter_map(newer)).collect()
}

/// An error for a peer that this build does not have.
fn needs_c_peers(name: &str) -> Result<(), Error> {
    const LIBRARIES: [&str; 5] = ["ck", "tbb", "onetbb", "nsync", "absl"];
    let library = name.split('_').next().unwrap_or(name);
    if cfg!(feature = "c-peers") || !LIBRARIES.contains(&library) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "`{name}` needs a build with `--features c-peers`, which docs/lab.md describes; --peer takes {} now",
        usual_peers(Comparison::Owning).collect::<Vec<_>>().join(", ")
    )))
}
