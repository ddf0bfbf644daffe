//! The card of a lock: what was posted, and the rules that its tests hold it to.

use lockwright_sheets::{hanging, wrapped};
use lockwright_zoo::cards::{self, Card, CardRule};
use serde_json::{Value, json};

/// The card of the preset, for documents; `null` without one.
pub fn card(name: &str) -> Value {
    json!(cards::card(name))
}

/// The rules of the preset, for documents.
pub fn rules(name: &str) -> Value {
    let of = |rule: &CardRule| json!({"number": rule.number, "says": rule.says, "test": rule.test});
    rules_of(name).map(of).collect()
}

fn rules_of(name: &str) -> impl Iterator<Item = &'static CardRule> {
    let rules = cards::rules().map(|(_, rule)| rule);
    rules.filter(move |rule| rule.presets.iter().any(|preset| preset == name))
}

/// The card and the rules for people.
pub fn in_words(name: &str) -> String {
    let Some(Card { title, version, date, link, times, differs }) = cards::card(name) else {
        return wrapped("\nno card: no posting is written down for this lock");
    };
    let link = link.as_ref().map_or("no link is known", |link| link);
    let line = |text: String| format!("  {}", hanging(&text, "    "));
    let card = [
        format!("title: {title}"),
        format!("version: {version}"),
        format!("date: {date}"),
        format!("link: {link}"),
        format!("times: {times}"),
    ];
    let rules = rules_of(name).map(|CardRule { number, says, test, .. }| {
        line(format!("{number}: {says} Test of crates/sim: {test}"))
    });
    let differs = differs.iter().map(|it| format!("differs: {it}"));
    let card: String = card.into_iter().chain(differs).map(line).collect();
    let told = wrapped(&format!(
        "\nrules; each test fails if the rule is broken (cargo xtask rules --only {name}):"
    ));
    let rules: String = rules.collect();
    format!("\nposted:\n{card}{}", if rules.is_empty() { rules } else { told + &rules })
}
