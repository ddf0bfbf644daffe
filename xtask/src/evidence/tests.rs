//! The document, from small inputs.

use super::documents::{complaints, found};
use super::*;

/// Small documents: `exclusion` alone finds a mutant, and `handoff` a bug.
fn inputs() -> Value {
    let kill = |client: &str| json!([{"lock": "mcs", "checker": "loom", "client": client}]);
    json!({
        "weaken": {"mutants": [
            {"site": "a.rs:4", "from": "Acquire", "to": "Relaxed", "checker": "loom", "verdict": "KILLED",
             "kills": kill("exclusion")},
            {"site": "a.rs:9", "from": "fence", "to": "", "checker": "loom", "verdict": "ARGUED"},
        ]},
        "zoo": {
            "rows": [{"row": "1", "verdict": "KILLED", "kills": kill("handoff")}],
            "clean": [{"checker": "loom", "lock": "mcs", "executions": 7}],
            "reported": [],
        },
        "samples": [{"lock": "mcs", "client": "handoff", "threads": 8, "violated": false, "executions": 100}],
        "explored": {"seed": 1, "interrupted": false, "results": [
            {"lock": "mcs", "client": "handoff", "threads": 4, "schedules": 10, "verdict": "HELD"},
        ]},
    })
}

#[test]
fn the_document_has_what_the_checkers_found() {
    let found = found(&inputs());
    for (key, expected) in [
        ("mutants", json!(2)),
        ("killed", json!(1)),
        ("argued", json!(1)),
        ("bugs_found", json!(1)),
        ("needed_clients", json!(["exclusion", "handoff"])),
        ("loom_executions", json!(7)),
        ("sampled_schedules", json!(100)),
        ("explored_threads", json!("4")),
        ("explored_schedules", json!(10)),
    ] {
        assert_eq!(found[key], expected, "{key}");
    }
}

#[test]
fn inputs_that_are_bad_or_of_another_tree_are_found_out() {
    let mutants = ["weaken a.rs:4 Acquire Relaxed", "weaken a.rs:9 fence "];
    let others = ["zoo 1", "loom mcs", "shuttle mcs handoff 8", "explore mcs handoff"];
    let checks = tree::counted(mutants.iter().chain(&others).map(ToString::to_string));
    assert_eq!(complaints(&inputs(), &checks), Vec::<String>::new());
    for (place, value, expected) in [
        ("/explored/results/0/verdict", json!("VIOLATED"), "results: handoff mcs 4 VIOLATED"),
        ("/weaken/mutants/0/verdict", json!("SURVIVED"), ": a.rs:4 Acquire Relaxed loom SURVIVED"),
        ("/weaken/mutants/0/verdict", json!("NOT_RUN"), " loom NOT_RUN"),
        ("/zoo/rows/0/verdict", json!("SURVIVED"), "zoo/rows: 1 SURVIVED"),
        ("/zoo/reported", json!([{"lock": "mcs", "client": "c"}]), "zoo/reported: c mcs"),
        ("/zoo/rows/0/row", json!("0"), "zoo 1: 0 checks, the tree has 1"),
        ("/samples/0/violated", json!(true), "samples: handoff mcs 8"),
        ("/explored/interrupted", json!(true), "explore was interrupted"),
        ("/weaken/mutants/1/from", json!("f"), "weaken a.rs:9 fence : 0 checks, the tree has 1"),
        ("/weaken/mutants/1/from", json!("f"), "weaken a.rs:9 f : 1 checks, the tree has 0"),
        ("/zoo/clean/0/checker", json!("miri"), "loom mcs: 0 checks, the tree has 1"),
        ("/samples/0/threads", json!(4), "shuttle mcs handoff 8: 0 checks, the tree has 1"),
        ("/explored/results", json!([]), "explore mcs handoff: 0 checks, the tree has 1"),
    ] {
        let mut inputs = inputs();
        *inputs.pointer_mut(place).expect(place) = value;
        let complaints = complaints(&inputs, &checks);
        assert!(complaints.iter().any(|it| it.ends_with(expected)), "{expected}: {complaints:?}");
    }
}

#[test]
fn a_client_is_needed_if_one_checker_finds_something_with_no_other() {
    let mut inputs = inputs();
    let kill = |client, checker| json!({"lock": "mcs", "client": client, "checker": checker});
    inputs["zoo"]["rows"][0]["kills"] = json!([kill("handoff", "loom"), kill("exclusion", "loom")]);
    assert_eq!(found(&inputs)["needed_clients"], json!(["exclusion"]));
    inputs["weaken"]["mutants"][0]["kills"] = json!([kill("handoff", ""), kill("exclusion", "")]);
    assert_eq!(found(&inputs)["needed_clients"], json!([]));
    inputs["zoo"]["rows"][0]["kills"][1] = kill("exclusion", "explore (simulated)");
    assert_eq!(found(&inputs)["needed_clients"], json!(["exclusion", "handoff"]));
}

#[test]
fn the_committed_page_and_document_are_about_this_tree_and_its_clients() {
    let root = crate::root();
    let (page, sources) = (disk::read(&root.join(PAGE)).unwrap(), tidy::sources(&root));
    let (document, mut tree) =
        (numbers::read_json(&root, DOCUMENT).unwrap(), tree::numbers(&sources).unwrap());
    assert_eq!(between(&page, &document, &tree, &sources), Vec::<String>::new());
    tree["bugs"][0] = "0".into();
    for (from, to, expected) in [
        ("- `shared`: ", "- : ", "evidence.md: `shared` finds nothing alone"),
        ("- `shared`: ", "- `shared`, `exclusion`: ", "evidence.md: `exclusion` finds something"),
        ("- `shared`: ", "- `shared`, `shard`: ", "evidence.md: `shard` is no client"),
        ("<!-- tree/bugs -->", "9<!-- tree/bugs -->", "where `tree/bugs` is"),
        ("", "", "evidence.json: `tree/bugs` is of another tree"),
    ] {
        let differences = between(&page.replacen(from, to, 1), &document, &tree, &sources);
        assert!(differences.iter().any(|it| it.contains(expected)), "{expected}: {differences:?}");
    }
}
