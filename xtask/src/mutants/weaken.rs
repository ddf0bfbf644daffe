//! `cargo xtask weaken`: is every ordering needed, and does a check know?
//!
//! Each ordering and each barrier of the lock crate is weakened by one step. A mutant that survives is a missing test
//! or a needless ordering, unless an argument in the list of survivors says why not.

use super::check::Check;
use super::engine::{self, Mutant, Options, Outcome, Verdict};
use super::scan::{Site, count_in_lines, lock_files, sites, weakened};
use super::survivors::{self, Survivor};
use super::table::{Checker, checker_of};
use crate::output::{self, say};
use crate::packages::below_sources;
use crate::record::Item;
use crate::root;
use crate::tidy::files;
use serde_json::json;
use std::path::Path;

/// Weaken every memory ordering of the locks, and see if a check fails.
///
/// Each is weakened by one step, one at a time. Kills are written into xtask/record.txt unless the bounds are wide.
#[derive(clap::Args)]
pub struct Request {
    /// Weaken this file or line only, such as qspinlock/queue.rs.
    #[arg(long, value_name = "FILE[:LINE]", value_parser = known)]
    only: Option<String>,
    /// Run the mutants of this checker only.
    #[arg(long, value_parser = ["loom", "miri"])]
    checker: Option<String>,
    /// Leave out those that the list of survivors has an argument for: one takes as long as many that are killed.
    #[arg(long = "new")]
    unargued: bool,
    #[command(flatten)]
    options: Options,
}

/// Reads a place in the locks.
fn known(only: &str) -> Result<String, String> {
    let (all, file) = (files::read_all(&root()), only.split(':').next().unwrap_or_default());
    match lock_files(&all).any(|it| is_at(&it.path, file)) {
        true => Ok(only.into()),
        false => Err("name a file of the locks, such as `--only qspinlock/queue.rs`".into()),
    }
}

/// Weakens everything that is asked for. Returns true if every mutant is killed or argued for.
///
/// # Errors
/// A sentence that says what cannot be done.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let (all, options) = (files::read_all(root), &request.options);
    let sites = sites(&all)?;
    let text_search: usize = lock_files(&all).map(count_in_lines).sum();
    say(&options.json, &format!("sites: {}; a plain text search finds {text_search}", sites.len()));
    if text_search != sites.len() {
        let why = "a site is in a comment, a literal or a form that one of them does not see";
        return Err(format!("the two counts differ, because {why}; write it in another way"));
    }
    let survivors = survivors::read(root)?;
    if let Some(survivor) = survivors.iter().find(|survivor| survivor.fits(&sites) > 1) {
        let (file, name) = (survivors::FILE, survivor.name());
        return Err(format!("{file}: {name} fits several mutants; write their lines differently"));
    }
    let mutants = mutants(&sites, &survivors, request)?;
    if mutants.is_empty() {
        let only = request.only.as_deref().unwrap_or_default();
        return Err(format!("no ordering is at `{only}`; name a file, or a file and a line"));
    }
    let outcome = engine::run(root, ("weaken", &all), mutants, Vec::new(), options)?;
    let Some(outcome) = outcome else { return Ok(true) };
    let count = |verdict| outcome.count(verdict);
    let summary = format!(
        "weaken: {} mutants, {} killed, {} argued, {} not run, {} SURVIVED",
        outcome.judged.len(),
        count(Verdict::Killed),
        count(Verdict::Argued),
        count(Verdict::NotRun),
        count(Verdict::Survived)
    );
    say(&options.json, &summary);
    let document = json!({
        "schema": "lockwright.weaken/1", "bounds": options.bounds(), "sites": sites.len(),
        "text_search": text_search, "mutants": outcome.reports("held"),
    });
    output::write(&options.json, &document)?;
    let stale = stale(&survivors, &sites, &outcome);
    for survivor in &stale {
        let name = survivor.name();
        let what = "the ordering is gone, or a check kills the mutant; delete the entry";
        say(&options.json, &format!("{}: {name}: {what}", survivors::FILE));
    }
    let needs_all = options.full && request.checker.is_none();
    let is_complete = !needs_all || count(Verdict::NotRun) == 0;
    Ok(stale.is_empty() && count(Verdict::Survived) == 0 && is_complete)
}

/// True if `path`, which may end with a line, is called so.
fn is_at(path: &str, name: &str) -> bool {
    path == name || path.ends_with(&format!("/{name}"))
}

/// All mutants that are asked for, in the order of their sites.
fn mutants<'a>(
    sites: &[Site],
    survivors: &'a [Survivor],
    request: &Request,
) -> Result<Vec<Mutant<'a>>, String> {
    let is_wanted = |site: &Site| {
        let only = request.only.as_ref();
        only.is_none_or(|only| is_at(&site.path, only) || is_at(&site.place(), only))
    };
    let mut mutants = Vec::new();
    for (number, site, to) in weakened(sites) {
        let file = below_sources(&site.path).unwrap_or_default();
        let checker = checker_of(file).ok_or_else(|| {
            let what = "has orderings and no checker; add it to xtask/src/mutants/table.rs";
            format!("{} {what}", site.path)
        })?;
        if !is_wanted(site) {
            continue;
        }
        let argument = survivors.iter().find(|survivor| survivor.is(site, to));
        let is_left_out = request.unargued && argument.is_some();
        let groups = if is_left_out { Vec::new() } else { groups(checker, request) };
        let (name, locks) = match checker {
            Checker::Loom(locks) => ("loom", locks),
            Checker::Miri(_) => ("miri", &["native"][..]),
            Checker::Nobody => ("none", &[][..]),
        };
        let becomes = if to.is_empty() { "removed" } else { to };
        let facts = json!({
            "site": site.place(), "code": site.code, "ids": site.ids, "from": site.now, "to": to,
            "locks": locks, "checker": name, "argument": null, "bound": null,
        });
        let in_file = sites.iter().filter(|it| it.path == site.path).position(|it| it == site);
        let item = item(site, checker, in_file.map_or(0, |at| at + 1), becomes);
        let title = format!("{} {} {} -> {becomes}", site.place(), site.ids.join(" "), site.now);
        let what = site.code.clone();
        mutants.push(Mutant { item, title, what, facts, number, groups, argument });
    }
    Ok(mutants)
}

/// The checks of a mutant, if they are asked for. No check can see one of the others.
fn groups(checker: Checker, request: &Request) -> Vec<Vec<Check>> {
    let is_wanted = |name| request.checker.as_ref().is_none_or(|wanted| wanted == name);
    let loom = |lock: &&str| Check::new(lockwright_zoo::Checker::Loom, lock, "");
    match checker {
        Checker::Loom(locks) if is_wanted("loom") => vec![locks.iter().map(loom).collect()],
        _ if request.options.changed => Vec::new(),
        Checker::Miri(tests) if is_wanted("miri") => {
            vec![tests.iter().map(|test| Check::of_test(*test, test.package)).collect()]
        }
        Checker::Nobody => vec![Vec::new()],
        Checker::Loom(_) | Checker::Miri(_) => Vec::new(),
    }
}

/// What decides if the mutant is killed that makes this site of its file something else.
fn item(site: &Site, checker: Checker, in_file: usize, becomes: &str) -> Item<'static> {
    let locks = match checker {
        Checker::Loom(locks) => locks.to_vec(),
        Checker::Miri(_) | Checker::Nobody => Vec::new(),
    };
    let crates = ["model", "clients", "conformance"].map(|name| format!("crates/{name}/src/"));
    let files = crates.into_iter().chain(["xtask/src/mutants/".into(), site.path.clone()]);
    let file = below_sources(&site.path).unwrap_or_default();
    let name = format!("mutant {file} {in_file} {becomes}");
    Item { name, locks: Some(locks), files: files.collect(), text: String::new() }
}

/// The entries of the list that are not mutants that survive: those of sites that are gone, and
/// those of mutants that were run and killed.
fn stale<'a>(
    survivors: &'a [Survivor],
    sites: &[Site],
    outcome: &Outcome<'_>,
) -> Vec<&'a Survivor> {
    let was_killed = |survivor: &Survivor| {
        let killed = outcome.judged.iter().filter(|(_, it)| it.verdict == Verdict::Killed);
        killed.filter_map(|(mutant, _)| mutant.argument).any(|it| std::ptr::eq(it, survivor))
    };
    let is_stale = |survivor: &&Survivor| survivor.fits(sites) == 0 || was_killed(survivor);
    survivors.iter().filter(is_stale).collect()
}
