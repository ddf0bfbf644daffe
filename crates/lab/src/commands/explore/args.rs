//! The arguments of `explore`, and what they mean.

use crate::machines;
use crate::options::{SeedArgs, ShardArgs, between, whole};
use clap::{Args, ValueEnum};
use lockwright_catalog::registry::{LOCKS, LockRow};
use lockwright_clients::{clients_of, disturbed_clients, disturbed_clients_of};
use lockwright_measure::client::{LockAndClient, Target};
use lockwright_measure::error::Error;
use lockwright_measure::subject::{Asked, Selection, SubjectOrigin, USUAL};
use lockwright_measure::suggest::nearest;
use lockwright_sheets::{DocumentArgs, Progress};
use lockwright_sim::Sim;
use lockwright_sim::explore::{Limits, Plan, PolicyKind, Schedule, THREADS_MAX};
use lockwright_sim::machine::ThreadPlacement;
use lockwright_zoo::{Bug, BugKind, fault_of};

/// Where the help lists what decides how the schedules are searched.
const SEARCH: &str = "How schedules are searched";

/// Arguments of `explore`.
#[derive(Clone, Debug, Args)]
pub struct ExploreArgs {
    /// Locks: names or patterns ('cna-*'), comma-separated; `all` (without the
    /// kernel's history), or `usual` (without the combinations of CNA and a waiting policy, either).
    /// See `lockwright locks`
    #[arg(long, value_name = "LOCK,...", value_delimiter = ',', default_value = USUAL)]
    pub lock: Vec<String>,
    /// Test clients, the small programs that use the lock; see `lockwright clients`
    #[arg(long, value_name = "CLIENT,...", value_delimiter = ',', default_value = "all")]
    pub client: Vec<String>,
    /// Threads of each client
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole::<usize>)]
    pub threads: usize,
    /// Schedules to run of each lock with each client
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = between::<u64, 1, 1_000_000_000>)]
    pub schedules: u64,
    /// Put a known bug into the locks, by its number or name in `lockwright bugs`; only bugs of the order
    /// of steps can be seen here, not those of weak memory
    #[arg(long, value_name = "N")]
    pub bug: Option<String>,
    /// Run one schedule again, as it was printed
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["schedules", "policy", "depth"])]
    pub replay: Option<String>,
    /// Print each schedule that fails, or that is replayed, for a mailing list: the moves that touch the lock, links
    /// and grants, and a line to quote
    #[arg(long)]
    pub quote: bool,
    /// The seed.
    #[command(flatten)]
    pub random: SeedArgs,
    /// Which part of the pairs.
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Where results go.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
    /// How the next step is chosen: random (each step is equally likely), pct (random priorities that
    /// change a few times), pos (a random priority for each step, drawn again after a conflict) or dfs
    /// (all schedules with few preemptions) [default: random, pct and pos take turns]
    #[arg(long, value_enum, help_heading = SEARCH, hide_possible_values = true)]
    pub policy: Option<PolicyName>,
    /// With pct: how many ordering constraints a bug may need, 1 to 64 [default: 3]
    #[arg(long, value_name = "N", help_heading = SEARCH, value_parser = between::<u32, 1, 64>)]
    pub depth: Option<u32>,
    /// With dfs: how often a schedule may switch away from a thread that could go on, at most; with the
    /// others: how often a thread loses its CPU for a while, at most
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = SEARCH,
          value_parser = between::<u32, 0, 1_000>)]
    pub preemptions: u32,
    /// How often each thread repeats what its client does
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = SEARCH,
          value_parser = between::<u32, 1, 1_000>)]
    pub rounds: u32,
    /// Simulated machine to run on, by name or file [default: a small one with two NUMA nodes]
    #[arg(long, value_name = "MACHINE", help_heading = SEARCH)]
    pub on: Option<String>,
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

/// The clients that fit a lock.
fn fitting(lock: &'static LockRow) -> impl Iterator<Item = &'static str> {
    clients_of::<Sim>(lock).chain(disturbed_clients_of::<Sim>(lock).iter().copied())
}

/// The test of the model that fails the lock whose release orders nothing.
const LOOM_TEST: &str = "a_lock_whose_release_orders_nothing";

/// `depth` if it was not given.
const DEFAULT_DEPTH: u32 = 3;

impl ExploreArgs {
    /// The pairs of a lock and a client.
    pub fn pairs(&self) -> Result<Vec<LockAndClient>, Error> {
        let (bug, clients) = (self.bug()?, self.clients()?);
        let mut pairs = Vec::new();
        for Asked { subject, explicitly } in Selection::of(&self.lock)?.subjects {
            let name = subject.name();
            let is_simulated = subject.origin == SubjectOrigin::Registry;
            let why = match bug.filter(|bug| !bug.is_in(name)) {
                _ if explicitly && !is_simulated => format!(
                    "`{name}` runs on this computer only, and schedules are simulated: leave it out"
                ),
                _ if matches!(fault_of(name), Some(BugKind::Memory)) => format!(
                    "`{name}` is broken on purpose by an ordering that is too weak; explore cannot see \
                     that: run `cargo test -p lockwright-model --test loom {LOOM_TEST}` in the source tree (loom)"
                ),
                Some(Bug { row, locks, .. }) if explicitly => {
                    format!("`{name}` cannot have bug {row}: --lock can be {}", locks.join(", "))
                }
                None if is_simulated => {
                    let its = fitting(subject.row).filter(|client| clients.contains(client));
                    pairs.extend(its.map(|client| LockAndClient { lock: subject.row, client }));
                    continue;
                }
                _ => continue,
            };
            return Err(Error::usage(why));
        }
        if pairs.is_empty() {
            return Err(self.nothing_fits(&clients, bug));
        }
        // All pairs run the same number of schedules.
        let own = self.shard.part()?.of(pairs, |_| 1);
        if own.is_empty() {
            let why = "there are fewer pairs of a lock and a client than parts: use fewer parts in --shard";
            return Err(Error::usage(why));
        }
        Ok(own)
    }
    /// Why there is no pair.
    fn nothing_fits(&self, clients: &[&'static str], bug: Option<&Bug>) -> Error {
        if let Some(Bug { row, locks, .. }) = bug {
            return Error::usage(format!(
                "nothing to explore: no lock of --lock that has bug {row} fits --client; leave out --client, or \
                 name one of the locks that have the bug ({})",
                locks.join(", ")
            ));
        }
        let named = |names: &[&str]| match names {
            [first, second, _, _, ..] => {
                format!("`{first}`, `{second}` and {} more", names.len() - 2)
            }
            [first @ .., last] if !first.is_empty() => {
                format!("`{}` and `{last}`", first.join("`, `"))
            }
            _ => format!("`{}`", names.concat()),
        };
        let verb = if clients.len() == 1 { "does" } else { "do" };
        let locks = match &self.lock[..] {
            [lock] => format!("`{}`", lock.trim()),
            _ => "these locks".into(),
        };
        let instead = match clients {
            [client] => {
                let correct = LOCKS.iter().filter(|row| row.is_correct());
                let fits = correct.filter(|row| fitting(row).any(|its| its == *client));
                let those: Vec<_> = fits.map(|row| row.name).collect();
                let those = named(&those).replace('`', "");
                format!("it is for {those}; name one of these, or leave out --client")
            }
            _ => "leave out --client, or name other locks".into(),
        };
        Error::usage(format!("{} {verb} not fit {locks}: {instead}", named(clients)))
    }
    fn clients(&self) -> Result<Vec<&'static str>, Error> {
        let clients =
            || lockwright_clients::clients::<Sim>().chain(disturbed_clients().iter().copied());
        let mut chosen = Vec::new();
        for name in self.client.iter().map(|name| name.trim()) {
            if name.is_empty() {
                let why = "there is an empty name among the clients: take out the comma, or write a name there";
                return Err(Error::usage(why));
            }
            let is_meant = |client: &&str| ["all", *client].contains(&name);
            let meant: Vec<_> = clients().filter(is_meant).collect();
            if meant.is_empty() {
                let near = nearest(name, clients().chain(["all"]));
                return Err(Error::unknown("client", name, near, "lockwright clients"));
            }
            let new = meant.into_iter().filter(|client| !chosen.contains(client));
            chosen.extend(new.collect::<Vec<_>>());
        }
        Ok(chosen)
    }
    /// The bug that was asked for. One that exploring cannot see is refused.
    pub fn bug(&self) -> Result<Option<&'static Bug>, Error> {
        let Some(typed) = self.bug.as_deref().map(str::trim) else { return Ok(None) };
        let Some(bug) = Bug::called(typed) else {
            // No number is like another one.
            let is_number = typed.starts_with(|c: char| c.is_ascii_digit());
            let names = Bug::all().map(|bug| bug.name).filter(|_| !is_number);
            return Err(Error::unknown("bug", typed, names, "lockwright bugs"));
        };
        if let Some(why) = bug.seen.kind.hides_from_explore() {
            let Bug { row, name, seen, .. } = bug;
            let by = seen.by.iter().map(|by| by.name()).collect::<Vec<_>>().join(" and ");
            return Err(Error::usage(format!(
                "bug {row} ({name}) {why}: run `cargo xtask zoo --only {row}` in the source tree ({by}), which \
                 builds the checkers first; that can take ten minutes"
            )));
        }
        Ok(Some(bug))
    }
    /// What all pairs have in common.
    pub fn target(&self) -> Result<Target, Error> {
        let threads = u32::try_from(self.threads).unwrap_or(u32::MAX);
        if threads < 2 || self.threads > THREADS_MAX {
            return Err(Error::usage(format!(
                "--threads must be between 2 and {THREADS_MAX} here, not {threads}"
            )));
        }
        let machine = match self.on.as_deref().map(str::trim) {
            None => machines::two_nodes(threads),
            Some(machines::NATIVE) => {
                let why = "schedules are simulated: leave out --on, or name a simulated machine";
                return Err(Error::usage(why));
            }
            Some(on) => machines::described(on)?,
        };
        let placed = ThreadPlacement::Spread.place(&machine.topology, threads, self.random.seed);
        let cpus = placed.map_err(|error| Error::usage(format!("--threads {threads}: {error}")))?;
        let (rounds, seed) = (self.rounds, self.random.seed);
        Ok(Target { machine, cpus, rounds, seed })
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
        let limits = Limits { preemptions: self.preemptions, ..Limits::default() };
        Ok(Plan { policies, schedules: self.schedules, limits })
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
