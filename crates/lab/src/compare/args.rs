//! The arguments of `compare`, and what they mean.

use super::matrix;
use super::plan::{Effort, Plan};
use crate::cell::LabMachine;
use crate::error::Error;
use crate::native::peers::readers_share;
use crate::plan::{stalls_in_a_crowd, window_ns};
use crate::report::OutputArgs;
use crate::subject::{Asked, Origin, Selection, Subject};
use clap::Args;
use lockwright::registry::LockClass;
use std::path::PathBuf;

/// Arguments of `compare`.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Fewer and shorter repetitions: under three minutes instead of under twenty.
    #[arg(long)]
    pub quick: bool,
    /// Which of our locks.
    #[arg(long, value_name = "LOCK", default_value = "mutex")]
    pub ours: String,
    /// Peers or patterns, separated by commas; `parking_lot` is both of its versions [default: all].
    #[arg(long, value_delimiter = ',', value_name = "LOCK,...")]
    pub peer: Vec<String>,
    /// Cells or patterns such as 'cs1-*', separated by commas: `pair`, or the pauses in the section and
    /// the threads [default: all].
    #[arg(long, value_delimiter = ',', value_name = "CELL,...")]
    pub cells: Vec<String>,
    /// Repetitions of each cell; the best peer is chosen on one half and scored on the other [default:
    /// 10, 6 with --quick].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub runs: Option<u32>,
    /// Seconds of each repetition [default: what fits into the time].
    #[arg(long, allow_negative_numbers = true)]
    pub secs: Option<f64>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write a JSON document; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Say nothing on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// The peers that are compared with unless others are asked for.
pub const PEERS: &[&str] = &[
    "std",
    PARKING_LOT,
    PARKING_LOT_013,
    "pthread",
    "pthread-adaptive",
    "spin",
    "usync",
    #[cfg(feature = "c-peers")]
    "ck_fas",
    #[cfg(feature = "c-peers")]
    "ck_ticket",
    #[cfg(feature = "c-peers")]
    "ck_mcs",
    #[cfg(feature = "c-peers")]
    "tbb_spin_mutex",
    #[cfg(feature = "c-peers")]
    "tbb_mutex",
    #[cfg(feature = "c-peers")]
    "nsync",
    #[cfg(feature = "c-peers")]
    "absl",
];

/// In a comparison: the better of two versions in a cell. Elsewhere: the older version.
pub const PARKING_LOT: &str = "parking_lot";
/// The newer version.
const PARKING_LOT_013: &str = "parking_lot-0.13";
/// What the older version is called where `parking_lot` is both.
const PARKING_LOT_012: &str = "parking_lot-0.12";
/// The two versions.
pub const VERSIONS: [&str; 2] = [PARKING_LOT_012, PARKING_LOT_013];

/// What a lock is called in a comparison.
pub fn label(lock: Subject) -> &'static str {
    match lock.name() {
        PARKING_LOT => PARKING_LOT_012,
        name => name,
    }
}

impl CompareArgs {
    /// Where results go.
    pub fn outputs(&self) -> OutputArgs {
        let (json, csv) = (self.json.clone(), self.csv.clone());
        OutputArgs { json, csv, plot: None, quiet: self.quiet }
    }
    /// What is to be run, checked.
    pub fn plan(&self, machine: &dyn LabMachine) -> Result<Plan, Error> {
        let effort = if self.quick { Effort::Quick } else { Effort::Full };
        let secs = self.secs.map(|secs| window_ns(Some(secs), secs)).transpose()?;
        let ours = self.our_lock()?;
        let plan = Plan {
            ours,
            peers: self.peers(ours)?,
            cells: matrix::select(&self.cells)?,
            effort,
            runs: self.runs.unwrap_or(effort.runs()),
            asked_window_ns: secs,
            seed: self.seed,
            cpus: machine.cpus(),
        };
        Ok(plan)
    }
    fn our_lock(&self) -> Result<Subject, Error> {
        let lock = Subject::find(self.ours.trim())?;
        match (lock.origin, lock.row.class) {
            (Origin::Registry, LockClass::Product | LockClass::Reference) => Ok(lock),
            _ => Err(Error::usage(format!(
                "--ours takes one of our locks, and `{}` is none: leave it out for `mutex`, or name one \
                 of those that `lockwright locks` shows as simulated, too",
                lock.name()
            ))),
        }
    }
    fn peers(&self, ours: Subject) -> Result<Vec<Asked>, Error> {
        let is_named = !self.peer.is_empty();
        let mut names = self.peer.clone();
        match is_named {
            false => names.extend(PEERS.iter().map(|name| name.to_string())),
            true if self.peer.iter().any(|name| name.trim() == PARKING_LOT) => {
                names.push(PARKING_LOT_013.into());
            }
            true => {}
        }
        let mut peers = Selection::of(&names)?.subjects;
        peers.iter_mut().for_each(|peer| peer.explicitly &= is_named);
        for peer in &peers {
            let is_lock = peer.subject.origin != Origin::Floor;
            if !is_lock || peer.subject.row.class == LockClass::Busted {
                let name = peer.subject.name();
                return Err(Error::usage(format!(
                    "`{name}` is no peer: it does not exclude; --peer takes {}",
                    PEERS.join(", ")
                )));
            }
        }
        // Nobody reads in this matrix: a lock for readers is a peer only to who names it.
        let is_meant = |peer: &Asked| {
            let name = peer.subject.name();
            peer.explicitly || PEERS.contains(&name) || !readers_share(peer.subject)
        };
        peers.retain(|peer| peer.subject != ours && is_meant(peer));
        match peers.is_empty() {
            true => Err(Error::usage(format!(
                "no peer to compare `{}` with: --peer takes {}",
                ours.name(),
                PEERS.join(", ")
            ))),
            false => Ok(peers),
        }
    }
}

/// Whether `peer` takes part with more threads than CPUs: not if it stops whenever the next one in line has
/// no CPU, unless it was named.
pub fn bears_a_crowd(peer: Asked) -> bool {
    peer.explicitly || !stalls_in_a_crowd(peer.subject)
}
