//! The arguments of `explore`, and what they mean.

use crate::error::Error;
use crate::machines;
use crate::subject::{Origin, Selection, USUAL};
use crate::suggest::nearest;
use clap::{Args, ValueEnum};
use lockwright::zoo::Bug;
use lockwright_cells::client::{Pair, Target};
use lockwright_clients::{clients_of, disturbed_clients, disturbed_clients_of};
use lockwright_sim::Sim;
use lockwright_sim::explore::{Limits, Plan, PolicyKind, Schedule, THREADS_MAX};
use lockwright_sim::machine::Placement;
use std::path::PathBuf;

/// Arguments of `explore`.
#[derive(Clone, Debug, Args)]
pub struct ExploreArgs {
    /// Locks or patterns such as 'cna-*', separated by commas; `all` is every right lock, `usual` leaves
    /// out combinations of a succession and a waiting policy.
    #[arg(long, value_delimiter = ',', default_value = USUAL)]
    pub lock: Vec<String>,
    /// Clients (test bodies), separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "all")]
    pub client: Vec<String>,
    /// Threads of each client.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub threads: usize,
    /// Schedules of each lock and client.
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub schedules: u64,
    /// Who picks what happens next [default: random, pct and pos take turns].
    #[arg(long, value_enum)]
    pub policy: Option<PolicyName>,
    /// Policy `pct`: how many ordering constraints the bug may need [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub depth: Option<u32>,
    /// Policy `dfs`: preemptions of one schedule; otherwise how often a thread loses its CPU.
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub preemptions: u32,
    /// How often each thread does what its client does.
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// A simulated machine's name, or a path to a `.toml` [default: a small one with two NUMA nodes].
    #[arg(long, value_name = "MACHINE")]
    pub on: Option<String>,
    /// Seed the locks with a bug, by its row in the bug zoo.
    #[arg(long, value_name = "ROW")]
    pub bug: Option<String>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Run one schedule again, as it was printed.
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["schedules", "policy", "depth"])]
    pub replay: Option<String>,
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

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PolicyName {
    /// Everything is as likely as everything else.
    Random,
    /// Random priorities that change at a few steps.
    Pct,
    /// A random priority for each pending access, drawn again after a conflict.
    Pos,
    /// All schedules with few preemptions, one after the other.
    Dfs,
}

/// `depth` if it was not given.
const DEFAULT_DEPTH: u32 = 3;

impl ExploreArgs {
    /// The pairs of a lock and a client.
    pub fn pairs(&self) -> Result<Vec<Pair>, Error> {
        let bug = self.bug()?;
        let clients = self.clients()?;
        let mut pairs = Vec::new();
        for asked in Selection::of(&self.lock)?.subjects {
            let (lock, name) = (asked.subject.row.name, asked.subject.name());
            let has_bug = bug.is_none_or(|bug| bug.is_in(lock));
            if asked.explicitly && asked.subject.origin != Origin::Registry {
                let why = format!("`{name}` is not written for simulated machines: leave it out");
                return Err(Error::usage(why));
            }
            if let Some(bug) = bug.filter(|_| asked.explicitly && !has_bug) {
                let (row, locks) = (bug.row(), bug.locks().join(", "));
                let why = format!("bug {row} is not one of `{name}`; --lock can be {locks}");
                return Err(Error::usage(why));
            }
            if asked.subject.origin == Origin::Registry && has_bug {
                let its = clients_of::<Sim>(lock).chain(disturbed_clients_of(lock).iter().copied());
                let its = its.filter(|client| clients.contains(client));
                pairs.extend(its.map(|client| Pair { lock, client }));
            }
        }
        match pairs.is_empty() {
            true => Err(Error::usage(
                "nothing to explore: name a lock of ours that has such a client with --lock, or leave \
                 out --client",
            )),
            false => Ok(pairs),
        }
    }
    fn clients(&self) -> Result<Vec<&'static str>, Error> {
        let clients = || lockwright_clients::clients().chain(disturbed_clients().iter().copied());
        let mut chosen = Vec::new();
        for name in self.client.iter().map(|name| name.trim()) {
            let is_meant = |client: &&str| ["all", *client].contains(&name);
            let meant: Vec<_> = clients().filter(is_meant).collect();
            if meant.is_empty() {
                let near = nearest(name, clients().chain(["all"]));
                let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                let all = clients().collect::<Vec<_>>().join(", ");
                let sentence = format!("unknown client `{name}`; {hint}There are {all} and all");
                return Err(Error::usage(sentence.replace(char::is_control, " ")));
            }
            chosen.extend(
                meant.into_iter().filter(|client| !chosen.contains(client)).collect::<Vec<_>>(),
            );
        }
        Ok(chosen)
    }
    /// The bug that was asked for.
    pub fn bug(&self) -> Result<Option<Bug>, Error> {
        let Some(row) = self.bug.as_deref().map(str::trim) else { return Ok(None) };
        let bug = Bug::of_row(row).ok_or_else(|| {
            let rows: Vec<_> = Bug::ALL.iter().map(|bug| bug.row()).collect();
            let sentence = format!("unknown bug `{row}`; the zoo has {}", rows.join(", "));
            Error::usage(sentence.replace(char::is_control, " "))
        })?;
        Ok(Some(bug))
    }
    /// What all pairs have in common.
    pub fn target(&self) -> Result<Target, Error> {
        let threads = u32::try_from(self.threads).unwrap_or(u32::MAX);
        if threads < 2 || self.threads > THREADS_MAX {
            return Err(Error::usage(format!(
                "--threads {threads} makes no sense here: give 2 to {THREADS_MAX}"
            )));
        }
        let machine = match self.on.as_deref().map(str::trim) {
            None => machines::two_nodes(threads),
            Some(machines::NATIVE) => {
                let why = "schedules are explored on simulated machines only: leave out --on";
                return Err(Error::usage(why));
            }
            Some(on) => machines::described(on)?,
        };
        let placed = Placement::Spread.place(&machine.topology, threads, self.seed);
        let cpus = placed.map_err(|error| Error::usage(format!("--threads {threads}: {error}")))?;
        let (rounds, seed, bug) = (self.rounds, self.seed, self.bug()?);
        Ok(Target { machine, cpus, rounds, seed, bug })
    }
    /// What is done with each pair.
    pub fn plan(&self) -> Result<Plan, Error> {
        let depth = self.depth.unwrap_or(DEFAULT_DEPTH);
        if self.depth.is_some() && !matches!(self.policy, None | Some(PolicyName::Pct)) {
            return Err(Error::usage("--depth is for --policy pct: leave one of the two out"));
        }
        let policies = match self.policy {
            None => vec![PolicyKind::Random, PolicyKind::Pct(depth), PolicyKind::Pos],
            Some(PolicyName::Random) => vec![PolicyKind::Random],
            Some(PolicyName::Pct) => vec![PolicyKind::Pct(depth)],
            Some(PolicyName::Pos) => vec![PolicyKind::Pos],
            Some(PolicyName::Dfs) => vec![PolicyKind::Dfs(self.preemptions)],
        };
        Ok(Plan { policies, schedules: self.schedules, limits: self.limits() })
    }
    /// How much may happen in a schedule.
    pub fn limits(&self) -> Limits {
        Limits { preemptions: self.preemptions, ..Limits::default() }
    }
    /// The schedule that is to be run again.
    pub fn schedule(&self) -> Result<Option<Schedule>, Error> {
        let Some(text) = self.replay.as_deref() else { return Ok(None) };
        let schedule = text.trim().parse::<Schedule>();
        schedule.map(Some).map_err(|error| {
            Error::usage(format!("--replay: {error}: copy it from the line that was printed"))
        })
    }
}
