//! The cards next to the types of the kernel: what was posted, and the rules that tell it from its near misses.

use crate::Edit;
use lockwright_linux::CARDS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The cards of all families.
static FAMILIES: LazyLock<Vec<Cards>> = LazyLock::new(|| {
    CARDS.iter().map(|(_, text)| toml::from_str(text).expect("a test reads it")).collect()
});

/// The cards of a family of presets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cards {
    /// The family.
    pub family: CardFamily,
    /// What was posted, by the names of the presets.
    pub preset: BTreeMap<String, Card>,
    /// The rules.
    pub rule: Vec<CardRule>,
}

/// A family of presets.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CardFamily {
    /// The name of its folder.
    pub name: String,
    /// What it is.
    pub title: String,
}

/// What was posted, and how its times are meant.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The subject of the posting, or the lock of a release.
    pub title: String,
    /// The version of the posting, the commit, or the release and file.
    pub version: String,
    /// When it was posted or released.
    pub date: String,
    /// The posting in the archive, if its Message-ID is known.
    pub link: Option<String>,
    /// The unit of its times.
    pub times: String,
    /// The rule in which the preset is not what was posted, if there is one, and why.
    pub differs: Option<String>,
}

/// A rule, and what tells it from its near miss.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardRule {
    /// Its number, such as `CNA-R1`.
    pub number: String,
    /// The presets that have it and that its test runs.
    pub presets: Vec<String>,
    /// The rule, a sentence.
    pub says: String,
    /// A test of the package `lockwright-sim`.
    pub test: String,
    /// What a neighbour does instead, a sentence.
    pub near_miss: String,
    /// What makes the near miss of the rule.
    pub edits: Vec<CardEdit>,
}

/// An edit of the source text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardEdit {
    /// Its file, below the sources of one of the packages with locks.
    pub file: String,
    old: String,
    new: String,
}

/// The card of a preset; `None` if it has none.
pub fn card(preset: &str) -> Option<&'static Card> {
    FAMILIES.iter().find_map(|cards| cards.preset.get(preset))
}

/// All rules with their families, in the order of the cards.
pub fn rules() -> impl Iterator<Item = (&'static Cards, &'static CardRule)> {
    FAMILIES.iter().flat_map(|cards| cards.rule.iter().map(move |rule| (cards, rule)))
}

/// The numbers of the rules, and their edits.
pub fn edits() -> impl Iterator<Item = (&'static str, Vec<Edit>)> {
    let edit = |CardEdit { file, old, new }: &'static CardEdit| Edit {
        file,
        old,
        new: Some(new),
        is_always: false,
    };
    rules().map(move |(_, rule)| (&*rule.number, rule.edits.iter().map(edit).collect()))
}
