//! `explore`: what is seeded is found and can be repeated, what is sound holds.

use super::{has_fields, json, lockwright, stderr, stdout};
use lockwright_catalog::registry::LOCKS;
use lockwright_clients::due::is_due;
use serde_json::Value;

/// The one result of `line`, which must find something: the document's result.
fn found(line: &str) -> Value {
    let output = lockwright(&format!("{line} --json -"));
    assert_eq!(output.status.code(), Some(1), "`{line}`: {}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let results = document["results"].as_array().expect("results");
    assert_eq!((results.len(), &results[0]["verdict"]), (1, &"VIOLATED".into()), "{document}");
    results[0].clone()
}

/// Finds a failure of `kind` in a broken lock in at most 10,000 schedules and replays it; the correct lock has none.
fn replayed(rest: &str, (broken, correct): (&str, &str), kind: &str) -> Value {
    let result = found(&format!("explore --lock {broken} {rest}"));
    let failure = &result["failure"];
    assert_eq!(failure["kind"], kind, "{failure}");
    assert!(result["schedules"].as_u64() <= Some(10_000));
    let line = failure["replay"].as_str().expect("a command").strip_prefix("lockwright ");
    let again = found(line.expect("it begins with the program"));
    for part in ["kind", "message", "threads", "schedule"] {
        assert_eq!(again["failure"][part], failure[part], "{part}");
    }
    assert_eq!(again["schedules"], 1);
    let sound = json(&format!("explore --lock {correct} {rest} --json -"));
    assert_eq!(sound["results"][0]["verdict"], "HELD", "{sound}");
    assert_eq!(sound["results"][0]["schedules"], 10_000);
    result
}

#[test]
fn a_lost_wake_up_is_found_and_its_waiters_are_named() {
    let locks = ("rwsem-v3_12_wake_flag_as_posted", "rwsem-v3_12_wake_flag");
    let result = replayed("--client rwsem-last-round", locks, "stuck");
    let threads = result["failure"]["threads"].as_array().expect("threads");
    assert!(!threads.is_empty(), "{result}");
    for thread in threads {
        let thread = thread.as_str().expect("a line");
        assert!(thread.contains("sleeps on line") && thread.contains("Waiter"), "{thread}");
    }
}

#[test]
fn a_double_owner_is_found_by_every_random_policy_and_its_schedule_is_short() {
    for policy in ["random", "pct", "pos"] {
        let rest = format!("--client exclusion --threads 3 --policy {policy}");
        let result = replayed(&rest, ("busted", "ticket"), "exclusion");
        let failure = &result["failure"];
        assert!(failure["switches"].as_u64() <= Some(4), "{failure}");
        assert!(failure["switches"].as_u64() <= failure["switches_found"].as_u64());
    }
}

#[test]
fn a_line_of_a_lock_that_is_broken_on_purpose_says_so_whatever_was_found() {
    let broken = "explore --lock busted-rw --client exclusion --schedules 100";
    let text = stdout(&lockwright(broken));
    assert!(text.contains("  broken on purpose; this client did not show it; "), "{text}");
    let text = stdout(&lockwright("explore --lock cna --client exclusion --schedules 100"));
    assert!(!text.contains("seeded") && !text.contains("purpose"), "{text}");
}

#[test]
fn a_schedule_for_a_mailing_list_is_narrow_and_ends_with_a_line_to_quote() {
    let broken = "explore --lock busted --client exclusion --quote";
    let replayed = "explore --lock cna --client exclusion --threads 2 --replay 0:ab --quote";
    for (line, begins) in [
        (broken, "busted, test client exclusion: VIOLATED (simulated)"),
        (replayed, "cna, test client exclusion: HELD (simulated)"),
    ] {
        let text = stdout(&lockwright(line));
        assert!(text.starts_with(begins) && text.contains(" has the lock\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
        assert_eq!(
            text.contains("\n    --rounds 2 --seed 1 --replay 0:"),
            line == broken,
            "{text}"
        );
        let (_, quote) = text.trim_end().rsplit_once("\n\n").expect("a line to quote");
        assert!(
            quote.starts_with("Explored by lockwright ") && quote.ends_with("seed 1."),
            "{text}"
        );
    }
}

#[test]
fn a_lock_that_takes_nothing_is_caught_by_every_policy() {
    for policy in ["random", "pct", "pos", "dfs"] {
        found(&format!("explore --lock busted --client exclusion --policy {policy}"));
    }
}

#[test]
fn wake_ups_that_the_posted_patches_lose_are_found_and_the_corrected_ones_lose_none() {
    let of_last_round = "rwsem-last-round";
    for (lock, client, kind) in [
        ("v3_12_wake_flag", of_last_round, "stuck"),
        ("v4_14_handoff", "rwsem-handoff", "step-limit"),
        ("v5_10", "shared", "step-limit"),
    ] {
        let pair = |ending| format!("explore --lock rwsem-{lock}{ending} --client {client}");
        let result = found(&pair("_as_posted"));
        assert_eq!(result["failure"]["kind"], kind, "{result}");
        let threads = result["failure"]["threads"].to_string();
        assert!(threads.contains("sleeps on line"), "{threads}");
        let corrected = json(&format!("{} --json -", pair("")));
        assert_eq!(corrected["results"][0]["verdict"], "HELD", "{corrected}");
    }
}

#[test]
fn readers_that_take_nothing_are_caught_by_every_client_with_readers_and_by_no_other() {
    for client in ["shared", "try-shared", "downgrade"] {
        let result = found(&format!("explore --lock busted-rw --client {client}"));
        assert_eq!(result["failure"]["kind"], "exclusion", "{result}");
    }
    let others = "explore --lock busted-rw --client exclusion,try-lock,is-locked --schedules 500";
    let document = json(&format!("{others} --json -"));
    for result in document["results"].as_array().expect("results") {
        assert_eq!(result["verdict"], "HELD", "{result}");
    }
}

#[test]
fn a_schedule_has_a_number_from_one_on_and_a_long_one_is_in_the_document_only() {
    let text = stdout(&lockwright("explore --lock busted --client exclusion"));
    assert!(text.contains("VIOLATED by schedule 1 (simulated)"), "{text}");
    assert!(text.contains("exclusion in schedule 1 (policy random): "), "{text}");
    let line = "explore --lock rwsem-v4_14_handoff_as_posted --client rwsem-last-round --seed 4";
    let text = stdout(&lockwright(line));
    assert!(text.contains("--json FILE keeps the whole line as `replay`"), "{text}");
    assert!(text.lines().all(|line| line.len() < 400), "{text}");
    let failure = found(line)["failure"].clone();
    let number = failure["schedule_number"].as_u64().expect("a number");
    assert!(
        text.contains(&format!("VIOLATED\n  by schedule {} (simulated)\n", number + 1)),
        "{text}"
    );
    let schedule = failure["schedule"].as_str().expect("text");
    assert!(failure["replay"].as_str().is_some_and(|line| line.contains(schedule)));
}

/// Asleep in the queue, early or not; woken by a kick, or for no reason; asleep again as its head.
const WAYS_TO_SLEEP: [&str; 5] =
    ["pv_wait_node", "pv_wait_early", "pv_kick_wake", "pv_spurious_wakeup", "pv_wait_again"];

#[test]
fn the_real_locks_hold_with_all_clients_and_all_their_ways_are_reached() {
    let due = LOCKS.iter().filter(|row| row.is_correct() && is_due(row)).map(|row| row.name);
    let due = due.collect::<Vec<_>>();
    if due.is_empty() {
        return;
    }
    let line = format!("explore --lock {} --client all --schedules 1000 --json -", due.join(","));
    let document = json(&line);
    let results = document["results"].as_array().expect("results");
    let reached = |lock: &str, event: &str| {
        let of_lock = results.iter().filter(|result| result["lock"] == lock);
        let count: u64 = of_lock.filter_map(|result| result["events"][event].as_u64()).sum();
        count > 0 || !due.contains(&lock)
    };
    for result in results {
        assert_eq!(result["verdict"], "HELD", "{result}");
        assert_eq!(result["schedules"], 1000);
    }
    for event in ["lock_pending", "lock_slowpath", "lock_no_node"] {
        assert!(reached("qspinlock", event), "{event}");
    }
    for lock in ["cna", "cna-v10_time", "cna-v10_limited", "cna-v10_as_described", "cna-v11"] {
        for event in ["cna_set_aside", "cna_flush", "cna_flush_threshold", "lock_no_node"] {
            assert!(reached(lock, event), "{lock}: {event}");
        }
    }
    for lock in ["park", "park-steal", "hybrid", "cna-park", "cna-hybrid"] {
        for event in WAYS_TO_SLEEP {
            assert!(reached(lock, event), "{lock}: {event}");
        }
    }
    // This policy seldom sleeps in a schedule that was not chosen for it.
    let line = "explore --lock hybrid-bounded --client exclusion --schedules 10000 --json -";
    let bounded = json(line);
    for event in WAYS_TO_SLEEP {
        assert!(bounded["results"][0]["events"][event].as_u64() > Some(0), "{event}: {bounded}");
    }
    // This version sets waiters aside in one of 128 turns only.
    let v15 =
        json("explore --lock cna-v15 --client exclusion --rounds 60 --schedules 100 --json -");
    for event in ["cna_set_aside", "cna_flush"] {
        assert!(v15["results"][0]["events"][event].as_u64() > Some(0), "{event}: {v15}");
    }
}

#[test]
fn one_seed_gives_one_document_and_another_seed_another_one() {
    let line = |seed| format!("explore --lock cna,mcs --schedules 300 --seed {seed} --json -");
    let bytes = |seed| lockwright(&line(seed)).stdout;
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn the_document_of_an_exploration_has_the_fields_of_the_schema() {
    let document = json("explore --lock clh --client exclusion --schedules 50 --json -");
    assert_eq!(document["schema"], "lockwright.explore/1");
    assert_eq!(document["on"]["kind"], "simulated");
    let fields = [
        "lock",
        "client",
        "threads",
        "policy",
        "schedules",
        "steps",
        "distinct",
        "exhausted",
        "verdict",
        "events",
        "failure",
    ];
    has_fields(&document["results"][0], &fields);
    assert_eq!(document["results"][0]["failure"], Value::Null);
    let fields = ["kind", "message", "threads", "schedule_number", "policy", "schedule", "replay"];
    has_fields(&found("explore --lock busted --client exclusion")["failure"], &fields);
}

#[test]
fn a_search_says_that_it_has_seen_everything() {
    let line = "explore --lock ticket --client exclusion --threads 2 --rounds 1 --policy dfs";
    let document = json(&format!("{line} --preemptions 1 --json -"));
    assert_eq!(document["results"][0]["exhausted"], true, "{document}");
    let text = stdout(&lockwright(&format!("{line} --preemptions 1")));
    let schedules = document["results"][0]["schedules"].as_u64().expect("a number");
    let all = format!("all {schedules} schedules with at most 1 preemption;");
    assert!(text.contains("simulated") && text.contains(&all), "{text}");
    let text = stdout(&lockwright(&format!("{line} --preemptions 1 --schedules 5")));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("with at most 1 preemption, and there are more (--schedules)"),
        "{text}"
    );
}

#[test]
fn a_replay_shows_what_each_thread_did_to_which_object() {
    let lock = "rwsem-v3_12_wake_flag_as_posted";
    let result = found(&format!("explore --lock {lock} --client rwsem-last-round"));
    assert_eq!(result.get("trace"), None, "{result}");
    let line = result["failure"]["replay"].as_str().expect("a command");
    let line = line.strip_prefix("lockwright ").expect("it begins with the program");
    let again = found(line);
    let trace = again["trace"].as_array().expect("a trace");
    has_fields(&trace[0], &["move", "thread", "what"]);
    let text = stdout(&lockwright(line));
    let is_move = |line: &&str| {
        let number = line.split_whitespace().next().is_some_and(|word| word.parse::<u32>().is_ok());
        number && line.chars().nth(10).is_some_and(|thread| ('a'..='d').contains(&thread))
    };
    let shown = text.lines().filter(is_move).count();
    assert_eq!(shown, trace.len().min(60), "{text}");
    assert!(text.contains("a is thread 0 on CPU 0 of NUMA node 0; b is thread 1"), "{text}");
    for part in ["compare-exchange", "lock word of ", "sleeps", " -> 0x"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn another_machine_can_be_explored() {
    let document = json("explore --on x5-4 --lock cna --client exclusion --schedules 50 --json -");
    assert_eq!(document["on"]["machine"], "x5-4");
    assert_eq!(document["on"]["numa_nodes"], 4);
}
