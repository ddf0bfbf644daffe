//! `cargo xtask fuzz`: random programs over the safe public interface, on simulated machines and on this one, with
//! and without tools that see what the programs cannot.

use crate::limit::status_within;
use crate::options::not_an_option;
use crate::sanitize::{self, MIRI, NIGHTLY, SOURCE};
use crate::stage::{Need, Stage};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// As they stand in the help.
pub const OPTIONS: &str = "[--minutes N] [--under miri|tsan|asan]";

/// What continuous integration takes.
pub const MINUTES_OF_CI: f64 = 2.0;

/// What is asked for.
#[derive(Debug, PartialEq)]
pub struct Request {
    minutes: f64,
    under: Under,
}

/// The tool that watches the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Under {
    /// None: simulated, and natively.
    Nothing,
    Miri,
    Tsan,
    Asan,
}

impl Request {
    /// Reads the arguments behind `fuzz`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let mut request = Self { minutes: MINUTES_OF_CI, under: Under::Nothing };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--minutes" => {
                    let minutes = arguments.next().and_then(|value| value.parse().ok());
                    let minutes = minutes.filter(|it: &f64| *it > 0.0 && it.is_finite());
                    let complaint = "`--minutes` needs a number above 0, such as `--minutes 3`";
                    request.minutes = minutes.ok_or(complaint)?;
                }
                "--under" => {
                    request.under = match arguments.next().copied() {
                        Some("miri") => Under::Miri,
                        Some("tsan") => Under::Tsan,
                        Some("asan") => Under::Asan,
                        _ => return Err("`--under` needs miri, tsan or asan".into()),
                    };
                }
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        Ok(request)
    }
}

/// The programs as continuous integration runs them.
pub fn stages() -> Vec<Stage> {
    runs(MINUTES_OF_CI, "1")
        .map(|(name, command)| Stage::command(name, 600, &as_strs(&command)))
        .into()
}

fn as_strs(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}

/// Two thirds of the time simulated, one natively.
fn runs(minutes: f64, seed: &str) -> [(&'static str, Vec<String>); 2] {
    let run = |on: &str, part: f64| {
        let minutes = format!("{:.2}", minutes * part);
        let cargo = ["cargo", "run", "--quiet", "--package", PACKAGE, "--", "--on", on];
        let cargo = cargo.into_iter().chain(["--seed", seed, "--minutes"]).map(str::to_string);
        cargo.chain([minutes]).collect::<Vec<_>>()
    };
    [("fuzz-simulated", run("simulated", 2.0 / 3.0)), ("fuzz-native", run("native", 1.0 / 3.0))]
}

const PACKAGE: &str = "lockwright-programs";

/// Runs programs. Returns true if nothing was found.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    // Other programs each time.
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs() * 1_000_000);
    if request.under == Under::Nothing {
        for (_, command) in runs(request.minutes, &seed.to_string()) {
            if !succeeds(root, &command, &[])? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let target = sanitize::target();
    let cargo = |what: &[&str]| -> Vec<String> {
        let of_package = ["--package", PACKAGE, "--", "--on", "native"];
        what.iter().chain(&of_package).map(ToString::to_string).collect()
    };
    let (needs, command, env, forks): (&[Need], _, _, _) = match request.under {
        Under::Tsan => (
            &[NIGHTLY, SOURCE],
            cargo(&["cargo", "+nightly", "run", "-q", "-Zbuild-std", "--target", &target]),
            [
                ("RUSTFLAGS", "-Zsanitizer=thread --cfg lockwright_whole_word"),
                ("TSAN_OPTIONS", "halt_on_error=1"),
                ("CARGO_TARGET_DIR", "target/tsan"),
            ],
            // It does not follow a process with threads into its children.
            Some("--no-forks"),
        ),
        Under::Asan => (
            &[NIGHTLY],
            cargo(&["cargo", "+nightly", "run", "-q", "--target", &target]),
            [
                ("RUSTFLAGS", "-Zsanitizer=address --cfg lockwright_whole_word"),
                // Programs leak on purpose.
                ("ASAN_OPTIONS", "detect_leaks=0"),
                ("CARGO_TARGET_DIR", "target/asan"),
            ],
            None,
        ),
        Under::Miri | Under::Nothing => {
            check(&[MIRI])?;
            let command = cargo(&["cargo", "+nightly", "miri", "run", "-q"]);
            return under_miri(root, request.minutes, seed, &command);
        }
    };
    check(needs)?;
    let (minutes, seed) = (request.minutes.to_string(), seed.to_string());
    let rest = ["--minutes", &minutes].into_iter().chain(forks).chain(["--seed", &seed]);
    let rest: Vec<_> = rest.map(str::to_string).collect();
    succeeds(root, &[command, rest].concat(), &env)
}

/// How many programs one seed of Miri runs.
const PROGRAMS: u64 = 20;

/// Batches of programs, each with another seed of Miri's, until the time is over.
fn under_miri(root: &Path, minutes: f64, seed: u64, command: &[String]) -> Result<bool, String> {
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut batch = 0;
    while Instant::now() < end {
        let flags = format!(
            "-Zmiri-disable-isolation -Zmiri-strict-provenance -Zmiri-ignore-leaks -Zmiri-seed={batch}"
        );
        let first = (seed + batch * PROGRAMS).to_string();
        // A step that reads ten thousand times takes minutes here.
        let rest = ["--count", &PROGRAMS.to_string(), "--reads", "50", "--seed", &first];
        let rest: Vec<_> = rest.iter().map(ToString::to_string).collect();
        let env = [("MIRIFLAGS", flags.as_str()), ("CARGO_TARGET_DIR", "target/miri")];
        if !succeeds(root, &[command, &rest].concat(), &env)? {
            return Ok(false);
        }
        batch += 1;
    }
    println!("{} programs under Miri, {batch} of its seeds: nothing found", batch * PROGRAMS);
    Ok(true)
}

fn check(needs: &[Need]) -> Result<(), String> {
    match needs.iter().find(|need| !need.is_met()) {
        Some(need) => Err(format!("a tool is missing; to install it, type `{}`", need.get)),
        None => Ok(()),
    }
}

fn succeeds(root: &Path, command: &[String], env: &[(&str, &str)]) -> Result<bool, String> {
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]).envs(env.iter().copied()).current_dir(root);
    let status = status_within(&mut process, Duration::MAX);
    status.map(|status| status.success()).map_err(|stopped| format!("{PACKAGE} {stopped}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_and_a_tool_are_read() {
        let request = Request::of(&["--minutes", "2.5", "--under", "asan"]);
        assert_eq!(request, Ok(Request { minutes: 2.5, under: Under::Asan }));
    }

    #[test]
    fn continuous_integration_runs_programs_in_both_worlds() {
        let [(_, simulated), (_, native)] = runs(3.0, "1");
        assert!(simulated.ends_with(&["--minutes".into(), "2.00".into()]));
        assert!(native.contains(&"native".to_string()));
    }
}
