//! Layers: the blocks of ARCHITECTURE.md that say what may use what.
//!
//! A block begins with ```` ```layers crates/locks ````, or with ```` ```layers workspace ```` for the crates
//! themselves, and has a line for each layer, from top to bottom:
//!
//! ```text
//! sleeping: mutex rwlock -> queue platform  # what it is
//! ```
//!
//! The layer `sleeping` consists of the modules `mutex` and `rwlock`, and may use two layers below. A layer without `:`
//! is the module of its name. A module belongs to the layer that names most of its path: `rwsem/spin` before `rwsem`.

use super::super::{Finding, Source};
use super::crates::{Graph, crates};
use super::paths::Arrow;
use std::collections::{BTreeMap, BTreeSet};

const DIAGRAM: &str = "ARCHITECTURE.md";
/// The title of the block about crates.
const WORKSPACE: &str = "workspace";

/// A block.
struct Block<'a> {
    title: &'a str,
    layers: Vec<Layer<'a>>,
}

struct Layer<'a> {
    name: &'a str,
    modules: Vec<&'a str>,
    uses: Vec<&'a str>,
    line: usize,
}

impl<'a> Layer<'a> {
    fn of(text: &'a str, line: usize) -> Self {
        let text = text.split('#').next().unwrap_or_default();
        let (left, uses) = text.split_once("->").unwrap_or((text, ""));
        let (name, modules) = left.split_once(':').unwrap_or((left, left));
        let words = |text: &'a str| text.split_whitespace().collect();
        Self { name: name.trim(), modules: words(modules), uses: words(uses), line }
    }
}

/// The blocks of a document.
fn blocks(document: &str) -> Vec<Block<'_>> {
    let mut lines = (1..).zip(document.lines());
    let mut blocks = Vec::new();
    while let Some((_, line)) = lines.next() {
        if let Some(title) = line.strip_prefix("```layers ") {
            let inside = lines.by_ref().take_while(|(_, line)| *line != "```");
            let layers = inside.map(|(at, line)| Layer::of(line, at)).collect();
            blocks.push(Block { title, layers });
        }
    }
    blocks
}

/// Every arrow between layers is in the diagram, and what the diagram says is true.
pub fn layers_are_those_of_the_diagram(source: &Source, all: &[Source]) -> Vec<Finding> {
    if source.path != DIAGRAM {
        return Vec::new();
    }
    let blocks = blocks(&source.text);
    let is_about_crates = |block: &Block| block.title == WORKSPACE;
    let mut findings: Vec<_> = blocks.iter().flat_map(|it| judged(it, source, all)).collect();
    if !blocks.iter().any(is_about_crates) {
        findings.push(source.finding(1, format!("no block ```layers {WORKSPACE}")));
    }
    findings
}

/// What is wrong with a block, or with the code that it is about.
fn judged(block: &Block, diagram: &Source, all: &[Source]) -> Vec<Finding> {
    let graph = match block.title {
        WORKSPACE => of_workspace(all),
        folder => Graph::of(folder, all),
    };
    let mut findings = of_lines(block, &graph, diagram);
    let (mut used, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for Arrow { from, to, line, path } in &graph.arrows {
        let modules = [from, to].map(|file| graph.module(file));
        let message = match modules.map(|module| layer_of(block, module)) {
            [Some(upper), Some(lower)] => {
                let (name, below) = (upper.name, lower.name);
                used.insert((name, below));
                if name == below || upper.uses.contains(&below) || !seen.insert((from, to)) {
                    continue;
                }
                format!("`{path}`: {DIAGRAM} does not let the layer `{name}` use `{below}`")
            }
            layers => {
                let (file, at) = if layers[0].is_none() { (from, 0) } else { (to, 1) };
                if !seen.insert((file, file)) {
                    continue;
                }
                format!("`{}` is in no layer of {DIAGRAM}", modules[at])
            }
        };
        findings.push(Finding { path: from.clone(), line: *line, message, is_warning: false });
    }
    for layer in &block.layers {
        let is_unused = |below: &&&str| !used.contains(&(layer.name, **below));
        findings.extend(layer.uses.iter().filter(is_unused).map(|below| {
            let message = format!("the layer `{}` does not use `{below}`", layer.name);
            diagram.warning(layer.line, message)
        }));
    }
    findings
}

/// What is wrong with the lines of a block themselves.
fn of_lines(block: &Block, graph: &Graph, diagram: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    let is_below = |module: &str, top: &str| {
        module.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for (at, layer) in block.layers.iter().enumerate() {
        let mut add = |message| findings.push(diagram.finding(layer.line, message));
        for module in &layer.modules {
            if !graph.files.iter().any(|file| is_below(graph.module(file), module)) {
                add(format!("there is no `{module}`"));
            } else if !seen.insert(module) {
                add(format!("`{module}` is in two layers"));
            }
        }
        for below in &layer.uses {
            if !block.layers[at + 1..].iter().any(|it| it.name == *below) {
                add(format!("`{below}` is not a layer below `{}`", layer.name));
            }
        }
    }
    findings
}

/// The layer that names most of the path of a module.
fn layer_of<'a, 'b>(block: &'b Block<'a>, module: &str) -> Option<&'b Layer<'a>> {
    let mut path = module;
    loop {
        let layer = block.layers.iter().find(|layer| layer.modules.contains(&path));
        match (layer, path.rsplit_once('/')) {
            (None, Some((parent, _))) => path = parent,
            _ => return layer,
        }
    }
}

/// The crates as files: which one depends on which. What only tests need is left out.
fn of_workspace(sources: &[Source]) -> Graph {
    let manifests: BTreeMap<_, _> = crates(sources)
        .filter_map(|folder| {
            let source = sources.iter().find(|it| it.path == format!("{folder}/Cargo.toml"))?;
            let manifest: toml::Table = source.text.parse().ok()?;
            // A package of a workspace of its own has its name from elsewhere, too.
            if manifest.contains_key("workspace") {
                return None;
            }
            let name = manifest.get("package")?.get("name")?.as_str()?.to_string();
            Some((name, (folder, source, manifest)))
        })
        .collect();
    let mut arrows = Vec::new();
    for (_, source, manifest) in manifests.values() {
        let targets = manifest.get("target").and_then(|it| it.as_table()).into_iter().flatten();
        let tables = targets.filter_map(|(_, it)| it.as_table()).chain([manifest]);
        let all = tables.flat_map(|it| [it.get("dependencies"), it.get("build-dependencies")]);
        for (key, value) in all.flatten().filter_map(|it| it.as_table()).flatten() {
            let package = value.get("package").and_then(|it| it.as_str()).unwrap_or(key);
            let Some((to, ..)) = manifests.get(package) else { continue };
            let is_key = |line: &str| line.split(['=', '.', ' ']).next() == Some(key);
            let line = source.text.lines().position(is_key).map_or(1, |at| at + 1);
            let (from, to) = (source.path.clone(), format!("{to}/Cargo.toml"));
            arrows.push(Arrow { from, to, line, path: package.to_string() });
        }
    }
    let files = manifests.values().map(|(_, source, _)| source.path.clone()).collect();
    Graph { folder: "crates/".to_string(), files, arrows }
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    const LOCKS: &str = "sleeping: mutex rwlock -> queue platform  # locks that sleep\nqueue -> platform\nplatform\n";

    /// What the rule says about a tree like that of the locks, with this block and this text of `queue.rs`.
    fn said(layers: &str, queue: &str) -> Vec<String> {
        let block = "```layers workspace\na -> b\nb\n```\n\n```layers crates/a\n";
        let diagram = format!("# Layers\n{block}{layers}```\n");
        let manifest = "[package]\nname = \"n\"\n";
        let a = format!("{}[dependencies]\nm.path = \"../b\"\n", manifest);
        let b =
            format!("{}[dev-dependencies]\nn.path = \"../a\"\n", manifest.replace("n\"", "m\""));
        let all = tree(&[
            ("ARCHITECTURE.md", &diagram),
            ("crates/a/Cargo.toml", &a),
            ("crates/b/Cargo.toml", &b),
            ("crates/a/src/lib.rs", "mod mutex; mod platform; mod queue; mod rwlock;"),
            ("crates/a/src/mutex/mod.rs", "mod wait; use crate::platform::Cell;"),
            ("crates/a/src/mutex/wait.rs", "use crate::queue::Node; use crate::rwlock::Word;"),
            ("crates/a/src/rwlock.rs", "pub struct Word;"),
            ("crates/a/src/queue.rs", queue),
            ("crates/a/src/platform.rs", "pub struct Cell;"),
        ]);
        let findings = all.iter().flat_map(|it| layers_are_those_of_the_diagram(it, &all));
        findings.map(|it| format!("{}:{} {}", it.path, it.line, it.message)).collect()
    }

    #[test]
    fn an_arrow_that_the_diagram_does_not_have_is_an_error() {
        let right = "pub struct Node;\nuse crate::platform::Cell;";
        assert_eq!(said(LOCKS, right), [""; 0]);
        let wrong = "pub struct Node(crate::platform::Cell);\nuse crate::mutex::Word;";
        let message =
            "`crate::mutex::Word`: ARCHITECTURE.md does not let the layer `queue` use `sleeping`";
        assert_eq!(said(LOCKS, wrong), [format!("crates/a/src/queue.rs:2 {message}")]);
    }

    #[test]
    fn a_diagram_that_says_what_is_not_so_is_found() {
        let queue = "pub struct Node;";
        let unused = said(LOCKS, queue);
        assert_eq!(unused, ["ARCHITECTURE.md:9 the layer `queue` does not use `platform`"]);
        for (line, message) in [
            ("all: mutex rwlock queue platform gone\n", "8 there is no `gone`"),
            ("all: mutex rwlock queue\nplatform: platform queue\n", "9 `queue` is in two layers"),
            ("all: mutex rwlock\n", "`platform` is in no layer"),
            ("a: platform\nb: mutex rwlock queue -> a\n", "9 `a` is not a layer below `b`"),
        ] {
            let said = said(line, queue);
            assert!(said.iter().any(|it| it.contains(message)), "{line}{said:?}");
        }
    }

    #[test]
    fn an_arrow_between_crates_that_the_diagram_does_not_have_is_an_error() {
        let source = Source::new("ARCHITECTURE.md", "```layers workspace\nlab\nsim\n```\n");
        let lab =
            "[package]\nname = \"l\"\n[target.'cfg(unix)'.dependencies]\ns = { path = \"../sim\" }";
        let sim = "[package]\nname = \"s\"";
        let other = "[workspace]\n[package]\nname = \"l\"\n[dependencies]\ns = \"0.1\"";
        let all = tree(&[
            ("crates/lab/Cargo.toml", lab),
            ("crates/sim/Cargo.toml", sim),
            ("packages/l/Cargo.toml", other),
        ]);
        let [found] = &layers_are_those_of_the_diagram(&source, &all)[..] else { panic!() };
        assert_eq!((&*found.path, found.line), ("crates/lab/Cargo.toml", 4));
        assert!(found.message.contains("`lab` use `sim`"), "{}", found.message);
        let none = layers_are_those_of_the_diagram(&Source::new("ARCHITECTURE.md", ""), &all);
        assert!(none[0].message.contains("no block"));
    }
}
