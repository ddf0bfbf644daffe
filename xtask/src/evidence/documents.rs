//! What the checkers wrote down: the inputs of `docs/evidence.json`. They are one JSON value.

use super::tree::counted;
use crate::disk;
use crate::numbers::{list, plain, read_json};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the inputs are, below the root of the repository.
pub const WEAKEN: &str = "target/evidence/weaken.json";
pub const ZOO: &str = "target/evidence/zoo.json";
pub const SAMPLES: &str = "target/evidence/samples.jsonl";
pub const EXPLORED: &str = "target/evidence/explore.json";

/// Reads them: `lockwright.weaken/1` (every ordering made weaker), `lockwright.zoo/1` (historical bugs, seeded), the
/// lines of `sample` (random schedules), and `lockwright.explore/1` (schedules, simulated).
pub fn read(root: &Path) -> Result<Value, String> {
    let samples = disk::read(&root.join(SAMPLES))?.lines().collect::<Vec<_>>().join(",");
    let samples: Value = serde_json::from_str(&format!("[{samples}]"))
        .map_err(|error| format!("{SAMPLES}: {error}"))?;
    let [weaken, zoo, explored] = [WEAKEN, ZOO, EXPLORED].map(|name| read_json(root, name));
    Ok(json!({"weaken": weaken?, "zoo": zoo?, "samples": samples, "explored": explored?}))
}

/// What they have found, in numbers.
pub fn found(documents: &Value) -> Value {
    let [mutants, bugs, clean] = lists(documents, ["/weaken/mutants", "/zoo/rows", "/zoo/clean"]);
    let [sampled, explored] = lists(documents, ["/samples", "/explored/results"]);
    let loom: Vec<_> = clean.iter().filter(|it| it["checker"] == "loom").cloned().collect();
    let needed = needed(documents).into_iter().map(|(client, _)| client);
    let with = |of: &[Value], verdict| of.iter().filter(|it| it["verdict"] == verdict).count();
    let sum = |of: &[Value], key| of.iter().filter_map(|it| it[key].as_u64()).sum::<u64>();
    let each = |of: &[Value], key| of.iter().map(|it| plain(&it[key])).collect::<BTreeSet<_>>();
    json!({
        "weaken_bounds": documents["weaken"]["bounds"],
        "mutants": mutants.len(),
        "killed": with(mutants, "KILLED"),
        "argued": with(mutants, "ARGUED"),
        "zoo_bounds": documents["zoo"]["bounds"],
        "bugs": bugs.len(),
        "bugs_found": with(bugs, "KILLED"),
        "needed_clients": needed.collect::<BTreeSet<_>>(),
        "loom_checks": loom.len(),
        "loom_locks": each(&loom, "lock").len(),
        "loom_executions": sum(&loom, "executions"),
        "sampled_schedules": sum(sampled, "executions"),
        "explored_locks": each(explored, "lock").len(),
        "explored_clients": each(explored, "client").len(),
        "explored_threads": Vec::from_iter(each(explored, "threads")).join(" or "),
        "explored_schedules": sum(explored, "schedules"),
        "explored_seed": documents["explored"]["seed"],
    })
}

/// The clients that alone find something, and what that is: mutants, and bugs in a lock. A bug is not found if one of
/// the checkers that must see it does not, in one of its locks.
pub fn needed(documents: &Value) -> BTreeSet<(String, String)> {
    let [mutants, bugs] = lists(documents, ["/weaken/mutants", "/zoo/rows"]);
    let mutants = mutants.iter().filter(|it| it["checker"] == "loom");
    let mutants = mutants.map(|it| ("mutant", it, &[][..]));
    let bugs = bugs.iter().map(|it| ("bug", it, &["lock", "checker"][..]));
    let mut needed = BTreeSet::new();
    for (kind, found, by) in mutants.chain(bugs) {
        let mut clients: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for kill in list(&found["kills"]) {
            clients.entry(about(kill, by)).or_default().insert(plain(&kill["client"]));
        }
        for (by, clients) in clients.into_iter().filter(|(_, clients)| clients.len() == 1) {
            let what = format!("{kind} {} {by}", about(found, &["row", "site", "from", "to"]));
            needed.extend(clients.into_iter().map(|client| (client, what.clone())));
        }
    }
    needed
}

/// What keeps them from being evidence about a tree with these checks; each a sentence.
pub fn complaints(documents: &Value, checks: &BTreeMap<String, usize>) -> Vec<String> {
    let is_good = |it: &Value| match it["verdict"].as_str() {
        Some(verdict) => ["KILLED", "ARGUED", "HELD"].contains(&verdict),
        None => it["violated"] == false,
    };
    let keys = ["site", "from", "to", "row", "checker", "client", "lock", "threads", "verdict"];
    let places = ["/weaken/mutants", "/zoo/rows", "/zoo/reported", "/samples", "/explored/results"];
    let mut complaints = Vec::new();
    for (place, checks) in places.iter().zip(lists(documents, places)) {
        let bad = checks.iter().filter(|it| !is_good(it));
        complaints.extend(bad.map(|it| format!("{}: {}", &place[1..], about(it, &keys))));
    }
    if documents["explored"]["interrupted"] == true {
        complaints.push("explore was interrupted".into());
    }
    let run = checked(documents);
    for check in run.keys().chain(checks.keys()).collect::<BTreeSet<_>>() {
        let [run, expected] = [&run, checks].map(|of| of.get(check).unwrap_or(&0));
        // Of these there may be more than the tree asks for.
        let is_enough = !check.starts_with("weaken") && run >= expected;
        if run != expected && !is_enough {
            complaints.push(format!("{check}: {run} checks, the tree has {expected}"));
        }
    }
    complaints
}

/// What was checked, and how often.
fn checked(documents: &Value) -> BTreeMap<String, usize> {
    let kinds = [
        ("weaken ", "/weaken/mutants", &["site", "from", "to"][..]),
        ("zoo ", "/zoo/rows", &["row"]),
        ("", "/zoo/clean", &["checker", "lock"]),
        ("shuttle ", "/samples", &["lock", "client", "threads"]),
        ("explore ", "/explored/results", &["lock", "client"]),
    ];
    counted(kinds.iter().flat_map(|(what, place, keys)| {
        let [checks] = lists(documents, [place]);
        checks.iter().map(move |it| format!("{what}{}", about(it, keys)))
    }))
}

/// Lists in the documents.
fn lists<'a, const N: usize>(documents: &'a Value, places: [&str; N]) -> [&'a [Value]; N] {
    places.map(|place| documents.pointer(place).map_or(&[][..], list))
}

/// What a document says about something, by these keys.
fn about(it: &Value, keys: &[&str]) -> String {
    let values = keys.iter().map(|key| &it[*key]).filter(|value| !value.is_null());
    values.map(plain).collect::<Vec<_>>().join(" ")
}
