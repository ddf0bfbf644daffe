//! Samples schedules with shuttle and prints one line of JSON per lock, client and machine.
//!
//! `sample LOCK [OPTION...]`, LOCK may be `all`; options are `--client NAME`, `--threads N`, `--numa N`
//! (NUMA nodes), `--impatient` (lowest thresholds), `--rounds N`, `--scheduler random|pct`, `--depth N` (of pct),
//! `--schedules N`, `--seed N`, `--replay SCHEDULE`. `sample LOCK --table` runs what the tests run. Exit code 0
//! whatever is found, 2 if the arguments are wrong. A violation also prints, to stderr, the arguments that repeat it.

use lockwright_catalog::registry::{LOCKS, LockRow};
use lockwright_clients::{clients, clients_of};
use lockwright_model::CheckDepth;
use lockwright_model::checks::checked_locks;
use lockwright_model::shuttle_checks::{Sample, THREADS, impatient_machine, machine, samples_of};
use lockwright_model::{Shuttle, ShuttleFailure, ShuttleRun, ShuttleScheduler};
use lockwright_parts::{arguments, eprintln, println};
use std::fmt::Display;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

const USAGE: &str = "sample LOCK|all [--client NAME] [--threads N] [--numa N] [--impatient] \
    [--rounds N] [--scheduler random|pct] [--depth N] [--schedules N] [--seed N] [--replay SCHEDULE] [--table]";

fn main() -> ExitCode {
    if arguments().any(|argument| argument == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let mut arguments = arguments();
    let result = samples(&mut arguments)
        .and_then(|samples| samples.iter().try_for_each(|(sample, how)| report(sample, how)));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("sample: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs a row and prints its line; `how` are the arguments that choose it.
fn report(sample: &Sample, how: &str) -> Result<(), String> {
    let start = Instant::now();
    let result = sample.run();
    let seconds = start.elapsed().as_secs_f64();
    let (executions, violation) = match result {
        Ok(seen) => (seen.executions, None),
        Err(ShuttleFailure::Violated { complaint, schedule, executions }) => {
            (executions, Some((complaint, schedule.to_string())))
        }
        Err(ShuttleFailure::OtherProgram) => {
            return Err(
                "the schedule is of another program: repeat every argument of the line that \
                        came with it, with the same version"
                    .to_string(),
            );
        }
    };
    let (complaint, schedule) = violation.unzip();
    let Sample { lock, client, on, run } = sample;
    let scheduler = match &run.scheduler {
        ShuttleScheduler::Random => "random".to_string(),
        ShuttleScheduler::Pct { depth } => format!("pct {depth}"),
        ShuttleScheduler::Replay(_) => "replay".to_string(),
    };
    println!(
        "{}",
        serde_json::json!({
            "lock": lock.name, "client": client, "on": on, "threads": run.threads,
            "checker": "shuttle", "scheduler": scheduler, "seed": run.seed,
            "violated": complaint.is_some(), "complaint": complaint, "schedule": schedule,
            "executions": executions, "seconds": seconds,
        })
    );
    if let Some(schedule) = schedule {
        eprintln!(
            "sample: to repeat it: sample {} --client {client}{how} --replay {schedule}",
            lock.name
        );
    }
    Ok(())
}

/// What the arguments ask for.
struct Request {
    is_table: bool,
    threads: usize,
    numa_nodes: u32,
    is_impatient: bool,
    rounds: u32,
    scheduler: String,
    depth: usize,
    schedules: usize,
    seed: u64,
    replay: Option<ShuttleScheduler>,
}

/// The rows that the arguments ask for, and for each how to ask for it alone.
fn samples(arguments: &mut impl Iterator<Item = String>) -> Result<Vec<(Sample, String)>, String> {
    let names = || LOCKS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let name = arguments.next().ok_or_else(|| format!("type {USAGE}; LOCK is {}", names()))?;
    let chosen = LOCKS.iter().filter(|row| row.answers_to(&name));
    let locks: Vec<_> = if name == "all" { checked_locks().collect() } else { chosen.collect() };
    if locks.is_empty() {
        return Err(format!("no lock is called {name}; there are all, {}", names()));
    }
    let all: Vec<_> = clients::<Shuttle>().collect();
    let mut clients = all.clone();
    let request = request(arguments, &mut clients)?;
    if clients.is_empty() {
        return Err(format!("no client has that name; there are {}", all.join(", ")));
    }
    let mut samples = Vec::new();
    for &lock in &locks {
        if request.is_table {
            let rows = THREADS
                .into_iter()
                .flat_map(|threads| samples_of(lock, threads, CheckDepth::Usual));
            let rows = rows.filter(|row| clients.contains(&row.client));
            samples.extend(rows.map(|row| (row, String::new())));
        } else {
            let rows = clients_of::<Shuttle>(lock).filter(|client| clients.contains(client));
            let rows = rows.map(|client| request.sample(lock, client));
            samples.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
    }
    if samples.is_empty() {
        let of_it: Vec<_> = locks.into_iter().flat_map(clients_of::<Shuttle>).collect();
        return Err(format!("{name} has no such client; it has {}", of_it.join(", ")));
    }
    Ok(samples)
}

impl Request {
    fn sample(
        &self,
        lock: &'static LockRow,
        client: &'static str,
    ) -> Result<(Sample, String), String> {
        let Self { threads, numa_nodes, rounds, seed, depth, .. } = *self;
        let of = if self.is_impatient { impatient_machine } else { machine };
        let scheduler = match (&self.replay, self.scheduler.as_str()) {
            (Some(replay), _) => replay.clone(),
            (None, "random") => ShuttleScheduler::Random,
            (None, "pct") => ShuttleScheduler::Pct { depth },
            (None, name) => {
                return Err(format!("no scheduler is called {name}; type random or pct"));
            }
        };
        let settings = of(threads, numa_nodes);
        let run = ShuttleRun::new(threads, self.schedules).on(settings).by(scheduler);
        let run = ShuttleRun { rounds, seed, ..run };
        let (impatient, thresholds) =
            if self.is_impatient { (" --impatient", ", lowest thresholds") } else { ("", "") };
        let how = format!(" --threads {threads} --numa {numa_nodes}{impatient} --rounds {rounds}");
        let on = format!("NUMA nodes: {numa_nodes}{thresholds}");
        Ok((Sample { lock, client, on, run }, how))
    }
}

fn request(
    arguments: &mut impl Iterator<Item = String>,
    clients: &mut Vec<&'static str>,
) -> Result<Request, String> {
    let mut request = Request {
        is_table: false,
        threads: 8,
        numa_nodes: 1,
        is_impatient: false,
        rounds: 2,
        scheduler: "random".to_string(),
        depth: 3,
        schedules: 1000,
        seed: 1,
        replay: None,
    };
    while let Some(argument) = arguments.next() {
        let name = argument.as_str();
        let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
        match name {
            "--client" => {
                let wanted = value()?;
                clients.retain(|client| *client == wanted);
            }
            "--table" => request.is_table = true,
            "--threads" => request.threads = number(name, &value()?, 2)?,
            "--numa" => request.numa_nodes = number(name, &value()?, 1)?,
            "--impatient" => request.is_impatient = true,
            "--rounds" => request.rounds = number(name, &value()?, 1)?,
            "--scheduler" => request.scheduler = value()?,
            "--depth" => request.depth = number(name, &value()?, 1)?,
            "--schedules" => request.schedules = number(name, &value()?, 1)?,
            "--seed" => request.seed = number(name, &value()?, 0)?,
            "--replay" => request.replay = Some(ShuttleScheduler::Replay(value()?.parse()?)),
            _ => return Err(format!("{name} means nothing here; type {USAGE}")),
        }
    }
    Ok(request)
}

/// The value of `argument`, at least `min`.
fn number<T: FromStr + PartialOrd + Display>(
    argument: &str,
    text: &str,
    min: T,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number >= min);
    number.ok_or_else(|| format!("{argument} needs a whole number from {min}, not {text}"))
}
