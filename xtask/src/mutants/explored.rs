//! How `lockwright explore` is asked, and what it answers.

use super::check::Said;
use lockwright_zoo::locks;
use serde::Deserialize;

/// The clients that can show a bug of a lock, and the threads and rounds of each.
type Exploration = (&'static str, &'static str, &'static str);

/// How locks are explored that have more to show than exclusion.
const EXPLORED: &[(&[&str], Exploration)] = &[
    (locks::TICKET, ("try-lock", "4", "4")),
    // The last two take long.
    (
        locks::MUTEX,
        (
            "mutex-timed,mutex-fair,condvar,condvar-promise,condvar-all,condvar-mutexes,condvar-timed,condvar-left,condvar-another-mutex,last-user,condvar-left-to-waiter,neighbours",
            "4",
            "2",
        ),
    ),
    (locks::HQ, ("hq-by-node,hq-late", "6", "4")),
    (locks::SEMAPHORE, ("semaphore-timed,semaphore-last-permit", "4", "2")),
    // Waiters that give up.
    (locks::RWLOCK, ("rwlock-timed-writer", "4", "2")),
    (locks::PERCPU, ("rwlock-timed-writer", "4", "2")),
    (locks::RWSEM, ("rwsem-timed-writer", "4", "2")),
];

fn exploration(lock: &str) -> Exploration {
    let own = EXPLORED.iter().find(|(locks, _)| locks.contains(&lock));
    own.map_or(("exclusion", "8", "4"), |(_, how)| *how)
}

/// The clients that can show a bug of this lock.
pub fn clients(lock: &str) -> impl Iterator<Item = &'static str> {
    exploration(lock).0.split(',')
}

/// The arguments of the lab that explore a lock with this client.
pub fn arguments<'a>(lock: &'a str, client: &'a str) -> Vec<&'a str> {
    let (_, threads, rounds) = exploration(lock);
    let (threads, rounds, schedules) = match client {
        // It takes some owners and sleepers of both. Half of the schedules are with waiters that do not spin, who
        // cannot show it.
        "neighbours" => ("8", "2", "20000"),
        // A thread has to give up between two steps of another.
        "condvar-left-to-waiter" => ("3", "1", "100000"),
        // Two notifications have to be left to one release.
        "condvar-promise" => ("4", "6", "10000"),
        _ => (threads, rounds, "10000"),
    };
    let of = ["explore", "--lock", lock, "--client", client, "--threads", threads];
    // With more than two NUMA nodes, so that a queue is not at an end of the list. With many idle CPUs, so that a woken
    // waiter sleeps in place of a nap: then its deadline passes while it relies on the owner.
    let is_large = locks::HQ.contains(&lock) || client == "mutex-timed";
    let on: &[_] = if is_large { &["--on", "x5-4"] } else { &[] };
    [&of[..], on, &["--rounds", rounds, "--schedules", schedules, "--json", "-"]].concat()
}

/// What it writes, as far as it matters here.
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

/// What its document says.
///
/// # Errors
/// If it is not such a document.
pub fn said(document: &str) -> Result<Vec<Said>, serde_json::Error> {
    let Explored { seed, results } = serde_json::from_str(document)?;
    let said = |it: OfExplored| {
        let found = it.failure.map(|failure| (failure.message, failure.schedule));
        let (complaint, schedule) = found.unzip();
        Said {
            lock: it.lock,
            client: it.client,
            on: format!("{} threads, simulated", it.threads),
            violated: complaint.is_some(),
            complaint,
            executions: it.schedules,
            seed: Some(seed),
            schedule,
            ..Said::default()
        }
    };
    Ok(results.into_iter().map(said).collect())
}
