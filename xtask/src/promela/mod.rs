//! `cargo xtask promela`: the Promela model of the waiting policies that sleep, searched by spin.
//!
//! The searches are exhaustive within a number of threads. What must hold is red if spin finds
//! anything, if it left anything out, or if a statement of the model is never reached; what must be
//! seen is red if spin finds nothing.

mod checks;
mod said;

use crate::disk::at;
use crate::limit::{command, is_interrupted, printed};
use crate::stage::{Need, Stage, Step};
use checks::{CHECKS, Check, Expected, Property};
use said::Said;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const MODEL: &str = "crates/model/promela/qspinlock_pv.pml";
/// Where each search has a folder of its own.
const FOLDER: &str = "target/promela";

const SPIN: Need = Need { probe: "spin -V | grep '^Spin Version 6'", get: "apt-get install spin" };

/// By this name because spin calls it, too.
const COMPILER: Need = Need { probe: "gcc --version", get: "apt-get install gcc libc6-dev" };

/// Steps of a run; a search that needs more says so.
const DEPTH_MAX: &str = "-m3000000";
/// Of the search; one that needs more says so.
const MEMORY_MAX: &str = "-DMEMLIM=3000";
/// For one search, or its compilation.
const TIME_MAX: Duration = Duration::from_secs(120);

/// All searches, as one stage.
pub fn stage() -> Stage {
    let search = || run(&crate::root());
    Stage::new("promela", 600, Step::Call(search)).needing(SPIN).needing(COMPILER)
}

/// Makes all searches and prints a line about each. Returns true if all say what they have to.
fn run(root: &Path) -> bool {
    let mut is_green = true;
    for check in CHECKS {
        let start = Instant::now();
        let judged = search(root, check).and_then(|said| judge(check, &said));
        let seconds = start.elapsed().as_secs_f64();
        if is_interrupted() {
            return false;
        }
        is_green &= judged.is_ok();
        let title = check.title();
        match judged {
            Ok(line) => eprintln!("promela: {title}: {line}, {seconds:.1} s"),
            Err(why) => eprintln!("promela: {title}: RED: {why}"),
        }
    }
    is_green
}

/// What is said about a search that said what it has to, or what is wrong.
fn judge(check: &Check, said: &Said) -> Result<String, String> {
    let Said { error, states, depth, gap, unreached } = said;
    let verdict = match (check.expected, error) {
        (Expected::Holds, Some(error)) => {
            return Err(format!("spin found: {error}; to see it: {}", replay(check)));
        }
        (Expected::Holds, None) => "holds".to_string(),
        (Expected::NotPromised | Expected::Seen, None) => {
            return Err(format!("spin found nothing in {states} states"));
        }
        (Expected::NotPromised, Some(error)) => format!("not promised, {error}"),
        (Expected::Seen, Some(error)) => format!("seen, {error}"),
    };
    if let Some(gap) = gap {
        return Err(format!("not everything was searched: {gap}"));
    }
    let must_reach_all = check.expected == Expected::Holds && check.property == Property::Safety;
    if must_reach_all && *unreached != Some(0) {
        let folder = folder(check);
        return Err(format!("statements that no run reaches, listed by ./pan in {folder}"));
    }
    Ok(format!("{verdict}: {states} states, {depth} deep"))
}

/// Compiles the search and makes it.
fn search(root: &Path, check: &Check) -> Result<Said, String> {
    let folder = root.join(folder(check));
    std::fs::create_dir_all(&folder).map_err(at(&folder))?;
    let run = |command: &mut Command| printed(command.current_dir(&folder), TIME_MAX);
    run(command(&format!("spin -a {}", defines(check))).arg(root.join(MODEL)))?;
    // Warnings are about code that spin wrote.
    let compile = format!("gcc -O2 -w {MEMORY_MAX} -o pan pan.c");
    run(command(&compile).args(check.compiler_flags()))?;
    let printed = run(command(&format!("./pan {DEPTH_MAX}")).args(check.search_flags()))?;
    Said::of(&printed).ok_or_else(|| format!("pan made no report: {}", printed.trim()))
}

/// What spin is told to define.
fn defines(check: &Check) -> String {
    let defines: String = check.defines.iter().map(|name| format!("-D{name} ")).collect();
    format!("{defines}-DTHREADS={}", check.threads)
}

fn folder(check: &Check) -> String {
    format!("{FOLDER}/{}", check.title().replace(", ", "-").replace(' ', "-"))
}

/// What to type to see the run that spin has found.
fn replay(check: &Check) -> String {
    let model = MODEL.rsplit('/').next().unwrap_or(MODEL);
    let trail = format!("{}/{model}.trail", folder(check));
    format!("spin -k {trail} -p -g -l {} {MODEL}", defines(check))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAFE: Check = CHECKS[0];

    fn said() -> Said {
        Said { error: None, states: 10, depth: 5, gap: None, unreached: Some(0) }
    }

    #[test]
    fn what_must_hold_is_red_if_it_fails_or_was_not_searched_or_is_not_reached() {
        assert_eq!((SAFE.expected, SAFE.property), (Expected::Holds, Property::Safety));
        assert_eq!(judge(&SAFE, &said()), Ok("holds: 10 states, 5 deep".into()));
        let text = || Some("text".to_string());
        assert!(judge(&SAFE, &Said { error: text(), ..said() }).is_err());
        assert!(judge(&SAFE, &Said { gap: text(), ..said() }).is_err());
        for unreached in [None, Some(1)] {
            assert!(judge(&SAFE, &Said { unreached, ..said() }).is_err());
        }
    }

    #[test]
    fn what_must_be_seen_is_red_if_nothing_is_found() {
        for expected in [Expected::Seen, Expected::NotPromised] {
            let check = Check { expected, ..SAFE };
            assert!(judge(&check, &said()).is_err());
            let found = Said { error: Some("a cycle".into()), unreached: None, ..said() };
            assert!(judge(&check, &found).is_ok_and(|line| line.contains("a cycle")));
        }
    }
}
