//! `machines probe` and `machines check`.

use super::{lockwright, lockwright_in, stderr, stdout};

#[test]
fn what_the_probe_writes_is_a_machine_to_simulate_on_and_to_compare_with() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let run = |line: &str| {
        let output = lockwright_in(directory.path(), line);
        assert!(output.status.success(), "`{line}`: {}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(run("machines probe --quick --quiet --out here.toml"), "");
    let line =
        "--on ./here.toml --workload counter --lock ticket --threads 1 --runs 1 --secs 0.0001";
    assert!(run(&format!("bench {line} --quiet")).contains("simulated"), "it says so");
    let document =
        run("machines check here.toml --lock unfair --threads 1 --runs 1 --quiet --json -");
    let document: serde_json::Value = serde_json::from_str(&document).expect("a document");
    assert_eq!(document["schema"], "lockwright.machines-check/1");
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2, "two loads");
    assert_eq!(cells[0]["locks"][0]["lock"], "unfair");
    assert!(document["summary"]["median_error_percent"].is_number());
}

#[test]
fn machines_and_outputs_that_make_no_sense_are_refused_in_a_sentence() {
    for (line, said) in [
        ("machines probe --out /nowhere/at/all.toml", "cannot write"),
        ("machines check no-such-file.toml", "no-such-file.toml"),
        ("machines check", "FILE.toml"),
        ("machines probbe", "probe"),
        ("machines --json - probe", "--json"),
    ] {
        let output = lockwright(line);
        assert_eq!(output.status.code(), Some(2), "`{line}`");
        let told = stderr(&output);
        assert!(told.contains(said) && told.trim().lines().count() == 1, "`{line}`: {told}");
    }
}
