//! The rule about statics: a table says what a forked child finds in each of them.

use super::code::words;
use super::{Finding, Source};
use crate::packages::below_sources;
use std::collections::BTreeMap;

const TABLE: &str = "crates/core/src/native/README.md";
/// The macros of such statics, in which their names are variables.
const MACROS: [&str; 3] = ["native/per_process.rs", "native/per_thread.rs", "native/table.rs"];

/// The statics of a file that may change, by name, and where they are: `static NAME: Type`, `NAME at "symbol"` in a
/// macro, and `const NAME: Table<...>`. What a static refers to does not change.
fn statics(source: &Source) -> BTreeMap<String, usize> {
    let Some(below) = below_sources(&source.path).filter(|below| !MACROS.contains(below)) else {
        return BTreeMap::new();
    };
    let module = below.trim_end_matches(".rs").trim_end_matches("/mod");
    let module = module.rsplit('/').next().unwrap_or(module);
    let name = |(at, line): (usize, &String)| {
        // The symbol is blank here.
        let of_macro = line.find(" at  ").map(|end| &line[..end]);
        let of_static = line.split_once(": ").filter(|(left, right)| {
            let is_static = words(left).any(|word| word == "static") && !right.starts_with('&');
            is_static || right.starts_with("Table<") && words(left).any(|word| word == "const")
        });
        let left = of_macro.or(of_static.map(|(left, _)| left))?;
        let name = words(left).last().filter(|name| name.chars().all(is_of_name))?;
        Some((format!("{module}::{name}"), at + 1))
    };
    source.code().product().iter().enumerate().filter_map(name).collect()
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'
}

/// The names in the first column of the table, and their lines.
fn rows(table: &Source) -> BTreeMap<String, usize> {
    let name = |(at, line): (usize, &str)| {
        let name = line.strip_prefix("| `")?.split_once("` |")?.0;
        Some((name.to_string(), at + 1))
    };
    table.text.lines().enumerate().filter_map(name).collect()
}

/// Every static that may change has a row in the table, and every row a static.
pub fn every_static_says_what_a_child_finds(source: &Source, all: &[Source]) -> Vec<Finding> {
    let Some(table) = all.iter().find(|it| it.path == TABLE) else { return Vec::new() };
    let rows = rows(table);
    if source.path == TABLE {
        let statics: BTreeMap<_, _> =
            all.iter().filter(|it| it.is_rust()).flat_map(statics).collect();
        let is_stale = |(name, _): &(&String, &usize)| !statics.contains_key(*name);
        let message = |name| format!("`{name}` is no static: delete its row");
        let stale = rows.iter().filter(is_stale);
        return stale.map(|(name, at)| source.finding(*at, message(name))).collect();
    }
    let lacks = |(name, _): &(String, usize)| source.is_rust() && !rows.contains_key(name);
    let message = |name| format!("say in {TABLE} what a forked child finds in `{name}`");
    let bare = statics(source).into_iter().filter(lacks);
    bare.map(|(name, at)| source.finding(at, message(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the rule says about a file and a table with rows of these names.
    fn said(text: &str, names: &[&str]) -> Vec<String> {
        let rows: String = names.iter().map(|name| format!("| `{name}` | gone |\n")).collect();
        let all = [Source::new("crates/core/src/native/den.rs", text), Source::new(TABLE, rows)];
        let found = all.iter().flat_map(|it| every_static_says_what_a_child_finds(it, &all));
        found.map(|it| format!("{}: {}", it.line, it.message)).collect()
    }

    #[test]
    fn a_static_without_a_row_and_a_row_without_a_static_are_named() {
        for text in [
            "static FOX: AtomicU32 = AtomicU32::new(0);",
            "pub(super) static FOX: Mutex<u8> = Mutex::new(0);",
            "per_process! {\n    /// A fox.\n    static FOX at \"fox\": AtomicU32 = AtomicU32::new(0)\n}",
            "table_per_process! {\n    const FOX at \"fox\": [AtomicU32; 1] = AtomicU32::new(0)\n}",
            "per_thread! {\n    FOX at \"lockwright_fox\": u32 = 0\n}",
            "const FOX: Table<AtomicU8, 4> = table!([AtomicU8; 4] = AtomicU8::new(0));",
        ] {
            assert_eq!(said(text, &["den::FOX"]), [""; 0], "{text}");
            let [lacks] = &said(text, &[])[..] else { panic!("{text}") };
            assert!(lacks.contains("what a forked child finds in `den::FOX`"), "{lacks}");
            let [stale] = &said(text, &["den::FOX", "den::HEN"])[..] else { panic!("{text}") };
            assert_eq!(stale, "2: `den::HEN` is no static: delete its row");
        }
    }

    #[test]
    fn what_does_not_change_and_what_is_in_tests_needs_no_row() {
        for text in [
            "pub static ALL: &[Row] = &[];",
            "const FOX: u32 = 1;",
            "fn look(at: &'static Fox) {}",
            "#[cfg(test)]\nmod tests {\n    static FOX: AtomicU32 = AtomicU32::new(0);\n}",
        ] {
            assert_eq!(said(text, &[]), [""; 0], "{text}");
        }
    }
}
