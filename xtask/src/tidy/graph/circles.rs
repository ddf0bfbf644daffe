//! Circles: files that use each other, directly or through others.

use super::super::{Finding, Source};
use super::crates::Graph;
use super::paths::Arrow;
use std::collections::{BTreeMap, BTreeSet};

/// Files of which each leads to each other one.
type Circle<'a> = BTreeSet<&'a str>;

/// No circle has more than two files. A finding names an arrow of each file, so that one can cut it.
pub fn a_circle_has_at_most_two_files(source: &Source, all: &[Source]) -> Vec<Finding> {
    let Some(folder) = source.path.strip_suffix("/Cargo.toml") else { return Vec::new() };
    let graph = Graph::of(folder, all);
    let finding = |circle: Circle<'_>| {
        let is_inside = |it: &&Arrow| circle.contains(&*it.to);
        let first_of =
            |file: &&str| graph.arrows.iter().filter(is_inside).find(|it| it.from == *file);
        let arrows: Vec<_> = circle.iter().filter_map(first_of).collect();
        let text = |it: &&Arrow| {
            let [from, to] = [&it.from, &it.to].map(|file| graph.module(file));
            format!("{from} uses {to} (line {}: `{}`)", it.line, it.path)
        };
        let parts: Vec<_> = arrows.iter().map(text).collect();
        let (count, parts) = (circle.len(), parts.join(", "));
        let message = format!("a circle of {count} files, at most 2: {parts}");
        let (path, line) = (arrows[0].from.clone(), arrows[0].line);
        Finding { path, line, message, is_warning: false }
    };
    circles(&graph).into_iter().map(finding).collect()
}

/// The files that each file uses.
fn next(arrows: &[Arrow]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arrow in arrows {
        next.entry(&*arrow.from).or_default().insert(&*arrow.to);
    }
    next
}

/// The circles of more than two files, the largest first.
pub fn circles(graph: &Graph) -> Vec<Circle<'_>> {
    let next = next(&graph.arrows);
    let reached: BTreeMap<_, _> = next.keys().map(|file| (*file, reached(file, &next))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in &reached {
        let is_back = |other: &&&str| reached.get(**other).is_some_and(|it| it.contains(file));
        circles.insert(others.iter().filter(is_back).copied().collect::<Circle<'_>>());
    }
    let mut circles: Vec<_> = circles.into_iter().filter(|files| files.len() > 2).collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

/// What `file` leads to, with one arrow or more.
fn reached<'a>(file: &'a str, next: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut to_do: Vec<&str> = vec![file];
    while let Some(at) = to_do.pop() {
        let new = next.get(at).into_iter().flatten().filter(|it| found.insert(**it));
        to_do.extend(new);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_of_the_mutex_meets_twelve_files_of_no_more_than_400_lines() {
        let sources = crate::tidy::sources(&crate::root());
        let arrows = super::super::arrows(&super::super::Tree::of_locks(&sources));
        let files = reached("crates/locks/src/mutex/mod.rs", &next(&arrows));
        assert!(files.contains("crates/core/src/park/marks.rs"), "{files:#?}");
        assert!(files.len() <= 12, "{} files: {files:#?}", files.len());
        let is_read = |source: &&Source| files.contains(&*source.path);
        let long = sources.iter().filter(is_read).find(|source| source.text.lines().count() > 400);
        assert_eq!(long.map(|source| &*source.path), None, "it has more than 400 lines");
    }
}
