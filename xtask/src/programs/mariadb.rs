//! A database under load: MariaDB with sysbench, in a folder of its own and without a port.

use super::drivers::POLICIES;
use crate::disk::make_empty;
use crate::limit;
use crate::rounds::{in_turns, median, ratio, sorted};
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SCRIPT: &str = include_str!("mariadb.sh");
/// With everything that the script starts, which ends with it.
const LIMIT: Duration = Duration::from_secs(150);
const SECONDS_OF_LOAD: &str = "5";
const TABLES: usize = 4;

/// What a run of the load says of the server.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Load {
    /// Transactions.
    per_second: f64,
    /// 99 of 100 transactions take at most this.
    late_ms: f64,
}

impl fmt::Display for Load {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { per_second, late_ms } = self;
        write!(to, "{per_second:.0} transactions per second, 99 % within {late_ms} ms")
    }
}

pub const NAME: &str = "MariaDB";

/// Prints a row with glibc's locks and one with ours.
pub fn measure(folder: &Path, library: &Path, rounds: usize) -> Result<(), String> {
    let took = in_turns(("MariaDB", 2, rounds), |side| {
        let load = under_load(folder, [None, Some((library, POLICIES[0]))][side])?;
        load.ok_or_else(|| "MariaDB was wrong; run `cargo xtask programs`".to_string())
    })?;
    let [of_glibc, ours] = &took[..] else { return Ok(()) };
    let row = |name: &str, of: &[Load], last: &str| {
        let median = |field: fn(&Load) -> f64| median(&sorted(of.iter().map(field)));
        let (per_second, late_ms) = (median(|it| it.per_second), median(|it| it.late_ms));
        println!("| {name} | {per_second:.0} | {late_ms:.1} | {last} |");
    };
    let pairs = || ours.iter().zip(of_glibc);
    let speed = ratio(pairs().map(|(ours, theirs)| ours.per_second / theirs.per_second));
    let late = ratio(pairs().map(|(ours, theirs)| ours.late_ms / theirs.late_ms));
    row("glibc", of_glibc, "1");
    row(POLICIES[0], ours, &format!("{speed}; {late}"));
    Ok(())
}

/// Runs the server with glibc's locks and with each policy, and prints how much it did. Returns false if it was wrong
/// with ours only.
pub fn run(folder: &Path, library: &Path) -> Result<bool, String> {
    let mut is_right = true;
    let of_glibc = under_load(folder, None)?;
    let said = of_glibc.map_or("wrong, so it says nothing".into(), |load| load.to_string());
    println!("MariaDB, glibc: {said}");
    for policy in POLICIES {
        let said = under_load(folder, Some((library, policy)))?;
        is_right &= said.is_some() || of_glibc.is_none();
        let said = said.map_or("WRONG".into(), |load| load.to_string());
        println!("MariaDB, policy {policy}: {said}");
    }
    Ok(is_right)
}

/// What sysbench says of one run; nothing if the server, its load or its tables were wrong.
fn under_load(folder: &Path, library: Option<(&Path, &str)>) -> Result<Option<Load>, String> {
    let folder = folder.join("mariadb");
    make_empty(&folder)?;
    let mut script = Command::new("sh");
    script.args(["-c", SCRIPT]).current_dir(&folder).env("SECONDS_OF_LOAD", SECONDS_OF_LOAD);
    script.env("LIBRARY", library.map_or(Path::new(""), |(library, _)| library));
    script.env("LOCKWRIGHT_POLICY", library.map_or("default", |(_, policy)| policy));
    script.env_remove("LD_PRELOAD");
    let said = match limit::output_within(&mut script, LIMIT) {
        Ok(output) if output.status.success() => read(&output.out),
        Ok(_) | Err(limit::Stopped::Late(_)) => None,
        Err(why) => return Err(format!("MariaDB: {why}")),
    };
    // A database is large; what the server said of a failure stays.
    let _ = fs::remove_dir_all(folder.join("data"));
    Ok(said)
}

/// From the output of sysbench and of the check of its tables.
fn read(text: &str) -> Option<Load> {
    let value = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name));
    let per_second = value("transactions:")?.split('(').nth(1)?.split(' ').next()?.parse().ok()?;
    let late_ms = value("99th percentile:")?.trim().parse().ok()?;
    // With a warning, the word is in a line of its own. The work of a client that was killed is taken back while the
    // tables are checked. MariaDB warns of what it has not taken back yet, with glibc's locks as often as with ours.
    let is_of_table = |line: &str| line.starts_with("sbtest.") || line.starts_with("status ");
    let is_whole = text.lines().filter(|line| is_of_table(line) && line.ends_with("OK"));
    (is_whole.count() == TABLES).then_some(Load { per_second, late_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_not_whole_is_wrong() {
        let text = "    transactions:          100 (20.0 per sec.)\n     99th percentile:   7.5\n";
        let tables =
            |last: &str| format!("{text}{}sbtest.sbtest4 {last}\n", "sbtest.t OK\n".repeat(3));
        let expected = Load { per_second: 20.0, late_ms: 7.5 };
        assert_eq!(read(&tables("OK")), Some(expected));
        assert!(read(&tables("\nWarning : not found\nstatus : OK")).is_some());
        assert_eq!(read(&tables("\nerror : Corrupt")), None);
        assert_eq!(read(text), None);
    }
}
