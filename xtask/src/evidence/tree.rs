//! What the tree has: sites by file and rows of the zoo, found without running anything.

use crate::tidy::Source;
use crate::weaken;
use std::collections::BTreeMap;

/// Where the locks are.
pub const CRATE: &str = "crates/locks/src/";

/// How many orderings and barriers each file of the lock crate names, by its path below [`CRATE`]:
/// what `docs/evidence-tables.md` lists.
pub fn sites(sources: &[Source]) -> BTreeMap<String, usize> {
    let in_crate = sources.iter().filter_map(|source| {
        let path = source.path.strip_prefix(CRATE).filter(|path| path.ends_with(".rs"))?;
        Some((path.to_string(), weaken::sites_of(source, sources).0.len()))
    });
    in_crate.filter(|(_, count)| *count > 0).collect()
}

/// The rows of the zoo, in the order of their table.
pub fn rows() -> Vec<&'static str> {
    crate::zoo::rows().collect()
}

/// How the document differs from the tree; each a sentence.
pub fn differences(document: &str, sources: &[Source]) -> Vec<String> {
    let mut differences = Vec::new();
    let listed: BTreeMap<_, _> = table(document, "| file |")
        .filter_map(|cells| Some((cells.first()?.to_string(), cells.get(1)?.parse().ok()?)))
        .collect();
    let found = sites(sources);
    for file in listed.keys().chain(found.keys().filter(|file| !listed.contains_key(*file))) {
        let count = |counts: &BTreeMap<_, usize>| counts.get(file).copied().unwrap_or(0);
        let (listed, found) = (count(&listed), count(&found));
        if listed != found {
            differences.push(format!("{CRATE}{file} has {found} sites, and {listed} are listed"));
        }
    }
    let listed: Vec<_> =
        table(document, "| bug |").filter_map(|cells| cells.first().copied()).collect();
    let found = rows();
    for row in found.iter().filter(|row| !listed.contains(row)) {
        differences.push(format!("bug {row} of the zoo is not listed"));
    }
    for row in listed.iter().filter(|row| !found.contains(row)) {
        differences.push(format!("bug {row} is listed and not in the zoo"));
    }
    differences
}

/// The cells of the rows of the table that begins with `head`.
fn table<'a>(document: &'a str, head: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    let rows = document.lines().skip_while(move |line| !line.starts_with(head)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "use core::sync::atomic::Ordering::{Acquire,\n    Release};\n\
                          // ordering: Acquire; A1.\nlet x = a.load(Acquire);\n\
                          a.replace(0, 1, AcqRel, Acquire);\na.load(Relaxed);\nP::full_barrier(a);\n\
                          #[cfg(test)]\nmod tests { fn f() { a.load(Acquire); } }\n";

    fn document(count: usize, rows: &[&str]) -> String {
        let rows: String = rows.iter().map(|row| format!("| {row} | text |\n")).collect();
        format!(
            "| file | sites |\n|---|---:|\n| `a.rs` | {count} |\n\n| bug | what |\n|---|---|\n{rows}\n"
        )
    }

    #[test]
    fn orderings_and_barriers_are_counted_outside_comments_imports_and_tests() {
        let source = Source::new("crates/locks/src/a.rs", SOURCE);
        assert_eq!(sites(&[source]), BTreeMap::from([("a.rs".to_string(), 4)]));
    }

    #[test]
    fn a_document_that_lists_other_sites_or_rows_is_found_out() {
        let sources = [Source::new("crates/locks/src/a.rs", SOURCE)];
        assert_eq!(differences(&document(4, &rows()), &sources), Vec::<String>::new());
        assert_eq!(differences(&document(5, &rows()), &sources).len(), 1);
        assert_eq!(differences(&document(4, &rows()[1..]), &sources).len(), 1);
        assert_eq!(differences(&document(4, &[&rows()[..], &["999"]].concat()), &sources).len(), 1);
        assert_eq!(differences(&document(4, &rows()), &[]).len(), 1);
        assert!(differences("", &sources).len() > rows().len());
    }
}
