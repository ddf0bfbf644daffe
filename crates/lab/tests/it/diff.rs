//! `lockwright diff`.

use super::formats::assert_documented;
use super::{lockwright_in, stderr, stdout};
use serde_json::Value;

#[test]
fn what_got_slower_is_named_and_changes_the_exit_code() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let run = |line: &str| lockwright_in(directory.path(), line);
    let bench =
        "bench --on x5-4 --lock cna,mcs --threads 8 --cs-load 1,20 --runs 2 --secs 0.001 --quiet";
    assert!(run(&format!("{bench} --json a.json")).status.success());
    assert!(run(&format!("{bench} --numa-spinlock off --json b.json")).status.success());

    let same = run("diff a.json a.json");
    assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
    assert!(stdout(&same).contains("4 results: 0 slower, 0 faster"), "{}", stdout(&same));

    let changed = run("diff a.json b.json");
    let text = stdout(&changed);
    assert_eq!(changed.status.code(), Some(1), "{text}");
    for words in ["on simulated x5-4", "counter cs_load=20 t8", "slower", "another set of tunables"]
    {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    let output = run("diff a.json b.json --json -");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_documented("diff", &document);
    let verdict = |lock: &str, load: &str| {
        let results = document["results"].as_array().expect("results").iter();
        let mut of = results.filter(|it| it["lock"] == lock);
        let found = of.find(|it| it["setting"].as_str().is_some_and(|it| it.contains(load)));
        found.expect("it is there")["verdict"].clone()
    };
    assert_eq!(verdict("cna", "cs_load=20 "), "slower");
    assert_eq!(verdict("mcs", "cs_load=20 "), "same");
    // A loss of less than half is the same then.
    assert_eq!(run("diff a.json b.json --tolerance 50").status.code(), Some(0));
}

#[test]
fn results_that_cannot_be_compared_are_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let run = |line: &str| lockwright_in(directory.path(), line);
    let bench = "bench --on x5-4 --runs 1 --secs 0.0001 --quiet --threads 2";
    assert!(run(&format!("{bench} --lock cna --json a.json")).status.success());
    assert!(run(&format!("{bench} --lock mcs --json b.json")).status.success());
    let path = directory.path().join("a.json");
    let text = std::fs::read_to_string(&path).expect("a document");
    let old = text.replace("per_repetition", "unknown");
    std::fs::write(directory.path().join("old.json"), old).expect("it can be written");
    for (line, instead) in [
        ("diff a.json b.json", "give two files of the same command"),
        ("diff a.json old.json", "is of an older lockwright and has no repetitions: measure again"),
    ] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(stderr(&output).contains(instead), "`{line}` said: {}", stderr(&output));
    }
}
