//! The document, from small inputs.

use super::clients::only_killed_by;
use super::documents::Documents;
use super::*;
use crate::tidy::Source;

const WEAKEN_TEXT: &str = r#"{"schema": "lockwright.weaken/1", "bounds": "(2, 3) and (3, 2)", "sites": 2,
"text_search": 2, "mutants": [
  {"site": "crates/locks/src/a.rs:4", "code": "a.load(Acquire)", "ids": ["A1"], "from": "Acquire",
   "to": "Relaxed", "locks": ["a"], "checker": "loom", "verdict": "KILLED", "held": [],
   "kills": [{"lock": "a", "client": "exclusion", "on": "flat", "threads": 2, "executions": 3,
              "seconds": 0.1, "complaint": "race"}], "argument": null, "bound": null, "seconds": 0.1},
  {"site": "crates/locks/src/a.rs:9", "code": "a.fence()", "ids": ["A2"], "from": "full_barrier",
   "to": "", "locks": ["a"], "checker": "loom", "verdict": "ARGUED", "kills": [],
   "held": [{"lock": "a", "client": "handoff", "on": "flat"}], "argument": "Nobody reads it.",
   "bound": "loom, three threads", "seconds": 0.1}]}"#;

/// A zoo with every row, killed by one client.
fn zoo_text() -> String {
    let row = |row: &&str| {
        format!(
            r#"{{"row": "{row}", "what": "One thing. Two things.", "source": "s", "locks": ["a"],
            "verdict": "KILLED", "survived": [], "kills": [{{"checker": "loom", "lock": "a",
            "client": "handoff", "on": "flat", "seed": null, "executions": 5, "seconds": 0.25,
            "complaint": "deadlock"}}]}}"#
        )
    };
    let rows: Vec<_> = tree::rows().iter().map(row).collect();
    format!(
        r#"{{"schema": "lockwright.zoo/1", "bounds": "(2, 3)", "rows": [{}], "clean": [{{"checker":
        "loom", "lock": "a", "client": "exclusion", "on": "flat", "executions": 7, "seconds": 0.5}}],
        "reported": [], "seconds": 1.0}}"#,
        rows.join(",")
    )
}

fn documents() -> Documents {
    let sample = |threads| {
        format!(
            r#"{{"lock": "a", "client": "exclusion", "on": "flat", "threads": {threads}, "checker":
            "shuttle", "scheduler": "random", "seed": 1, "violated": false, "executions": 100}}"#
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

fn sources() -> [Source; 1] {
    [Source::new("crates/locks/src/a.rs", "a.load(Acquire);\nfence();\n")]
}

#[test]
fn the_document_lists_what_it_was_made_from() {
    let counts = tree::sites(&sources());
    let [main, tables] = render(&documents(), &counts, "Seconds are of a test.");
    let text = format!("{main}{tables}");
    assert!(!text.contains("{{"), "{text}");
    let words: Vec<_> = text.split_whitespace().collect();
    let words = words.join(" ");
    for line in [
        "| `a.rs` | 2 | 2 | 1 | 1 |",
        "| `a.rs` | A1 | Acquire to Relaxed | 1 | loom: 1 check of 1 client |",
        "| `a.rs` | A2 | full_barrier removed | 1 | 1 argued |",
        "- A2 full_barrier of `a.rs` removed. Nobody reads it. *Bound:* loom, three threads",
        "| 8 | flat | random | 1 | 1 | 1 | 100 |",
        "1 lock and 1 client, 4 threads, 10 schedules with 500 simulated steps from seed 1",
        "Loom made 1 check of 1 lock, with 7 executions",
        "| a | 1 | 1 | 7 | 0.5 |",
        "| exclusion | 1 | A1 Acquire of a.rs Relaxed |",
    ] {
        assert!(words.contains(line), "{line} is not in\n{text}");
    }
    assert_eq!(tree::differences(&tables, &sources()), Vec::<String>::new());
    assert!(main.lines().count() < LINES_MAX);
}

#[test]
fn good_inputs_have_no_complaints_and_bad_ones_do() {
    assert_eq!(documents().complaints(), Vec::<String>::new());
    let complaints_after = |break_it: fn(&mut Documents)| {
        let mut documents = documents();
        break_it(&mut documents);
        documents.complaints().len()
    };
    assert_eq!(complaints_after(|it| it.weaken.text_search = 3), 1);
    assert_eq!(complaints_after(|it| it.explored.results[0].verdict = "VIOLATED".into()), 1);
    assert_eq!(complaints_after(|it| it.weaken.mutants[0].verdict = "SURVIVED".into()), 1);
    assert_eq!(complaints_after(|it| it.weaken.mutants[0].verdict = "NOT_RUN".into()), 1);
    assert_eq!(complaints_after(|it| it.zoo.rows[0].verdict = "SURVIVED".into()), 1);
    assert_eq!(complaints_after(|it| it.samples[0].violated = true), 1);
}

#[test]
fn what_a_checker_says_about_the_real_code_is_a_complaint() {
    let text = zoo_text().replace(
        r#""reported": []"#,
        r#""reported": [{"checker": "loom", "lock": "a", "client": "exclusion", "on": "flat",
            "executions": 7, "seconds": 0.5, "complaint": "race"}]"#,
    );
    let zoo = serde_json::from_str(&text).unwrap();
    let complaints = Documents { zoo, ..documents() }.complaints();
    assert_eq!(complaints, ["the real code fails: exclusion on a by loom"]);
    let explored = r#"{"seed": 1, "interrupted": true, "results": []}"#;
    let explored = serde_json::from_str(explored).unwrap();
    let complaints = Documents { explored, ..documents() }.complaints();
    assert_eq!(complaints, ["explore was interrupted"]);
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
fn the_tree_expects_each_lock_and_more_mutants_than_sites() {
    let expected = Expected::of(&crate::tidy::sources(&crate::root())).unwrap();
    assert!(expected.mutants.values().sum::<usize>() > expected.sites && expected.sites > 40);
    assert!(expected.locks.contains(&"cna") && !expected.locks.contains(&"busted"));
    assert!(expected.clients.contains(&"exclusion"));
}

#[test]
fn a_client_that_only_agrees_with_others_has_no_mutant_of_its_own() {
    let mut documents = documents();
    let mut kill = documents.weaken.mutants[0].kills[0].clone();
    kill.client = "try-lock".into();
    documents.weaken.mutants[0].kills.push(kill);
    let only = only_killed_by(&documents);
    assert!(only["exclusion"].is_empty() && only["try-lock"].is_empty());
    assert_eq!(only["handoff"].len(), tree::rows().len());
}

#[test]
fn a_client_without_which_one_checker_is_blind_has_a_mutant_of_its_own() {
    let mut documents = documents();
    let mut kill = documents.zoo.rows[0].kills[0].clone();
    kill.client = "exclusion".into();
    documents.zoo.rows[0].kills.push(kill.clone());
    let both_by_loom = only_killed_by(&documents)["handoff"].len();
    kill.checker = "explore (simulated)".into();
    documents.zoo.rows[0].kills[1] = kill;
    assert_eq!(only_killed_by(&documents)["handoff"].len(), both_by_loom + 1);
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

#[test]
fn a_missing_input_is_older_than_what_it_is_about() {
    let changed = SUBJECTS.map(|subject| last_change(&crate::root().join(subject)));
    assert!(changed.iter().all(Option::is_some), "{changed:?}");
    assert!(last_change(&crate::root().join("target/evidence/nothing")) < changed[0]);
}

#[test]
fn the_files_have_all_the_sites_that_are_weakened() {
    let sources = crate::tidy::sources(&crate::root());
    let expected = Expected::of(&sources).unwrap();
    assert_eq!(tree::sites(&sources).values().sum::<usize>(), expected.sites);
}
