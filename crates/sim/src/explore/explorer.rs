//! Runs a program in one schedule after another.

use super::policy::{PolicyKind, Replayed, SchedulePolicy, replay};
use super::schedule::Schedule;
use super::shorten::{beginning, shortened};
use super::{Limits, Move, Traced};
use crate::arena::Arena;
use crate::config::Config;
use crate::machine::Machine;
use crate::report::{Failure, FailureKind, RunReport};
use crate::simulation::Simulation;
use corosensei::stack::DefaultStack;
use lockwright_core::events::Event;
use std::collections::HashSet;

/// Allocates the objects of a program and spawns its threads.
pub type SpawnProgram<'p> = dyn Fn(&mut Simulation<'_>) + 'p;

/// A program, ready to be run in any order.
///
/// A thread that has not finished when its schedule ends keeps its stack for ever; that happens in
/// schedules that fail only.
pub struct Explorer<'p> {
    machine: &'p Machine,
    seed: u64,
    variations: Vec<Config>,
    program: &'p SpawnProgram<'p>,
    arena: Arena,
    stacks: Vec<DefaultStack>,
    /// The next run says what each move did.
    is_tracing: bool,
}

/// What an exploration is asked to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The policies, which take turns.
    pub policies: Vec<PolicyKind>,
    /// How many schedules are run at most.
    pub schedules: u64,
    /// How much may happen in each.
    pub limits: Limits,
}

/// What came out of an exploration.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Schedules that were run.
    pub schedules: u64,
    /// Their moves.
    pub steps: u64,
    /// How many schedules were different, counted up to four million.
    pub distinct: u64,
    /// True if there are no other schedules within the policies' bounds. Always false if a schedule got so long that it
    /// had to become fair.
    pub is_exhausted: bool,
    /// Events of the locks in all schedules, by [`Event`].
    pub lock_events: Vec<u64>,
    /// The first schedule that failed.
    pub failure: Option<Found>,
}

/// A schedule that failed.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its number, from 0.
    pub number: u64,
    /// The policy that picked it.
    pub policy: PolicyKind,
    /// A shorter one that fails in the same way.
    pub schedule: Schedule,
    /// What goes wrong in the shorter one.
    pub failure: Failure,
    /// Moves, and switches between threads, before it was made shorter.
    pub before: (usize, usize),
}

/// Different schedules that are remembered.
const DISTINCT_MAX: usize = 4_000_000;

/// One run.
struct Ran {
    report: RunReport,
    policy: Box<dyn SchedulePolicy>,
    moves: Vec<Move>,
}

/// A policy with one of the settings.
struct Lane {
    kind: PolicyKind,
    variation: usize,
    /// Decides the lane's random numbers.
    number: usize,
    policy: Box<dyn SchedulePolicy>,
    has_run: bool,
    is_exhausted: bool,
}

impl<'p> Explorer<'p> {
    /// Explores `program` on `machine`. The settings are those of every run; their limits of time
    /// and events do not count.
    pub fn new(
        machine: &'p Machine,
        seed: u64,
        config: Config,
        program: &'p SpawnProgram<'p>,
    ) -> Self {
        let (arena, stacks) = (Arena::default(), Vec::new());
        Self { machine, seed, variations: vec![config], program, arena, stacks, is_tracing: false }
    }
    /// Takes turns between the settings so far and these.
    pub fn with_variations(mut self, more: impl IntoIterator<Item = Config>) -> Self {
        self.variations.extend(more);
        self
    }
    /// How many settings there are.
    pub fn variations(&self) -> usize {
        self.variations.len()
    }

    /// Runs schedule after schedule until one fails, all were run, or `goes_on`, which is told how
    /// many there were, says no.
    pub fn explore(&mut self, plan: &Plan, mut goes_on: impl FnMut(u64) -> bool) -> Findings {
        let mut findings = Findings {
            schedules: 0,
            steps: 0,
            distinct: 0,
            is_exhausted: false,
            lock_events: vec![0; Event::ALL.len()],
            failure: None,
        };
        let mut seen = HashSet::new();
        let mut lanes = self.lanes(plan);
        let mut turn = 0;
        while findings.schedules < plan.schedules && goes_on(findings.schedules) {
            let turns = lanes.len();
            let Some(at) = (turn..turn + turns).find(|at| lanes[at % turns].begins()) else {
                findings.is_exhausted = lanes.iter().all(|lane| lane.policy.has_decided_all());
                break;
            };
            turn = (at + 1) % turns;
            let lane = &mut lanes[at % turns];
            let ran = self.run(lane, plan.limits);
            findings.add(&ran);
            if seen.len() < DISTINCT_MAX {
                seen.insert(ran.report.digest);
            }
            let is_first = !core::mem::replace(&mut lane.has_run, true);
            let failure =
                is_first.then(|| self.differs_next_time(lane, plan.limits, &ran)).flatten();
            if let Some(failure) = failure.or_else(|| ran.report.failures.first().cloned()) {
                let found = self.found(lane, plan.limits, ran.moves, failure);
                findings.failure = Some(Found { number: findings.schedules - 1, ..found });
                break;
            }
        }
        findings.distinct = seen.len() as u64;
        findings
    }

    /// Runs one schedule again, and on from its end; what goes wrong.
    pub fn replay(&mut self, schedule: &Schedule, limits: Limits) -> Option<Failure> {
        let moves = Replayed::Exactly(schedule.moves.clone());
        let ran = self.run_again(moves, schedule.variation, limits);
        ran.report.failures.first().cloned()
    }
    /// As [`replay`](Self::replay); also what each move did.
    pub fn replay_traced(
        &mut self,
        schedule: &Schedule,
        limits: Limits,
    ) -> (Option<Failure>, Vec<Traced>) {
        self.is_tracing = true;
        let moves = Replayed::Exactly(schedule.moves.clone());
        let ran = self.run_again(moves, schedule.variation, limits);
        self.is_tracing = false;
        (ran.report.failures.first().cloned(), ran.report.trace)
    }

    fn lanes(&self, plan: &Plan) -> Vec<Lane> {
        let pairs = (0..self.variations.len())
            .flat_map(|variation| plan.policies.iter().map(move |kind| (variation, *kind)));
        let lanes = pairs.enumerate().map(|(number, (variation, kind))| {
            let policy = kind.build(self.seed, number, plan.limits);
            Lane { kind, variation, number, policy, has_run: false, is_exhausted: false }
        });
        lanes.collect()
    }
    /// Runs the schedule that the lane's policy has begun.
    fn run(&mut self, lane: &mut Lane, limits: Limits) -> Ran {
        let idle = replay(Replayed::Exactly(Vec::new()), 0);
        let policy = core::mem::replace(&mut lane.policy, idle);
        let mut ran = self.run_with(policy, lane.variation, lane.limits(limits));
        core::mem::swap(&mut lane.policy, &mut ran.policy);
        ran
    }
    fn run_with(
        &mut self,
        policy: Box<dyn SchedulePolicy>,
        variation: usize,
        limits: Limits,
    ) -> Ran {
        let config = self.variations[variation].clone();
        let mut simulation = Simulation::new(self.machine, &mut self.arena, self.seed, config);
        (self.program)(&mut simulation);
        let (report, policy, moves) =
            simulation.explore(policy, limits, &mut self.stacks, self.is_tracing);
        Ran { report, policy, moves }
    }
    /// Runs moves again, which may be as many as they are.
    fn run_again(&mut self, moves: Replayed, variation: usize, limits: Limits) -> Ran {
        let many = u32::MAX;
        let limits =
            Limits { preemptions: many, wake_ups: many, signals: many, forks: 1, ..limits };
        self.run_with(replay(moves, limits.steps_max / 2), variation, limits)
    }
    /// Runs the first schedule of a lane again, which has to be the same.
    fn differs_next_time(&mut self, lane: &Lane, limits: Limits, first: &Ran) -> Option<Failure> {
        let mut policy = lane.kind.build(self.seed, lane.number, limits);
        policy.begin();
        let again = self.run_with(policy, lane.variation, lane.limits(limits));
        (again.report.digest != first.report.digest).then(|| nondeterministic(first, &again))
    }

    /// Repeats a schedule that failed, and makes it shorter.
    fn found(&mut self, lane: &Lane, limits: Limits, moves: Vec<Move>, failure: Failure) -> Found {
        let mut schedule = Schedule { variation: lane.variation, moves };
        let before = (schedule.moves.len(), schedule.switches());
        let policy = lane.kind;
        let mut found = Found { number: 0, policy, schedule: schedule.clone(), failure, before };
        if matches!(found.failure.kind, FailureKind::Nondeterministic { .. }) {
            return found;
        }
        let exactly = Replayed::Exactly(schedule.moves.clone());
        let again = self.run_again(exactly, lane.variation, limits);
        if !again.report.failures.first().is_some_and(|now| is_alike(now, &found.failure)) {
            let step = common(&schedule.moves, &again.moves);
            found.failure.kind = FailureKind::Nondeterministic { step };
            return found;
        }
        let fails = |now: &RunReport| {
            let failure = now.failures.first();
            failure.is_some_and(|failure| is_alike(failure, &found.failure))
        };
        schedule.moves = if matches!(found.failure.kind, FailureKind::EventLimit { .. }) {
            beginning(schedule.moves, |moves| {
                let moves = Replayed::Exactly(moves.to_vec());
                fails(&self.run_again(moves, lane.variation, limits).report)
            })
        } else {
            shortened(schedule.moves, |moves| {
                let moves = Replayed::AsFarAsPossible(moves);
                let ran = self.run_again(moves, lane.variation, limits);
                fails(&ran.report).then_some(ran.moves)
            })
        };
        if let Some(failure) = self.replay(&schedule, limits) {
            found.failure = failure;
        }
        Found { schedule, ..found }
    }
}

impl Lane {
    fn begins(&mut self) -> bool {
        self.is_exhausted = self.is_exhausted || !self.policy.begin();
        !self.is_exhausted
    }
    /// Switches are what a search is about: there, a thread that has lost its CPU adds nothing but
    /// schedules.
    fn limits(&self, limits: Limits) -> Limits {
        match self.kind {
            PolicyKind::Dfs(_) => Limits { preemptions: 0, ..limits },
            PolicyKind::Random | PolicyKind::Pct(_) | PolicyKind::Pos => limits,
        }
    }
}

impl Findings {
    fn add(&mut self, ran: &Ran) {
        self.schedules += 1;
        self.steps += ran.moves.len() as u64;
        for (sum, count) in self.lock_events.iter_mut().zip(&ran.report.lock_events) {
            *sum += count;
        }
    }
}

/// Returns true if two runs failed in the same way.
fn is_alike(one: &Failure, other: &Failure) -> bool {
    match (&one.kind, &other.kind) {
        (FailureKind::Panicked { message: one }, FailureKind::Panicked { message: other }) => {
            one.lines().next() == other.lines().next()
        }
        (one, other) => core::mem::discriminant(one) == core::mem::discriminant(other),
    }
}

/// How many moves two schedules begin with together.
fn common(one: &[Move], other: &[Move]) -> u64 {
    one.iter().zip(other).take_while(|(one, other)| one == other).count() as u64
}

fn nondeterministic(first: &Ran, again: &Ran) -> Failure {
    let step = common(&first.moves, &again.moves);
    Failure { at_ps: 0, thread: None, kind: FailureKind::Nondeterministic { step } }
}
