//! What the inputs must have: everything that the tree has.

use super::documents::Documents;
use crate::mutants::{self, weakened};
use crate::tidy::Source;
use lockwright_catalog::registry::{LOCKS, LockClass};
use lockwright_clients::CLIENTS;
use std::collections::BTreeMap;

/// Threads of the sampled schedules.
const THREADS: [usize; 3] = [4, 8, 16];

/// A mutant: its place, what stands there, and what it is made.
type Mutant = (String, String, String);

/// What the tree has.
#[derive(Debug)]
pub struct Expected {
    /// How many orderings and barriers.
    pub sites: usize,
    /// How many mutants of each kind: two orderings on a line may be the same.
    pub mutants: BTreeMap<Mutant, usize>,
    /// The locks that are not wrong on purpose.
    pub locks: Vec<&'static str>,
    /// The clients that run on all of them.
    pub clients: Vec<&'static str>,
}

impl Expected {
    /// Scans the tree.
    pub fn of(sources: &[Source]) -> Result<Self, String> {
        let sites = mutants::sites(sources)?;
        let mutants =
            weakened(&sites).map(|(_, site, to)| (site.place(), site.now.clone(), to.to_string()));
        let right = LOCKS.iter().filter(|row| row.class != LockClass::Busted);
        Ok(Self {
            sites: sites.len(),
            mutants: counted(mutants),
            locks: right.map(|row| row.name).collect(),
            clients: CLIENTS.to_vec(),
        })
    }

    /// What the documents lack, or have of another tree.
    pub fn complaints(&self, documents: &Documents) -> Vec<String> {
        let mut complaints = self.of_weaken(documents);
        let Documents { zoo, samples, explored, .. } = documents;
        for lock in &self.locks {
            if !zoo.clean.iter().any(|it| it.checker == "loom" && it.lock == *lock) {
                complaints.push(format!("loom: no check of the right code of {lock}"));
            }
            for client in &self.clients {
                let is_pair = |of: (&String, &String)| of.0 == lock && of.1 == client;
                if !explored.results.iter().any(|it| is_pair((&it.lock, &it.client))) {
                    complaints.push(format!("explore: {client} on {lock} is missing"));
                }
                for threads in THREADS {
                    let is_sample = samples
                        .iter()
                        .any(|it| it.threads == threads && is_pair((&it.lock, &it.client)));
                    if !is_sample {
                        let what = format!("{client} on {lock}, {threads} threads");
                        complaints.push(format!("shuttle: {what}, is missing"));
                    }
                }
            }
        }
        complaints
    }

    fn of_weaken(&self, documents: &Documents) -> Vec<String> {
        let mut complaints = Vec::new();
        let (sites, expected) = (documents.weaken.sites, self.sites);
        if sites != expected {
            complaints.push(format!("{sites} sites were weakened, the tree has {expected}"));
        }
        let run = documents.weaken.mutants.iter();
        let run = counted(run.map(|it| (it.site.clone(), it.from.clone(), it.to.clone())));
        let of_tree_only = self.mutants.keys().filter(|mutant| !run.contains_key(*mutant));
        for mutant @ (site, from, to) in run.keys().chain(of_tree_only) {
            let count = |of: &BTreeMap<_, usize>| of.get(mutant).copied().unwrap_or(0);
            let (run, expected) = (count(&run), count(&self.mutants));
            if run != expected {
                let what = format!("{site}, {from} made {to:?}");
                complaints.push(format!("{what}: {run} mutants, the tree has {expected}"));
            }
        }
        complaints
    }
}

fn counted(mutants: impl Iterator<Item = Mutant>) -> BTreeMap<Mutant, usize> {
    let mut counts = BTreeMap::new();
    for mutant in mutants {
        *counts.entry(mutant).or_default() += 1;
    }
    counts
}
