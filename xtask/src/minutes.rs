//! How long each stage took when it ran last on this computer.

use crate::root;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

fn path() -> PathBuf {
    root().join("target/stages.tsv")
}

/// The minutes of all stages that have run, as text, and what became of each. There are none in a new clone.
pub fn read() -> BTreeMap<String, String> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let line = |line: &str| line.split_once('\t').map(|(name, it)| (name.into(), it.into()));
    text.lines().filter_map(line).collect()
}

/// Writes down how long a stage took. A file that cannot be written is no reason for a stage to be red.
pub fn write(name: &str, took: Duration, verdict: &str) {
    let mut minutes = read();
    let text = format!("{:.1} min, {verdict}", took.as_secs_f64() / 60.0);
    minutes.insert(name.to_string(), text);
    let lines: String = minutes.iter().map(|(name, it)| format!("{name}\t{it}\n")).collect();
    let _ = fs::write(path(), lines);
}
