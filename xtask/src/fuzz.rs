//! `cargo xtask fuzz`: random programs over the safe public interface, on simulated machines and on this one, with
//! and without tools that see what the programs cannot.

use crate::limit::{command, line_of, status_within};
use crate::record::{Item, Record};
use crate::repository::target_of;
use crate::sanitize::{self, MIRI, NIGHTLY, SOURCE};
use crate::stage::Need;
use crate::tidy::files;
use clap::{Parser, ValueEnum};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Run random programs over the safe interface of the locks.
#[derive(Debug, Parser, PartialEq)]
pub struct Request {
    /// How long new programs run, in minutes.
    #[arg(long, value_name = "N", default_value_t = 2.0, value_parser = minutes)]
    minutes: f64,
    /// The tool that watches them. Without one, they run simulated and natively.
    #[arg(long)]
    under: Option<Under>,
    /// Run the programs of ci instead, and write down in xtask/record.txt which ones pass.
    #[arg(long, conflicts_with_all = ["minutes", "under"])]
    batches: bool,
    /// Run the batches whose sources have changed, and a tenth of the others.
    #[arg(long, requires = "batches", conflicts_with_all = ["minutes", "under"])]
    changed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Under {
    Miri,
    Tsan,
    Asan,
}

fn minutes(typed: &str) -> Result<f64, String> {
    let minutes = typed.parse().ok().filter(|it: &f64| *it > 0.0 && it.is_finite());
    minutes.ok_or_else(|| "give a number above 0, such as `--minutes 3`".into())
}

const PACKAGE: &str = "lockwright-programs";

/// The programs that continuous integration runs: where, how many batches, and how many programs in each. A batch
/// takes about ten seconds on two slow cores.
const BATCHES: [(&str, u64, u64); 2] = [("simulated", 8, 80_000), ("native", 4, 1_000)];

/// The program, with these arguments.
fn program(root: &Path, arguments: &str) -> Command {
    let mut program = Command::new(target_of(root).join("debug").join(PACKAGE));
    program.args(arguments.split(' '));
    program
}

/// Builds the program. With the workspace, so that nothing is compiled with other features.
fn build(root: &Path) -> Result<(), String> {
    match succeeds(root, command(&format!("cargo build --quiet --workspace --bin {PACKAGE}")))? {
        true => Ok(()),
        false => Err(format!("{PACKAGE} does not build; the errors are above")),
    }
}

/// Each batch: its name in the record, and the arguments of the program.
fn batches() -> Vec<(String, String)> {
    let of = |(on, batches, count): (&'static str, u64, u64)| {
        (0..batches).map(move |batch| {
            let seed = 1 + batch * count;
            (format!("fuzz {on} {batch}"), format!("--on {on} --seed {seed} --count {count}"))
        })
    };
    BATCHES.into_iter().flat_map(of).collect()
}

/// Runs the batches that are due. Returns true if nothing was found.
fn run_batches(root: &Path, changed: bool) -> Result<bool, String> {
    let all = files::read_all(root);
    let record = Record::read(root, &all, changed)?;
    let item = |(name, arguments): &(String, String)| {
        let files = ["crates/programs/", "crates/sim/"].map(str::to_string).into();
        Item { name: name.clone(), locks: None, files, text: arguments.clone() }
    };
    build(root)?;
    let mut is_green = true;
    for batch in record.due("fuzz", batches(), item) {
        let program = program(root, &batch.1);
        eprintln!("{}: {}", batch.0, line_of(&program));
        let has_passed = succeeds(root, program)?;
        is_green &= has_passed;
        record.write(&item(&batch), has_passed)?;
    }
    Ok(is_green)
}

/// Runs programs. Returns true if nothing was found.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let &Request { minutes, under, batches, changed } = request;
    if batches {
        return run_batches(root, changed);
    }
    // Other programs each time.
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs() * 1_000_000);
    let Some(under) = under else {
        build(root)?;
        // Two thirds of the time simulated, one natively.
        for (on, part) in [("simulated", 2.0 / 3.0), ("native", 1.0 / 3.0)] {
            let limit = format!("--on {on} --seed {seed} --minutes {:.2}", minutes * part);
            if !succeeds(root, program(root, &limit))? {
                return Ok(false);
            }
        }
        return Ok(true);
    };
    let (needs, name, sanitizer, option, cargo, forks): (&[Need], _, _, _, _, _) = match under {
        Under::Miri => {
            check(&[MIRI])?;
            return under_miri(root, minutes, seed);
        }
        // It does not follow a process with threads into its children.
        Under::Tsan => {
            let option = ("TSAN_OPTIONS", "halt_on_error=1");
            (&[NIGHTLY, SOURCE], "tsan", "thread", option, " -Zbuild-std", " --no-forks")
        }
        // Programs leak on purpose.
        Under::Asan => (&[NIGHTLY], "asan", "address", ("ASAN_OPTIONS", "detect_leaks=0"), "", ""),
    };
    check(needs)?;
    let mut run = command(&format!(
        "cargo +nightly run -q{cargo} --target {} --package {PACKAGE} -- --on native --minutes {minutes}{forks} --seed \
         {seed}",
        sanitize::target()
    ));
    run.env("RUSTFLAGS", format!("-Zsanitizer={sanitizer}")).env(option.0, option.1);
    run.env("CARGO_TARGET_DIR", format!("target/{name}"));
    succeeds(root, run)
}

/// How many programs one seed of Miri runs.
const PROGRAMS: u64 = 20;

/// Batches of programs, each with another seed of Miri's, until the time is over.
fn under_miri(root: &Path, minutes: f64, seed: u64) -> Result<bool, String> {
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut batch = 0;
    while Instant::now() < end {
        let flags = format!(
            "-Zmiri-disable-isolation -Zmiri-strict-provenance -Zmiri-ignore-leaks -Zmiri-seed={batch}"
        );
        // A step that reads ten thousand times takes minutes here.
        let mut run = command(&format!(
            "cargo +nightly miri run -q --package {PACKAGE} -- --on native --count {PROGRAMS} --reads 50 --seed {}",
            seed + batch * PROGRAMS
        ));
        run.env("MIRIFLAGS", flags).env("CARGO_TARGET_DIR", "target/miri");
        if !succeeds(root, run)? {
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

fn succeeds(root: &Path, mut process: Command) -> Result<bool, String> {
    let status = status_within(process.current_dir(root), Duration::MAX);
    status.map(|status| status.success()).map_err(|stopped| format!("{PACKAGE} {stopped}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_and_a_tool_are_read() {
        let of = |words: &str| {
            let it = Request::try_parse_from(words.split(' ')).ok()?;
            Some((it.minutes, it.under, it.batches, it.changed))
        };
        let under_asan = Some((2.5, Some(Under::Asan), false, false));
        assert_eq!(of("fuzz --minutes 2.5 --under asan"), under_asan);
        assert_eq!(of("fuzz --batches --changed"), Some((2.0, None, true, true)));
        assert_eq!(of("fuzz --minutes 2 --batches"), None);
    }

    #[test]
    fn batches_run_in_both_worlds_and_no_program_twice_in_one() {
        let names: Vec<_> = batches().into_iter().map(|batch| batch.0).collect();
        let ends = (names.len(), &*names[0], &*names[11]);
        assert_eq!(ends, (12, "fuzz simulated 0", "fuzz native 3"));
        assert!(batches()[1].1.ends_with("--seed 80001 --count 80000"));
    }
}
