//! `cargo xtask rules`: does each rule of a posting have a test that tells it from a near miss?
//!
//! The card of a preset has its rules. Each rule names a test, and a mutant that follows a neighbour's rule or leaves
//! the rule out. The test has to fail with the mutant and to pass without it.

use super::check::Check;
use super::engine::{self, Mutant, Options, Verdict};
use crate::output::{self, say};
use crate::packages::SOURCES;
use crate::record::Item;
use crate::tidy::files;
use lockwright_zoo::cards::{CardEdit, CardRule, Cards, rules};
use lockwright_zoo::{Bug, Checker, Test};
use serde_json::json;
use std::path::Path;

/// Break each rule of a posting, and see if its test fails.
///
/// The cards in TOML next to the types have the rules. Those that are told from their near misses are written down in
/// xtask/record.txt.
#[derive(clap::Args)]
pub struct Request {
    /// Break this rule only, such as CNA-R8, or those of this preset.
    #[arg(long, value_name = "RULE|PRESET", value_parser = known)]
    only: Option<String>,
    #[command(flatten)]
    options: Options,
}

fn known(name: &str) -> Result<String, String> {
    match rules().any(|(_, rule)| is_called(rule, name)) {
        true => Ok(name.into()),
        false => Err("no card has it; type a rule or a preset such as `--only hybrid`".into()),
    }
}

fn is_called(rule: &CardRule, name: &str) -> bool {
    rule.number == name || rule.presets.iter().any(|preset| preset == name)
}

/// Breaks what is asked for. Returns true if each rule is told from its near miss.
///
/// # Errors
/// A sentence that says what cannot be done.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let (all, options) = (files::read_all(root), &request.options);
    // The copy knows a near miss by a number behind those of the bugs.
    let numbered = rules().zip(Bug::all().count()..);
    let is_wanted = |rule| request.only.as_ref().is_none_or(|name| is_called(rule, name));
    let wanted = numbered.filter(|((_, rule), _)| is_wanted(rule));
    let mutants = wanted.map(|((cards, rule), number)| mutant(cards, rule, number)).collect();
    let outcome = engine::run(root, ("rules", &all), mutants, Vec::new(), options)?;
    let Some(outcome) = outcome else { return Ok(true) };
    let (count, missed) = (outcome.judged.len(), outcome.count(Verdict::Survived));
    say(&options.json, &format!("rules: {count}, {missed} NOT TOLD from a near miss"));
    let document = json!({
        "schema": "lockwright.rules/1", "rules": outcome.reports("held"),
        "seconds": outcome.seconds,
    });
    output::write(&options.json, &document)?;
    Ok(missed == 0)
}

/// The mutant with this number, which breaks the rule.
fn mutant(cards: &'static Cards, rule: &'static CardRule, number: usize) -> Mutant<'static> {
    let CardRule { presets, says, test, near_miss, .. } = rule;
    let posted: Vec<_> = presets.iter().map(|name| &cards.preset[name]).collect();
    let facts = json!({
        "rule": rule.number, "family": cards.family, "presets": presets, "posted": posted,
        "says": says, "test": test, "near_miss": near_miss,
    });
    let checker = Checker::Explored;
    let test = Test { package: "lockwright-sim", program: &["--test", "it"], name: test, checker };
    Mutant {
        item: item(rule),
        title: format!("rule {}", rule.number),
        what: near_miss.clone(),
        facts,
        number,
        groups: vec![vec![Check::of_test(test, &presets[0])]],
        argument: None,
    }
}

/// What decides whether the near miss is seen.
fn item(rule: &'static CardRule) -> Item<'static> {
    let always = ["crates/sim/", "xtask/src/mutants/"].map(String::from);
    let below = |change: &CardEdit| SOURCES.map(|folder| format!("{folder}{}", change.file));
    let files = always.into_iter().chain(rule.edits.iter().flat_map(below)).collect();
    let locks = Some(rule.presets.iter().map(String::as_str).collect());
    Item { name: format!("rule {}", rule.number), locks, files, text: format!("{rule:?}") }
}
