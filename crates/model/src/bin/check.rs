//! Runs the model checks of a lock and prints one line of JSON for each.
//!
//! `check LOCK [--client NAME] [--on MACHINE] [--full] [--first] [--list]`: `--first` stops at the first
//! violation, `--list` only names the checks. Exit code 0 whatever is found, 2 if the arguments are wrong.

use lockwright_clients::ClientOutcome;
use lockwright_core::events::Event;
use lockwright_model::checks::{Bounds, Check, checked_locks, checks_of};
use lockwright_model::{Explored, outcome};
use lockwright_parts::{arguments, eprintln, println};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "check LOCK [--client NAME] [--on MACHINE] [--full] [--first] [--list]";

struct Request {
    checks: Vec<Check>,
    bounds: Bounds,
    stops_at_first: bool,
    lists: bool,
}

fn main() -> ExitCode {
    if arguments().any(|argument| argument == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let request = match request(arguments()) {
        Ok(request) => request,
        Err(message) => {
            eprintln!("check: {message}");
            return ExitCode::from(2);
        }
    };
    // A violation is a panic, and expected here: its message is in the line.
    std::panic::set_hook(Box::new(|_| {}));
    for check in &request.checks {
        if request.lists {
            let Check { lock, client, on, .. } = check;
            println!("{}", serde_json::json!({ "lock": lock.name, "client": client, "on": on }));
            continue;
        }
        let is_violated = report(check, &request);
        if is_violated && request.stops_at_first {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// Runs one check and prints its line. Returns true if it was violated.
fn report(check: &Check, request: &Request) -> bool {
    let start = Instant::now();
    let outcome = outcome(|| check.explore(request.bounds));
    let seen = lockwright_model::world::seen();
    let seconds = start.elapsed().as_secs_f64();
    let complaint = match outcome {
        ClientOutcome::Held => None,
        ClientOutcome::Violated(message) => Some(message),
    };
    let Check { lock, client, on, threads, .. } = check;
    println!(
        "{}",
        serde_json::json!({
            "lock": lock.name, "client": client, "on": on, "threads": threads, "checker": "loom",
            "violated": complaint.is_some(), "complaint": complaint,
            "executions": seen.executions, "seconds": seconds, "events": events_of(&seen),
        })
    );
    complaint.is_some()
}

/// How often each event was counted that was.
fn events_of(seen: &Explored) -> BTreeMap<&'static str, u64> {
    let counts = Event::ALL.iter().map(|event| (event.name(), seen.count_of(*event)));
    counts.filter(|(_, count)| *count > 0).collect()
}

fn request(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let locks = || checked_locks().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let name = arguments.next().ok_or_else(|| format!("type {USAGE}; LOCK is {}", locks()))?;
    let lock = checked_locks()
        .find(|row| row.name == name)
        .ok_or_else(|| format!("no lock is called {name}; there are {}", locks()))?;
    let mut request = Request {
        checks: checks_of(lock),
        bounds: Bounds::QUICK,
        stops_at_first: false,
        lists: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--client" => retain(&mut request.checks, &value()?, |check| check.client)?,
            "--on" => retain(&mut request.checks, &value()?, |check| check.on)?,
            "--full" => request.bounds = Bounds::FULL,
            "--first" => request.stops_at_first = true,
            "--list" => request.lists = true,
            _ => return Err(format!("{argument} means nothing here; type {USAGE}")),
        }
    }
    Ok(request)
}

/// Leaves the checks of that name; an error if there are none.
fn retain(
    checks: &mut Vec<Check>,
    name: &str,
    name_of: fn(&Check) -> &'static str,
) -> Result<(), String> {
    let names: BTreeSet<_> = checks.iter().map(name_of).collect();
    checks.retain(|check| name_of(check) == name);
    if checks.is_empty() {
        let names: Vec<_> = names.into_iter().collect();
        return Err(format!("no check has {name}; type one of: {}", names.join("; ")));
    }
    Ok(())
}
