//! Circles: files that use each other, directly or through others.

use super::crates::Graph;
use super::paths::Arrow;
use std::collections::{BTreeMap, BTreeSet};

/// Files of which each leads to each other one.
pub struct Circle {
    pub files: BTreeSet<String>,
}

impl Circle {
    /// Its files as modules, in one line.
    pub fn names(&self, graph: &Graph) -> String {
        self.files.iter().map(|file| graph.module(file)).collect::<Vec<_>>().join(", ")
    }
    /// The arrows inside.
    pub fn arrows<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = &'a Arrow> {
        let is_inside = |it: &&Arrow| self.files.contains(&it.from) && self.files.contains(&it.to);
        graph.arrows.iter().filter(is_inside)
    }
}

/// The circles of more than two files, the largest first.
pub fn circles(graph: &Graph) -> Vec<Circle> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arrow in &graph.arrows {
        next.entry(&*arrow.from).or_default().insert(&*arrow.to);
    }
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
