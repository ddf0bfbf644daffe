//! docs/formats.md names every key of every document, and every column.

use super::{lockwright, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Keys whose values are objects with names of locks, columns and the like for keys.
const NAMED_BY_USERS: [&str; 8] =
    ["columns", "events", "key", "locks", "parameters", "spread", "tunables", "workload"];

/// Commands that are quick and write, together, nearly every key.
const COMMANDS: [&str; 18] = [
    "bench --lock mutex,std --threads 2 --runs 1 --secs 0.01",
    "bench --workload uncontended --lock floor,mutex --runs 1 --secs 0.01",
    "bench --on haswell-2s --vcpus 40 --lock hybrid --runs 1 --secs 0.01",
    "bench --on haswell-2s --vcpus 40 --workload kbuild --units 100 --lock mutex --runs 1",
    "compare --kind pair --peer std --runs 2 --secs 0.01",
    "compare --only rwlock --cell sleep20us-w50-t8 --runs 2 --secs 0.01",
    "bench --workload starve --lock rwlock,parking_lot-rwlock --role upgrader --secs 0.02 --runs 1",
    "torture --lock rwlock,busted-rw --secs 0.05",
    "explore --lock busted --client exclusion",
    "reproduce cna_v10_locktorture_x5_4 --quick",
    "locks",
    "locks cna",
    "machines",
    "workloads",
    "events",
    "tables",
    "clients",
    "bugs",
];

/// What formats.md shows as code.
fn documented() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = std::fs::read_to_string(path).expect("a document");
    text.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

fn keys_of(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                keys.insert(key.clone());
                match value {
                    Value::Object(named) if NAMED_BY_USERS.contains(&&key[..]) => {
                        named.values().for_each(|value| keys_of(value, keys));
                    }
                    value => keys_of(value, keys),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys_of(value, keys)),
        _ => {}
    }
}

/// Fails if docs/formats.md does not name each key of the document that `command` wrote.
pub fn assert_documented(command: &str, document: &Value) {
    let mut keys = BTreeSet::from([document["schema"].as_str().expect("a schema").into()]);
    keys_of(document, &mut keys);
    let documented = documented();
    let missing: Vec<_> = keys.difference(&documented).collect();
    assert!(missing.is_empty(), "`{command}`: docs/formats.md does not name {missing:?}");
}

#[test]
fn formats_md_names_every_key() {
    for command in COMMANDS {
        let output = lockwright(&format!("{command} --json -"));
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("`{command}`: {error}; {}", stderr(&output)));
        assert_documented(command, &document);
    }
}

#[test]
fn formats_md_names_every_column_or_its_parts() {
    let documented = documented();
    for command in COMMANDS {
        let table = stdout(&lockwright(&format!("{command} --csv -")));
        let header = table.lines().next().expect("a header");
        for column in header.split(',') {
            // `wait_ns_p999` is `p999` of `wait_ns`.
            let mut cuts = column.match_indices('_').map(|(at, _)| column.split_at(at));
            let is_joined =
                cuts.any(|(of, key)| documented.contains(of) && documented.contains(&key[1..]));
            let is_named = documented.contains(column) || is_joined;
            assert!(is_named, "`{command}`: docs/formats.md does not name the column `{column}`");
        }
    }
}
