//! `docs/evidence.json`: what the checkers found and what the tree has, in numbers. `docs/evidence.md`, which people
//! write, quotes them.

mod documents;
mod tree;

use crate::tidy::{self, Source};
use crate::{disk, numbers, output};
use documents::{EXPLORED, SAMPLES, WEAKEN, ZOO};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;
use tree::all_clients;

/// Where the page and its numbers are, below the root of the repository.
const PAGE: &str = "docs/evidence.md";
const DOCUMENT: &str = "docs/evidence.json";

/// The shell commands that write the inputs. What a command found is judged from its document; finding something makes
/// it fail with 1.
const WRITERS: [(&str, &str); 4] = [
    (EXPLORED, "cargo run -qp lockwright-lab -- explore --lock '*' -q --json FILE || [ $? = 1 ]"),
    (WEAKEN, "cargo xtask weaken --matrix --json FILE || [ $? = 1 ]"),
    (ZOO, "cargo xtask zoo --matrix --json FILE || [ $? = 1 ]"),
    (SAMPLES, "cargo run -qp lockwright-model -F samples --bin sample -- all --table > FILE"),
];

/// What the inputs are about, and what makes them: an input that is older says nothing about it.
const SUBJECTS: &str = "Cargo.lock crates/catalog/src crates/catalog/survivors.toml crates/measure/src crates/clients/src \
    crates/conformance/src crates/core/src crates/lab/src crates/linux/src crates/locks/src crates/model/src \
    crates/sheets/src crates/sim/examples crates/sim/src xtask/src/mutants";

/// Writes the document from what the checkers wrote down. Runs those whose results are missing or older than what
/// they check, or all if `is_fresh`. Returns true if all is found that should be, and the page says so.
pub fn generate(root: &Path, is_fresh: bool) -> Result<bool, String> {
    let changed = SUBJECTS.split(' ').filter_map(|subject| last_change(&root.join(subject))).max();
    for (name, command) in WRITERS {
        if is_fresh || last_change(&root.join(name)) < changed {
            output::write_anew(root, name, command)?;
        }
    }
    let documents = documents::read(root)
        .map_err(|error| format!("{error}; type `cargo xtask evidence --fresh`"))?;
    write(root, documents::found(&documents))?;
    for (client, what) in documents::needed(&documents) {
        eprintln!("evidence: only {client} finds {what}");
    }
    let complaints = documents::complaints(&documents, &tree::checks(&tidy::sources(root))?);
    Ok(output::complain("evidence", &[complaints, differences(root)?].concat()))
}

/// Counts again what the tree has, and keeps what the checkers found. Returns true if the page says so.
pub fn count(root: &Path) -> Result<bool, String> {
    write(root, numbers::read_json(root, DOCUMENT)?["found"].take())?;
    Ok(check(root))
}

/// Returns true if the document has what the tree has, and the page says so. Runs no checker.
pub fn check(root: &Path) -> bool {
    output::complain("evidence", &differences(root).unwrap_or_else(|error| vec![error]))
}

/// Writes the document, with these results.
fn write(root: &Path, found: Value) -> Result<(), String> {
    let document = json!({"tree": tree::numbers(&tidy::sources(root))?, "found": found});
    output::write(&Some(root.join(DOCUMENT).to_string_lossy().into()), &document)
}

/// How the committed document differs from the tree, and the page from both; each a sentence.
fn differences(root: &Path) -> Result<Vec<String>, String> {
    let (page, document) = (disk::read(&root.join(PAGE))?, numbers::read_json(root, DOCUMENT)?);
    let sources = tidy::sources(root);
    Ok(between(&page, &document, &tree::numbers(&sources)?, &sources))
}

fn between(page: &str, document: &Value, tree: &Value, sources: &[Source]) -> Vec<String> {
    let of_tree = tree.as_object().into_iter().flatten();
    let other = of_tree.filter(|(key, value)| document["tree"][key] != **value);
    let other = other.map(|(key, _)| {
        format!("{DOCUMENT}: `tree/{key}` is of another tree; type `cargo xtask evidence --count`")
    });
    let of_page = numbers::differences(page, document).into_iter();
    let of_page = of_page.chain(of_clients(page, document, sources));
    other.chain(of_page.map(|it| format!("{PAGE}: {it}"))).collect()
}

/// Clients that find nothing alone and for which the page gives no reason, or the other way around, and names of
/// clients that are not there.
fn of_clients(page: &str, document: &Value, sources: &[Source]) -> Vec<String> {
    let needed = numbers::list(&document["found"]["needed_clients"]);
    let needed: BTreeSet<_> = needed.iter().filter_map(Value::as_str).collect();
    // List items: the names, a colon, and the reason.
    let items = page.split_once("a property of their own:").map_or("", |(_, items)| items);
    let items = items.split("\n## ").next().into_iter().flat_map(|items| items.split("\n- "));
    let names = items.filter_map(|item| item.split_once(':'));
    let kept: BTreeSet<_> =
        names.flat_map(|(names, _)| names.split('`').skip(1).step_by(2)).collect();
    let all: BTreeSet<_> = all_clients().collect();
    let is_named = |name: &str| {
        let quoted = format!("\"{name}\"");
        let is_in = |it: &Source| !it.path.starts_with("xtask/") && it.text.contains(&quoted);
        all.contains(name) || sources.iter().any(is_in)
    };
    let listed: BTreeSet<_> = needed.union(&kept).copied().collect();
    let idle = all.difference(&listed);
    let both = needed.intersection(&kept);
    let gone = listed.iter().filter(|name| !is_named(name));
    idle.map(|it| format!("`{it}` finds nothing alone: delete it, or give a reason for it"))
        .chain(both.map(|it| format!("`{it}` finds something alone: take its reason out")))
        .chain(gone.map(|it| format!("`{it}` is no client")))
        .collect()
}

/// When the file, or the last file of the folder, was written; `None` if there is none.
fn last_change(path: &Path) -> Option<SystemTime> {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().filter_map(|entry| last_change(&entry.path())).max(),
        Err(_) => path.metadata().ok()?.modified().ok(),
    }
}

#[cfg(test)]
mod tests;
