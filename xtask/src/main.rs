//! What continuous integration runs, and what a person runs before asking it to.

mod edits;
mod evidence;
mod fidelity;
mod full;
mod fuzz;
mod limit;
mod output;
mod promela;
mod sanitize;
mod stage;
mod tidy;
mod weaken;
mod workers;
mod zoo;

use stage::{Stage, Step};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: cargo xtask COMMAND

  ci                     format, lints, tidy and all tests, as continuous integration runs them
  full [--allow-missing] the same with full checker settings, and other machines
  miri, tsan, asan       the clients on real threads under that tool, and wrong programs it must report
  promela                the model of the waiting policies that sleep, searched by spin
  evidence [--fresh]     writes docs/evidence.md from what weaken, zoo and sample have found, and runs
                         those whose results are missing or old, or all (--fresh)
  evidence --check       does the committed docs/evidence.md list what the tree has?
  fidelity [--keep]      writes docs/fidelity.md from published tables, reproduced, and from this computer beside
                         its own description; --keep takes what target/fidelity has
  fuzz [--minutes N] [--under miri|tsan|asan]
                         random programs over the safe interface: does one do what is not allowed?
  tidy                   the rules of STYLE.md that a program can check
  weaken [--only FILE[:LINE]] [--checker loom|miri] [--json FILE|-] [--matrix] [--full]
                         every ordering of the locks weakened: does a check see it?
  zoo [--only ROW] [--json FILE|-] [--matrix] [--full]
                         historical bugs seeded in the locks: does a checker see them?
  zoo --docs             writes docs/zoo.md
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let is_green = match arguments[..] {
        // Only the other architecture may be missing: this installs nothing.
        ["ci"] => stage::run_all_within(&ci(), true, CI_MAX),
        ["full"] => stage::run_all(&full::stages(), false),
        ["full", "--allow-missing"] => stage::run_all(&full::stages(), true),
        ["miri"] => stage::run_all(&sanitize::miri(), false),
        ["tsan"] => stage::run_all(&sanitize::tsan(), false),
        ["asan"] => stage::run_all(&sanitize::asan(), false),
        ["promela"] => stage::run_all(&[promela::stage()], false),
        ["evidence", "--check"] => evidence::check(&root()),
        ["evidence"] => evidence(false),
        ["evidence", "--fresh"] => evidence(true),
        ["fidelity"] => fidelity(false),
        ["fidelity", "--keep"] => fidelity(true),
        ["tidy", ref options @ ..] => {
            return tool("tidy", tidy::Request::of(options), |root, it| Ok(tidy::run(root, it)));
        }
        ["weaken", ref options @ ..] => {
            let request = weaken::Request::of(options);
            let request = request.and_then(|it| it.check_place(&root()).map(|()| it));
            return tool("weaken", request, weaken::run);
        }
        ["fuzz", ref options @ ..] => return tool("fuzz", fuzz::Request::of(options), fuzz::run),
        ["zoo", ref options @ ..] => return tool("zoo", zoo::Request::of(options), zoo::run),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if is_green { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a tool that has options of its own. Exit code 2 if they make no sense, 1 if something is
/// wrong with the code.
fn tool<R>(
    name: &str,
    request: Result<R, String>,
    run: fn(&Path, &R) -> Result<bool, String>,
) -> ExitCode {
    let request = match request {
        Ok(request) => request,
        Err(message) => {
            eprintln!("{name}: {message}");
            return ExitCode::from(2);
        }
    };
    match run(&root(), &request) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn evidence(is_fresh: bool) -> bool {
    evidence::generate(&root(), is_fresh).unwrap_or_else(|message| {
        eprintln!("evidence: {message}");
        false
    })
}

fn fidelity(keeps: bool) -> bool {
    fidelity::generate(&root(), keeps).unwrap_or_else(|message| {
        eprintln!("fidelity: {message}");
        false
    })
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask is a folder of the repository").to_path_buf()
}

/// How long continuous integration may take, all stages together, on two slow cores. The limits of stages tell one that hangs
/// from one on a slow day.
const CI_MAX: Duration = Duration::from_secs(50 * 60);

fn ci() -> Vec<Stage> {
    let mut stages = checks();
    stages.push(full::aarch64_builds());
    let test = ["cargo", "test", "--workspace"];
    stages.push(Stage::command("build", 1200, &[&test[..], &["--no-run"]].concat()));
    // These two check the checks. Without Miri, which is not part of the pinned toolchain.
    let weaken = ["cargo", "xtask", "weaken", "--checker", "loom"];
    stages.push(Stage::command("weaken", 1200, &weaken));
    stages.push(Stage::command("zoo", 1200, &["cargo", "xtask", "zoo"]));
    stages.extend(fuzz::stages());
    // The README's test command.
    stages.push(Stage::command("test", 1500, &test));
    stages
}

/// Everything that does not run the product.
fn checks() -> Vec<Stage> {
    let clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    let no_std = ["cargo", "check", "--package", "lockwright", "--no-default-features"];
    let lock_apis = ["cargo", "test", "--package", "lockwright", "--features", "lock_api_05"];
    vec![
        Stage::command("fmt", 60, &["cargo", "fmt", "--all", "--check"]),
        Stage::command("clippy", 300, &clippy),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&root(), &tidy::Request::default()))),
        Stage::new("evidence --check", 60, Step::Call(|| evidence::check(&root()))),
        Stage::command("no-std", 120, &no_std),
        Stage::command("lock-apis", 300, &[&lock_apis[..], &["--test", "it", "statics"]].concat()),
    ]
}
