//! The table of the suites: `suites.toml`, which describes its fields.

use serde::Deserialize;
use std::sync::LazyLock;

/// The file with the table, for messages.
pub const HERE: &str = "xtask/src/suites/suites.toml";

pub static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("suites.toml")).expect("a test reads it"));

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Table {
    pub std_tests: Suite,
    pub peer_tests: Suite,
    pub dependents: Vec<Dependent>,
    pub glibc: Glibc,
    pub programs: Vec<Program>,
    pub needs: Needs,
}

/// Tests that are built in packages of their own.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Suite {
    pub command: String,
    pub library: String,
    #[serde(default)]
    pub is_package: bool,
    pub root: String,
    pub files: Vec<String>,
    #[serde(default)]
    pub replaced: Vec<Replaced>,
    #[serde(default)]
    pub added: String,
    pub manifest: String,
    pub sides: Vec<Side>,
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replaced {
    pub from: String,
    pub to: String,
    #[serde(default)]
    pub files: Vec<String>,
}

/// A library that the tests run with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    pub library: String,
    pub dependency: String,
}

/// A test that does not run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    pub file: String,
    pub test: String,
    pub needs: Option<String>,
    pub expects: Option<String>,
}

/// A crate that uses parking_lot.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependent {
    pub name: String,
    pub version: String,
    #[serde(default)]
    pub arguments: Vec<String>,
    pub uses: String,
    #[serde(default)]
    pub fails: Vec<Fails>,
}

/// A test that fails with any locks.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fails {
    pub test: String,
    #[serde(default)]
    pub by_root: bool,
    pub why: String,
}

/// glibc's own tests.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Glibc {
    pub tests: Vec<String>,
    pub slow: Vec<String>,
    pub leave_a_process: Vec<String>,
}

/// A program that says if it is right.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Program {
    pub name: String,
    pub line: Vec<String>,
    pub prints: String,
    #[serde(default)]
    pub is_quick: bool,
    pub if_installed: Option<String>,
}

/// Programs that have to be installed, and their packages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    pub quick: Vec<(String, String)>,
    pub measured: Vec<(String, String)>,
    pub full: Vec<(String, String)>,
}

impl Suite {
    /// Returns true if the test does not run.
    pub fn leaves_out(&self, file: &str, test: &str) -> bool {
        self.left_out.iter().any(|row| row.file == file && row.test == test)
    }
    /// The package with the tests of a library.
    pub fn package(&self, side: &Side) -> String {
        format!("{}-{}", self.command, side.library.to_lowercase())
    }
    /// What cargo calls the program of that package.
    pub fn program(&self, side: &Side) -> String {
        self.package(side).replace('-', "_")
    }
    /// The tests that do not run, for the reader.
    pub fn left_out_text(&self) -> String {
        let line = |LeftOut { file, test, needs, expects }: &LeftOut| match (needs, expects) {
            (_, Some(expects)) => format!("  {file} {test}: expects {expects}\n"),
            (it, None) => format!("  {file} {test}: needs `{}`\n", it.as_deref().unwrap_or("")),
        };
        let lines: String = self.left_out.iter().map(line).collect();
        format!("\n{} tests are left out:\n{lines}", self.left_out.len())
    }
}

impl LeftOut {
    /// The program that has this test and no other.
    pub fn program(&self) -> String {
        format!("{}-{}", self.file, self.test)
    }
    /// What a complaint begins with.
    pub fn shown(&self) -> String {
        format!("{HERE}: {} `{}`", self.file, self.test)
    }
}

impl Dependent {
    /// Name and version, for readers.
    pub fn shown(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
    /// The features as `cargo tree` takes them.
    pub fn features(&self) -> &[String] {
        self.arguments.get(..2).filter(|it| it[0] == "--features").unwrap_or_default()
    }
    /// What the reader should know, as lines.
    pub fn notes(&self) -> Vec<String> {
        let mut lines = vec![format!("  {} uses {}", self.name, self.uses)];
        lines.extend(self.fails.iter().map(|Fails { test, by_root, why }| {
            let when = if *by_root { "if root runs it" } else { "sometimes" };
            format!("  {test} fails {when}, with any locks: {why}")
        }));
        lines
    }
    /// What a person types.
    pub fn command(&self) -> String {
        let arguments = self.arguments.iter().map(|argument| format!(" {argument}"));
        format!("cargo test --no-fail-fast{}", arguments.collect::<String>())
    }
}

/// The names of the crates that use parking_lot.
pub fn dependents() -> Vec<&'static str> {
    TABLE.dependents.iter().map(|row| &*row.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_each_row_that_leaves_out_a_test_says_why() {
        for row in TABLE.std_tests.left_out.iter().chain(&TABLE.peer_tests.left_out) {
            assert!(row.needs.is_some() || row.expects.is_some(), "{}", row.shown());
        }
        let tokio = &TABLE.dependents[0];
        let command =
            "cargo test --no-fail-fast --features full,parking_lot,test-util --lib --tests";
        assert_eq!(tokio.command(), command);
        assert_eq!(tokio.features(), ["--features", "full,parking_lot,test-util"]);
        assert_eq!(TABLE.dependents[1].features(), [""; 0]);
    }
}
