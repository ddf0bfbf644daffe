//! What the tree has, found without running any checker.

use crate::mutants::{self, weakened, zoo};
use crate::packages::below_sources;
use crate::{sanitize, tidy::Source};
use lockwright_catalog::registry::LOCKS;
use lockwright_clients::{CLIENTS, clients, disturbed_clients};
use lockwright_core::native::Native;
use lockwright_zoo::Bug;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// All numbers and lists.
pub fn numbers(sources: &[Source]) -> Result<Value, String> {
    let sites = mutants::sites(sources)?;
    let survivors = sources.iter().find(|it| it.path.ends_with("/survivors.toml"));
    let checkers = |bug: &Bug| -> BTreeSet<_> {
        let of_tests = bug.tests.iter().map(|test| test.checker.name());
        of_tests.chain(bug.seen.by.iter().map(|it| it.name())).collect()
    };
    Ok(json!({
        "orderings": sites.len(),
        "orderings_by_file": counted(sites.iter().filter_map(|site| below_sources(&site.path))),
        "mutants": weakened(&sites).count(),
        "arguments": survivors.map_or(0, |it| it.text.matches("\n[[survivor]]\n").count()),
        "bugs": zoo::rows().collect::<Vec<_>>(),
        "bugs_by_checker": counted(Bug::all().flat_map(checkers)),
        "locks": locks().collect::<Vec<_>>(),
        "clients": all_clients().collect::<Vec<_>>(),
        "miri_seeds": sanitize::MIRI_SEEDS,
    }))
}

/// The checks that should be made, in the words of the documents: the mutants, of which two may have one name, the
/// bugs, and the locks that are not wrong on purpose, with the clients that run on all of them.
pub fn checks(sources: &[Source]) -> Result<BTreeMap<String, usize>, String> {
    let sites = mutants::sites(sources)?;
    let mutants = weakened(&sites);
    let mutants = mutants.map(|(_, it, to)| format!("weaken {} {} {to}", it.place(), it.now));
    let bugs = zoo::rows().map(|bug| format!("zoo {bug}"));
    let of_client = |lock, client| {
        let sampled = [4, 8, 16].map(|threads| format!("shuttle {lock} {client} {threads}"));
        sampled.into_iter().chain([format!("explore {lock} {client}")])
    };
    let of_lock = |lock| CLIENTS.iter().flat_map(move |client| of_client(lock, client));
    let loom = locks().map(|lock| format!("loom {lock}"));
    Ok(counted(mutants.chain(bugs).chain(loom).chain(locks().flat_map(of_lock))))
}

/// The locks that are not wrong on purpose.
fn locks() -> impl Iterator<Item = &'static str> {
    LOCKS.iter().filter(|row| row.is_correct()).map(|row| row.name)
}

/// The names of all clients.
pub fn all_clients() -> impl Iterator<Item = &'static str> {
    clients::<Native>().chain(disturbed_clients().iter().copied())
}

/// How often each is there.
pub fn counted<T: Ord>(all: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    all.into_iter().for_each(|it| *counts.entry(it).or_default() += 1);
    counts
}
