//! What the page has to say about the tree, found without running any checker.

use super::clients::{self, kept, kept_names};
use super::expected::Expected;
use crate::mutants::{scan, zoo};
use crate::packages::below_sources;
use crate::tidy::Source;
use lockwright_zoo::Bug;
use std::collections::{BTreeMap, BTreeSet};

/// The greatest number of lines of the page.
pub const LINES_MAX: usize = 300;

/// How many orderings and barriers each file of the lock crate names, by its path below its package.
pub fn sites(sources: &[Source]) -> BTreeMap<String, usize> {
    let in_crate = sources.iter().filter_map(|source| {
        let path = below_sources(&source.path).filter(|path| path.ends_with(".rs"))?;
        Some((path.to_string(), scan(source, sources).0.len()))
    });
    in_crate.filter(|(_, count)| *count > 0).collect()
}

/// The same in words.
pub fn files(counts: &BTreeMap<String, usize>) -> String {
    let files = counts.iter().map(|(file, count)| format!("`{file}` {count}"));
    files.collect::<Vec<_>>().join(", ")
}

/// The numbers of all bugs.
pub fn bugs() -> String {
    zoo::rows().collect::<Vec<_>>().join(", ")
}

/// What it has to say, word by word.
fn facts(sources: &[Source], expected: &Expected) -> [String; 6] {
    let mutants: usize = expected.mutants.values().sum();
    [
        format!("{} orderings, as many", expected.sites),
        format!("and {mutants} *mutants*"),
        format!("By file: {}.", files(&sites(sources))),
        format!("{} bugs, and", zoo::rows().count()),
        format!("The bugs are {}.", bugs()),
        format!("{} locks and {} clients", expected.locks.len(), clients::all().count()),
    ]
}

/// How the page differs from the tree; each a sentence.
pub fn differences(page: &str, sources: &[Source], expected: &Expected) -> Vec<String> {
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let facts = facts(sources, expected);
    let missing = facts.iter().filter(|fact| !words.contains(fact.as_str()));
    let mut differences: Vec<_> = missing.map(|fact| format!("it does not say `{fact}`")).collect();
    let lines = page.lines().count();
    if lines > LINES_MAX {
        differences.push(format!("it has {lines} lines, more than {LINES_MAX}"));
    }
    differences.extend(of_clients(&words, sources));
    differences
}

/// What the page says about clients that are not there, or does not say about those that are.
fn of_clients(words: &str, sources: &[Source]) -> Vec<String> {
    let part = |begin: &str, end: &str| {
        let after = words.split_once(begin).map_or("", |(_, after)| after);
        after.split_once(end).map_or("", |(part, _)| part)
    };
    let names = |text: &str| -> BTreeSet<String> {
        text.split('`').skip(1).step_by(2).map(String::from).collect()
    };
    let needed = names(part("They are: ", ". Without one of"));
    let of_page = part("property of their own:", "## What is not covered").trim();
    let mut differences = Vec::new();
    if of_page != kept().split_whitespace().collect::<Vec<_>>().join(" ") {
        differences.push("it gives other reasons for clients than clients.rs of evidence".into());
    }
    let kept: BTreeSet<_> = kept_names().map(String::from).collect();
    let all: BTreeSet<_> = clients::all().map(String::from).collect();
    let listed = || needed.union(&kept);
    for name in all.iter().filter(|name| !listed().any(|it| it == *name)) {
        differences.push(format!("it does not list the client `{name}`"));
    }
    let is_named = |name: &str| {
        let quoted = format!("\"{name}\"");
        all.contains(name)
            || Bug::all().flat_map(|bug| bug.tests).any(|test| test.name == name)
            || sources
                .iter()
                .any(|source| !source.path.starts_with("xtask/") && source.text.contains(&quoted))
    };
    for name in listed().filter(|name| !is_named(name)) {
        differences.push(format!("it lists `{name}`, which is no client"));
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_and_barriers_are_counted_outside_comments_imports_and_tests() {
        let text = "use core::sync::atomic::Ordering::{Acquire,\n    Release};\n\
            // ordering: Acquire; A1.\nlet x = a.load(Acquire);\n\
            a.replace(0, 1, AcqRel, Acquire);\na.load(Relaxed);\nP::full_barrier(a);\n\
            #[cfg(test)]\nmod tests { fn f() { a.load(Acquire); } }\n";
        let source = Source::new("crates/locks/src/a.rs", text);
        assert_eq!(sites(&[source]), BTreeMap::from([("a.rs".to_string(), 4)]));
    }

    #[test]
    fn a_page_of_another_tree_is_found_out() {
        let sources = crate::tidy::sources(&crate::root());
        let expected = Expected::of(&sources).expect("orderings");
        assert_eq!(sites(&sources).values().sum::<usize>(), expected.sites);
        let all: Vec<_> = clients::all().map(|name| format!("`{name}`")).collect();
        let page = format!(
            "# Evidence\n{} They are: {}. Without one of the property of their own:\n{}\n## What is not covered\n",
            facts(&sources, &expected).join(" "),
            all.join(", "),
            kept()
        );
        let of = |page: &str| differences(page, &sources, &expected);
        assert_eq!(of(&page), Vec::<String>::new());
        for (from, to) in [
            (" orderings,", "9 orderings,"),
            (" *mutants*", "9 *mutants*"),
            ("By file: `", "By file: `a.rs` 1, `"),
            ("The bugs are 1,", "The bugs are 999, 1,"),
            ("- `shared`", "- `shard`"),
            ("`exclusion`, ", ""),
            ("They are: ", "They are: `exclude`, "),
            ("# Evidence\n", &("\n".repeat(LINES_MAX))),
        ] {
            assert_eq!(of(&page.replacen(from, to, 1)).len(), 1, "{from}");
        }
    }
}
