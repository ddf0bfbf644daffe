//! What the project says of the kernel's postings: the cards next to the types, and docs/postings.csv, item by item.

use crate::root;
use lockwright_catalog::registry::{self, LOCKS};
use lockwright_zoo::cards::{self, Card, CardRule, card};
use std::collections::{BTreeMap, BTreeSet};

/// The names of the columns of docs/postings.csv.
const NAMES: &str = "id,posting,kind,what,state,presets,where,why,link,kernel_module";
/// Their number.
const COLUMNS: usize = 10;
/// How an item is here.
const STATES: [&str; 4] = ["as posted", "differs", "not here", "held back"];

/// An item of a posting.
struct Item {
    id: String,
    posting: String,
    state: String,
    /// The presets that have it.
    presets: Vec<String>,
    /// The files that have it, each with names in it.
    places: String,
    why: String,
    link: String,
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn items() -> Vec<Item> {
    items_in(&text("docs/postings.csv"))
}

fn items_in(text: &str) -> Vec<Item> {
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let names = lines.headers().expect("a line of names");
    assert_eq!(names.iter().collect::<Vec<_>>().join(","), NAMES);
    let item = |line: csv::Result<csv::StringRecord>| {
        let line = line.expect("as many cells as names");
        let cells: Vec<_> = line.iter().map(String::from).collect();
        let cells: [String; COLUMNS] = cells.try_into().expect("as many cells as names");
        let [id, posting, _, what, state, presets, places, why, link, _] = cells;
        assert!(!what.is_empty() && id.starts_with(&posting), "{line:?}");
        let presets = presets.split_whitespace().map(String::from).collect();
        Item { id, posting, state, presets, places, why, link }
    };
    lines.into_records().map(item).collect()
}

#[test]
fn a_card_is_of_a_preset_and_a_rule_is_of_presets_with_cards() {
    for (folder, text) in lockwright_linux::CARDS {
        let cards: cards::Cards = toml::from_str(text).expect("a file of cards");
        assert_eq!(cards.family.name, *folder);
        for (name, preset) in &cards.preset {
            assert!(registry::find(name).is_some(), "no lock is called {name}");
            let Card { title, version, date, link, times, differs } = preset;
            let said = [title, version, date, times].into_iter().chain(differs);
            assert!(said.into_iter().all(|it| !it.is_empty()), "{name}");
            let is_link = |it: &String| it.starts_with("https://lore.kernel.org/r/");
            assert!(link.as_ref().is_none_or(is_link), "{name}");
        }
        let of_rules = cards.rule.iter().flat_map(|rule| &rule.presets);
        let unknown: Vec<_> = of_rules.filter(|it| !cards.preset.contains_key(*it)).collect();
        assert!(unknown.is_empty(), "{folder}: no card is of {unknown:?}");
    }
}

#[test]
fn a_rule_has_a_number_of_its_own_and_a_test_that_exists() {
    let numbers: BTreeSet<_> = cards::rules().map(|(_, rule)| &rule.number).collect();
    assert_eq!(numbers.len(), cards::rules().count());
    for (_, CardRule { number, says, near_miss, test, .. }) in cards::rules() {
        assert!(says.ends_with('.') && near_miss.ends_with('.'), "{number}");
        let (module, name) = test.rsplit_once("::").expect("a module and a name");
        let module = text(&format!("crates/sim/tests/it/{}.rs", module.replace("::", "/")));
        assert!(module.contains(&format!("fn {name}()")), "{number}: {test} is not there");
    }
}

#[test]
fn a_preset_that_is_called_as_posted_has_a_card() {
    let posted = |it: &Item| it.state == "as posted" || it.state == "held back";
    let of_items = items().into_iter().filter(posted).flat_map(|it| it.presets);
    let says_so = |row: &&registry::LockRow| {
        row.name.ends_with("_posted") || row.models.contains("as posted")
    };
    let of_rows = LOCKS.iter().filter(says_so).map(|row| row.name.to_string());
    let called: BTreeSet<_> = of_items.chain(of_rows).collect();
    let missing: Vec<_> = called.iter().filter(|name| card(name).is_none()).collect();
    assert!(missing.is_empty(), "no card is of {missing:?}");
}

#[test]
fn an_item_has_a_number_of_its_own_a_state_and_a_reason_if_it_differs() {
    let items = items();
    let ids: BTreeSet<_> = items.iter().map(|item| &item.id).collect();
    assert_eq!(ids.len(), items.len());
    for Item { id, state, presets, why, .. } in &items {
        assert!(STATES.contains(&&**state), "{id}: {state}");
        assert!(state == "as posted" || !why.is_empty(), "{id} has no reason");
        let unknown: Vec<_> = presets.iter().filter(|it| registry::find(it).is_none()).collect();
        assert!(unknown.is_empty(), "{id}: no lock is called {unknown:?}");
    }
}

#[test]
fn an_item_of_presets_with_cards_has_the_link_of_one_of_them() {
    for Item { id, presets, link, .. } in items() {
        let is_mail =
            link.strip_prefix("https://lore.kernel.org/r/").is_some_and(|it| it.contains('@'));
        assert!(is_mail || link.is_empty() || link.starts_with("commit "), "{id}: {link}");
        let cards: Vec<_> = presets.iter().filter_map(|name| card(name)).collect();
        let of_cards: Vec<_> = cards.iter().filter_map(|card| card.link.as_deref()).collect();
        let is_of_card = of_cards.contains(&&*link) || of_cards.is_empty() && link.is_empty();
        assert!(cards.is_empty() || is_of_card, "{id}: {link} instead of {of_cards:?}");
    }
}

#[test]
fn a_preset_that_is_as_posted_is_named_where_the_types_of_programs_are() {
    let types = text("crates/linux/src/api/presets.rs") + &text("crates/linux/src/lib.rs");
    let posted = items().into_iter().filter(|it| it.state == "as posted");
    let presets: BTreeSet<_> = posted.flat_map(|it| it.presets).collect();
    let works = |name: &&String| registry::find(name).is_some_and(registry::LockRow::is_correct);
    let hidden = presets.iter().filter(works).filter(|it| !types.contains(&format!("`{it}`")));
    let hidden: Vec<_> = hidden.collect();
    assert!(hidden.is_empty(), "no type is of {hidden:?}");
}

/// A place of an item is a path, with names in backticks that stand in that file. Words of commands are no names.
#[test]
fn the_places_of_an_item_exist_and_have_its_names() {
    let mut dead = Vec::new();
    for Item { id, places, .. } in items() {
        for place in places.split(';') {
            let (words, names): (Vec<_>, Vec<_>) =
                place.split('`').enumerate().partition(|(at, _)| at % 2 == 0);
            let mut words = words.iter().flat_map(|(_, word)| word.split([' ', ',']));
            let path = words.rfind(|word| word.contains(['/', '.']));
            let Some(path) = path else { continue };
            let file = root().join(path);
            assert!(file.exists(), "{id}: there is no {path}");
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let gone = names.iter().filter(|(_, name)| !text.contains(name));
            dead.extend(gone.map(|(_, name)| format!("{id}: {path} has no `{name}`")));
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn the_counts_of_the_page_are_those_of_the_items() {
    let items = items();
    let mut counts: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for item in &items {
        let state = STATES.iter().position(|it| *it == item.state).expect("another test looks");
        for row in [&item.posting, "all"] {
            let row = counts.entry(row).or_default();
            row[0] += 1;
            row[state + 1] += 1;
        }
    }
    let page = text("docs/postings.md");
    for (posting, counts) in counts {
        let counts = counts.map(|it| it.to_string()).join(" | ");
        let row = format!("| {posting} | {counts} |");
        assert!(page.lines().any(|line| line == row), "docs/postings.md does not say {row}");
    }
    assert!(page.lines().count() <= 150, "docs/postings.md is to be read in one go");
}

/// A row ends with files and the functions in them: `[label](path) `name`, `name`; [label](path) `name` |`.
#[test]
fn the_functions_next_to_those_of_the_kernel_exist() {
    let page = text("docs/kernel-names.md");
    let mut count = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains("](../")) {
        let here = row.rsplit('|').nth(1).expect("a last cell");
        for place in here.split(';') {
            let (_, link) = place.split_once("](../").expect(row);
            let (path, names) = link.split_once(')').expect(row);
            let text = text(path);
            for name in names.split('`').skip(1).step_by(2) {
                let is_there =
                    [format!("fn {name}("), format!("fn {name}<"), format!("struct {name}<")];
                assert!(is_there.iter().any(|it| text.contains(it)), "{path} has no {name}");
                count += 1;
            }
        }
    }
    assert!(count > 90, "{count} names were found");
    assert!(page.lines().count() <= 120, "docs/kernel-names.md is a page to search");
}

/// Each name of the kernel that a function has as an alias is in the table.
#[test]
fn the_aliases_of_functions_are_in_the_table_of_names() {
    let page = text("docs/kernel-names.md");
    let folders = ["core/src/qspinlock/", "linux/src/osq/", "linux/src/kernel_mutex/"];
    let folders = [&folders[..], &["linux/src/hq/", "linux/src/qspinlock/"]].concat();
    for source in crate::tidy::sources(&root()) {
        let is_one = |folder: &&str| source.path.starts_with(&format!("crates/{folder}"));
        if folders.iter().any(is_one) || source.path == "crates/linux/src/qrwlock.rs" {
            for alias in source.text.split("#[doc(alias = \"").skip(1) {
                let alias = alias.split('"').next().expect("a name");
                assert!(page.contains(&format!("`{alias}`")), "{}: {alias}", source.path);
            }
        }
    }
}

#[test]
fn a_cell_with_commas_and_quotes_is_read() {
    let items = items_in(&format!("{NAMES}\n{}\n", r#"A-1,A,k,"w, ""c""",s,,p,"b, ""c""",,d"#));
    assert_eq!((&*items[0].places, &*items[0].why, &*items[0].link), ("p", "b, \"c\"", ""));
}
