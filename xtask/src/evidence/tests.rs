//! The document, from small inputs.

use super::clients::only_killed_by;
use super::documents::{Documents, Finding};
use super::*;
use crate::tidy::Source;

const WEAKEN_TEXT: &str = r#"{"bounds": "(2, 3) and (3, 2)", "sites": 2, "text_search": 2, "mutants": [
  {"site": "crates/locks/src/a.rs:4", "ids": ["A1"], "from": "Acquire", "to": "Relaxed", "checker": "loom",
   "verdict": "KILLED", "kills": [{"lock": "a", "client": "exclusion"}]},
  {"site": "crates/locks/src/a.rs:9", "ids": ["A2"], "from": "full_barrier", "to": "", "checker": "loom",
   "verdict": "ARGUED", "kills": [], "held": [{"lock": "a", "client": "handoff"}]}]}"#;

/// A zoo with every row, killed by one client.
fn zoo_text() -> String {
    let row = |row: &str| {
        format!(
            r#"{{"row": "{row}", "verdict": "KILLED", "kills": [{{"checker": "loom", "lock": "a", "client": "handoff"}}]}}"#
        )
    };
    let rows: Vec<_> = crate::mutants::zoo::rows().map(row).collect();
    format!(
        r#"{{"bounds": "(2, 3)", "rows": [{}], "reported": [], "clean": [{{"checker": "loom", "lock": "a",
        "client": "exclusion", "executions": 7}}]}}"#,
        rows.join(",")
    )
}

fn documents() -> Documents {
    let sample = |threads| {
        format!(
            r#"{{"lock": "a", "client": "exclusion", "on": "flat", "threads": {threads}, "violated": false,
            "executions": 100}}"#
        )
    };
    let sample = |threads| serde_json::from_str(&sample(threads)).unwrap();
    let explored = r#"{"seed": 1, "results": [{"lock": "a", "client": "exclusion", "threads": 4,
        "schedules": 10, "steps": 500, "verdict": "HELD"}]}"#;
    Documents {
        weaken: serde_json::from_str(WEAKEN_TEXT).unwrap(),
        zoo: serde_json::from_str(&zoo_text()).unwrap(),
        samples: [4, 8, 16].map(sample).into(),
        explored: serde_json::from_str(explored).unwrap(),
    }
}

#[test]
fn the_page_says_what_it_was_made_from() {
    let sources = [Source::new("crates/locks/src/a.rs", "a.load(Acquire);\nfence();\n")];
    let counts = page::sites(&sources);
    let text = render(&documents(), &counts);
    assert!(!text.contains("{{"), "{text}");
    let words: Vec<_> = text.split_whitespace().collect();
    let words = words.join(" ");
    for line in [
        "By file: `a.rs` 2.",
        "2 test clients and native tests are needed",
        "They are: `exclusion`, `handoff`. Without",
        "2 orderings, as many as a plain text search finds, and 2 *mutants*",
        "1 are killed. The other 1 *survive*",
        "For this page: 300 schedules",
        "1 lock and 1 client, 4 threads, 10 schedules with 500 simulated steps from seed 1",
        "Loom made 1 check of 1 lock, with 7 executions",
    ] {
        assert!(words.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn good_inputs_have_no_complaints_and_bad_ones_do() {
    assert_eq!(documents().complaints(), Vec::<String>::new());
    for break_it in [
        (|it| it.weaken.text_search = 3) as fn(&mut Documents),
        |it| it.explored.results[0].verdict = "VIOLATED".into(),
        |it| it.weaken.mutants[0].verdict = "SURVIVED".into(),
        |it| it.weaken.mutants[0].verdict = "NOT_RUN".into(),
        |it| it.zoo.rows[0].verdict = "SURVIVED".into(),
        |it| it.samples[0].violated = true,
        |it| it.explored.interrupted = true,
        |it| it.zoo.reported = it.zoo.clean.clone(),
    ] {
        let mut documents = documents();
        break_it(&mut documents);
        assert_eq!(documents.complaints().len(), 1);
    }
}

/// What the small inputs have.
fn expected() -> Expected {
    let mutant = |line, from: &str, to: &str| {
        ((format!("crates/locks/src/a.rs:{line}"), from.into(), to.into()), 1)
    };
    let mutants = [mutant(4, "Acquire", "Relaxed"), mutant(9, "full_barrier", "")].into();
    Expected { sites: 2, mutants, locks: vec!["a"], clients: vec!["exclusion"] }
}

#[test]
fn inputs_that_lack_something_that_the_tree_has_are_found_out() {
    assert_eq!(expected().complaints(&documents()), Vec::<String>::new());
    let complaints_after = |break_it: fn(&mut Documents)| {
        let mut documents = documents();
        break_it(&mut documents);
        expected().complaints(&documents)
    };
    for (complaints, expected) in [
        (complaints_after(|it| it.weaken.sites = 3), "3 sites were weakened, the tree has 2"),
        (complaints_after(|it| drop(it.weaken.mutants.pop())), "0 mutants, the tree has 1"),
        (
            complaints_after(|it| it.weaken.mutants[1].from = "fence".into()),
            "full_barrier made \"\": 0 mutants, the tree has 1",
        ),
        (
            complaints_after(|it| it.zoo.clean[0].checker = "shuttle".into()),
            "loom: no check of the right code of a",
        ),
        (
            complaints_after(|it| drop(it.samples.remove(1))),
            "shuttle: exclusion on a, 8 threads, is missing",
        ),
        (complaints_after(|it| it.explored.results.clear()), "explore: exclusion on a is missing"),
    ] {
        assert!(complaints.iter().any(|it| it.ends_with(expected)), "{complaints:?}");
    }
}

#[test]
fn a_client_is_needed_if_one_checker_finds_something_with_no_other() {
    let mut documents = documents();
    let first = documents.zoo.rows[0].kills[0].clone();
    let kill = |client: &str, checker: &str| Finding {
        client: client.into(),
        checker: checker.into(),
        ..first.clone()
    };
    let all = only_killed_by(&documents)["handoff"].len();
    documents.zoo.rows[0].kills.push(kill("exclusion", "loom"));
    documents.weaken.mutants[0].kills.push(kill("handoff", "loom"));
    let both = only_killed_by(&documents);
    assert_eq!((both["exclusion"].len(), both["handoff"].len()), (0, all - 1));
    documents.zoo.rows[0].kills[1] = kill("exclusion", "explore (simulated)");
    assert_eq!(only_killed_by(&documents)["handoff"].len(), all);
    let complaints = clients::complaints(&documents);
    assert!(complaints.iter().any(|it| it.starts_with("`try-lock` finds nothing alone")));
    assert!(!complaints.iter().any(|it| it.starts_with("`exclusion`") || it.contains("`shared`")));
}

#[test]
fn an_input_is_what_a_writer_that_succeeded_has_written_and_nothing_older() {
    let file = std::env::temp_dir().join(format!("evidence-{}", std::process::id()));
    let written = |script: &str, codes: &[i32]| {
        std::fs::write(&file, "old").unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg("sh").arg(&file);
        let result = write_anew(&file, codes, |_| shell.status());
        let text = std::fs::read_to_string(&file).ok();
        assert_eq!(result.is_ok(), text.is_some(), "{script}: {result:?}");
        text
    };
    assert_eq!(written("echo new > $1", &[0]).as_deref(), Some("new\n"));
    assert_eq!(written("echo new > $1; exit 1", &[0, 1]).as_deref(), Some("new\n"));
    assert_eq!(written("echo new > $1; exit 1", &[0]), None);
    assert_eq!(written("echo new > $1; exit 101", &[0, 1]), None);
    assert_eq!(written("echo new > $1; kill -9 $$", &[0, 1]), None);
    assert_eq!(written("true", &[0]), None);
    std::fs::remove_file(&file).unwrap_err();
}
