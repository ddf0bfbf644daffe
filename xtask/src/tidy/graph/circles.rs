//! Circles: files that use each other, directly or through others.

use super::super::{Finding, Source};
use super::crates::Graph;
use super::paths::Arrow;
use std::collections::{BTreeMap, BTreeSet};

/// Files of which each leads to each other one.
pub struct Circle {
    pub files: BTreeSet<String>,
}

impl Circle {
    /// Its files as modules, in one line.
    #[cfg(test)]
    pub fn names(&self, graph: &Graph) -> String {
        self.files.iter().map(|file| graph.module(file)).collect::<Vec<_>>().join(", ")
    }
    /// The arrows inside.
    pub fn arrows<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = &'a Arrow> {
        let is_inside = |it: &&Arrow| self.files.contains(&it.from) && self.files.contains(&it.to);
        graph.arrows.iter().filter(is_inside)
    }
}

/// No circle has more than two files. A finding names an arrow of each file, so that one can cut it.
pub fn a_circle_has_at_most_two_files(source: &Source, all: &[Source]) -> Vec<Finding> {
    let Some(folder) = source.path.strip_suffix("/Cargo.toml") else { return Vec::new() };
    let graph = Graph::of(folder, all);
    let finding = |circle: Circle| {
        let first_of = |file: &String| circle.arrows(&graph).find(|arrow| arrow.from == *file);
        let arrows: Vec<_> = circle.files.iter().filter_map(first_of).collect();
        let text = |it: &&Arrow| {
            let [from, to] = [&it.from, &it.to].map(|file| graph.module(file));
            format!("{from} uses {to} (line {}: `{}`)", it.line, it.path)
        };
        let parts: Vec<_> = arrows.iter().map(text).collect();
        let count = circle.files.len();
        let message = format!("a circle of {count} files, at most 2: {}", parts.join(", "));
        let (path, line) = (arrows[0].from.clone(), arrows[0].line);
        Finding { path, line, message, is_warning: false }
    };
    circles(&graph).into_iter().map(finding).collect()
}

/// The files that each file uses.
fn next(graph: &Graph) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arrow in &graph.arrows {
        next.entry(&*arrow.from).or_default().insert(&*arrow.to);
    }
    next
}

/// The circles of more than two files, the largest first.
pub fn circles(graph: &Graph) -> Vec<Circle> {
    let next = next(graph);
    let reached: BTreeMap<_, _> = next.keys().map(|file| (*file, reached(file, &next))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in &reached {
        let is_back = |other: &&&str| reached.get(**other).is_some_and(|it| it.contains(file));
        circles.insert(others.iter().filter(is_back).copied().collect::<BTreeSet<_>>());
    }
    let mut circles: Vec<_> = circles
        .into_iter()
        .filter(|files| files.len() > 2)
        .map(|files| Circle { files: files.into_iter().map(String::from).collect() })
        .collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.files.len()));
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
        let graph = Graph::of_locks(&sources);
        let files = reached("crates/locks/src/mutex/mod.rs", &next(&graph));
        assert!(files.contains("crates/core/src/park/marks.rs"), "{files:#?}");
        assert!(files.len() <= 12, "{} files: {files:#?}", files.len());
        let is_read = |source: &&Source| files.contains(&*source.path);
        let long = sources.iter().filter(is_read).find(|source| source.text.lines().count() > 400);
        assert_eq!(long.map(|source| &*source.path), None, "it has more than 400 lines");
    }
}
