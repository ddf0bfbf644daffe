//! What an exploration found, in each format.

mod mail;
mod trace;

pub use mail::narrow;
pub use trace::Trace;

use super::args::ExploreArgs;
use crate::options::SeedArgs;
use lockwright_core::events::Event;
use lockwright_measure::client::{LockAndClient, Target};
use lockwright_sheets::{
    Grid, Report, command_within, count, hanging, plural, quoted, to_json, width, wrapped,
};
use lockwright_sim::explore::{Findings, Found, Plan, PolicyKind, Schedule};
use lockwright_sim::{Failure, FailureKind};
use lockwright_zoo::{Bug, fault_of};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `lockwright.explore/1`.
#[derive(Clone, Debug, Serialize)]
pub struct ExploreDocument {
    schema: &'static str,
    on: Value,
    seed: u64,
    rounds: u32,
    preemptions: u32,
    bug: Option<&'static str>,
    /// The name of that bug.
    #[serde(skip_serializing_if = "Option::is_none")]
    bug_name: Option<&'static str>,
    pub results: Vec<ExploreResult>,
    /// True if Ctrl-C ended it early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Letters of the longest names of the locks and of the clients.
    #[serde(skip)]
    widths: (usize, usize),
}

/// What stands for a policy if a schedule is run again.
const REPLAY: &str = "replay";

/// One lock with one client.
#[derive(Clone, Debug, Serialize)]
pub struct ExploreResult {
    lock: &'static str,
    client: &'static str,
    /// What is wrong on purpose, so that something should be found.
    #[serde(skip)]
    wrong: Option<String>,
    threads: usize,
    policy: String,
    schedules: u64,
    steps: u64,
    distinct: u64,
    exhausted: bool,
    /// A search of all schedules with at most this number of preemptions.
    #[serde(skip)]
    bound: Option<u32>,
    /// It ended because it had run as many schedules as it was asked to.
    #[serde(skip)]
    is_limited: bool,
    verdict: &'static str,
    events: BTreeMap<&'static str, u64>,
    failure: Option<ExploreFailure>,
    /// What each move did, if the schedule was run again.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
    /// What people read instead, if the schedule is for a mailing list.
    #[serde(skip)]
    mail: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct ExploreFailure {
    kind: &'static str,
    message: String,
    threads: Vec<String>,
    schedule_number: u64,
    policy: &'static str,
    schedule: String,
    /// Moves, and switches between threads, of the schedule; and before it was shortened.
    moves: usize,
    switches: usize,
    moves_found: usize,
    switches_found: usize,
    replay: String,
}

impl ExploreFailure {
    fn new(args: &ExploreArgs, pair: LockAndClient, found: &Found) -> Self {
        let (message, threads) = told(&found.failure);
        Self {
            kind: kind_name(&found.failure.kind),
            message,
            threads,
            schedule_number: found.number,
            policy: found.policy.name(),
            schedule: found.schedule.to_string(),
            moves: found.schedule.moves.len(),
            switches: found.schedule.switches(),
            moves_found: found.before.0,
            switches_found: found.before.1,
            replay: replay_line(args, pair, &found.schedule),
        }
    }
}

/// A failure in words, and a line for each thread that has not finished.
fn told(failure: &Failure) -> (String, Vec<String>) {
    let by_itself = || failure.kind.to_string().replace('\n', "; ");
    let (what, threads) = match &failure.kind {
        FailureKind::Stuck { threads } => {
            ("no thread can go on, and at least one still waits".into(), &threads[..])
        }
        FailureKind::EventLimit { threads } => {
            ("the threads go round in circles and make no progress".into(), &threads[..])
        }
        FailureKind::TimeLimit { threads } => (by_itself(), &threads[..]),
        _ => (by_itself(), &[][..]),
    };
    let by = failure.thread.map_or_else(String::new, |thread| format!("thread {thread} "));
    (by + &what, threads.iter().map(ToString::to_string).collect())
}

fn kind_name(kind: &FailureKind) -> &'static str {
    match kind {
        FailureKind::Exclusion { .. } => "exclusion",
        FailureKind::NotHeld { .. } => "not-held",
        FailureKind::OutOfOrder { .. } => "out-of-order",
        FailureKind::Overtaken { .. } => "overtaken",
        FailureKind::IllegalWord { .. } => "illegal-word",
        FailureKind::Freed { .. } => "freed",
        FailureKind::Panicked { .. } => "panicked",
        FailureKind::Stuck { .. } => "stuck",
        FailureKind::TimeLimit { .. } => "time-limit",
        FailureKind::EventLimit { .. } => "step-limit",
        FailureKind::SleeperLeft => "sleeper-left",
        FailureKind::MetadataLeft => "metadata-left",
        FailureKind::Diverged { .. } => "diverged",
        FailureKind::Nondeterministic { .. } => "nondeterministic",
    }
}

/// What is wrong on purpose with the lock of a pair: the bug that it is seeded with, or all of it.
fn wrong_on_purpose(pair: LockAndClient) -> Option<String> {
    let seeded = |bug: &Bug| format!("seeded with bug {} ({})", bug.row, bug.name);
    let broken = || fault_of(pair.lock.name).map(|_| "broken on purpose".into());
    Bug::chosen().map(seeded).or_else(broken)
}

/// The command that runs a schedule of a pair again.
fn replay_line(args: &ExploreArgs, pair: LockAndClient, schedule: &Schedule) -> String {
    let ExploreArgs { threads, rounds, random: SeedArgs { seed }, .. } = args;
    let (lock, client) = (pair.lock.name, pair.client);
    let mut line = format!(
        "lockwright explore --lock {lock} --client {client} --threads {threads} --rounds {rounds} \
         --seed {seed}"
    );
    for (flag, value) in [("--on", &args.on), ("--bug", &args.bug)] {
        if let Some(value) = value {
            line += &format!(" {flag} {}", quoted(value.trim()));
        }
    }
    line + &format!(" --replay {}", quoted(&schedule.to_string()))
}

impl ExploreResult {
    /// What was found out about `pair`.
    pub fn new(args: &ExploreArgs, pair: LockAndClient, plan: &Plan, findings: &Findings) -> Self {
        let policies: Vec<_> = plan.policies.iter().map(|policy| policy.name()).collect();
        let events = Event::ALL.iter().zip(&findings.lock_events);
        let events = events.map(|(event, &times)| (event.name(), times));
        let failed = |found| ExploreFailure::new(args, pair, found);
        let failure = findings.failure.as_ref().map(failed);
        Self {
            lock: pair.lock.name,
            client: pair.client,
            wrong: wrong_on_purpose(pair),
            threads: args.threads,
            policy: policies.join("+"),
            schedules: findings.schedules,
            steps: findings.steps,
            distinct: findings.distinct,
            exhausted: findings.is_exhausted,
            bound: plan.policies.iter().find_map(|policy| match policy {
                PolicyKind::Dfs(preemptions) => Some(*preemptions),
                _ => None,
            }),
            is_limited: findings.schedules >= plan.schedules,
            verdict: if failure.is_some() { "VIOLATED" } else { "HELD" },
            events: events.filter(|(_, times)| *times > 0).collect(),
            failure,
            trace: None,
            mail: None,
        }
    }
    /// The result of a schedule that was run again.
    pub fn replayed(self, trace: Trace) -> Self {
        let failure = self.failure.map(|failure| ExploreFailure { policy: REPLAY, ..failure });
        Self { policy: REPLAY.into(), failure, trace: Some(trace), ..self }
    }
    /// The result for a mailing list, with what each move of the schedule did.
    pub fn mailed(self, trace: &Trace) -> Self {
        let Self { lock, client, verdict, .. } = &self;
        let told = [format!("{lock}, test client {client}: {verdict} (simulated)")];
        let told = told.into_iter().chain(self.wrong.clone());
        let mut text = mail::narrow(&told.collect::<Vec<_>>().join("; "));
        if let Some(ExploreFailure { kind, message, threads, .. }) = &self.failure {
            text += &mail::narrow(&format!("{kind}: {message}"));
            text += &threads.iter().map(|thread| mail::narrow(thread)).collect::<String>();
        }
        text += &format!("\n{}", trace.mail());
        if let Some(ExploreFailure { schedule, replay, .. }) = &self.failure {
            text += &match schedule.len() <= SCHEDULE_MAX {
                true => format!("\n{}", command_within(replay, mail::WIDTH)),
                false => "\nThe schedule is too long for a mail: --json FILE keeps it.\n".into(),
            };
        }
        Self { mail: Some(text), ..self }
    }
    /// What people read about it. The lock and the client take columns of these widths.
    fn text(&self, (of_lock, of_client): (usize, usize)) -> String {
        if let Some(mail) = &self.mail {
            return mail.clone();
        }
        let Self { lock, client, verdict, .. } = self;
        let names = format!("{lock:<of_lock$} {client:<of_client$} {verdict:<8}");
        let how = self.how();
        let mut text = match names.len() + 1 + how.len() > width() {
            true => format!("{}\n  {how}\n", names.trim_end()),
            false => format!("{names} {how}\n"),
        };
        text += &format!("  {}", hanging(&self.details(), "  "));
        if let Some(trace) = &self.trace {
            text += &trace.text();
        }
        match &self.failure {
            Some(failure) => text + &failure.text(),
            None => text,
        }
    }
    /// In which schedules the verdict was found.
    fn how(&self) -> String {
        match (&self.trace, &self.failure) {
            (Some(_), Some(_)) => "by the replayed schedule (simulated)".into(),
            (Some(_), None) => "in the replayed schedule (simulated)".into(),
            (None, Some(failure)) => {
                format!("by schedule {} (simulated)", failure.schedule_number + 1)
            }
            (None, None) => format!("in {}", plural(self.schedules, "simulated schedule")),
        }
    }
    /// The numbers of its schedules.
    fn details(&self) -> String {
        let missed = |wrong: &String| match self.failure {
            Some(_) => wrong.clone(),
            None => format!("{wrong}; this client did not show it"),
        };
        let threads = plural(self.threads as u64, "thread");
        let mut parts: Vec<String> = self.wrong.iter().map(missed).chain([threads]).collect();
        let steps = format!("{} steps", count(self.steps as f64));
        match (&self.trace, self.bound) {
            (Some(_), _) => {}
            (None, Some(bound)) => parts.extend([self.searched(bound), steps]),
            (None, None) => parts.extend([plural(self.distinct, "different schedule"), steps]),
        }
        let said = |(name, &times): (&&str, &u64)| format!("{name} {}", count(times as f64));
        let events: Vec<_> = self.events.iter().map(said).collect();
        if !events.is_empty() {
            parts.push(format!("events: {}", events.join(", ")));
        }
        parts.join("; ")
    }
    /// How far a search got that is bounded by a number of preemptions.
    fn searched(&self, bound: u32) -> String {
        let bound = format!("with at most {}", plural(bound.into(), "preemption"));
        let distinct = plural(self.distinct, "different schedule");
        if self.exhausted {
            return format!("all {} {bound}", plural(self.schedules, "schedule"));
        }
        let why = match (&self.failure, self.is_limited) {
            (Some(_), _) => "",
            (None, true) => ", and there are more (--schedules)",
            (None, false) => "; some got too long to be searched",
        };
        format!("{distinct} {bound}{why}")
    }
}

/// Letters of the longest schedule that people get whole.
const SCHEDULE_MAX: usize = 1000;

impl ExploreFailure {
    /// What people read about it.
    fn text(&self) -> String {
        let Self { kind, message, schedule_number, policy, replay, .. } = self;
        let found = match *policy {
            REPLAY => String::new(),
            policy => format!(" in schedule {} (policy {policy})", schedule_number + 1),
        };
        let mut text = format!("  {}", hanging(&format!("{kind}{found}: {message}"), "    "));
        for thread in &self.threads {
            text += &format!("    {}", hanging(thread, "      "));
        }
        let Self { moves, switches, moves_found, switches_found, .. } = *self;
        let now = [plural(moves as u64, "move"), plural(switches as u64, "switch")].join(" with ");
        let told = match (moves_found, switches_found) == (moves, switches) {
            true => format!("schedule of {now} between threads"),
            false => format!(
                "simplified to {now} between threads (before: {moves_found} and {switches_found})"
            ),
        };
        text += &format!("  {}", hanging(&told, "    "));
        if self.schedule.len() <= SCHEDULE_MAX {
            return text + "  replay: " + &lockwright_sheets::command(replay, "  replay: ".len());
        }
        let end = replay.len() - self.schedule.len() + SCHEDULE_MAX / 10;
        let told = format!(
            "replay line: {} characters; --json FILE keeps the whole line as `replay`. It begins:",
            replay.len()
        );
        text += &format!("  {}", hanging(&told, "    "));
        text + "    " + &replay[..end] + "...\n"
    }
}

impl ExploreDocument {
    /// A document without results.
    pub fn new(args: &ExploreArgs, target: &Target, pairs: &[LockAndClient]) -> Self {
        let widest = |name: fn(&LockAndClient) -> &str| {
            pairs.iter().map(|pair| name(pair).len()).max().unwrap_or(0)
        };
        Self {
            schema: "lockwright.explore/1",
            on: json!({
                "kind": "simulated",
                "machine": target.machine.name,
                "cpus": target.machine.topology.cpus(),
                "numa_nodes": target.machine.topology.nodes(),
            }),
            seed: args.random.seed,
            rounds: args.rounds,
            preemptions: args.preemptions,
            bug: Bug::chosen().map(|bug| bug.row),
            bug_name: Bug::chosen().map(|bug| bug.name),
            results: Vec::new(),
            interrupted: false,
            widths: (widest(|pair| pair.lock.name), widest(|pair| pair.client)),
        }
    }
    /// What people read about a result.
    pub fn text_of(&self, result: &ExploreResult) -> String {
        result.text(self.widths)
    }
    /// What people read at the end of a search for a bug.
    pub fn summary(&self) -> String {
        let (bug, name, all) = match (self.bug, self.bug_name, self.results.len()) {
            (Some(bug), Some(name), all @ 2..) => (bug, name, all),
            _ => return String::new(),
        };
        let has_one_lock = self.results.iter().all(|it| it.lock == self.results[0].lock);
        let what = if has_one_lock { "clients" } else { "pairs of a lock and a client" };
        wrapped(&format!("bug {bug} ({name}) was found by {} of {all} {what}", self.failed()))
    }
    /// How many results something went wrong in.
    pub fn failed(&self) -> usize {
        self.results.iter().filter(|it| it.failure.is_some()).count()
    }
}

impl Report for ExploreDocument {
    fn text(&self) -> String {
        let results: String = self.results.iter().map(|result| self.text_of(result)).collect();
        results + &self.summary()
    }
    fn json(&self) -> String {
        to_json(self)
    }
    fn grid(&self) -> Grid {
        let row = |result: &ExploreResult| {
            let mut row = json!(result);
            row["kind"] = "simulated".into();
            row["machine"] = self.on["machine"].clone();
            row
        };
        let columns = "kind machine lock client threads policy schedules steps distinct verdict \
                       failure=failure/kind replay=failure/replay";
        Grid::of_json(self.results.iter().map(row), columns)
    }
}
