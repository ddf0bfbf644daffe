//! What survives when a client is deleted.

use super::documents::{Documents, Mutant};
use std::collections::{BTreeMap, BTreeSet};

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

/// The clients that find something alone, and the others.
pub fn alone(documents: &Documents) -> (Vec<String>, Vec<String>) {
    let (others, alone): (Vec<_>, Vec<_>) =
        only_killed_by(documents).into_iter().partition(|(_, mutants)| mutants.is_empty());
    let names = |clients: Vec<(String, _)>| clients.into_iter().map(|(name, _)| name).collect();
    (names(alone), names(others))
}

/// The sentence about the clients that find nothing alone.
pub fn told(others: &[String]) -> String {
    match others {
        [] => "Every client is one of them.".to_string(),
        _ => {
            let names: Vec<_> = others.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            format!(
                "Without one of the other {}, every mutant and every seeded bug is still found. Most of these are about a \
                 property of their own, such as reused memory, guards or limits, and they can find bugs that were not \
                 seeded: one of the [findings](findings.md) was made with `rwsem-timed-reader`. They are: {names}.",
                others.len()
            )
        }
    }
}

/// The only element, if there is exactly one.
fn only<T: Ord>(mut set: BTreeSet<T>) -> Option<T> {
    if set.len() == 1 { set.pop_first() } else { None }
}

/// The path of a site, without its line and the folder that all are in.
pub fn short(site: &str) -> &str {
    let path = site.split(':').next().unwrap_or(site);
    path.strip_prefix(super::tree::CRATE).unwrap_or(path)
}

/// The ids of a mutant's site, each once.
pub fn ids(mutant: &Mutant) -> String {
    let mut ids: Vec<_> = mutant.ids.iter().map(String::as_str).collect();
    ids.dedup();
    ids.join(" ")
}
