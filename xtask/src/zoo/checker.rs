//! The checkers, and how they are asked.

use crate::limit::output_within;
use crate::weaken::copy::{CHECK, FAIRNESS, LAB, PREFIX, VARIABLE};
use lockwright_zoo::{Bug, BugKind, Checker, locks};
use serde::Deserialize;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What all checks of one job may take.
const SECONDS_MAX: u64 = 300;
const SECONDS_MAX_FULL: u64 = 3600;

/// One bug, or none, in one lock under one checker.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The bug.
    pub bug: Option<&'static Bug>,
    /// The lock.
    pub lock: &'static str,
    /// The checker.
    pub checker: Checker,
}

/// What one check said.
#[derive(Clone, Debug, Deserialize)]
pub struct Said {
    /// The lock.
    pub lock: String,
    /// The client, or the bound.
    pub client: String,
    /// The machine.
    pub on: String,
    /// True if the check found something.
    pub violated: bool,
    /// What.
    pub complaint: Option<String>,
    /// Executions or schedules tried up to there.
    pub executions: u64,
    /// How long that took.
    pub seconds: f64,
    /// Where the schedules came from, if from a seed.
    pub seed: Option<u64>,
    /// The schedule, if it can be repeated.
    pub schedule: Option<String>,
}

/// What `lockwright explore` writes, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Explored {
    seed: u64,
    results: Vec<OfExplored>,
}

#[derive(Debug, Deserialize)]
struct OfExplored {
    lock: String,
    client: String,
    threads: u64,
    schedules: u64,
    failure: Option<ExploredFailure>,
}

#[derive(Debug, Deserialize)]
struct ExploredFailure {
    message: String,
    schedule: String,
}

impl Explored {
    fn said(self) -> Vec<Said> {
        let seed = Some(self.seed);
        let said = |it: OfExplored| {
            let (complaint, schedule) =
                it.failure.map(|failure| (failure.message, failure.schedule)).unzip();
            Said {
                lock: it.lock,
                client: it.client,
                on: format!("{} threads, simulated", it.threads),
                violated: complaint.is_some(),
                complaint,
                executions: it.schedules,
                seconds: 0.0,
                seed,
                schedule,
            }
        };
        self.results.into_iter().map(said).collect()
    }
}

/// How `lockwright explore` is asked: with this client, or with those that can show a bug of this lock.
fn exploration<'a>(lock: &str, client: Option<&'a str>) -> Vec<&'a str> {
    let own = EXPLORED.iter().find(|(locks, _)| locks.contains(&lock));
    let usual = own.map_or(("exclusion", "8", "4"), |(_, how)| *how);
    let (client, threads, rounds) = match client {
        // It takes some owners and sleepers of both.
        Some("neighbours") => ("neighbours", "8", "2"),
        Some("condvar-left-to-waiter") => ("condvar-left-to-waiter", "3", "1"),
        Some(client) => (client, usual.1, usual.2),
        None => usual,
    };
    let schedules = match client {
        // Half of them are with waiters that do not spin, who cannot show it.
        "neighbours" => "20000",
        // A thread has to give up between two steps of another.
        "condvar-left-to-waiter" => "100000",
        _ => "10000",
    };
    let of = ["--client", client, "--threads", threads];
    // With more than two NUMA nodes, so that a queue is not at an end of the list.
    let on: &[_] = if locks::HQ.contains(&lock) { &["--on", "x5-4"] } else { &[] };
    [&of[..], on, &["--rounds", rounds, "--schedules", schedules, "--json", "-"]].concat()
}

/// Clients, threads and rounds.
type Exploration = (&'static str, &'static str, &'static str);

/// How locks are explored that have more to show than exclusion: the clients, the threads and the rounds.
const EXPLORED: &[(&[&str], Exploration)] = &[
    (locks::TICKET, ("try-lock", "4", "4")),
    (
        locks::MUTEX,
        (
            "mutex-timed,mutex-fair,condvar,condvar-promise,condvar-all,condvar-mutexes,condvar-timed,condvar-left,condvar-left-to-waiter,condvar-another-mutex,last-user,neighbours",
            "4",
            "2",
        ),
    ),
    (locks::HQ, ("hq-by-node", "6", "4")),
    (locks::SEMAPHORE, ("semaphore-timed,semaphore-last-permit", "4", "2")),
    // Waiters that give up.
    (locks::RWLOCK, ("rwlock-timed-writer", "4", "2")),
    (locks::PERCPU, ("rwlock-timed-writer", "4", "2")),
    (locks::RWSEM, ("rwsem-timed-writer", "4", "2")),
];

/// How `sample` is asked, with the client that can show a bug of this lock.
fn sampling(lock: &str) -> impl Iterator<Item = &'static str> {
    let options = if locks::TICKET.contains(&lock) {
        "--client try-lock --threads 3 --rounds 4"
    } else if locks::HQ.contains(&lock) {
        "--client hq-shared-metadata --threads 8 --numa 2 --rounds 4"
    } else {
        "--client exclusion --threads 8 --numa 2 --rounds 8"
    };
    options.split(' ').chain("--scheduler pct --schedules 10000".split(' '))
}

/// True if `checker` must see `bug`.
pub fn must_see(checker: Checker, bug: &Bug) -> bool {
    bug.seen.by.contains(&checker)
}

/// True if `checker`, which must see `bug`, is asked in `lock`, too: a bounded hybrid seldom sleeps in a schedule that
/// was not chosen for it, and loom's clients have few threads.
pub fn is_asked_in(checker: Checker, bug: &Bug, lock: &str) -> bool {
    match checker {
        Checker::Explore if bug.seen.kind == BugKind::Sleeping => {
            !locks::SELDOM_SLEEPING.contains(&lock)
        }
        Checker::Loom => !locks::HIDDEN_FROM_LOOM.contains(&(bug.row, lock)),
        _ => true,
    }
}

/// The program of a checker, below the folder of the copy's build.
fn program(checker: Checker) -> String {
    match checker {
        Checker::Loom => CHECK.into(),
        Checker::Shuttle => format!("{PREFIX}sample"),
        Checker::Explore => LAB.into(),
        Checker::Fairness => format!("examples/{FAIRNESS}"),
        Checker::Native | Checker::Explored => unreachable!("these are tests, not programs"),
    }
}

/// How the program ends: an exploration that finds something says so by 1.
fn codes(checker: Checker) -> &'static [i32] {
    if checker == Checker::Explore { &[0, 1] } else { &[0] }
}

/// What the checks of a job printed, as they are.
fn read(checker: Checker, printed: &str) -> Result<Vec<Said>, serde_json::Error> {
    match checker {
        Checker::Explore => serde_json::from_str::<Explored>(printed).map(Explored::said),
        _ => printed.lines().map(serde_json::from_str).collect(),
    }
}

/// How a job is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct How<'a> {
    /// Beyond the first violation.
    pub all: bool,
    /// With the wide bounds.
    pub full: bool,
    /// Only this check.
    pub only: Option<&'a Said>,
}

impl Job {
    /// Runs it with the programs in `folder`.
    pub fn run(&self, folder: &Path, how: How<'_>) -> Result<Vec<Said>, String> {
        let program = folder.join(program(self.checker));
        let mut command = Command::new(&program);
        match self.checker {
            Checker::Explore => {
                command.args(["explore", "--lock", self.lock]);
                let shown_by = self.bug.and_then(|bug| bug.shown_by(self.lock));
                let shown_by = shown_by.filter(|_| !how.all);
                let only = how.only.map(|only| only.client.as_str());
                command.args(exploration(self.lock, only.or(shown_by)))
            }
            Checker::Shuttle => command.arg(self.lock).args(sampling(self.lock)),
            _ => command.arg(self.lock),
        };
        match self.bug {
            Some(bug) => command.env(VARIABLE, bug.choice()),
            None => command.env_remove(VARIABLE),
        };
        if self.checker == Checker::Loom {
            command.args(how.full.then_some("--full"));
            command.args((!how.all).then_some("--first"));
            if let Some(only) = how.only {
                command.args(["--client", &only.client, "--on", &only.on]);
            }
        }
        let start = Instant::now();
        let seconds_max = if how.full { SECONDS_MAX_FULL } else { SECONDS_MAX };
        let printed = self.printed(&mut command, Duration::from_secs(seconds_max))?;
        let seconds = start.elapsed().as_secs_f64();
        let said = read(self.checker, &printed);
        let said = said.map_err(|error| format!("{self} printed nonsense: {error}"))?;
        let timed = |it: Said| match self.checker {
            Checker::Explore => Said { seconds, ..it },
            _ => it,
        };
        let is_wanted = |it: &Said| {
            how.only.is_none_or(|only| (&it.client, &it.on) == (&only.client, &only.on))
        };
        Ok(said.into_iter().filter(is_wanted).map(timed).collect())
    }

    /// What a program prints that ends as this checker does, in time.
    fn printed(&self, command: &mut Command, limit: Duration) -> Result<String, String> {
        let output =
            output_within(command, limit).map_err(|stopped| format!("{self} {stopped}"))?;
        if !output.status.code().is_some_and(|code| codes(self.checker).contains(&code)) {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_string();
            return Err(format!("{self} failed with {}: {why}", output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bug {
            Some(bug) => write!(f, "bug {}", bug.row)?,
            None => write!(f, "the real code")?,
        }
        write!(f, " of {} by {}", self.lock, self.checker.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_hangs_or_dies_is_called_by_its_bug() {
        let printed = |checker, script: &str| {
            let job = Job { bug: Bug::of_row("48"), lock: "cna", checker };
            job.printed(Command::new("sh").args(["-c", script]), Duration::from_millis(500))
        };
        let hung = printed(Checker::Loom, "echo line; sleep 60").expect_err("a limit");
        assert!(hung.starts_with("bug 48 of cna by loom was still running"), "{hung}");
        let died = printed(Checker::Loom, "echo line; echo why >&2; exit 1").expect_err("a code");
        assert!(
            died.starts_with("bug 48 of cna by loom failed") && died.ends_with("why"),
            "{died}"
        );
        assert_eq!(printed(Checker::Explore, "echo line; exit 1"), Ok("line\n".into()));
        assert!(printed(Checker::Explore, "echo line; kill -9 $$").is_err());
    }
}
