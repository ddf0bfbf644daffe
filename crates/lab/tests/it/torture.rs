//! `torture` natively.

use super::{has_fields, json, lockwright, stderr, stdout};

#[test]
fn a_busted_lock_fails_and_the_exit_code_says_so() {
    let output = lockwright("torture --lock busted --secs 0.5");
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("busted-torture:--- End of test: FAILURE"), "{text}");
    assert!(text.contains("Fail: 1 !!!"), "{text}");
}

#[test]
fn readers_that_take_nothing_fail_and_have_their_line() {
    for more in ["", "--readers 2", "--threads 2 --readers 1 --nested 0"] {
        let output = lockwright(&format!("torture --lock busted-rw --secs 0.3 {more}"));
        assert_eq!(output.status.code(), Some(1), "{more}: {}", stdout(&output));
        let text = stdout(&output);
        assert!(text.contains("\nReads :  Total: "), "{text}");
        assert!(text.contains("busted-rw-torture:--- End of test: FAILURE"), "{text}");
    }
    let document = json("torture --lock busted-rw,ticket --readers 0 --secs 0.05 --json -");
    for result in document["results"].as_array().expect("results") {
        assert_eq!((&result["verdict"], &result["readers"]), (&"SUCCESS".into(), &0.into()));
        assert!(result.get("reads").is_none(), "{result}");
    }
}

#[test]
fn one_busted_lock_among_sound_ones_is_enough() {
    let output = lockwright("torture --lock ticket,busted,unfair --secs 0.3");
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("ticket-torture:--- End of test: SUCCESS"), "{text}");
    assert!(text.contains("unfair-torture:--- End of test: SUCCESS"), "{text}");
}

fn has_two_cpus() -> bool {
    std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1)
}

#[test]
fn every_lock_survives() {
    let output = lockwright("torture --lock all --secs 0.05");
    assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
    let text = stdout(&output);
    // With one CPU, locks that never sleep are left out.
    let spinning = ["qspinlock", "cna", "cna-v15", "mcs", "pthread-spin"];
    let spinning = spinning.into_iter().filter(|_| has_two_cpus());
    for lock in ["mutex", "hybrid", "std", "std-rwlock"].into_iter().chain(spinning) {
        let end = format!("{lock}-torture:--- End of test: SUCCESS");
        assert!(text.contains(&end), "no `{end}` in {text}");
    }
    assert!(!text.contains("busted") && !text.contains("floor"), "{text}");
}

#[test]
fn locks_whose_waiters_sleep_survive_oversubscription() {
    let document =
        json("torture --lock park,hybrid,hybrid-bounded --threads 16 --secs 0.1 --json -");
    for result in document["results"].as_array().expect("results") {
        assert_eq!(result["verdict"], "SUCCESS", "{result}");
        assert!(result["total"].as_u64() > Some(0), "{result}");
    }
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
        assert_eq!((&result["writers"], &result["readers"]), (&2.into(), &0.into()));
        has_fields(result, &["wait_ns", "most_overtakes", "exercised"]);
        assert!(result["wait_ns"]["max"].as_u64() > Some(0));
    }
    let mixed = ["long_hold_ms", "nested", "preemption", "shuffle_s", "stutter_s"];
    has_fields(&document["stress"], &mixed);
}

/// Everything off.
const NOTHING: &str = "--long-hold 0 --stutter 0 --shuffle 0 --nested 0";

#[test]
fn a_busted_lock_fails_whatever_is_mixed_in() {
    for more in ["--long-hold 1ms", "--stutter 0.02", "--shuffle 0.02", "--nested 8"] {
        if more.starts_with("--shuffle") && !has_two_cpus() {
            println!("`{more}` did not run: needs two CPUs");
            continue;
        }
        let flag = more.split(' ').next().expect("it has a name");
        let rest = NOTHING.replace(&format!("{flag} 0"), "");
        let output = lockwright(&format!("torture --lock busted --secs 0.3 {rest} {more}"));
        assert_eq!(output.status.code(), Some(1), "{more}: {}", stderr(&output));
        let text = stdout(&output);
        assert!(text.contains("busted-torture:--- End of test: FAILURE"), "{more}: {text}");
    }
}

#[test]
fn a_plain_torture_does_all_there_is_and_says_how_often() {
    let document = json("torture --lock unfair,std --secs 0.5 --json -");
    for result in document["results"].as_array().expect("results") {
        let exercised = &result["exercised"];
        for what in ["long_holds", "nested", "stutters"] {
            assert!(exercised[what].as_u64() > Some(0), "{what} in {result}");
        }
        assert_eq!(exercised["shuffles"].as_u64() > Some(0), has_two_cpus(), "{result}");
        assert_eq!(exercised["preemptions"], 0);
    }
    assert_eq!(document["stress"]["long_hold_ms"], 2.0);
}

#[test]
fn a_starved_thread_has_a_line_with_the_difference_and_a_busted_lock_fails() {
    let line = "torture --workload starve --threads 4 --section-ns 200us --secs 0.3";
    let output = lockwright(&format!("{line} --lock rwlock,std-rwlock,mutex"));
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["Starve: waits: ", " largest difference: ", " longest (median of ten windows): "]
    {
        assert_eq!(text.matches(words).count(), 3, "`{words}` in {text}");
    }
    let document = json(&format!("{line} --role reader --lock rwlock --json -"));
    let result = &document["results"][0];
    assert_eq!((&result["readers"], &result["writers"]), (&1.into(), &3.into()));
    has_fields(&result["starving"], &["longest", "farthest"]);
    assert!(result["reads"]["total"].as_u64() > Some(0), "{result}");
    assert_eq!(document["stress"]["nested"], 0);
    let busted = lockwright(&format!("{line} --lock busted --section compute"));
    assert_eq!(busted.status.code(), Some(1), "{}", stdout(&busted));
}

#[test]
fn what_is_switched_off_does_not_happen() {
    let document = json(&format!("torture --lock unfair --secs 0.05 {NOTHING} --json -"));
    let exercised = document["results"][0]["exercised"].as_object().expect("counts");
    assert!(exercised.values().all(|count| count == 0), "{exercised:?}");
    assert_eq!(document["workload"]["long_hold"], false);
}

#[test]
fn a_run_that_is_too_short_for_something_says_so() {
    let line = "torture --on x5-4 --lock unfair --secs 0.001 --long-hold";
    let text = stdout(&lockwright(line));
    let (_, warning) = text.split_once("\n\nwarning: ").expect("it comes below the results");
    let warning = warning.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(warning.contains("too short: unfair, 8 threads"), "{text}");
    assert!(text.contains("long_hold=100ms "), "100 ms, as in the kernel");
    // A document on standard output has it, and people read it elsewhere, however quiet it is.
    let output = lockwright(&format!("{line} --quiet --json -"));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    let warning = document["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("there was no long hold"), "{warning}");
    assert_eq!(stderr(&output), format!("warning: {warning}\n"));
}
