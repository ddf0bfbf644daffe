//! `torture` on a simulated machine.

use super::simulated::replay_of;
use super::{has_fields, json, lockwright, one_seed_decides_every_byte, stderr, stdout};

#[test]
fn every_lock_survives_torture_and_the_busted_one_does_not() {
    let output = lockwright("torture --on x5-4");
    assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
    let text = stdout(&output);
    for lock in ["qspinlock", "cna", "cna-v10_time", "cna-v10_limited", "cna-v11", "cna-v15"] {
        let end = format!("{lock}-torture:--- End of test: SUCCESS");
        assert!(text.contains(&end), "no `{end}` in {text}");
    }
    let output = lockwright("torture --on x5-4 --lock busted");
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("busted-torture:--- End of test: FAILURE"));
}

/// The lines of the locks; warnings, also about other locks, come below them.
fn results(output: &std::process::Output) -> String {
    let text = stdout(output);
    let (results, _) = text.split_once("\n\nwarning: ").unwrap_or((&text, ""));
    assert!(results.contains("-torture:--- End of test: "), "{text}");
    results.trim_end().into()
}

#[test]
fn a_torture_that_fails_prints_the_command_that_fails_in_the_same_way() {
    let failure = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("busted: "));
        line.unwrap_or_else(|| panic!("no failure in {said}")).to_string()
    };
    for more in [
        "",
        "--seed 3 --placement spread --numa-spinlock off --secs 0.001 --long-hold",
        "--seed 5 --long-hold 30us --stutter 0.0017 --nested 5 --faults --secs 0.01",
    ] {
        let first = lockwright(&format!("torture --on x5-4 --lock ticket,busted {more}"));
        let said = stderr(&first);
        let again = lockwright(&replay_of(&said));
        assert_eq!((first.status.code(), again.status.code()), (Some(1), Some(1)), "{said}");
        assert_eq!(failure(&said), failure(&stderr(&again)));
        assert!(results(&first).ends_with(&results(&again)), "the statistics differ");
    }
}

#[test]
fn readers_that_take_nothing_fail_and_the_printed_command_fails_in_the_same_way() {
    let failure = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("busted-rw: "));
        line.unwrap_or_else(|| panic!("no failure in {said}")).to_string()
    };
    for more in ["", "--seed 3 --readers 3 --long-hold 20us", "--threads 5 --faults --secs 0.01"] {
        let first = lockwright(&format!("torture --on x5-4 --lock busted-rw {more}"));
        let said = stderr(&first);
        assert_eq!(first.status.code(), Some(1), "{said}");
        assert!(stdout(&first).contains("Reads :  Total: "));
        let again = lockwright(&replay_of(&said));
        assert_eq!(failure(&said), failure(&stderr(&again)));
        assert!(results(&first).ends_with(&results(&again)), "the statistics differ");
    }
    let document = "torture --on x5-4 --lock busted-rw --threads 6 --secs 0.001 --quiet --json -";
    let text = lockwright(document).stdout;
    let document: serde_json::Value = serde_json::from_slice(&text).expect("one JSON document");
    let result = &document["results"][0];
    assert_eq!((&result["writers"], &result["readers"]), (&3.into(), &3.into()));
    has_fields(&result["reads"], &["total", "max", "min"]);
    has_fields(result, &["reader_wait_ns", "writer_wait_ns"]);
}

#[test]
fn a_plain_torture_does_all_there_is_and_says_how_often() {
    let document = json("torture --on x5-4 --lock qspinlock,cna --json -");
    for result in document["results"].as_array().expect("results") {
        for what in ["long_holds", "nested", "stutters"] {
            assert!(result["exercised"][what].as_u64() > Some(0), "{what} in {result}");
        }
        assert_eq!(
            (&result["exercised"]["shuffles"], &result["exercised"]["preemptions"]),
            (&0.into(), &0.into())
        );
    }
    assert_eq!(document["results"][0]["most_overtakes"], 0, "first come, first served");
    assert!(document["results"][1]["most_overtakes"].as_u64() > Some(0), "grouped by node");
}

#[test]
fn faults_preempt_threads_and_stall_fair_locks_and_break_none() {
    let longest_ns = |more: &str| {
        let line = format!("torture --on x5-4 --lock all --long-hold 0 {more} --json -");
        let document = json(&line);
        let results = document["results"].as_array().expect("results").clone();
        let fifo = results.iter().find(|result| result["lock"] == "ticket").expect("a result");
        (fifo["wait_ns"]["max"].as_u64(), fifo["exercised"]["preemptions"].as_u64())
    };
    let ((calm_ns, never), (stalled_ns, often)) = (longest_ns(""), longest_ns("--faults"));
    assert_eq!(never, Some(0));
    assert!(often > Some(1_000), "{often:?}");
    assert!(stalled_ns > calm_ns.map(|ns| ns * 3), "{stalled_ns:?} and {calm_ns:?} ns");
}

#[test]
fn one_seed_gives_identical_bytes_with_everything_mixed_in() {
    one_seed_decides_every_byte(
        "torture --on x5-4 --lock ticket,cna --nested 4 --faults --secs 0.005 --json -",
    );
}

#[test]
fn a_busted_lock_fails_whatever_is_mixed_in() {
    const NOTHING: &str = "--long-hold 0 --stutter 0 --nested 0";
    for more in ["--long-hold 10us", "--stutter 0.0002", "--nested 8", "--faults"] {
        let flag = more.split(' ').next().expect("it has a name");
        let rest = NOTHING.replace(&format!("{flag} 0"), "");
        let line = format!("torture --on x5-4 --lock busted --secs 0.001 {rest} {more}");
        let output = lockwright(&line);
        assert_eq!(output.status.code(), Some(1), "{more}: {}", stderr(&output));
        assert!(stdout(&output).contains("busted-torture:--- End of test: FAILURE"), "{more}");
    }
}

#[test]
fn the_document_tells_what_was_mixed_in() {
    let line = "torture --on x5-4 --lock mcs --secs 0.004 --stutter 0.0003 --nested 3 --faults";
    let stress = json(&format!("{line} --json -"))["stress"].clone();
    has_fields(&stress, &["long_hold_ms", "nested", "preemption", "shuffle_s", "stutter_s"]);
    assert_eq!((&stress["stutter_s"], &stress["nested"]), (&0.0003.into(), &3.into()));
    assert_eq!(stress["preemption"]["every_ns"], 10_000);
}
