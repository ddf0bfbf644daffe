//! `cargo xtask price`: what the locks cost here, compared with another commit.
//!
//! Two builds of the lab measure the same locks in rounds, and each begins every other round. The ratio of a round has
//! the drift of the computer in both of its halves.

use crate::limit::printed;
use crate::programs::measure::{processor, ratio};
use crate::rounds::{ROUNDS, interval, median, rounds, sorted};
use clap::Parser;
use lockwright_catalog::registry::{LOCKS, LockClass};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What the locks do: a name, and the options of `lockwright bench`.
const WORKS: [(&str, &[&str]); 3] = [
    ("one thread", &["--workload", "uncontended"]),
    ("one reader", &["--workload", "counter", "--read-percent", "100", "--threads", "1"]),
    ("two threads", &["--workload", "counter", "--threads", "2"]),
];
/// How long a lock is measured in a round.
const SECS: &str = "50ms";
const BUILD_MAX: Duration = Duration::from_secs(1800);
const BENCH_MAX: Duration = Duration::from_secs(120);
/// A ratio above it is named.
const DEAR: f64 = 1.02;
/// An interval that is wider says too little.
const WIDE: f64 = 0.1;

/// Say what the locks cost in this tree, compared with another commit.
///
/// Measures the time of each lock without contention, as a reader, and with two threads. Builds both labs and lets them
/// take turns. Names what is dearer. Twenty minutes.
#[derive(Parser)]
pub struct Request {
    /// What is compared with, such as HEAD~1.
    commit: String,
    /// The number of rounds.
    #[arg(long, value_name = "N", default_value_t = ROUNDS, value_parser = rounds)]
    runs: usize,
}

/// Operations per second, by lock.
type Speeds = BTreeMap<String, f64>;

/// Builds and measures. Prints a row for each lock and work, and what is dearer.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let before = before(root, &request.commit)?;
    eprintln!("price: building the lab of this tree");
    let labs = [built(&before)?, built(root)?];
    let known = printed(Command::new(&labs[0]).arg("locks"), BENCH_MAX)?;
    let is_known = |name: &str| known.lines().any(|line| line.split(' ').next() == Some(name));
    let products = LOCKS.iter().filter(|row| row.class == LockClass::Product);
    let locks: Vec<_> = products.map(|row| row.name).filter(|name| is_known(name)).collect();
    println!("{}\n\n| lock | work | time, {} = 1 |\n|---|---|---:|", processor(), request.commit);
    let (mut dear, mut wide) = (Vec::new(), Vec::new());
    for (work, options) in WORKS {
        for (lock, ratios) in ratios(&labs, options, &locks, request.runs)? {
            let title = format!("{lock}, {work}: {}", ratio(ratios.iter().copied()));
            println!("| {lock} | {work} | {} |", ratio(ratios.iter().copied()));
            let ratios = sorted(ratios.into_iter());
            let [low, high] = interval(&ratios);
            if high - low > WIDE {
                wide.push(title);
            } else if median(&ratios) > DEAR && low > 1.0 {
                dear.push(title);
            }
        }
    }
    println!("\nAbove {DEAR}: {}", listed(&dear));
    println!("The interval is wider than {WIDE}: {}", listed(&wide));
    Ok(true)
}

fn listed(lines: &[String]) -> String {
    if lines.is_empty() { "none".into() } else { lines.join("; ") }
}

/// The time of each lock in this tree as a part of its time before, a number for each round.
fn ratios(
    labs: &[PathBuf; 2],
    options: &[&str],
    locks: &[&str],
    rounds: usize,
) -> Result<BTreeMap<String, Vec<f64>>, String> {
    let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for round in 0..rounds {
        eprint!("\rprice: {}, round {}   ", options.join(" "), round + 1);
        let (first, second) = (round % 2, 1 - round % 2);
        let mut speeds = [Speeds::new(), Speeds::new()];
        for at in [first, second] {
            speeds[at] = measured(&labs[at], options, locks)?;
        }
        for (lock, before) in &speeds[0] {
            let now = speeds[1].get(lock).ok_or_else(|| format!("{lock} was not measured"))?;
            ratios.entry(lock.clone()).or_default().push(before / now);
        }
    }
    eprintln!();
    Ok(ratios)
}

fn measured(lab: &Path, options: &[&str], locks: &[&str]) -> Result<Speeds, String> {
    let mut bench = Command::new(lab);
    bench.args(["bench", "--quiet", "--runs", "1", "--secs", SECS, "--json", "-"]);
    bench.args(options).args(["--lock", &locks.join(",")]);
    speeds_in(&printed(&mut bench, BENCH_MAX)?)
}

/// The speeds in a document of `lockwright bench`.
fn speeds_in(document: &str) -> Result<Speeds, String> {
    let document: serde_json::Value = serde_json::from_str(document)
        .map_err(|why| format!("`lockwright bench --json`: {why}"))?;
    let row = |row: &serde_json::Value| {
        Some((row["lock"].as_str()?.to_string(), row["ops_per_s"]["median"].as_f64()?))
    };
    let rows = document["results"].as_array().into_iter().flatten();
    rows.map(|it| row(it).ok_or_else(|| format!("a result without a speed: {it}"))).collect()
}

/// The tree of that commit, in a worktree of its own.
fn before(root: &Path, commit: &str) -> Result<PathBuf, String> {
    let tree = root.join("target/price");
    let mut git = Command::new("git");
    git.current_dir(root);
    if tree.join(".git").exists() {
        git.arg("-C").arg(&tree).args(["checkout", "--quiet", "--detach", commit]);
    } else {
        // A folder that was removed together with `target` is still registered: `--force`.
        git.args(["worktree", "add", "--quiet", "--force", "--detach"]).arg(&tree).arg(commit);
    }
    printed(&mut git, BENCH_MAX)?;
    eprintln!("price: building the lab of {commit}");
    Ok(tree)
}

/// Builds the lab of a tree, as users do.
fn built(tree: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--package", "lockwright-lab"]);
    printed(cargo.current_dir(tree).env_remove("CARGO_TARGET_DIR"), BUILD_MAX)?;
    Ok(tree.join("target/release/lockwright"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_and_a_number_of_rounds_are_read() {
        let read = |words: &[&str]| Request::try_parse_from([&["price"], words].concat());
        let request = read(&["HEAD~1", "--runs", "63"]).expect("a request");
        assert_eq!((request.commit.as_str(), request.runs), ("HEAD~1", 63));
        assert_eq!(read(&["v1"]).expect("a request").runs, ROUNDS);
    }

    #[test]
    fn the_speed_of_each_lock_is_read() {
        let text = r#"{"results": [{"lock": "mutex", "ops_per_s": {"median": 2.5}}]}"#;
        assert_eq!(speeds_in(text), Ok(Speeds::from([("mutex".into(), 2.5)])));
        assert!(speeds_in(r#"{"results": [{"lock": "cna"}]}"#).is_err() && speeds_in("").is_err());
    }
}
