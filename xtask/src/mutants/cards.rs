//! The cards next to the types of the kernel: what was posted, and the rules that tell it from its near misses.

use lockwright_zoo::Edit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The files with cards, by family.
const FILES: [(&str, &str); 3] = [
    ("pv", include_str!("../../../crates/linux/src/qspinlock/pv/cards.toml")),
    ("cna", include_str!("../../../crates/linux/src/qspinlock/cna/cards.toml")),
    ("rwsem", include_str!("../../../crates/linux/src/rwsem/cards.toml")),
];

/// The cards of all families.
pub static FAMILIES: LazyLock<Vec<Cards>> = LazyLock::new(|| {
    FILES.iter().map(|(_, text)| toml::from_str(text).expect("a test reads it")).collect()
});

/// The cards of a family of presets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cards {
    pub family: Family,
    pub preset: BTreeMap<String, Preset>,
    pub rule: Vec<Rule>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    pub name: String,
    pub title: String,
}

/// What was posted, and how its times are meant.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    pub title: String,
    pub version: String,
    pub date: String,
    pub link: Option<String>,
    pub times: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub number: String,
    pub presets: Vec<String>,
    pub says: String,
    /// A test of the package `lockwright-sim`.
    pub test: String,
    pub near_miss: String,
    /// What makes the near miss of the rule.
    pub edits: Vec<Change>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub file: String,
    old: String,
    new: String,
}

/// All rules with their families, in the order of the cards.
pub fn rules() -> impl Iterator<Item = (&'static Cards, &'static Rule)> {
    FAMILIES.iter().flat_map(|cards| cards.rule.iter().map(move |rule| (cards, rule)))
}

/// The numbers of the rules, and their edits.
pub fn edits() -> impl Iterator<Item = (&'static str, Vec<Edit>)> {
    let edit = |Change { file, old, new }: &'static Change| Edit {
        file,
        old,
        new: Some(new),
        is_always: false,
    };
    rules().map(move |(_, rule)| (&*rule.number, rule.edits.iter().map(edit).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_catalog::registry;
    use std::collections::BTreeSet;

    #[test]
    fn a_card_is_of_a_preset_and_a_rule_is_of_presets_with_cards() {
        for (name, text) in FILES {
            let cards: Cards = toml::from_str(text).expect("a file of cards");
            assert_eq!(cards.family.name, name);
            for (name, preset) in &cards.preset {
                assert!(registry::find(name).is_some(), "no lock is called {name}");
                let Preset { title, version, date, link, times } = preset;
                assert!([title, version, date, times].iter().all(|it| !it.is_empty()), "{name}");
                let is_link = |it: &String| it.starts_with("https://lore.kernel.org/r/");
                assert!(link.as_ref().is_none_or(is_link), "{name}");
            }
            let of_rules = cards.rule.iter().flat_map(|rule| &rule.presets);
            let unknown: Vec<_> = of_rules.filter(|it| !cards.preset.contains_key(*it)).collect();
            assert!(unknown.is_empty(), "{name}: no card is of {unknown:?}");
        }
    }

    #[test]
    fn a_rule_has_a_number_of_its_own_and_a_test_that_exists() {
        let numbers: BTreeSet<_> = rules().map(|(_, rule)| &rule.number).collect();
        assert_eq!(numbers.len(), rules().count());
        for (_, Rule { number, says, near_miss, test, .. }) in rules() {
            assert!(says.ends_with('.') && near_miss.ends_with('.'), "{number}");
            let (module, name) = test.rsplit_once("::").expect("a module and a name");
            let module = module.replace("::", "/");
            let file = crate::root().join(format!("crates/sim/tests/it/{module}.rs"));
            let text = std::fs::read_to_string(file).expect("the module");
            assert!(text.contains(&format!("fn {name}()")), "{number}: {test} is not there");
        }
    }
}
