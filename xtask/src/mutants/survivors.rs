//! The mutants that no checker kills, each with the reason why it stays.

use super::scan::{Site, weakened};
use crate::disk;
use serde::Deserialize;
use std::path::Path;

/// The committed list.
pub const FILE: &str = "crates/catalog/survivors.toml";

/// One mutant that may survive.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survivor {
    /// The file of the site.
    pub file: String,
    /// An id of the site's comment.
    pub id: String,
    /// The text of the site's line. Not its number, which changes with every edit above it.
    pub code: String,
    /// What stands there: a line may have several orderings.
    pub from: String,
    /// What it is weakened to; empty for a barrier that is removed.
    pub to: String,
    /// Why the site is as it is all the same.
    pub argument: String,
    /// What the checker does not reach, so that it cannot see the difference.
    pub bound: String,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    survivor: Vec<Survivor>,
}

impl Survivor {
    /// True if this is the mutant of `site` that makes it `to`.
    pub fn is(&self, site: &Site, to: &str) -> bool {
        let is_site = self.file == site.path && self.code == site.code;
        is_site && site.ids.contains(&self.id) && self.from == site.now && self.to == to
    }
    /// How many mutants of `sites` it fits: one argument may not excuse two.
    pub fn fits(&self, sites: &[Site]) -> usize {
        weakened(sites).filter(|(_, site, to)| self.is(site, to)).count()
    }
    /// What a reader looks for in the list.
    pub fn name(&self) -> String {
        let to = if self.to.is_empty() { "removed" } else { &self.to };
        format!("{} {} `{}`, {} to {to}", self.file, self.id, self.code, self.from)
    }
}

/// Reads the list of the repository at `root`.
pub fn read(root: &Path) -> Result<Vec<Survivor>, String> {
    parse(&disk::read(&root.join(FILE))?)
}

fn parse(text: &str) -> Result<Vec<Survivor>, String> {
    let list: List = toml::from_str(text).map_err(|error| format!("{FILE}: {error}"))?;
    let is_empty =
        |survivor: &&Survivor| [&survivor.argument, &survivor.bound].iter().any(|it| it.is_empty());
    match list.survivor.iter().find(is_empty) {
        Some(bare) => Err(format!("{FILE}: {} needs an argument and a bound", bare.name())),
        None => Ok(list.survivor),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use super::*;
    use crate::tidy::Source;

    const ENTRY: &str = "[[survivor]]\nfile = \"a.rs\"\nid = \"Q1\"\ncode = \"c\"\nfrom = \"Acquire\"\nto = \"Relaxed\"\n";

    #[test]
    fn a_survivor_without_an_argument_or_a_bound_is_refused() {
        assert_eq!(parse("").expect("an empty list").len(), 0);
        let full = format!("{ENTRY}argument = \"because\"\nbound = \"three threads\"\n");
        assert_eq!(parse(&full).expect("a list").len(), 1);
        assert!(parse(ENTRY).is_err());
        let bare = format!("{ENTRY}argument = \"because\"\nbound = \"\"\n");
        assert!(parse(&bare).expect_err("no bound").contains("needs an argument and a bound"));
    }

    #[test]
    fn an_entry_excuses_one_mutant_only() {
        let fitting = |code: &str, from: &str| {
            let text = format!("//! | Q1 | here |\n// ordering: Q1.\n{code}\n");
            let source = Source::new("a.rs", text);
            let (sites, _) = scan(&source, std::slice::from_ref(&source));
            let code = code.lines().next().unwrap_or_default();
            let [file, id, code, from, to] =
                ["a.rs", "Q1", code, from, "Acquire"].map(str::to_string);
            Survivor { file, id, code, from, to, ..Survivor::default() }.fits(&sites)
        };
        assert_eq!(fitting("a.swap(b.load(SeqCst), AcqRel);", "AcqRel"), 1);
        assert_eq!(fitting("a.swap(b.load(SeqCst), AcqRel);", "SeqCst"), 1);
        assert_eq!(fitting("a.swap(b.load(SeqCst), AcqRel);", "Release"), 0);
        assert_eq!(fitting("a.swap(b.swap(0, AcqRel), AcqRel);", "AcqRel"), 2);
        assert_eq!(
            fitting("a.swap(1, AcqRel);\n// ordering: Q1.\na.swap(1, AcqRel);", "AcqRel"),
            2
        );
    }
}
