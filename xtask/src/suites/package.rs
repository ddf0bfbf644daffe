//! Packages that are written for a suite, and what cargo makes of them.

use super::source::TestFile;
use super::table::{HERE, LeftOut, Suite};
use crate::disk::{copy_into, make_empty, read, write};
use crate::limit::{command, output_within, printed};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Nothing takes longer but a suite's tests.
pub const TIME_MAX: Duration = Duration::from_secs(1200);

/// A package of the registry, as cargo has it.
#[derive(Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub manifest_path: PathBuf,
}

/// The packages that `cargo metadata` finds; unless it is offline, it fetches those that it lacks.
pub fn packages(cargo: &mut Command) -> Result<Vec<Package>, String> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let printed = printed(cargo.args(["--format-version", "1"]), TIME_MAX)?;
    let metadata: Result<Metadata, _> = serde_json::from_str(&printed);
    let metadata = metadata.map_err(|error| format!("`cargo metadata` cannot be read: {error}"))?;
    Ok(metadata.packages)
}

/// Where the packages of a suite are.
pub fn folder(root: &Path, suite: &Suite) -> PathBuf {
    root.join("target").join(&suite.command)
}

/// Writes a package for each library, apart from the workspace of the repository and with the versions of its packages.
/// Each test that is left out is a program, so that it shows by itself if it compiles.
pub fn write_suite(
    root: &Path,
    suite: &Suite,
    version: &str,
    (files, examples): (&[TestFile], &[(String, String)]),
) -> Result<(), String> {
    let folder = folder(root, suite);
    make_empty(&folder)?;
    let names: Vec<_> = suite.sides.iter().map(|side| suite.package(side)).collect();
    let workspace = format!(
        "[workspace]\nresolver = \"3\"\nmembers = {names:?}\n\n[profile.release]\ndebug = \"line-tables-only\"\n"
    );
    write(&folder.join("Cargo.toml"), workspace)?;
    copy_into(&folder, &root.join("Cargo.lock"))?;
    let start = read(&root.join("xtask/src/suites").join(&suite.root))?;
    let mut library = start.clone();
    library.extend(files.iter().map(|file| format!("mod {};\n", file.name)));
    for (name, text) in examples {
        library += &format!("#[doc = {text:?}]\npub mod of_{name} {{}}\n");
    }
    for (name, side) in names.iter().zip(&suite.sides) {
        let folder = folder.join(name);
        let dependency = side.dependency.replace("{root}", format!("{root:?}").trim_matches('"'));
        let dependency = dependency.replace("{version}", version);
        let manifest = format!("[package]\nname = {name:?}\n{}{dependency}\n", suite.manifest);
        write(&folder.join("Cargo.toml"), manifest)?;
        write(&folder.join("src/lib.rs"), &library)?;
        for file in files {
            let text = file.text(suite, &|test| !suite.leaves_out(&file.name, test));
            write(&folder.join("src").join(&file.name).with_extension("rs"), text)?;
        }
    }
    for row in &suite.left_out {
        let Some(file) = files.iter().find(|file| file.name == row.file) else { continue };
        // The tests that a macro of the file makes are there, too.
        let text = file.text(suite, &|test| test == row.test);
        let path = folder.join(&names[0]).join("tests").join(row.program()).with_extension("rs");
        write(&path, format!("{start}mod left_out {{\n{text}}}\n"))?;
    }
    Ok(())
}

/// Cargo in the packages of a suite.
fn cargo(root: &Path, suite: &Suite, arguments: &str) -> Command {
    let mut cargo = command(&format!("cargo {arguments}"));
    cargo.current_dir(folder(root, suite)).env("CARGO_TARGET_DIR", root.join("target"));
    cargo
}

/// Compiles the tests of a suite. It is expected that those which are left out do not compile.
pub fn build(root: &Path, suite: &Suite) -> Result<Built, String> {
    let (built, said) = compile(&mut cargo(root, suite, "build --tests --release --keep-going"))?;
    let is_built = |program: &String| built.programs.contains_key(program);
    match suite.sides.iter().find(|side| !is_built(&suite.program(side))) {
        None => Ok(built),
        Some(side) => Err(format!(
            "the tests do not compile with {}. If one uses what Lockwright does not have, add it to {HERE}:\n{}",
            side.library,
            built.errors.get(&suite.program(side)).unwrap_or(&said)
        )),
    }
}

/// Runs the examples with Lockwright. Returns the line with the result.
pub fn run_examples(root: &Path, suite: &Suite) -> Result<String, String> {
    let test = format!("test --doc --release --package {}", suite.package(&suite.sides[0]));
    let printed = printed(&mut cargo(root, suite, &test), TIME_MAX)?;
    let result = printed.lines().find(|line| line.starts_with("test result: ok"));
    result.map(String::from).ok_or_else(|| format!("no example has run: {printed}"))
}

/// What the compiler made.
#[derive(Debug, Default)]
pub struct Built {
    /// The test programs, by the name of their target.
    pub programs: BTreeMap<String, PathBuf>,
    /// The same, by the path of their source.
    pub by_source: BTreeMap<PathBuf, PathBuf>,
    /// What the compiler says of targets that do not compile.
    pub errors: BTreeMap<String, String>,
}

/// Compiles what a command of cargo does. Returns also what cargo said.
pub fn compile(cargo: &mut Command) -> Result<(Built, String), String> {
    cargo.args(["--message-format", "json"]);
    let output = output_within(cargo, TIME_MAX).map_err(|why| format!("cargo {why}"))?;
    Ok((Built::of(&output.out), output.err))
}

impl Built {
    /// Reads what cargo printed.
    fn of(printed: &str) -> Self {
        let mut built = Self::default();
        for line in printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let (target, message) = (&line["target"], &line["message"]);
            let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
            let name = text(&target["name"]);
            if message["level"] == "error" {
                *built.errors.entry(name).or_default() += &text(&message["rendered"]);
            } else if let Some(program) = line["executable"].as_str() {
                built.by_source.insert(text(&target["src_path"]).into(), program.into());
                built.programs.insert(name, program.into());
            }
        }
        built
    }

    /// A test that is left out and compiles and should not, or the other way round.
    pub fn complaint(&self, row: &LeftOut) -> Option<String> {
        let (shown, program) = (row.shown(), row.program());
        let errors = self.errors.get(&program).map_or("", String::as_str);
        match (&row.needs, self.programs.contains_key(&program)) {
            (Some(needed), true) => {
                Some(format!("{shown} compiles, although `{needed}` is said to keep it from that"))
            }
            (Some(needed), false) if !errors.contains(needed) => Some(format!(
                "{shown} does not compile, for another reason than `{needed}`:\n{errors}"
            )),
            (None, false) => Some(format!("{shown} does not compile:\n{errors}")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_errors_are_read_from_what_cargo_prints() {
        let printed = r#"
{"reason":"compiler-artifact","target":{"name":"rand"},"executable":null}
{"reason":"compiler-message","target":{"name":"bell-booms"},"message":{"level":"warning","rendered":"unused"}}
{"reason":"compiler-message","target":{"name":"bell-booms"},"message":{"level":"error","rendered":"no Gong\n"}}
{"reason":"compiler-message","target":{"name":"bell-booms"},"message":{"level":"error","rendered":"no Hall\n"}}
{"reason":"compiler-artifact","target":{"name":"peer_tests_lockwright"},"executable":"deps/ours"}
{"reason":"build-finished","success":false}"#;
        let built = Built::of(printed);
        assert_eq!(built.programs["peer_tests_lockwright"], Path::new("deps/ours"));
        assert_eq!(built.errors["bell-booms"], "no Gong\nno Hall\n");
        assert_eq!((built.programs.len(), built.errors.len()), (1, 1));
    }

    #[test]
    fn a_left_out_test_that_compiles_or_fails_for_another_reason_is_noticed() {
        let row = |needs: Option<&str>| LeftOut {
            file: "bell".into(),
            test: "booms".into(),
            needs: needs.map(String::from),
            expects: Some("a panic".into()),
        };
        let fails = |error: &str| Built {
            errors: [("bell-booms".into(), error.into())].into(),
            ..Built::default()
        };
        let compiles =
            Built { programs: [("bell-booms".into(), "it".into())].into(), ..Built::default() };
        let needs = row(Some("Gong"));
        assert_eq!(fails("no `Gong` in the root").complaint(&needs), None);
        assert!(compiles.complaint(&needs).is_some_and(|it| it.contains("`booms` compiles")));
        for built in [fails("unclosed brace"), Built::default()] {
            assert!(built.complaint(&needs).is_some_and(|it| it.contains("another reason")));
        }
        assert_eq!(compiles.complaint(&row(None)), None);
        assert!(fails("no `Gong` in the root").complaint(&row(None)).is_some());
    }
}
