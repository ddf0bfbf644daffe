//! What survives when a client is deleted, and why clients stay without which nothing does.

use super::documents::{Documents, Mutant};
use crate::packages::below_sources;
use lockwright_clients::{clients, disturbed_clients};
use lockwright_core::native::Native;
use std::collections::{BTreeMap, BTreeSet};

const LIMITS: &str = "a documented limit: one below it, at it and above it";
const GUARDS: &str = "what the documentation promises about guards that are sent, forgotten, or dropped in any order";
const REUSED: &str = "the promise that the next owner may free a lock while the unlock before has not returned, with an \
    object of each kind in its memory";
const DISTURBED: &str = "signal handlers and forked children, in explored schedules";

/// The clients that find no mutant and no seeded bug alone, and the property that they are there for.
const KEPT: &[(&str, &str)] = &[
    ("shared", "readers and writers that only wait and unlock, with two threads already"),
    (
        "condvar",
        "notifications while no thread holds the mutex; `explore` shows some bugs of the zoo with it",
    ),
    ("condvar-mutexes", "waiters of one condition variable with mutexes of their own"),
    (
        "condvar-one-place",
        "a model of glibc's condition variable loses a wake-up in it ([findings](findings.md), 5)",
    ),
    ("condvar-timed", "loom's only check of a notification that meets a time-out"),
    ("three-to-sort", "lists of two other NUMA nodes, and a list of two waiters"),
    (
        "semaphore-makers",
        "what several releases publish to a thread that acquires all permits at once",
    ),
    (
        "condvar-unheld",
        "the mutexes of waiters, to a thread that notifies and has held none of them",
    ),
    ("rwlock-last-reader", "what all readers have read before the last one grants the lock"),
    ("resilient-crossed", "two threads that wait for each other's lock do not wait for ever"),
    ("once-freed", "a once that is freed as soon as it is done"),
    ("once-give-up", "a closure that does not end: another thread begins anew"),
    (
        "rwsem-timed-reader",
        "readers that give up; one of the [findings](findings.md) was made with it",
    ),
    ("condvar-deadline rwlock-depth semaphore-full", LIMITS),
    ("moved forgotten rwlock-out-of-order", GUARDS),
    (
        "reused-by-mutex reused-by-condvar reused-by-semaphore reused-by-rwlock reused-by-rwlock-fair \
         reused-by-percpu-rwlock reused-by-spinlock reused-by-qrwlock condvar-reused-by-mutex \
         condvar-reused-by-condvar condvar-reused-by-semaphore condvar-reused-by-rwlock \
         condvar-reused-by-rwlock-fair condvar-reused-by-percpu-rwlock condvar-reused-by-spinlock \
         condvar-reused-by-qrwlock",
        REUSED,
    ),
    (
        "handler handler-timed semaphore-handler condvar-handler resilient-handler once-call-handler \
         rwlock-upgrade-handler rwlock-upgrade-timed-handler seqlock-pair-handler fork mutex-fork condvar-fork \
         semaphore-fork slots-fork rwlock-overlap rwlock-overlap-upgrade mutex-overlap semaphore-overlap",
        DISTURBED,
    ),
];

/// Their names.
pub fn kept_names() -> impl Iterator<Item = &'static str> {
    KEPT.iter().flat_map(|(names, _)| names.split(' '))
}

/// The same as list items, one for each reason.
pub fn kept() -> String {
    let quoted = |names: &str| names.split(' ').map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let item =
        |(names, reason): &(&str, &str)| format!("- {}: {reason}\n", quoted(names).join(", "));
    KEPT.iter().map(item).collect()
}

/// The names of all clients.
pub fn all() -> impl Iterator<Item = &'static str> {
    clients::<Native>().chain(disturbed_clients().iter().copied())
}

/// Clients that have no line of their own and no reason, and those that have both; each a sentence.
pub fn complaints(documents: &Documents) -> Vec<String> {
    let needed = needed(documents);
    let is_needed = |name: &str| needed.contains_key(name);
    let is_kept = |name: &str| kept_names().any(|it| it == name);
    let mut complaints = Vec::new();
    for name in all().filter(|name| !is_needed(name) && !is_kept(name)) {
        complaints.push(format!(
            "`{name}` finds nothing alone: delete it, or give a reason in clients.rs of evidence"
        ));
    }
    for name in kept_names().filter(|name| is_needed(name)) {
        complaints.push(format!(
            "`{name}` finds something alone: take its reason out of clients.rs of evidence"
        ));
    }
    complaints
}

/// By client: the mutants that only this client kills, in words. Clients without any are listed.
pub fn only_killed_by(documents: &Documents) -> BTreeMap<String, BTreeSet<String>> {
    let Documents { weaken, zoo, .. } = documents;
    let mut by_client: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for mutant in weaken.mutants.iter().filter(|mutant| mutant.checker == "loom") {
        for check in mutant.held.iter().chain(&mutant.kills) {
            by_client.entry(check.client.clone()).or_default();
        }
        let clients: BTreeSet<_> = mutant.kills.iter().map(|kill| &kill.client).collect();
        if let Some(client) = only(clients) {
            let to = if mutant.to.is_empty() { "removed" } else { &mutant.to };
            let file = short(&mutant.site);
            let name = format!("{} {} of {file} {to}", ids(mutant), mutant.from);
            by_client.entry(client.clone()).or_default().insert(name);
        }
    }
    // A row survives if one of the checkers that must see it does not, in one of its locks.
    for row in &zoo.rows {
        let mut clients_of: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for kill in &row.kills {
            clients_of.entry((&kill.lock, &kill.checker)).or_default().insert(&kill.client);
            by_client.entry(kill.client.clone()).or_default();
        }
        for check in &row.survived {
            by_client.entry(check.client.clone()).or_default();
        }
        for ((lock, checker), clients) in clients_of {
            if let Some(client) = only(clients) {
                let name = format!("zoo {} in {lock} by {checker}", row.row);
                by_client.entry(client.clone()).or_default().insert(name);
            }
        }
    }
    by_client
}

/// The clients that find something alone, and what that is in words.
pub fn needed(documents: &Documents) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = only_killed_by(documents);
    found.retain(|_, found| !found.is_empty());
    found
}

/// The only element, if there is exactly one.
fn only<T: Ord>(mut set: BTreeSet<T>) -> Option<T> {
    if set.len() == 1 { set.pop_first() } else { None }
}

/// The path of a site, without its line and the folder that all are in.
pub fn short(site: &str) -> &str {
    let path = site.split(':').next().unwrap_or(site);
    below_sources(path).unwrap_or(path)
}

/// The ids of a mutant's site, each once.
pub fn ids(mutant: &Mutant) -> String {
    let mut ids: Vec<_> = mutant.ids.iter().map(String::as_str).collect();
    ids.dedup();
    ids.join(" ")
}
