//! Putting mutants to their checks, each with the code as it is for comparison.

use super::check::{Check, Runner, Said};
use super::copy::Built;
use super::survivors::Survivor;
use crate::limit::is_interrupted;
use crate::output::say;
use crate::record::{Item, Record};
use crate::sanitize::MIRI;
use crate::tidy::Source;
use crate::workers::{on_all, on_all_by};
use lockwright_zoo::Checker;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Something wrong, and who has to see it.
pub struct Mutant<'a> {
    /// Its line in the record, and what decides if it is killed.
    pub item: Item<'static>,
    /// What a person calls it, and what is wrong.
    pub title: String,
    pub what: String,
    /// What documents say about it.
    pub facts: Value,
    /// What the copy knows it by.
    pub number: usize,
    /// One check of each group has to see it. Without a group it is not run.
    pub groups: Vec<Vec<Check>>,
    /// Why it may survive.
    pub argument: Option<&'a Survivor>,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// Each group of checks saw the difference.
    Killed,
    /// One did not, and there is an argument why.
    Argued,
    /// One did not.
    Survived,
    /// Its checker was not asked for, is missing, or does not run on this machine.
    #[default]
    NotRun,
}

/// What the checks of a mutant came to.
#[derive(Debug, Default)]
pub struct Judged {
    pub verdict: Verdict,
    kills: Vec<Said>,
    held: Vec<Said>,
    /// What was stopped or could not be used.
    notes: Vec<String>,
    /// The groups that have not seen it.
    missed: Vec<String>,
    seconds: f64,
}

/// The result of a run.
pub struct Outcome<'a> {
    pub judged: Vec<(Mutant<'a>, Judged)>,
    /// What the checks said about the correct code.
    pub clean: Vec<Said>,
    pub seconds: f64,
}

/// What both `weaken` and `zoo` are asked for.
#[derive(clap::Args)]
pub struct Options {
    /// Write a document to this file, or to standard output for `-`.
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Run all checks of each mutant, and not only up to the first that fails.
    #[arg(long)]
    pub matrix: bool,
    /// Use wider bounds.
    #[arg(long)]
    pub full: bool,
    /// Run the mutants whose sources have changed, and a tenth of the others.
    #[arg(long)]
    pub changed: bool,
}

impl Options {
    /// The name of the bounds.
    pub fn bounds(&self) -> &'static str {
        if self.full { "full" } else { "quick" }
    }
}

type Answer = Result<Vec<Said>, String>;

/// Who asks, and what was said about the correct code. Each check of it is run once.
struct Judge<A> {
    ask: A,
    matrix: bool,
    clean: Mutex<Vec<(Check, Answer)>>,
}

/// Puts the mutants to their checks, and says what became of each. `others` are checks that only the correct code has
/// to pass, with all those of the mutants if each is asked for. Without a mutant that is due there is no outcome.
///
/// # Errors
/// A sentence that says what cannot be done.
pub fn run<'a>(
    root: &Path,
    (name, all): (&str, &[Source]),
    mut mutants: Vec<Mutant<'a>>,
    others: Vec<Check>,
    options: &Options,
) -> Result<Option<Outcome<'a>>, String> {
    let record = Record::read(root, all, options.changed)?;
    if options.changed {
        mutants.retain(|mutant| !mutant.groups.is_empty());
    }
    let mut mutants = record.due(name, mutants, |mutant| mutant.item.clone());
    if mutants.is_empty() {
        return Ok(None);
    }
    let start = Instant::now();
    let runner = Runner { copy: Built::build(root, all)?, full: options.full };
    let is_miri = |check: &Check| check.checker == Checker::Miri;
    let is_missing = |group: &[Check]| group.iter().any(is_miri) && !MIRI.is_met();
    if mutants.iter().flat_map(|mutant| &mutant.groups).any(|group| is_missing(group)) {
        let (what, get) = ("Miri is missing, so its mutants are not run", MIRI.get);
        say(&options.json, &format!("{what}. To install it, type `{get}`"));
        mutants.iter_mut().for_each(|it| it.groups.retain(|group| !is_missing(group)));
    }
    runner.build(mutants.iter().flat_map(|mutant| mutant.groups.iter().flatten()))?;
    say(&options.json, &format!("built in {:.1} s", start.elapsed().as_secs_f64()));
    let others = expand(&runner, &mut mutants, others)?;
    let start = Instant::now();
    let ask = |check: &Check, number| runner.ask(check, number);
    let judge = Judge { ask, matrix: options.matrix, clean: Mutex::default() };
    let judged = judge.all(mutants, &record, options)?;
    if options.matrix && !others.is_empty() {
        let of_mutants = judged.iter().flat_map(|(mutant, _)| mutant.groups.iter().flatten());
        let checks: Vec<_> = of_mutants.chain(&others).collect();
        on_all(&checks, |check| judge.clean(check))?;
    }
    let clean = judge.clean.into_inner().unwrap_or_else(PoisonError::into_inner);
    let clean = clean.into_iter().filter_map(|(_, answer)| answer.ok()).flatten().collect();
    Ok(Some(Outcome { judged, clean, seconds: start.elapsed().as_secs_f64() }))
}

/// Has one check for each client where a check of loom is about all clients of a lock. In a group it is the first of
/// each lock, then the second of each, because a mutant that one lock cannot show is often shown by the next.
fn expand(
    runner: &Runner,
    mutants: &mut [Mutant<'_>],
    others: Vec<Check>,
) -> Result<Vec<Check>, String> {
    let mut known = BTreeMap::new();
    let mut expanded = |group: &[Check]| {
        let mut checks: Vec<(usize, Check)> = Vec::new();
        for check in group {
            if !(check.checker == Checker::Loom && check.client.is_empty()) {
                checks.push((0, check.clone()));
                continue;
            }
            if !known.contains_key(&check.lock) {
                known.insert(check.lock.clone(), runner.listed(&check.lock)?);
            }
            checks.extend(known[&check.lock].iter().cloned().enumerate());
        }
        checks.sort_by_key(|(round, _)| *round);
        Ok::<_, String>(checks.into_iter().map(|(_, check)| check).collect())
    };
    for group in mutants.iter_mut().flat_map(|it| &mut it.groups) {
        *group = expanded(group)?;
    }
    expanded(&others)
}

impl<A: Fn(&Check, Option<usize>) -> Answer + Sync> Judge<A> {
    /// Judges mutants, some at the same time. Each is reported as soon as it is known.
    fn all<'a>(
        &self,
        mutants: Vec<Mutant<'a>>,
        record: &Record<'_>,
        options: &Options,
    ) -> Result<Vec<(Mutant<'a>, Judged)>, String> {
        let work = |mutant: &Mutant<'_>| {
            let judged = self.judge(mutant)?;
            say(&options.json, &judged.text(mutant));
            // Within the bounds of continuous integration.
            if !options.full && judged.verdict != Verdict::NotRun {
                record.write(&mutant.item, judged.verdict == Verdict::Killed)?;
            }
            Ok(judged)
        };
        // Tests run alone: two would be in each other's way on a machine with few CPUs.
        let is_test = |check: &Check| matches!(check.checker, Checker::Native | Checker::Explored);
        let (alone, others): (Vec<_>, Vec<_>) =
            mutants.into_iter().partition(|it| it.groups.iter().flatten().any(is_test));
        let mut judged = on_all_by(1, &alone, work)?;
        judged.extend(on_all(&others, work)?);
        Ok(alone.into_iter().chain(others).zip(judged).collect())
    }

    /// Puts a mutant to the checks of each group: up to the first that sees it, or to all.
    fn judge(&self, mutant: &Mutant<'_>) -> Result<Judged, String> {
        let start = Instant::now();
        let (mut judged, mut has_run) = (Judged::default(), false);
        for group in &mutant.groups {
            let (before, mut runs) = (judged.kills.len(), group.is_empty());
            for check in group {
                runs |= self.put(check, mutant.number, &mut judged)?;
                if judged.kills.len() > before && !self.matrix {
                    break;
                }
            }
            has_run |= runs;
            if runs && judged.kills.len() == before {
                let first = group.first().map(|check| format!("; the first is {check}"));
                let (count, first) = (group.len(), first.unwrap_or_default());
                judged.missed.push(format!("none of {count} checks sees it{first}"));
            }
        }
        // A check that could not be used has not shown that the mutant survives it.
        let is_as_argued = mutant.argument.is_some() && judged.notes.is_empty();
        judged.verdict = match (has_run, judged.missed.is_empty()) {
            (false, _) => Verdict::NotRun,
            (true, true) => Verdict::Killed,
            (true, false) if is_as_argued => Verdict::Argued,
            (true, false) => Verdict::Survived,
        };
        judged.seconds = start.elapsed().as_secs_f64();
        Ok(judged)
    }

    /// Puts the mutant with this number to a check. Returns false if that does not run on this machine.
    fn put(&self, check: &Check, number: usize, judged: &mut Judged) -> Result<bool, String> {
        let said = (self.ask)(check, Some(number));
        let fails = match &said {
            Ok(said) if said.iter().any(|it| it.violated) => match self.clean(check) {
                Err(why) => Some(why),
                Ok(said) if said.is_empty() => Some("it does not run".into()),
                Ok(said) => said.into_iter().find_map(|it| it.complaint),
            },
            _ => None,
        };
        if is_interrupted() {
            return Err("interrupted".into());
        }
        match (said, fails) {
            (Err(note), _) => judged.notes.push(note),
            (Ok(_), Some(why)) => {
                judged.notes.push(format!("{check} fails without the mutant, too: {why}"));
            }
            (Ok(said), None) => {
                let has_run = !said.is_empty();
                let (kills, held): (Vec<_>, Vec<_>) = said.into_iter().partition(|it| it.violated);
                judged.kills.extend(kills);
                judged.held.extend(held);
                return Ok(has_run);
            }
        }
        Ok(true)
    }

    /// What a check says about the code as it is, within the same bounds.
    fn clean(&self, check: &Check) -> Answer {
        let known = || self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = known().iter().find(|(it, _)| it == check) {
            return answer.clone();
        }
        let answer = (self.ask)(check, None);
        known().push((check.clone(), answer.clone()));
        answer
    }
}

impl Judged {
    /// The mutant and a line for each kill, or more where a reader has something to do.
    fn text(&self, mutant: &Mutant<'_>) -> String {
        let Mutant { title, what, .. } = mutant;
        let (verdict, missed) = match self.verdict {
            Verdict::Killed => ("killed", &[][..]),
            Verdict::Argued => ("survives as argued", &[][..]),
            Verdict::NotRun => ("not run", &[][..]),
            Verdict::Survived => ("SURVIVED", &self.missed[..]),
        };
        let kills = self.kills.iter().map(Said::line);
        let notes = self.notes.iter().map(|note| format!("note: {note}"));
        let lines = kills.chain(missed.iter().cloned()).chain(notes);
        let lines = lines.map(|line| format!("\n    {line}"));
        format!("{title}: {verdict}, {:.1} s. {what}", self.seconds) + &lines.collect::<String>()
    }
}

impl Outcome<'_> {
    /// How many mutants became this.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.judged.iter().filter(|(_, judged)| judged.verdict == verdict).count()
    }
    /// What a document says about each mutant; `held` is the word for checks that found nothing.
    pub fn reports(&self, held: &str) -> Vec<Value> {
        let report = |(mutant, judged): &(Mutant<'_>, Judged)| {
            let argued = mutant.argument.filter(|_| judged.verdict == Verdict::Argued);
            let mut report = mutant.facts.clone();
            report["verdict"] = json!(judged.verdict);
            report["kills"] = json!(judged.kills);
            report[held] = json!(judged.held);
            report["notes"] = json!(judged.notes);
            if let Some(Survivor { argument, bound, .. }) = argued {
                (report["argument"], report["bound"]) = (json!(argument), json!(bound));
            }
            report["seconds"] = json!(judged.seconds);
            report
        };
        self.judged.iter().map(report).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of checks of locks with these names.
    fn mutant<'a>(groups: &[&[&str]], argument: Option<&'a Survivor>) -> Mutant<'a> {
        let check = |lock: &&str| Check::new(Checker::Fairness, lock, "");
        let groups = groups.iter().map(|group| group.iter().map(check).collect()).collect();
        let (title, what) = ("mutant".into(), String::new());
        Mutant { item: Item::default(), title, what, facts: json!({}), number: 7, groups, argument }
    }

    /// Judges by checks of locks: some see each mutant, some the correct code, too, some die, and some do not run.
    fn judged(mutant: &Mutant<'_>, matrix: bool) -> Judged {
        let ask = |check: &Check, number: Option<usize>| match (&*check.lock, number) {
            ("dies", _) => Err("it died".into()),
            ("away", _) => Ok(Vec::new()),
            ("sees", Some(7)) | ("wrong", _) => Ok(vec![check.said(Some("stuck".into()))]),
            _ => Ok(vec![check.said(None)]),
        };
        let judge = Judge { ask, matrix, clean: Mutex::default() };
        judge.judge(mutant).expect("a verdict")
    }

    #[test]
    fn a_mutant_is_killed_if_each_group_of_checks_sees_it_and_the_correct_code_passes() {
        use Verdict::{Killed, NotRun, Survived};
        for (groups, verdict) in [
            (&[&["sees"][..]][..], Killed),
            (&[&["blind", "sees"]], Killed),
            (&[&["dies", "sees"]], Killed),
            (&[&["sees"], &["blind"]], Survived),
            (&[&["wrong"]], Survived),
            (&[&["dies"]], Survived),
            (&[&[]], Survived),
            (&[], NotRun),
            (&[&["away"]], NotRun),
            (&[&["away"], &["sees"]], Killed),
            (&[&["away"], &["blind"]], Survived),
        ] {
            assert_eq!(judged(&mutant(groups, None), false).verdict, verdict, "{groups:?}");
        }
        let text = |groups| judged(&mutant(groups, None), false).text(&mutant(groups, None));
        let wrong = text(&[&["wrong"]]);
        assert!(wrong.contains("SURVIVED") && wrong.contains("the mutant, too: stuck"), "{wrong}");
        assert!(text(&[&["sees"], &["blind"]]).contains("the first is blind by fairness"));
    }

    #[test]
    fn a_group_ends_with_its_first_kill_unless_all_checks_are_asked_for() {
        let group: &[&[&str]] = &[&["sees", "blind", "sees"]];
        let count = |matrix| {
            let judged = judged(&mutant(group, None), matrix);
            (judged.kills.len(), judged.held.len())
        };
        assert_eq!((count(false), count(true)), ((1, 0), (2, 1)));
    }

    #[test]
    fn an_argument_excuses_a_mutant_that_each_check_has_passed() {
        let survivor = Survivor::default();
        for (lock, verdict) in [
            ("blind", Verdict::Argued),
            ("sees", Verdict::Killed),
            ("dies", Verdict::Survived),
            ("wrong", Verdict::Survived),
        ] {
            let judged = judged(&mutant(&[&[lock]], Some(&survivor)), false);
            assert_eq!(judged.verdict, verdict, "{lock}");
        }
    }
}
