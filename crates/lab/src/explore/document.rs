//! What an exploration found, in each format.

use super::args::ExploreArgs;
use super::trace::Trace;
use crate::replay::quoted;
use crate::report::{self, Chart, Grid, Report, count, hanging};
use lockwright::events::Event;
use lockwright::zoo::{self, Bug};
use lockwright_cells::client::{Pair, Target};
use lockwright_sim::explore::{Findings, Found, Plan, Schedule};
use lockwright_sim::{Failure, FailureKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// `lockwright.explore/1`.
#[derive(Clone, Debug, Serialize)]
pub struct ExploreDocument {
    schema: &'static str,
    on: On,
    seed: u64,
    rounds: u32,
    preemptions: u32,
    bug: Option<&'static str>,
    /// The name of that bug.
    #[serde(skip_serializing_if = "Option::is_none")]
    bug_name: Option<&'static str>,
    results: Vec<ExploreResult>,
    /// True if Ctrl-C ended it early.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

#[derive(Clone, Debug, Serialize)]
struct On {
    kind: &'static str,
    machine: String,
    cpus: u32,
    numa_nodes: u32,
}

/// What became of a lock with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Nothing went wrong in any schedule that was run.
    #[serde(rename = "HELD")]
    Held,
    /// Something did in one.
    #[serde(rename = "VIOLATED")]
    Violated,
}

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
    verdict: Verdict,
    events: BTreeMap<&'static str, u64>,
    failure: Option<ExploreFailure>,
    /// What each move did, if the schedule was run again.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "lines_of")]
    trace: Option<Trace>,
}

fn lines_of<S: serde::Serializer>(trace: &Option<Trace>, to: S) -> Result<S::Ok, S::Error> {
    trace.as_ref().map_or(&[][..], |trace| &trace.lines[..]).serialize(to)
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
    fn new(found: &Found, replay: String) -> Self {
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
            replay,
        }
    }
}

/// A failure in words, and a line for each thread that has not finished.
pub fn told(failure: &Failure) -> (String, Vec<String>) {
    let threads = match &failure.kind {
        FailureKind::Stuck { threads }
        | FailureKind::TimeLimit { threads }
        | FailureKind::EventLimit { threads } => threads.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let what = match &failure.kind {
        FailureKind::Stuck { .. } => "no thread can go on, and at least one still waits".to_owned(),
        FailureKind::EventLimit { .. } => {
            "the threads go round in circles and make no progress".to_owned()
        }
        kind => kind.to_string().replace('\n', "; "),
    };
    match failure.thread {
        Some(thread) => (format!("thread {thread} {what}"), threads),
        None => (what, threads),
    }
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
        FailureKind::Diverged { .. } => "diverged",
        FailureKind::Nondeterministic { .. } => "nondeterministic",
    }
}

/// What is wrong on purpose with the lock of a pair: the bug that it is seeded with, or all of it.
fn wrong_on_purpose(target: &Target, pair: Pair) -> Option<String> {
    let seeded = |bug: Bug| format!("seeded with bug {} ({})", bug.row(), bug.name());
    let broken = || zoo::fault_of(pair.lock).map(|_| "broken on purpose".into());
    target.bug.map(seeded).or_else(broken)
}

/// The command that runs a schedule of a pair again.
pub fn replay_line(args: &ExploreArgs, pair: Pair, schedule: &Schedule) -> String {
    let ExploreArgs { threads, rounds, seed, .. } = args;
    let Pair { lock, client } = pair;
    let mut line = format!(
        "lockwright explore --lock {lock} --client {client} --threads {threads} --rounds {rounds} \
         --seed {seed}"
    );
    let more = [("--on", args.on.as_deref()), ("--bug", args.bug.as_deref())];
    for (flag, value) in more {
        if let Some(value) = value {
            line += &format!(" {flag} {}", quoted(value.trim()));
        }
    }
    line + &format!(" --replay {}", quoted(&schedule.to_string()))
}

impl ExploreResult {
    /// What was found out about `pair`.
    pub fn new(
        args: &ExploreArgs,
        target: &Target,
        pair: Pair,
        plan: &Plan,
        findings: &Findings,
    ) -> Self {
        let policies: Vec<_> = plan.policies.iter().map(|policy| policy.name()).collect();
        let counts =
            Event::ALL.iter().map(|event| (event.name(), findings.lock_events[*event as usize]));
        let failure = findings
            .failure
            .as_ref()
            .map(|found| ExploreFailure::new(found, replay_line(args, pair, &found.schedule)));
        Self {
            lock: pair.lock,
            client: pair.client,
            wrong: wrong_on_purpose(target, pair),
            threads: args.threads,
            policy: policies.join("+"),
            schedules: findings.schedules,
            steps: findings.steps,
            distinct: findings.distinct,
            exhausted: findings.is_exhausted,
            verdict: if failure.is_some() { Verdict::Violated } else { Verdict::Held },
            events: counts.filter(|(_, count)| *count > 0).collect(),
            failure,
            trace: None,
        }
    }
    /// The result of a schedule of `pair` that was run again.
    pub fn replayed(
        args: &ExploreArgs,
        target: &Target,
        pair: Pair,
        schedule: &Schedule,
        (failure, trace): (Option<&Failure>, Trace),
    ) -> Self {
        let failure = failure.map(|failure| {
            let (message, threads) = told(failure);
            let (moves, switches) = (schedule.moves.len(), schedule.switches());
            ExploreFailure {
                kind: kind_name(&failure.kind),
                message,
                threads,
                schedule_number: 0,
                policy: "replay",
                schedule: schedule.to_string(),
                moves,
                switches,
                moves_found: moves,
                switches_found: switches,
                replay: replay_line(args, pair, schedule),
            }
        });
        Self {
            lock: pair.lock,
            client: pair.client,
            wrong: wrong_on_purpose(target, pair),
            threads: args.threads,
            policy: "replay".into(),
            schedules: 1,
            steps: schedule.moves.len() as u64,
            distinct: 1,
            exhausted: false,
            verdict: if failure.is_some() { Verdict::Violated } else { Verdict::Held },
            events: BTreeMap::new(),
            failure,
            trace: Some(trace),
        }
    }
    /// What people read about it.
    pub fn text(&self) -> String {
        let Self { lock, client, threads, schedules, distinct, steps, .. } = self;
        let verdict = self.verdict.name();
        let plural = if *schedules == 1 { "" } else { "s" };
        let head = format!(
            "{lock:<18} {client:<12} {verdict:<8} in {schedules} simulated schedule{plural}"
        );
        let mut text = match head.len() > report::width() {
            true => hanging(&head, "  "),
            false => head + "\n",
        };
        let all = if self.exhausted { ", all there are" } else { "" };
        let steps = count(*steps as f64);
        let mut more =
            format!("{threads} threads; {distinct} different schedule{plural}{all}; {steps} steps");
        match (&self.wrong, self.verdict) {
            (None, _) => {}
            (Some(wrong), Verdict::Violated) => more = format!("{wrong}; {more}"),
            (Some(wrong), Verdict::Held) => {
                more = format!("{wrong}, which was not found; {more}");
            }
        }
        let events =
            self.events.iter().map(|(name, times)| format!("{name} {}", count(*times as f64)));
        let events: Vec<_> = events.collect();
        if !events.is_empty() {
            more += &format!("; events: {}", events.join(", "));
        }
        text += &format!("  {}", hanging(&more, "  "));
        if let Some(trace) = &self.trace {
            text += &trace.text();
        }
        match &self.failure {
            Some(failure) => text + &failure.text(),
            None => text,
        }
    }
}

impl ExploreFailure {
    /// What people read about it.
    fn text(&self) -> String {
        let Self { kind, message, schedule_number, policy, replay, .. } = self;
        let found = match schedule_number {
            0 => String::new(),
            number => format!(" in schedule {number} (policy {policy})"),
        };
        let mut text = format!("  {}", hanging(&format!("{kind}{found}: {message}"), "    "));
        for thread in &self.threads {
            text += &format!("    {}", hanging(thread, "      "));
        }
        let Self { moves, switches, moves_found, switches_found, .. } = self;
        let was = match moves_found == moves {
            true => String::new(),
            false => format!("; found with {moves_found} and {switches_found}"),
        };
        let told = format!("schedule of {moves} moves with {switches} switches{was}");
        text += &format!("  {}", hanging(&told, "    "));
        text + "  replay: " + &report::command(replay, "  replay: ".len())
    }
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Held => "HELD",
            Self::Violated => "VIOLATED",
        }
    }
}

impl ExploreDocument {
    /// A document without results.
    pub fn new(args: &ExploreArgs, target: &Target) -> Self {
        Self {
            schema: "lockwright.explore/1",
            on: On {
                kind: "simulated",
                machine: target.machine.name.clone(),
                cpus: target.machine.topology.cpus(),
                numa_nodes: target.machine.topology.sockets,
            },
            seed: args.seed,
            rounds: args.rounds,
            preemptions: args.preemptions,
            bug: target.bug.map(|bug| bug.row()),
            bug_name: target.bug.map(|bug| bug.name()),
            results: Vec::new(),
            interrupted: false,
        }
    }
    /// Adds a result.
    pub fn add(&mut self, result: ExploreResult) {
        self.results.push(result);
    }
    /// True if something went wrong.
    pub fn has_failed(&self) -> bool {
        self.results.iter().any(|result| result.verdict == Verdict::Violated)
    }
}

impl Report for ExploreDocument {
    fn text(&self) -> String {
        self.results.iter().map(ExploreResult::text).collect()
    }
    fn json(&self) -> String {
        report::to_json(self)
    }
    fn grid(&self) -> Grid {
        let mut grid = Grid::new([
            "kind",
            "machine",
            "lock",
            "client",
            "threads",
            "policy",
            "schedules",
            "steps",
            "distinct",
            "verdict",
            "failure",
            "replay",
        ]);
        for result in &self.results {
            let failure = |part: fn(&ExploreFailure) -> &str| {
                result.failure.as_ref().map_or_else(String::new, |failure| part(failure).into())
            };
            grid.push([
                self.on.kind.into(),
                self.on.machine.clone(),
                result.lock.into(),
                result.client.into(),
                result.threads.to_string(),
                result.policy.clone(),
                result.schedules.to_string(),
                result.steps.to_string(),
                result.distinct.to_string(),
                result.verdict.name().into(),
                failure(|failure| failure.kind),
                failure(|failure| &failure.replay),
            ]);
        }
        grid
    }
    fn chart(&self) -> Option<Chart> {
        None
    }
}
