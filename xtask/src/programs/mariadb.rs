//! A database under load: MariaDB with sysbench, in a folder of its own and without a port.

use super::drivers::POLICIES;
use crate::limit;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SCRIPT: &str = include_str!("mariadb.sh");
/// With everything that the script starts, which ends with it.
const LIMIT: Duration = Duration::from_secs(150);
const SECONDS_OF_LOAD: &str = "5";
const TABLES: usize = 4;

/// Runs the server with glibc's locks and with each policy, and prints how much it did. Returns false if it was wrong
/// with ours only.
pub fn run(folder: &Path, library: &Path) -> Result<bool, String> {
    let mut is_right = true;
    let of_glibc = under_load(folder, None)?;
    println!("MariaDB, glibc: {}", of_glibc.as_deref().unwrap_or("wrong, so it says nothing"));
    for policy in POLICIES {
        let said = under_load(folder, Some((library, policy)))?;
        println!("MariaDB, policy {policy}: {}", said.as_deref().unwrap_or("WRONG"));
        is_right &= said.is_some() || of_glibc.is_none();
    }
    Ok(is_right)
}

/// What sysbench says of one run; nothing if the server, its load or its tables were wrong.
fn under_load(folder: &Path, library: Option<(&Path, &str)>) -> Result<Option<String>, String> {
    let folder = folder.join("mariadb");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut script = Command::new("sh");
    script.args(["-c", SCRIPT]).current_dir(&folder).env("SECONDS_OF_LOAD", SECONDS_OF_LOAD);
    script.env("LIBRARY", library.map_or(Path::new(""), |(library, _)| library));
    script.env("LOCKWRIGHT_POLICY", library.map_or("default", |(_, policy)| policy));
    script.env_remove("LD_PRELOAD");
    let said = match limit::output_within(&mut script, LIMIT) {
        Ok(output) if output.status.success() => read(&String::from_utf8_lossy(&output.stdout)),
        Ok(_) | Err(limit::Stopped::Late(_)) => None,
        Err(why) => return Err(format!("MariaDB: {why}")),
    };
    // A database is large; what the server said of a failure stays.
    let _ = fs::remove_dir_all(folder.join("data"));
    Ok(said)
}

/// Transactions and the 95th percentile, from the output of sysbench and of the check of its tables.
fn read(text: &str) -> Option<String> {
    let value = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name));
    let per_second = value("transactions:")?.split('(').nth(1)?.split(' ').next()?;
    let percentile = value("95th percentile:")?.trim();
    // With a warning, the word is in a line of its own. The work of a client that was killed is taken back while the
    // tables are checked. MariaDB warns of what it has not taken back yet, with glibc's locks as often as with ours.
    let is_of_table = |line: &str| line.starts_with("sbtest.") || line.starts_with("status ");
    let is_whole = text.lines().filter(|line| is_of_table(line) && line.ends_with("OK"));
    (is_whole.count() == TABLES)
        .then(|| format!("{per_second} transactions per second, 95 % within {percentile} ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_not_whole_is_wrong() {
        let text = "    transactions:          100 (20.0 per sec.)\n     95th percentile:   7.5\n";
        let tables =
            |last: &str| format!("{text}{}sbtest.sbtest4 {last}\n", "sbtest.t OK\n".repeat(3));
        let expected = "20.0 transactions per second, 95 % within 7.5 ms";
        assert_eq!(read(&tables("OK")).as_deref(), Some(expected));
        assert!(read(&tables("\nWarning : not found\nstatus : OK")).is_some());
        assert_eq!(read(&tables("\nerror : Corrupt")), None);
        assert_eq!(read(text), None);
    }
}
