//! `torture` natively.

use super::{has_fields, json, lockwright, stderr, stdout};

#[test]
fn a_busted_lock_fails_and_the_exit_code_says_so() {
    let output = lockwright("torture --lock busted --secs 1");
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("busted-torture:--- End of test: FAILURE"), "{text}");
    assert!(text.contains("Fail: 1 !!!"), "{text}");
}

#[test]
fn one_busted_lock_among_sound_ones_is_enough() {
    let output = lockwright("torture --lock ticket,busted,unfair --secs 0.3");
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("ticket-torture:--- End of test: SUCCESS"), "{text}");
    assert!(text.contains("unfair-torture:--- End of test: SUCCESS"), "{text}");
}

#[test]
fn every_lock_survives() {
    let output = lockwright("torture --lock all --secs 0.05");
    assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
    let text = stdout(&output);
    for lock in ["qspinlock", "cna", "cna-v15", "mcs", "std", "pthread-spin"] {
        let end = format!("{lock}-torture:--- End of test: SUCCESS");
        assert!(text.contains(&end), "no `{end}` in {text}");
    }
    assert!(!text.contains("busted") && !text.contains("floor"), "{text}");
}

#[test]
fn the_document_has_the_fields_of_the_schema() {
    let document = json("torture --lock clh,mcs --secs 0.05 --json -");
    assert_eq!(document["schema"], "lockwright.torture/1");
    let results = document["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    for result in results {
        has_fields(result, &["lock", "threads", "secs", "total", "max", "min", "fail", "verdict"]);
        assert_eq!(result["verdict"], "SUCCESS");
        assert_eq!(result["threads"], 2);
        assert!(result["total"].as_u64() > Some(0));
    }
}
