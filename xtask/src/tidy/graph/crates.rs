//! The crates of the workspace, each with its graph.

use super::super::Source;
use super::paths::{Arrow, arrows};
use super::tree::Tree;

/// The arrows between the files of a crate.
pub struct Graph {
    /// The folder of the crate, with `/` at the end.
    pub folder: String,
    pub arrows: Vec<Arrow>,
}

impl Graph {
    /// The graph of the crate in `folder`.
    pub fn of(folder: &str, sources: &[Source]) -> Self {
        let folder = format!("{folder}/src/");
        let arrows = trees(&folder, sources).iter().flat_map(arrows).collect();
        Self { folder, arrows }
    }
    /// A file as a module: `rwsem/count`, and `rwsem` for `rwsem/mod.rs`.
    pub fn module<'a>(&self, file: &'a str) -> &'a str {
        let name = file.strip_prefix(&*self.folder).unwrap_or(file);
        let name = name.strip_suffix(".rs").unwrap_or(name);
        name.strip_suffix("/mod").unwrap_or(name)
    }
}

/// A tree for the library of a crate, and one for each of its programs.
pub fn trees<'a>(folder: &str, sources: &'a [Source]) -> Vec<Tree<'a>> {
    let is_root = |source: &&Source| match source.path.strip_prefix(folder) {
        Some("lib.rs" | "main.rs") => true,
        Some(below) => below.starts_with("bin/") && below.matches('/').count() == 1,
        None => false,
    };
    sources.iter().filter(is_root).map(|root| Tree::of(&root.path, sources)).collect()
}
