//! The graph of modules: which file of a crate uses what another one defines.
//!
//! Names are resolved through imports and re-exports, so an arrow leads to the file that defines the item. `mod x;` and
//! re-exports are no arrows, and tests are left out. Not seen: calls of methods, and a trait that only `*` imports.

mod circles;
mod paths;
mod tree;

use super::Source;
use circles::circles;
use paths::{Arrow, arrows};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tree::Tree;

/// The arrows between the files of a crate.
pub struct Graph {
    /// The folder of the crate, with `/` at the end.
    folder: String,
    files: BTreeSet<String>,
    arrows: Vec<Arrow>,
}

impl Graph {
    /// The graph of the crate in `folder`.
    fn of(folder: &str, sources: &[Source]) -> Self {
        let folder = format!("{folder}/src/");
        let (mut files, mut all) = (BTreeSet::new(), Vec::new());
        for tree in trees(&folder, sources) {
            files.extend(tree.files.iter().map(|(source, ..)| source.path.clone()));
            all.append(&mut arrows(&tree));
        }
        Self { folder, files, arrows: all }
    }
    /// A file as a module: `rwsem/count`, and `rwsem` for `rwsem/mod.rs`.
    fn module<'a>(&self, file: &'a str) -> &'a str {
        let name = file.strip_prefix(&*self.folder).unwrap_or(file);
        let name = name.strip_suffix(".rs").unwrap_or(name);
        name.strip_suffix("/mod").unwrap_or(name)
    }
}

/// A tree for the library of a crate, and one for each of its programs.
fn trees<'a>(folder: &str, sources: &'a [Source]) -> Vec<Tree<'a>> {
    let is_root = |source: &&Source| match source.path.strip_prefix(folder) {
        Some("lib.rs" | "main.rs") => true,
        Some(below) => below.starts_with("bin/") && below.matches('/').count() == 1,
        None => false,
    };
    sources.iter().filter(is_root).map(|root| Tree::of(&root.path, sources)).collect()
}

/// The folders of the crates of the workspace.
fn crates(sources: &[Source]) -> impl Iterator<Item = &str> {
    sources.iter().filter_map(|it| it.path.strip_suffix("/Cargo.toml"))
}

/// Prints the circles of each crate of `names`, and the arrows between its modules.
pub fn print(root: &Path, names: &[&str]) -> Result<bool, String> {
    let sources = super::sources(root);
    let name_of = |folder: &str| folder.rsplit('/').next().unwrap_or_default().to_string();
    let known: Vec<_> = crates(&sources).map(name_of).collect();
    if names.is_empty() {
        return Err(format!("give the name of a crate: {}", known.join(", ")));
    }
    if let Some(other) = names.iter().find(|name| !known.iter().any(|it| it == *name)) {
        return Err(format!("`{other}` is not a crate; the crates are {}", known.join(", ")));
    }
    for folder in crates(&sources).filter(|folder| names.contains(&&*name_of(folder))) {
        print!("{}", described(&Graph::of(folder, &sources)));
    }
    Ok(true)
}

/// The circles of a crate with all of their arrows, and for each two of its top-level modules how many arrows there
/// are, with the first of them.
fn described(graph: &Graph) -> String {
    let circles = circles(graph);
    let Graph { folder, files, arrows } = graph;
    let mut text = format!("{folder}: {} files, {} circles\n", files.len(), circles.len());
    for circle in &circles {
        text += &format!("\ncircle of {} files: {}\n", circle.files.len(), circle.names(graph));
        let mut pairs: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for Arrow { from, to, line, path } in circle.arrows(graph) {
            pairs.entry((from, to)).or_default().entry(path).or_insert(line);
        }
        for ((from, to), paths) in pairs {
            let paths: Vec<_> = paths.iter().map(|(path, line)| format!("{line} {path}")).collect();
            let (from, to) = (graph.module(from), graph.module(to));
            text += &format!("  {from} -> {to}: {}\n", paths.join(", "));
        }
    }
    text += "\narrows between modules\n";
    let mut pairs: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for arrow in arrows {
        let top = |file| graph.module(file).split('/').next().unwrap_or_default();
        let (from, to) = (top(&*arrow.from), top(&*arrow.to));
        if from != to {
            pairs.entry((from, to)).or_default().push(arrow);
        }
    }
    for ((from, to), arrows) in pairs {
        let Arrow { from: file, line, path, .. } = arrows[0];
        let first = file.strip_prefix(&**folder).unwrap_or(file);
        text += &format!("  {from} -> {to}: {}, {first}:{line} {path}\n", arrows.len());
    }
    text
}
