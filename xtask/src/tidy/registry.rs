//! Rules about locks as a whole: what a lock has besides its row in the registry.

use super::{Finding, Source};
use crate::mutants::{checker_of, scan};
use crate::packages::below_sources;
use lockwright_zoo::Bug;

const REGISTRY: &str = "crates/catalog/src/registry.rs";
const GOLDEN: &str = "crates/sim/tests/it/golden.rs";

/// A row of the registry, as it stands in the source.
struct Row<'a> {
    /// Its line, counted from 1.
    line: usize,
    name: &'a str,
    class: &'a str,
    /// The module of its type, if the row names it.
    module: Option<&'a str>,
}

/// The rows of the registry.
fn rows(registry: &Source) -> impl Iterator<Item = Row<'_>> {
    registry.text.lines().enumerate().filter_map(|(at, line)| {
        // qspinlock: "qspinlock" | "fifo", Product, QSpinlock<P>,
        let (test, rest) = line.trim().split_once(": \"")?;
        let is_word = test.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let (name, rest) = rest.split_once('"')?;
        let mut parts = rest.split(", ");
        let (_, class, path) = (parts.next()?, parts.next()?, parts.next()?);
        let classes = ["Product", "Combination", "History", "Reference", "Busted"];
        let module = path.strip_prefix("crate::").and_then(|path| path.split("::").next());
        let row = Row { line: at + 1, name, class, module };
        (is_word && classes.contains(&class)).then_some(row)
    })
}

fn registry(all: &[Source]) -> Option<&Source> {
    all.iter().find(|source| source.path == REGISTRY)
}

/// The path of a Rust file of the locks below the sources of its package, and the module at the top that it is in.
fn module_of(source: &Source) -> Option<(&str, &str)> {
    let below = below_sources(&source.path).filter(|_| source.is_rust())?;
    Some((below, below.split(['/', '.']).next()?))
}

/// A product has a golden run, and a lock with a module of its own a bug in the zoo.
pub fn a_lock_has_its_rows(source: &Source, all: &[Source]) -> Vec<Finding> {
    if source.path != REGISTRY {
        return Vec::new();
    }
    let golden = all.iter().find(|it| it.path == GOLDEN).map_or("", |it| it.text.as_str());
    let mut findings = Vec::new();
    for Row { line, name, class, module } in rows(source) {
        let is_product = ["Product", "Combination", "History"].contains(&class);
        if is_product && !golden.contains(&format!("(\"{name}\", ")) {
            let what = "is a product without a golden run: add a row to GOLDEN in";
            findings.push(source.finding(line, format!("`{name}` {what} {GOLDEN}")));
        }
        // A policy or a combination has the bugs of the locks that it is made of.
        let is_one = class != "Busted" && module.is_some();
        if is_one && !Bug::all().any(|bug| bug.is_in(name)) {
            let message = format!("no bug of the zoo is in `{name}`: add one to crates/zoo/src");
            findings.push(source.warning(line, message));
        }
    }
    findings
}

/// The module of a lock begins with a diagram, a table of states and a table of orderings.
pub fn a_lock_has_its_documentation(source: &Source, all: &[Source]) -> Vec<Finding> {
    let Some(below) = below_sources(&source.path) else { return Vec::new() };
    let module = below.strip_suffix("/mod.rs").or_else(|| below.strip_suffix(".rs"));
    let Some(registry) = registry(all).filter(|_| module.is_some()) else { return Vec::new() };
    let is_it = |row: &Row<'_>| row.class != "Busted" && row.module == module;
    let Some(Row { name, .. }) = rows(registry).find(is_it) else { return Vec::new() };
    let folder = source.path.trim_end_matches("mod.rs");
    let readme = all.iter().find(|it| it.path == format!("{folder}README.md"));
    let document = readme.map_or(source.text.as_str(), |it| it.text.as_str());
    let has_row = |begin: &str, end: &str| {
        let lines = document.lines().map(|line| line.trim_start_matches(['/', '!', ' ']));
        lines.map(str::trim_end).any(|line| line.starts_with(begin) && line.ends_with(end))
    };
    let parts = [
        ("diagram of its word (a block that begins with ```text)", has_row("```text", "")),
        ("table of its states (with a column `moved by`)", has_row("|", "moved by |")),
        ("table of its orderings (with a column `id`)", has_row("| id |", "|")),
    ];
    let lacks = |(part, _): &(&str, bool)| format!("the documentation of `{name}` has no {part}");
    parts.iter().filter(|(_, has)| !has).map(|part| source.finding(1, lacks(part))).collect()
}

/// A check fails if an ordering of the file is weakened.
pub fn every_ordering_is_watched(source: &Source, all: &[Source]) -> Vec<Finding> {
    let Some((below, module)) = module_of(source) else { return Vec::new() };
    let is_lock = |row: Row<'_>| row.name.replace('-', "_") == module;
    let is_watched = checker_of(below).is_some()
        || registry(all).is_some_and(|registry| rows(registry).any(is_lock));
    if is_watched || scan(source, all).0.is_empty() {
        return Vec::new();
    }
    let message = "no checker watches its orderings: call the module as the lock, or add it to \
                   xtask/src/mutants/table.rs";
    vec![source.finding(1, message)]
}

/// A lock is in the registry.
pub fn every_lock_is_registered(source: &Source, all: &[Source]) -> Vec<Finding> {
    let Some((_, module)) = module_of(source) else { return Vec::new() };
    // Its wrappers of locks are for programs.
    let Some(registry) = registry(all).filter(|_| module != "api") else { return Vec::new() };
    let is_named = registry.text.contains(&format!("crate::{module}::"));
    let is_lock = |line: &String| line.starts_with("impl") && line.contains(" RawLock for ");
    match source.code().product().iter().position(is_lock) {
        Some(at) if !is_named => {
            vec![source.finding(at + 1, format!("a lock without a row: add one to {REGISTRY}"))]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "    polite: \"polite\" | \"kind\", CLASS, crate::polite::PoliteLock<P>,\n";
    const LOCK: &str = "//! ```text\n//! | state | moved by |\n//! | id | carries |\n\
                        use core::sync::atomic::Ordering::Acquire;\n\
                        impl<P: Cells> RawLock for PoliteLock<P> {}\n";

    fn tree(class: &str, lock: &str) -> [Source; 2] {
        let registry = ROW.replace("CLASS", class);
        [Source::new(REGISTRY, registry), Source::new("crates/locks/src/polite.rs", lock)]
    }
    fn said(findings: &[Finding]) -> String {
        findings.iter().map(|it| format!("{}:{}: {}\n", it.path, it.line, it.message)).collect()
    }

    #[test]
    fn a_product_without_a_golden_run_is_named_and_a_lock_without_a_bug() {
        let [registry, lock] = tree("Product", LOCK);
        let all = [registry, lock];
        let found = a_lock_has_its_rows(&all[0], &all);
        assert!(said(&found).contains("registry.rs:1: `polite` is a product without a golden"));
        assert!(said(&found).contains("no bug of the zoo is in `polite`") && found[1].is_warning);
        let golden = Source::new(GOLDEN, "(\"polite\", \"12\", 3, 4),");
        let [registry, lock] = tree("Product", LOCK);
        assert_eq!(a_lock_has_its_rows(&all[0], &[registry, lock, golden]).len(), 1);
        let [registry, lock] = tree("Busted", LOCK);
        let all = [registry, lock];
        assert_eq!(a_lock_has_its_rows(&all[0], &all), []);
    }

    #[test]
    fn a_lock_without_a_diagram_or_a_table_is_named() {
        let all = tree("Reference", LOCK);
        assert_eq!(a_lock_has_its_documentation(&all[1], &all), []);
        let all = tree("Reference", "impl<P: Cells> RawLock for PoliteLock<P> {}\n");
        let found = a_lock_has_its_documentation(&all[1], &all);
        assert_eq!(found.len(), 3, "{}", said(&found));
        assert!(said(&found).contains("polite.rs:1: the documentation of `polite` has no diagram"));
    }

    #[test]
    fn a_lock_that_is_in_no_table_is_named() {
        let all = tree("Reference", LOCK);
        assert_eq!(every_lock_is_registered(&all[1], &all), []);
        let unregistered = Source::new("crates/locks/src/rude.rs", LOCK);
        let found = every_lock_is_registered(&unregistered, &all);
        assert!(said(&found).contains("rude.rs:5: a lock without a row"), "{}", said(&found));
    }

    #[test]
    fn orderings_that_no_checker_watches_are_named() {
        let text = "use core::sync::atomic::Ordering::Acquire;\n\
                    // ordering: Acquire; R1.\nself.word.load(Acquire);\n";
        for (path, count) in [("rude.rs", 1), ("unfair.rs", 0), ("qspinlock/queue.rs", 0)] {
            let source = Source::new(format!("crates/core/src/{path}"), text);
            assert_eq!(every_ordering_is_watched(&source, &[]).len(), count, "{path}");
        }
    }
}
