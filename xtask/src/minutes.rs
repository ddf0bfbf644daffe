//! How long each stage took when it ran last on this computer.

use crate::root;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// By the name of the stage: its minutes, as text, and what became of it.
#[derive(Default)]
pub struct Minutes(BTreeMap<String, String>);

fn path() -> PathBuf {
    root().join("target/stages.tsv")
}

/// The minutes of all stages that have run. There are none in a new clone.
pub fn read() -> Minutes {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let line = |line: &str| line.split_once('\t').map(|(name, it)| (name.into(), it.into()));
    Minutes(text.lines().filter_map(line).collect())
}

/// Writes down how long a stage took. A file that cannot be written is no reason for a stage to be red.
pub fn write(name: &str, took: Duration, verdict: &str) {
    let mut minutes = read().0;
    let text = format!("{:.1} min, {verdict}", took.as_secs_f64() / 60.0);
    minutes.insert(name.to_string(), text);
    let lines: String = minutes.iter().map(|(name, it)| format!("{name}\t{it}\n")).collect();
    let _ = fs::write(path(), lines);
}

impl Minutes {
    /// The minutes of a stage.
    pub fn of(&self, stage: &str) -> &str {
        self.0.get(stage).map_or("not run here", |it| it)
    }
}
