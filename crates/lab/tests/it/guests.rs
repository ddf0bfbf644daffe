//! Guests, and programs with more threads than CPUs, on simulated machines.

use super::simulated::replay_of;
use super::{
    has_fields, json, lockwright, lockwright_in, one_seed_decides_every_byte, stderr, stdout,
};
use serde_json::Value;

const STARTS: [&str; 3] = ["everybody-running", "random-queue", "after-preemption"];

/// Two sockets with two CPUs each, and a host that shares them in slices of 100 us and lets vCPUs spin.
fn small_host(directory: &std::path::Path) -> &'static str {
    let text = include_str!("../../../../machines/haswell-2s.toml");
    let small = text
        .replace("count = 18", "count = 2")
        .replace("ns = 1781.0", "ns = 0.0")
        .replace("ns = 3000000.0", "ns = 100000.0")
        .replace("ns = 1000000.0", "ns = 30000.0")
        .replace(
            "ns = 100000.0\nsource = \"guess: something else",
            "ns = 5000.0\nsource = \"guess: something else",
        );
    std::fs::write(directory.join("small.toml"), small).expect("written");
    "./small.toml"
}

/// The document of a command on the small host.
fn on_small_host(line: &str) -> Value {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let on = small_host(directory.path());
    let output = lockwright_in(directory.path(), &format!("{line} --on {on} --json -"));
    assert!(output.status.success(), "`{line}`: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("a document")
}

fn results(document: &Value) -> &[Value] {
    document["results"].as_array().expect("results")
}

#[test]
fn a_guest_has_a_row_for_each_lock_number_of_vcpus_and_start_state() {
    let document = on_small_host("bench --lock unfair,unfair-backoff --vcpus 4,8 --secs 0.002");
    let scheduled = serde_json::json!({ "kind": "guest", "virtual_numa": false });
    assert_eq!((&document["on"]["scheduled"], &document["on"]["cpus"]), (&scheduled, &4.into()));
    assert_eq!(document["on"]["placement"], Value::Null, "the host moves vCPUs");
    let rows: Vec<_> = results(&document)
        .iter()
        .map(|row| (row["lock"].clone(), row["threads"].clone(), row["start_state"].clone()))
        .collect();
    let expected = [4, 8].into_iter().flat_map(|vcpus| {
        let locks = ["unfair", "unfair-backoff"].into_iter();
        locks.flat_map(move |lock| STARTS.map(|start| (lock.into(), vcpus.into(), start.into())))
    });
    assert_eq!(rows, expected.collect::<Vec<(Value, Value, Value)>>());
    for row in results(&document) {
        has_fields(row, &["per_thread_ops", "cpu_s", "wait_ns", "host", "secs", "events"]);
        assert!(row["per_thread_ops"]["avg"].as_u64() > Some(0), "{row}");
        assert!(row["involuntary_switches"].as_u64() > Some(0), "noise takes CPUs away: {row}");
        assert_eq!(row["secs"], 0.002);
        let cpu_s = row["cpu_s"].as_f64().expect("a number");
        assert!((0.0055..0.008).contains(&cpu_s), "four CPUs less noise for 2 ms: {row}");
    }
}

#[test]
fn start_states_are_chosen_by_name_and_differ() {
    let line = "bench --lock ticket --vcpus 12 --secs 0.003";
    let all = on_small_host(line);
    let digests: Vec<_> = results(&all).iter().map(|row| row["digests"].clone()).collect();
    assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2]);
    let one = on_small_host(&format!("{line} --start-state random-queue"));
    assert_eq!(results(&one), &results(&all)[1..2]);
    let named = on_small_host(&format!("{line} --start-state all"));
    assert_eq!(results(&named), results(&all));
}

#[test]
fn one_seed_gives_identical_bytes_of_a_guest() {
    for line in [
        "bench --on haswell-2s --vcpus 72 --lock unfair --secs 0.002 --json -",
        "bench --on haswell-2s --vcpus 54 --lock unfair --workload kbuild --units 54 --json -",
    ] {
        one_seed_decides_every_byte(line);
    }
}

#[test]
fn a_fair_spinlock_collapses_without_cpus_of_its_own_and_says_so() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let on = small_host(directory.path());
    let run = |options: &str, lock: &str| {
        // What is said of all locks does not depend on what they do.
        let secs = if lock == "all" { 0.001 } else { 0.01 };
        let line = format!("bench --on {on} {options} --lock {lock} --secs {secs} --json out.json");
        let output = lockwright_in(directory.path(), &line);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read(directory.path().join("out.json")).expect("written");
        let document: Value = serde_json::from_slice(&text).expect("a document");
        let said = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        (said, results(&document).to_vec())
    };
    for (options, noun) in [("--vcpus 16", "vCPUs"), ("--threads 16", "threads")] {
        let (said, rows) = run(options, "ticket,unfair");
        let slow = format!("more {noun} than the 4 CPUs, these locks are very slow: ticket;");
        assert!(said.contains(&slow), "{said}");
        let rate = |row: &Value| row["ops_per_s"]["median"].as_f64().expect("a number");
        assert!(rate(&rows[0]) * 5.0 < rate(&rows[3]), "{} and {}", rows[0], rows[3]);
        let (said, rows) = run(options, "all");
        assert!(said.contains("left out because they are very slow: qspinlock"), "{said}");
        assert!(rows.iter().all(|row| row["lock"] != "ticket"));
    }
    let (said, rows) = run("--vcpus 4", "all");
    assert!(!said.contains("leaving out") && rows.iter().any(|row| row["lock"] == "ticket"));
}

#[test]
fn more_threads_than_cpus_are_a_program_and_the_others_are_pinned() {
    let document = on_small_host("bench --lock unfair --threads 3,9 --secs 0.002 --runs 1");
    assert_eq!(document["on"]["scheduled"], serde_json::json!({ "kind": "program" }));
    let starts: Vec<_> = results(&document).iter().map(|row| row["start_state"].clone()).collect();
    assert_eq!(starts, [Value::Null, STARTS[0].into(), STARTS[1].into(), STARTS[2].into()]);
    let pinned = on_small_host("bench --lock unfair --threads 3 --secs 0.002 --runs 1");
    assert_eq!(pinned["on"]["scheduled"], Value::Null);
    assert_eq!(pinned["on"]["placement"], "compact");
    assert_eq!(results(&pinned)[0], results(&document)[0]);
}

#[test]
fn a_build_is_done_and_takes_longer_with_fewer_cpus() {
    let wall_s = |document: &Value, row: usize| {
        let row = &results(document)[row];
        row["wall_s"]["median"].as_f64().unwrap_or_else(|| panic!("not done: {row}"))
    };
    let line = "bench --workload kbuild --lock unfair --units 60 --unit-ops 20 --compute-ns 2000";
    let document = on_small_host(&format!("{line} --vcpus 1,2,4,12"));
    for row in results(&document) {
        let per_thread = &row["per_thread_ops"];
        let threads = row["threads"].as_u64().expect("a number");
        assert!(per_thread["avg"].as_u64() == Some(1_200 / threads), "{row}");
    }
    assert_eq!(document["workload"]["units"], 60);
    let times: Vec<f64> = [0, 3, 6].map(|row| wall_s(&document, row)).into();
    assert!(times[0] > times[1] * 1.7 && times[1] > times[2] * 1.6, "{times:?}");
    // 1,200 times 2.15 us on one CPU, and the sections' accesses.
    assert!((0.0025..0.0032).contains(&times[0]), "{times:?}");
    let pinned = on_small_host(&format!("{line} --threads 4 --runs 2"));
    assert!(wall_s(&pinned, 0) < times[2]);
    let half_serial = on_small_host(&format!("{line} --threads 4 --runs 2 --serial-percent 50"));
    assert!(wall_s(&half_serial, 0) > wall_s(&pinned, 0) * 2.0);
    let sleeping = on_small_host(&format!("{line} --threads 4 --runs 2 --io-ns 100000"));
    assert!(wall_s(&sleeping, 0) > wall_s(&pinned, 0) + 0.001);
}

#[test]
fn a_build_that_is_not_done_in_time_says_so() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let on = small_host(directory.path());
    let line = format!(
        "bench --on {on} --workload kbuild --lock unfair --vcpus 4 --secs 0.002 --units 10000 \
         --start-state random-queue --json out.json"
    );
    let output = lockwright_in(directory.path(), &line);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("over 2 ms"), "{}", stdout(&output));
    let text = std::fs::read(directory.path().join("out.json")).expect("written");
    let document: Value = serde_json::from_slice(&text).expect("a document");
    assert_eq!(results(&document)[0]["wall_s"], Value::Null);
    assert!(results(&document)[0]["ops_per_s"]["median"].as_f64() > Some(0.0));
}

#[test]
fn people_are_told_that_it_is_a_simulated_guest_and_how_long_it_ran() {
    let text = stdout(&lockwright("bench --on haswell-2s --vcpus 40 --lock unfair --secs 0.001"));
    assert!(text.contains("on a guest of simulated haswell-2s"), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("the guest sees one NUMA node; its host has 36 CPUs"), "{text}");
    assert!(text.contains("1 run of 1 ms"), "{text}");
    for word in [
        "start state",
        "ops per vCPU: ",
        "of the slowest vCPU",
        "sleeps /s",
        "pause-loop",
        "random-queue",
    ] {
        assert!(text.contains(word), "no `{word}` in {text}");
    }
}

#[test]
fn a_torture_of_a_guest_passes_and_busted_fails_with_a_replay() {
    let line =
        "torture --on haswell-2s --vcpus 144 --lock unfair,unfair-backoff --secs 0.01 --json -";
    let document = json(line);
    assert_eq!(results(&document).len(), 6);
    for row in results(&document) {
        assert_eq!((&row["verdict"], &row["threads"]), (&"SUCCESS".into(), &144.into()), "{row}");
        assert!(row["switches"]["voluntary"].as_u64() > Some(0), "pauses are slept: {row}");
    }
    let busted = lockwright("torture --on haswell-2s --vcpus 72 --lock busted --secs 0.002");
    assert_eq!(busted.status.code(), Some(1));
    assert!(stderr(&busted).contains(" --vcpus 72 "), "{}", stderr(&busted));
    let one = "torture --on haswell-2s --vcpus 9 --virtual-numa --lock busted --secs 0.002 \
               --start-state after-preemption";
    let said = stderr(&lockwright(one));
    let again = stderr(&lockwright(&replay_of(&said)));
    let failure =
        |said: &str| said.lines().find(|line| line.starts_with("busted: ")).map(String::from);
    assert!(failure(&said).is_some() && failure(&said) == failure(&again), "{said}\n{again}");
}

#[test]
fn a_bench_of_a_guest_that_fails_can_be_replayed() {
    let line = "bench --on haswell-2s --workload locktorture --lock busted --vcpus 40 --runs 2 \
                --start-state random-queue --secs 0.001 --seed 4";
    let said = stderr(&lockwright(line));
    let error =
        |said: &str| said.lines().find(|line| line.starts_with("error: ")).map(String::from);
    let again = lockwright(&replay_of(&said));
    assert_eq!(again.status.code(), Some(1), "{said}");
    assert!(error(&said).is_some() && error(&said) == error(&stderr(&again)), "{said}");
}

#[test]
fn virtual_numa_is_what_a_numa_aware_lock_goes_by() {
    let line = "bench --lock cna --vcpus 4 --secs 0.005 --start-state everybody-running";
    let set_aside = |more: &str| {
        let document = on_small_host(&format!("{line} {more}"));
        results(&document)[0]["events"]["cna_set_aside"].as_u64().unwrap_or(0)
    };
    assert_eq!(set_aside(""), 0, "a guest without nodes");
    assert_eq!(set_aside("--virtual-numa"), 0, "off by default in a guest");
    assert!(set_aside("--virtual-numa --numa-spinlock on") > 0);
}

#[test]
fn a_machine_without_a_scheduler_has_no_guests() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let text = include_str!("../../../../machines/haswell-2s.toml");
    let bare = text.split("[scheduler.").next().expect("the rest of the file");
    std::fs::write(directory.path().join("bare.toml"), bare).expect("written");
    let bench = |options: &str| {
        lockwright_in(directory.path(), &format!("bench --on ./bare.toml --lock unfair {options}"))
    };
    for options in ["--vcpus 2", "--threads 37"] {
        let output = bench(options);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("scheduler"), "{}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1);
    }
    assert!(bench("--threads 2 --runs 1 --secs 0.0001").status.success());
}

#[test]
fn a_lock_whose_waiters_sleep_says_in_which_mode_it_was_taken() {
    let document =
        on_small_host("bench --lock park,park-steal,hybrid,unfair --vcpus 12 --secs 0.005");
    for row in results(&document) {
        let shares = &row["mode_shares"];
        let (queued, unfair) = (shares["queued"].as_f64(), shares["unfair"].as_f64());
        match row["lock"].as_str() {
            Some("park") => assert_eq!((queued, unfair), (Some(1.0), Some(0.0)), "{row}"),
            Some("park-steal" | "hybrid") => {
                let events = |name: &str| row["events"][name].as_f64().unwrap_or(0.0);
                let (slow, stolen) = (events("lock_slowpath"), events("pv_lock_stealing"));
                assert!(stolen > 0.0, "{row}");
                let share = unfair.expect("a vCPU had to wait");
                assert!((share - stolen / (slow + stolen)).abs() < 1e-9, "{row}");
            }
            _ => assert!(shares.is_null(), "{row}"),
        }
    }
    let slept = |row: &Value| row["voluntary_switches"].as_u64() > Some(0);
    assert!(slept(&results(&document)[3]) && !slept(&results(&document)[11]));
}

#[test]
fn locks_whose_waiters_sleep_pass_a_torture_with_four_vcpus_for_each_cpu() {
    let locks = "park,park-steal,hybrid,hybrid-bounded,cna-park,cna-hybrid,cna-hybrid-bounded";
    let line =
        format!("torture --lock {locks} --vcpus 16 --virtual-numa --numa-spinlock on --secs 0.02");
    let document = on_small_host(&line);
    assert_eq!(results(&document).len(), 21);
    for row in results(&document) {
        assert_eq!(row["verdict"], "SUCCESS", "{row}");
        assert!(row["total"].as_u64() > Some(16), "{row}");
    }
}
