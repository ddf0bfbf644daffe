//! The crates, and their tests that fail with any locks.

/// This file, for messages.
pub const HERE: &str = "xtask/src/dependents/table.rs";

/// A crate that uses parking_lot 0.12.
#[derive(Debug)]
pub struct Dependent {
    pub name: &'static str,
    /// Exactly this one: another one can have other tests.
    pub version: &'static str,
    /// What `cargo test` is called with.
    pub arguments: &'static [&'static str],
    /// What the locks do in it.
    pub uses: &'static str,
    /// Tests that also fail with parking_lot's locks. `--without-patch` shows it.
    pub fails: &'static [Fails],
}

/// A test that fails with any locks.
#[derive(Debug)]
pub struct Fails {
    pub test: &'static str,
    pub when: When,
    pub why: &'static str,
}

/// When a test fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In each run by root. If it passes there, the row is wrong.
    AsRoot,
    /// In some runs. If it fails, it runs again until it passes.
    Sometimes,
}

pub static DEPENDENTS: [Dependent; 5] = [
    Dependent {
        name: "tokio",
        version: "1.54.1",
        arguments: &["--features", "full,parking_lot,test-util", "--lib", "--tests"],
        uses: "all locks and condition variables of the runtime",
        fails: &[Fails {
            test: "try_exists",
            when: When::AsRoot,
            why: "it expects that a folder without permissions cannot be read",
        }],
    },
    Dependent {
        name: "prometheus",
        version: "0.14.0",
        arguments: &[],
        uses: "a reader-writer lock for the metrics of a vector, one for the registry",
        fails: &[],
    },
    Dependent {
        name: "quick_cache",
        version: "0.6.24",
        arguments: &[],
        uses: "a reader-writer lock for each part of the cache, a mutex and a condition variable",
        fails: &[],
    },
    Dependent {
        name: "r2d2",
        version: "0.8.10",
        arguments: &[],
        uses: "a mutex and a condition variable for the pool of connections",
        fails: &[Fails {
            test: "test::events",
            when: When::Sometimes,
            why: "it expects that the release of a connection is told before the next one is made, which another \
                  thread does at once; 6 of 60 runs failed, with either library",
        }],
    },
    Dependent {
        name: "string_cache",
        version: "0.8.9",
        arguments: &[],
        uses: "a mutex for each part of the table of strings",
        fails: &[],
    },
];

impl Dependent {
    /// Name and version, for readers.
    pub fn shown(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
    /// The arguments of cargo.
    pub fn arguments(&self) -> impl Iterator<Item = &'static str> {
        ["test", "--no-fail-fast"].into_iter().chain(self.arguments.iter().copied())
    }
    /// The features as `cargo tree` takes them.
    pub fn features(&self) -> &'static [&'static str] {
        let end = if self.arguments.first() == Some(&"--features") { 2 } else { 0 };
        &self.arguments[..end]
    }
    /// What the reader should know, as lines.
    pub fn notes(&self) -> Vec<String> {
        let mut lines = vec![format!("  {} uses {}", self.name, self.uses)];
        lines.extend(self.fails.iter().map(|Fails { test, when, why }| {
            let when = match when {
                When::AsRoot => "if root runs it",
                When::Sometimes => "sometimes",
            };
            format!("  {test} fails {when}, with any locks: {why}")
        }));
        lines
    }
    /// What a person types.
    pub fn command(&self) -> String {
        format!("cargo {}", self.arguments().collect::<Vec<_>>().join(" "))
    }
}

/// A row for tests.
#[cfg(test)]
pub fn row(name: &'static str) -> Dependent {
    Dependent { name, version: "1.0.0", arguments: &[], uses: "", fails: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_features_and_they_are_known_alone() {
        let bell = Dependent { arguments: &["--features", "loud", "--lib"], ..row("bell") };
        assert_eq!(bell.command(), "cargo test --no-fail-fast --features loud --lib");
        assert_eq!(bell.features(), ["--features", "loud"]);
        assert_eq!(row("bell").features(), [""; 0]);
    }
}
