//! What a release needs: packages that are complete, dependencies that may be used, and no breaking change of the
//! interface.

use crate::stage::{Need, Stage};

/// The packages are compared with what is on the registry.
const REGISTRY: Need = Need { probe: "cargo info cargo-deny", get: "cargo info cargo-deny" };

const DENY: Need = Need { probe: "cargo deny --version", get: "cargo install --locked cargo-deny" };

const SEMVER_CHECKS: Need = Need {
    probe: "cargo semver-checks --version",
    get: "cargo install --locked cargo-semver-checks",
};

/// The release that the interface is compared with.
const LAST: &str = "v0.1.0";

const LAST_RELEASE: Need = Need { probe: "git rev-parse --verify v0.1.0", get: "git fetch --tags" };

/// All of them.
pub fn stages() -> Vec<Stage> {
    let publish = "cargo publish --workspace --dry-run --no-verify --allow-dirty";
    // What is known of vulnerabilities comes from a server: the workflow of the forge asks it.
    let deny = "cargo deny --offline --all-features check bans licenses sources";
    let semver = format!("cargo semver-checks --package lockwright --baseline-rev {LAST}");
    vec![
        Stage::command("packages", 300, publish).needing(REGISTRY),
        Stage::command("deny", 120, deny).needing(DENY),
        Stage::command("semver-checks", 600, &semver).needing(LAST_RELEASE).needing(SEMVER_CHECKS),
    ]
}

#[cfg(test)]
mod tests {
    use crate::root;
    use crate::tidy::Source;
    use std::path::{Component, Path, PathBuf};
    use toml::Table;

    fn table(path: &Path) -> Table {
        let text = std::fs::read_to_string(path).expect("it is there");
        text.parse().expect("it is TOML")
    }

    /// The crates that are published: folder and manifest.
    fn published() -> Vec<(PathBuf, Table)> {
        let crates = std::fs::read_dir(root().join("crates")).expect("a directory");
        let folders = crates.map(|entry| entry.expect("an entry").path());
        let all = folders.map(|folder| (folder.clone(), table(&folder.join("Cargo.toml"))));
        let is_published = |(_, manifest): &(PathBuf, Table)| {
            !manifest["package"].as_table().expect("a table").contains_key("publish")
        };
        all.filter(is_published).collect()
    }

    #[test]
    fn every_package_has_its_licences_and_says_what_it_is() {
        let published = published();
        assert!(published.len() >= 10, "{}", published.len());
        assert!(super::LAST_RELEASE.probe.ends_with(super::LAST));
        for (folder, manifest) in published {
            for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
                let text = |path: PathBuf| std::fs::read(path).unwrap_or_default();
                let (ours, its) = (text(root().join(licence)), text(folder.join(licence)));
                assert!(!ours.is_empty() && ours == its, "{}/{licence}", folder.display());
            }
            let description = manifest["package"].get("description").and_then(|it| it.as_str());
            let is_sentence = |text: &str| (20..=120).contains(&text.len());
            assert!(description.is_some_and(is_sentence), "{}: {description:?}", folder.display());
        }
    }

    /// A published crate names a version of each crate here that it needs, and that one is published, too.
    #[test]
    fn published_crates_need_only_published_ones() {
        let published = published();
        let name = |manifest: &Table| manifest["package"]["name"].as_str().map(str::to_string);
        let names: Vec<_> = published.iter().filter_map(|(_, it)| name(it)).collect();
        let workspace = table(&root().join("Cargo.toml"));
        let ours = workspace["workspace"]["dependencies"].as_table().expect("a table");
        for (folder, manifest) in &published {
            let dependencies = manifest.get("dependencies").and_then(|it| it.as_table());
            let used = dependencies.into_iter().flat_map(|table| table.keys());
            for used in used.filter(|used| ours.contains_key(*used)) {
                assert!(names.contains(used), "{} needs {used}", folder.display());
                assert!(ours[used].get("version").is_some(), "{used} has no version");
            }
        }
    }

    /// What the program is built of is inside the package that reads it.
    #[test]
    fn no_package_reads_a_file_of_another_folder() {
        let sources = crate::tidy::sources(&root());
        let mut read = 0;
        for (folder, _) in published() {
            let folder = folder.strip_prefix(root()).expect("below the root").join("src");
            for source in sources.iter().filter(|it| Path::new(&it.path).starts_with(&folder)) {
                for (path, is_inside) in included(source) {
                    read += 1;
                    assert!(is_inside, "{} reads {path}", source.path);
                }
            }
        }
        assert!(read > 15, "only {read} were found");
    }

    /// The files that a source includes outside of its tests, and if they are in its package.
    fn included(source: &Source) -> Vec<(String, bool)> {
        let is_test = source.path.ends_with("tests.rs");
        let product = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let depth = Path::new(&source.path).components().count() - 3;
        let included = product.split("include_str!(").skip(if is_test { usize::MAX } else { 1 });
        let up = |it: &Component<'_>| matches!(it, Component::ParentDir);
        let is_inside = |path| Path::new(path).components().filter(up).count() <= depth;
        let paths = included.filter_map(|rest| rest.split('"').nth(1));
        paths.map(|path| (path.to_string(), is_inside(path))).collect()
    }
}
