//! `locks`, `machines`, `workloads`, `events`.

use super::{json, lockwright, stdout};

/// What a list prints where there is room for all of it.
fn wide(command: &str) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .arg(command)
        .env("COLUMNS", "400")
        .output()
        .expect("the binary starts");
    stdout(&output)
}

fn listed(command: &str) -> Vec<String> {
    let document = json(&format!("{command} --json -"));
    assert_eq!(document["schema"], format!("lockwright.{command}/1"));
    let items = document["items"].as_array().expect("a list");
    items.iter().map(|item| item["name"].as_str().expect("a name").to_string()).collect()
}

#[test]
fn every_lock_is_listed() {
    let names = listed("locks");
    for name in [
        "qspinlock",
        "cna",
        "cna-v10_time",
        "cna-v10_limited",
        "cna-v10_as_described",
        "cna-v11",
        "cna-v15",
        "two-level",
        "resilient",
        "resilient-in_programs",
        "unfair",
        "ticket",
        "mcs",
        "clh",
        "osq",
        "once",
        "qrwlock",
        "semaphore",
        "seqlock",
        "busted",
        "busted-rw",
        "floor-8",
        "floor-16",
        "floor-32",
        "std",
        "parking_lot",
        "parking_lot-0.13",
        "pthread",
        "pthread-adaptive",
        "pthread-spin",
        "spin",
        "usync",
        "std-rwlock",
        "parking_lot-rwlock",
        "parking_lot-rwlock-0.13",
        "spin-rwlock",
        "usync-rwlock",
        "pthread-rwlock",
        "pthread-rwlock-writer",
    ] {
        assert!(names.iter().any(|listed| listed == name), "no {name}");
    }
    let text = stdout(&lockwright("locks"));
    assert!(text.contains("fifo") && text.contains("cna-v10"), "aliases are listed: {text}");
}

#[test]
fn every_machine_workload_and_event_is_listed() {
    let machines = listed("machines");
    assert_eq!(machines[..2], ["native", "x5-4"]);
    for name in ["cascade-lake-2s", "broadwell-2s-80t", "dl980"] {
        assert!(machines.iter().any(|listed| listed == name), "no {name}");
    }
    assert_eq!(
        listed("workloads"),
        [
            "uncontended",
            "counter",
            "map",
            "lru",
            "shards",
            "locktorture",
            "lock2",
            "open1",
            "readrandom",
            "kbuild",
            "handoff",
            "aim7",
            "sections",
            "queue",
            "pingpong",
            "attempts",
            "churn",
            "starve"
        ]
    );
    assert!(listed("events").contains(&"lock_pending".to_string()));
}

#[test]
fn a_list_is_one_line_for_each_if_there_is_room() {
    for command in ["machines", "workloads", "events"] {
        // One line is the header.
        assert_eq!(wide(command).lines().count(), listed(command).len() + 1);
    }
}

#[test]
fn every_lock_has_a_line_or_is_named_as_a_combination() {
    let text = wide("locks");
    let combinations = text.split("combinations of").nth(1).expect("they are told");
    for name in listed("locks") {
        let has_line = text.lines().any(|line| line.split("  ").next() == Some(&name));
        assert!(has_line || combinations.split_whitespace().any(|word| word == name), "{name}");
    }
}

#[test]
fn a_bug_is_listed_with_the_harm_it_does_and_the_checkers_that_must_find_it() {
    let text = stdout(&lockwright("bugs"));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let document = json("bugs --json -");
    for bug in document["items"].as_array().expect("a list") {
        let is = bug["is"].as_str().expect("text").split_whitespace().collect::<Vec<_>>();
        assert!(words.contains(&is.join(" ")), "{bug}");
    }
    assert!(
        text.contains("45 (WakeTakenForHandoff; must be found by loom, explore (simulated))"),
        "{text}"
    );
    assert!(text.contains("1 (HandoffClearedStale; must be found by loom)"), "{text}");
}

#[test]
fn a_list_is_also_csv() {
    let text = stdout(&lockwright("events --csv -"));
    assert!(text.starts_with("name,counts\n"), "{text}");
}

#[test]
fn a_list_for_programs_has_plain_keys_numbers_and_arrays() {
    for command in ["locks", "machines", "workloads", "events"] {
        let document = json(&format!("{command} --json -"));
        for item in document["items"].as_array().expect("a list") {
            let keys = item.as_object().expect("an object").keys();
            let is_plain = |key: &str| key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(keys.clone().all(|key| is_plain(key)), "{item}");
        }
    }
    let item = |command: &str, name: &str| {
        let document = json(&format!("{command} --json -"));
        let items = document["items"].as_array().expect("a list").clone();
        items.into_iter().find(|item| item["name"] == name).expect("it is listed")
    };
    let machine = item("machines", "x5-4");
    assert_eq!((machine["cpus"].as_u64(), machine["numa_nodes"].as_u64()), (Some(144), Some(4)));
    let lock = item("locks", "qspinlock");
    assert!(lock["aliases"].as_array().is_some_and(|a| a.iter().any(|alias| alias == "fifo")));
    assert_eq!(lock["runs_on"], serde_json::json!(["native", "simulated"]));
    assert_eq!(item("workloads", "uncontended")["parameters"], serde_json::json!([]));
    let torture = &item("workloads", "locktorture")["parameters"];
    assert_eq!(*torture, serde_json::json!(["--long-hold", "--stutter-ns"]));
    let counter = item("workloads", "counter");
    assert_eq!(
        counter["defaults"],
        "--cs-load 1 --think-load 0 --read-percent 0 --reader-order alternate --empty-section off"
    );
    assert!(counter["is"].as_str().is_some_and(|is| is.contains("own any other")));
}

#[test]
fn a_lock_is_shown_with_its_card_and_the_rules_that_tests_hold_it_to() {
    let words =
        |line: &str| stdout(&lockwright(line)).split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = words("locks cna-v15");
    for part in [
        "title: Add NUMA-awareness to qspinlock version: v15 date: 14 May 2021 link: \
         https://lore.kernel.org/r/20210514200743.3026725-1-alex.kogan@oracle.com times: 1 ms",
        "CNA-R12: The head looks again and again, for as long as the lock is busy and the next waiter is not local. \
         Test of crates/sim: cna::v15_looks_while_the_lock_is_busy_and_v11_once_more_at_the_handoff",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("CNA-R1:"), "a rule of v10: {shown}");
    assert!(shown.starts_with("cna-v15 (product; by NUMA node, bounded) CNA v15:"), "{shown}");
    // An alias, a posting without a Message-ID, locks without a card.
    assert!(words("locks cna-v10_posted").contains("title: Add NUMA-awareness"));
    assert!(words("locks park-steal").contains("link: no link is known"));
    for line in ["locks hybrid-bounded", "locks std", "locks floor-8"] {
        let shown = words(line);
        assert!(shown.ends_with("no card: no posting is written down for this lock"), "{shown}");
    }
    assert_eq!(lockwright("locks qspinlok").status.code(), Some(2));
}

#[test]
fn a_document_of_one_lock_has_its_card_and_rules() {
    let document = json("locks hybrid --json -");
    let [lock] = &document["items"].as_array().expect("a list")[..] else { panic!("{document}") };
    assert_eq!(lock["card"]["date"], "7 November 2017");
    let numbers: Vec<_> = lock["rules"].as_array().expect("rules").iter().collect();
    assert!(numbers.iter().any(|rule| rule["number"] == "PV-R7"), "{lock}");
    assert!(json("locks std --json -")["items"][0]["card"].is_null());
    let text = stdout(&lockwright("locks hybrid --csv -"));
    assert!(text.starts_with("name,aliases,kind,order,runs_on,is,card,rules\nhybrid,"), "{text}");
}
