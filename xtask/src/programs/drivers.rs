//! Programs that check their own work.

use crate::disk::is_program;
use crate::limit;
use crate::suites::table::{Program, TABLE};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How waiters of mutexes get them, as `lockwright run --policy` knows it.
pub const POLICIES: [&str; 3] = ["default", "fair", "cna"];
/// The longest that a program may take.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The command, with glibc's locks or with ours and a policy.
pub fn with(line: &[&str], library: Option<(&Path, &str)>) -> Command {
    let mut command = Command::new(line[0]);
    command.args(&line[1..]).current_dir(std::env::temp_dir());
    match library {
        Some((file, policy)) => command.env("LD_PRELOAD", file).env("LOCKWRIGHT_POLICY", policy),
        None => command.env_remove("LD_PRELOAD"),
    };
    command
}

/// Runs the programs of the table with glibc's locks and with each policy: those of continuous integration, or the
/// others. Returns false if one is wrong with ours only.
pub fn check(library: &Path, is_quick: bool) -> Result<bool, String> {
    let mut is_right = true;
    for Program { name, line, prints, if_installed, .. } in
        TABLE.programs.iter().filter(|row| row.is_quick == is_quick)
    {
        if let Some(program) = if_installed.as_ref().filter(|program| !is_program(program)) {
            println!("{name}: did not run, because `{program}` is not installed");
            continue;
        }
        let root = crate::root().to_string_lossy().into_owned();
        let line: Vec<_> = line.iter().map(|word| word.replace("{root}", &root)).collect();
        let line: Vec<_> = line.iter().map(String::as_str).collect();
        let ends_well =
            |library| ends_well(&line, prints, library).map_err(|why| format!("{name}: {why}"));
        if !ends_well(None)? {
            println!("{name}: wrong with glibc's locks, so it says nothing");
            continue;
        }
        for policy in POLICIES {
            let is = ends_well(Some((library, policy)))?;
            println!("{name}, policy {policy}: {}", if is { "right" } else { "WRONG" });
            is_right &= is;
        }
    }
    Ok(is_right)
}

fn ends_well(line: &[&str], prints: &str, library: Option<(&Path, &str)>) -> Result<bool, String> {
    match limit::output_within(&mut with(line, library), LIMIT) {
        Ok(it) => Ok(it.status.success() && (it.out + &it.err).contains(prints)),
        Err(limit::Stopped::Late(_)) => Ok(false),
        Err(why) => Err(why.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_ends_badly_or_does_not_say_that_it_is_right_is_wrong() {
        let ends = |script| ends_well(&["sh", "-c", script], "ok", None).expect("a shell");
        assert!(ends("echo ok"));
        assert!(!ends("echo ok; exit 1"));
        assert!(!ends("echo error"));
    }
}
