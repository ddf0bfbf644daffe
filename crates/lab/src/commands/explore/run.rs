//! Exploring, or running one schedule again.

use super::args::ExploreArgs;
use super::report::{ExploreDocument, ExploreResult, Trace, narrow};
use super::seeded;
use crate::outcome::exit_code;
use lockwright_measure::client::{LockAndClient, Target};
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_sheets::{Outputs, Progress, complain, plural};
use lockwright_sim::explore::{Findings, Found, Plan, Schedule, letter};
use lockwright_sim::{Failure, FailureKind, thread};
use lockwright_studies::records::quote_schedules;
use lockwright_zoo::Bug;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Runs the command.
pub fn run(args: &ExploreArgs) -> Result<ExitCode, Error> {
    let (pairs, target, plan) = (args.pairs()?, args.target()?, args.plan()?);
    let schedule = args.schedule()?;
    if let Some(bug) = args.bug()?.filter(|bug| Bug::chosen() != Some(bug)) {
        return seeded::run_in_copy(bug);
    }
    let outputs = Outputs::open(&args.documents, None)?;
    let progress = args.progress;
    hush_simulated_panics();
    let mut document = ExploreDocument::new(args, &target, &pairs);
    let mut tell = |result: ExploreResult| {
        let text = document.text_of(&result);
        document.results.push(result);
        outputs.keep_so_far(&document);
        outputs.tell(&document, &text)
    };
    if let Some(schedule) = schedule {
        tell(replay(args, &pairs, &target, &plan, schedule)?)?;
    } else {
        progress.say(&format!(
            "exploring on the simulated machine {}: {} of a lock and a client, at most {} each",
            target.machine.name,
            plural(pairs.len() as u64, "pair"),
            plural(plan.schedules, "schedule")
        ));
        progress.expect(pairs.len());
        explore(&target, &pairs, &plan, progress, |pair, findings| {
            let result = ExploreResult::new(args, pair, &plan, &findings);
            let Some(found) = findings.failure.filter(|_| args.quote) else { return tell(result) };
            let schedule = &found.schedule;
            let traced =
                target.explore(pair, |explorer| explorer.replay_traced(schedule, plan.limits));
            tell(result.mailed(&Trace::new(&target, schedule.moves.len(), traced.1)))
        })?;
        document.interrupted = interrupt::is_requested();
    }
    outputs.finish_documents(&document)?;
    let quote = match args.quote {
        true => format!("\n{}", narrow(&quote_schedules(&target.machine, args.random.seed))),
        false => String::new(),
    };
    outputs.tell(&document, &(document.summary() + &quote))?;
    Ok(exit_code(document.failed() > 0, document.interrupted))
}

/// Explores the pairs side by side; `tell` hears of each as soon as all before it are known.
fn explore(
    target: &Target,
    pairs: &[LockAndClient],
    plan: &Plan,
    progress: Progress,
    mut tell: impl FnMut(LockAndClient, Findings) -> Result<(), Error>,
) -> Result<(), Error> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(pairs.len());
    let (sender, receiver) = mpsc::channel();
    let taken = AtomicUsize::new(0);
    let work = |sender: mpsc::Sender<(usize, Findings)>| {
        loop {
            // ordering: Relaxed; only hands out numbers.
            let at = taken.fetch_add(1, Ordering::Relaxed);
            let Some(&pair) = pairs.get(at) else { return };
            let goes_on = |_| !interrupt::is_requested();
            let findings = target.explore(pair, |explorer| explorer.explore(plan, goes_on));
            progress.advance(1);
            if sender.send((at, findings)).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        let (mut known, mut next) = (BTreeMap::new(), 0);
        for (at, findings) in receiver {
            known.insert(at, findings);
            while let Some(findings) = known.remove(&next) {
                if findings.schedules > 0 {
                    tell(pairs[next], findings)?;
                }
                next += 1;
            }
        }
        Ok(())
    })
}

/// Runs one schedule again.
fn replay(
    args: &ExploreArgs,
    pairs: &[LockAndClient],
    target: &Target,
    plan: &Plan,
    schedule: Schedule,
) -> Result<ExploreResult, Error> {
    let wrong = |what: String| Error::usage(format!("--replay{what}"));
    let &[pair] = pairs else {
        return Err(wrong(" is for one pair: give one --lock and one --client".into()));
    };
    if let Some(thread) = schedule.moves.iter().map(|it| it.thread).max()
        && usize::from(thread) >= args.threads
    {
        return Err(wrong(format!(
            ": there is no thread `{}`: with --threads {} they are `a` to `{}`",
            letter(thread.into()),
            args.threads,
            letter(args.threads - 1)
        )));
    }
    let (failure, traced) = target.explore(pair, |explorer| {
        let (given, variations) = (schedule.variation, explorer.variations());
        if given >= variations {
            return Err(wrong(format!(
                ": the number before the colon is {given}, and should be below {variations}"
            )));
        }
        Ok(explorer.replay_traced(&schedule, plan.limits))
    })?;
    if let Some(Failure { kind: FailureKind::Diverged { step }, .. }) = failure {
        let what = schedule.moves.get(step as usize).map(ToString::to_string);
        return Err(wrong(format!(
            ": the schedule does not fit: its move {} (`{}`) is not possible there. If it was printed, run the \
             whole line, with the same version; if you wrote it, the thread may wait, or have stores that are \
             not visible yet: write its capital letter first",
            step + 1,
            what.unwrap_or_default()
        )));
    }
    let again = if failure.is_some() { "fails again" } else { "does not fail" };
    complain(&format!("the schedule {again} (simulated)"));
    let before = (schedule.moves.len(), schedule.switches());
    let trace = Trace::new(target, before.0, traced);
    let found = |failure| Found { number: 0, policy: plan.policies[0], schedule, failure, before };
    let findings = Findings {
        schedules: 1,
        steps: before.0 as u64,
        distinct: 1,
        is_exhausted: false,
        lock_events: Vec::new(),
        failure: failure.map(found),
    };
    let result = ExploreResult::new(args, pair, plan, &findings);
    let result = if args.quote { result.mailed(&trace) } else { result };
    Ok(result.replayed(trace))
}

/// A panic of a simulated thread is a finding, with its message; nothing else needs to be said.
fn hush_simulated_panics() {
    let otherwise = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !thread::is_simulated() {
            otherwise(panic);
        }
    }));
}
