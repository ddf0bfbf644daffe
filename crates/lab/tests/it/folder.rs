//! A folder of records: a command that was killed goes on, and the parts of several processes are put together.

use super::{ONE_AT_A_TIME, lockwright_in, started, stderr};
use serde_json::Value;
use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

/// What is simulated, with no folder: short runs of many locks.
const SIMULATED: [&str; 4] = [
    "compare --on x5-4 --quick --secs 200us --cell cs1-t2,cs20-t8,cs100-t2,r50-cs1-t2,q1/1/1-one --quiet",
    "reproduce cna_v10_locktorture_x5_4 --quick --quiet",
    "bench --on x5-4 --lock mcs,rwlock,cna --threads 2,4,8 --secs 100us --quiet",
    "torture --on haswell-2s --lock usual --threads 4 --secs 200us --quiet",
];

/// The document that `line` writes.
fn document(directory: &Path, line: &str) -> String {
    let output = lockwright_in(directory, &format!("{line} --json -"));
    assert!(output.status.success(), "`{line}`: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// How many whole lines of results are in the folder.
fn results(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let files = entries.map(|entry| entry.expect("an entry").path());
    let files = files.filter(|path| path.to_string_lossy().contains("results-"));
    files.map(|path| std::fs::read_to_string(path).expect("text").matches('\n').count()).sum()
}

/// Kills `line` after its first results.
fn kill(directory: &Path, line: &str) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut child = started(directory, line);
    while results(&directory.join("kept")) < 2 && child.try_wait().is_ok_and(|end| end.is_none()) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
}

#[test]
fn a_simulated_command_that_was_killed_writes_the_same_bytes_when_it_goes_on() {
    for line in SIMULATED {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (directory, kept) = (directory.path(), directory.path().join("kept"));
        let undisturbed = document(directory, line);
        let keeps = format!("{line} --out kept");
        kill(directory, &keeps);
        assert!(results(&kept) > 0, "`{line}` kept nothing");
        assert_eq!(document(directory, &keeps), undisturbed, "`{line}`");
        let all = results(&kept);
        assert_eq!(document(directory, &keeps), undisturbed, "`{line}`, for the third time");
        assert_eq!(results(&kept), all, "`{line}` ran something again");
        // Another seed is another run.
        document(directory, &format!("{keeps} --seed 2"));
        assert!(results(&kept) > all, "`{line}` took the results of another seed");
    }
}

#[test]
fn parts_that_were_done_apart_are_put_together_by_the_same_command() {
    for line in [SIMULATED[0], SIMULATED[2], SIMULATED[3]] {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let directory = directory.path();
        let whole = document(directory, line);
        for part in ["1/2", "2/2"] {
            let of_part = document(directory, &format!("{line} --out kept --shard {part}"));
            assert!(of_part.len() < whole.len(), "`{line}`: part {part} is all of it");
        }
        let all = results(&directory.join("kept"));
        assert_eq!(document(directory, &format!("{line} --out kept")), whole, "`{line}`");
        assert_eq!(results(&directory.join("kept")), all, "`{line}` ran something again");
    }
}

#[test]
fn on_this_computer_repetitions_that_are_there_are_not_run_again() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let directory = directory.path();
    for line in [
        "bench --lock mutex,std --threads 2 --runs 2 --secs 0.01 --out kept --quiet",
        "bench --workload uncontended --lock floor,mutex --runs 2 --secs 0.01 --out kept --quiet",
        "compare --cell cs1-t2 --peer std --runs 2 --secs 0.01 --out kept --quiet",
        "torture --lock mutex,rwlock --secs 0.03 --out kept --quiet",
    ] {
        let numbers = |document: &str| -> Value {
            let mut value: Value = serde_json::from_str(document).expect("a document");
            for key in ["warnings", "foreign_load_percent"] {
                value.as_object_mut().expect("an object").remove(key);
            }
            for cell in value.get_mut("cells").and_then(Value::as_array_mut).into_iter().flatten() {
                cell.as_object_mut().expect("an object").remove("foreign_load_percent");
            }
            value
        };
        let first = document(directory, line);
        let (again, kept) = (document(directory, line), results(&directory.join("kept")));
        assert_eq!(numbers(&again), numbers(&first), "`{line}`");
        assert_eq!(results(&directory.join("kept")), kept, "`{line}` ran something again");
    }
}

#[test]
fn several_machines_are_documents_of_one_document_and_rows_of_one_table() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = "bench --lock mcs --threads 2 --secs 100us --runs 1 --quiet --on";
    let alone =
        ["x5-4", "haswell-2s"].map(|on| document(directory.path(), &format!("{line} {on}")));
    let both = document(directory.path(), &format!("{line} x5-4,haswell-2s --csv both.csv"));
    let both: Value = serde_json::from_str(&both).expect("a document");
    assert_eq!(both["schema"], "lockwright.several/1");
    let parse = |text: &String| serde_json::from_str::<Value>(text).expect("a document");
    assert_eq!(both["documents"], Value::from(alone.iter().map(parse).collect::<Vec<_>>()));
    let table = std::fs::read_to_string(directory.path().join("both.csv")).expect("a table");
    let machines = table.lines().skip(1).map(|row| row.split(',').nth(1).expect("a machine"));
    assert_eq!(machines.collect::<Vec<_>>(), ["x5-4", "haswell-2s"]);
    for command in
        ["compare --cell cs1-t2 --secs 100us --runs 2", "torture --lock mcs --secs 100us"]
    {
        let text = document(directory.path(), &format!("{command} --quiet --on x5-4,haswell-2s"));
        assert_eq!(parse(&text)["documents"].as_array().map(Vec::len), Some(2), "{command}");
    }
}

#[test]
fn a_line_to_quote_says_what_ran_where_and_how_far_to_trust_it() {
    for (line, said) in [
        ("bench --on x5-4 --lock mcs --threads 2 --secs 100us", "Simulated by lockwright"),
        ("torture --on epyc-9654 --lock mcs --secs 100us", "not known, because nothing was fitted"),
        (
            "compare --on x5-4 --cell cs1-t2 --secs 100us --runs 2",
            "Error of the fit to baselines: ",
        ),
        ("reproduce cna_v10_locktorture_x5_4 --quick", "on x5-4 (machine "),
        ("bench --lock mcs --threads 1 --secs 0.01 --runs 1", "Measured by lockwright"),
    ] {
        let output = lockwright_in(Path::new("."), &format!("{line} --seed 7 --quiet --quote"));
        let text = String::from_utf8(output.stdout).expect("text");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "`{line}`: {text}");
        assert!(words.contains("seed 7."), "`{line}`: {text}");
    }
}
