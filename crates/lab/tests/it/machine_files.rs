//! Copies of a machine's file, and where their calibration comes from.

use super::{lockwright_in, stderr, stdout};
use serde_json::Value;

const X5_4: &str = include_str!("../../../../machines/x5-4.toml");
const BENCH: &str =
    "bench --workload locktorture --lock fifo,cna --threads 8,36 --runs 2 --secs 0.001 --json -";

/// The X5-4 with twice the sockets, all of them equally far apart, and half the cores in each.
fn eight_sockets() -> String {
    let row = |own: u32| {
        let classes: Vec<_> = (0..8).map(|other| u32::from(other != own).to_string()).collect();
        format!("    [{}],", classes.join(", "))
    };
    let rows: Vec<String> = (0..8).map(row).collect();
    let (start, end) =
        (X5_4.find("classes = [").expect("distances"), X5_4.find("\n]").expect("an end"));
    let topology = format!("classes = [\n{}", rows.join("\n"));
    let text = format!("{}{topology}{}", &X5_4[..start], &X5_4[end..]);
    let text = text.replacen("sockets = { count = 4", "sockets = { count = 8", 1);
    text.replacen("count = 18", "count = 9", 1)
}

/// What `line` says and writes where `mine.toml` is `text`.
fn with_file(text: &str, line: &str) -> (String, Value) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("mine.toml"), text).expect("it is writable");
    let output = lockwright_in(directory.path(), line);
    assert!(output.status.success(), "{}", stderr(&output));
    (stderr(&output), serde_json::from_str(&stdout(&output)).expect("one document"))
}

/// The fingerprints of all histories.
fn digests(document: &Value) -> Vec<Value> {
    let results = document["results"].as_array().expect("results");
    results.iter().map(|result| result["digests"].clone()).collect()
}

#[test]
fn an_unchanged_copy_runs_as_the_machine_with_the_name() {
    let (_, named) = with_file(X5_4, &format!("{BENCH} --on x5-4"));
    let (said, copied) = with_file(X5_4, &format!("{BENCH} --on ./mine.toml"));
    assert_eq!(digests(&named).len(), 4);
    assert_eq!(digests(&named), digests(&copied));
    assert_eq!(named["on"]["calibration"], copied["on"]["calibration"]);
    assert!(!said.contains("no calibration"), "{said}");
}

#[test]
fn a_changed_copy_borrows_the_calibration_that_it_names_and_a_silent_one_is_warned_about() {
    let text = eight_sockets();
    let line = format!("{BENCH} --on ./mine.toml");
    let (said, bare) = with_file(&text, &line);
    assert_eq!(bare["on"]["numa_nodes"], 8);
    assert!(bare["on"]["calibration"].is_null());
    let warning = "./mine.toml has no calibration";
    assert!(said.contains(warning) && said.contains("`calibrated_as = \"x5-4\"`"), "{said}");

    let borrows = format!("calibrated_as = \"x5-4\"\n{text}");
    let (said, borrowed) = with_file(&borrows, &line);
    assert!(!said.contains(warning), "{said}");
    let calibration = &borrowed["on"]["calibration"];
    assert_eq!(calibration["calibrated_as"], "x5-4");
    assert!(calibration["parameters"]["locktorture.inside_ns"].as_f64() > Some(0.0));
    assert_eq!(borrowed["on"]["placement"], "scheduler-5.6");
    assert_ne!(digests(&bare), digests(&borrowed));
}

#[test]
fn a_calibration_is_replayed_by_its_path_and_refused_where_it_does_not_belong() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).expect("it is writable");
    };
    let run = |line: &str| lockwright_in(directory.path(), line);
    write("fitted.toml", include_str!("../../../../machines/x5-4.calibration.toml"));
    write("mine.toml", X5_4);
    let line = "torture --on ./mine.toml --calibration fitted.toml --lock busted --threads 8";
    let output = run(&format!("{line} --secs 0.001"));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let replay = super::simulated::replay_of(&stderr(&output));
    assert!(replay.contains(" --calibration fitted.toml"), "{replay}");
    assert_eq!(run(&replay).status.code(), Some(1));

    write("changed.toml", &eight_sockets());
    let refused = |line: &str, expected: &str| {
        let output = run(line);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected) && said.lines().count() == 1, "{said}");
    };
    let of_changed = "fitted.toml: machine: is a calibration of `x5-4`, not of `changed`";
    refused("bench --on ./changed.toml --calibration fitted.toml", of_changed);
    refused("bench --on x5-4 --calibration none.toml", "none.toml: cannot be read");
    refused("bench --calibration fitted.toml", "add --on with one");
    write("changed.toml", &format!("calibrated_as = \"x5_4\"\n{X5_4}"));
    let unknown = "changed.toml: calibrated_as: is `x5_4`, and must be a built-in machine: x5-4, ";
    refused("bench --on ./changed.toml", unknown);
    refused("explore --lock mcs --on ./changed.toml", unknown);
    refused("machines check ./changed.toml", unknown);
}
