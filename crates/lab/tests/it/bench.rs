//! `bench` natively: quick runs, and the shape of what comes out.

use super::{files_in, has_fields, json, lockwright, lockwright_in, stderr, stdout};

#[test]
fn the_document_has_the_fields_of_the_schema() {
    let document = json(
        "bench --workload counter --lock qspinlock,std --threads 1,2 --secs 0.05 --runs 2 --json -",
    );
    assert_eq!(document["schema"], "lockwright.bench/1");
    assert_eq!(document["on"]["kind"], "native");
    has_fields(&document["on"], &["machine"]);
    assert_eq!(document["workload"]["name"], "counter");
    assert_eq!(document["workload"]["cs_load"], 1);
    let results = document["results"].as_array().expect("results");
    assert_eq!(results.len(), 4);
    for result in results {
        has_fields(
            result,
            &[
                "lock",
                "threads",
                "runs",
                "ops_per_s",
                "per_thread_ops",
                "wait_ns",
                "cpu_s",
                "voluntary_switches",
                "involuntary_switches",
                "events",
                "readers",
                "writers",
            ],
        );
        has_fields(&result["ops_per_s"], &["median", "mean", "stddev", "min", "max"]);
        has_fields(&result["per_thread_ops"], &["min", "avg", "max"]);
        has_fields(&result["wait_ns"], &["p50", "p99", "p999", "max"]);
        assert!(result["ops_per_s"]["median"].as_f64() > Some(0.0), "{result}");
        assert_eq!(result["runs"], 2);
    }
}

#[test]
fn readers_of_a_counter_are_told_apart_and_those_that_take_nothing_fail() {
    let bench = "bench --lock std --threads 2 --secs 0.05 --runs 1 --json -";
    let document = json(&format!("{bench} --read-percent 50"));
    let workload = &document["workload"];
    assert_eq!(
        (&workload["read_percent"], &workload["reader_order"]),
        (&50.into(), &"alternate".into())
    );
    let result = &document["results"][0];
    assert_eq!((&result["readers"], &result["writers"]), (&2.into(), &2.into()));
    let longest = |kind: &str| result[kind]["max"].as_u64().expect("they waited");
    let both = longest("reader_wait_ns").max(longest("writer_wait_ns"));
    assert_eq!(longest("wait_ns"), both);

    let threads = |readers: u32| {
        let result = json(&format!("{bench} --read-percent {readers}"))["results"][0].clone();
        (result["readers"].as_u64(), result["writers"].as_u64())
    };
    assert_eq!(threads(0), (Some(0), Some(2)));
    assert_eq!(threads(100), (Some(2), Some(0)));

    // Long sections, so that a reader on a busy computer is sure to meet a writer.
    let busted = "bench --lock busted-rw --threads 2 --secs 0.2 --runs 1 --cs-load 1000";
    let output = lockwright(&format!("{busted} --read-percent 50"));
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("does not exclude"), "{}", stderr(&output));
    assert!(lockwright(busted).status.success(), "its writers exclude each other");
}

#[test]
fn a_build_ends_when_its_work_is_done() {
    let line = "bench --workload kbuild --lock std,ticket --threads 1,2 --units 20 --unit-ops 100 \
                --runs 2 --json -";
    let document = json(line);
    assert_eq!(document["workload"]["name"], "kbuild");
    assert_eq!(document["workload"]["unit_ops"], 100);
    for result in document["results"].as_array().expect("results") {
        let wall_s = result["wall_s"]["median"].as_f64().expect("it is done");
        // How long the work takes is up to the computer and to who else uses it.
        assert!(wall_s > 0.0 && wall_s < 10.0, "{result}");
        let threads = result["threads"].as_u64().expect("a number");
        assert_eq!(result["per_thread_ops"]["avg"].as_u64(), Some(2_000 / threads), "{result}");
        assert_eq!(result["secs"], result["wall_s"]["mean"]);
    }
    let line = "bench --workload kbuild --lock std --threads 1 --secs 0.1 --runs 1 --json -";
    let result = json(line)["results"][0].clone();
    assert!(result["wall_s"].is_null() && result["ops_per_s"]["median"].as_f64() > Some(0.0));
}

#[test]
fn a_build_sees_a_lock_that_takes_nothing() {
    let line = "bench --workload kbuild --lock busted --threads 2 --lock-count 1 --compute-ns 100 \
                --section-ns 1000000 --units 100 --unit-ops 2 --runs 1";
    let output = lockwright(line);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("does not exclude"), "{}", stderr(&output));
}

#[test]
fn the_schema_comes_first() {
    let line = "bench --lock ticket --threads 1 --secs 0.02 --runs 1 --quiet --json -";
    let text = stdout(&lockwright(line));
    let first = text.lines().nth(1).expect("a second line").trim();
    assert_eq!(first, "\"schema\": \"lockwright.bench/1\",");
}

#[test]
fn an_uncontended_pair_is_compared_with_the_fastest_floor_in_the_same_repetition() {
    let document = json(
        "bench --workload uncontended --lock floor,qspinlock,pthread-spin --secs 0.02 --runs 3 --json -",
    );
    let results = document["results"].as_array().expect("results");
    let names: Vec<_> = results.iter().map(|result| result["lock"].clone()).collect();
    assert_eq!(names, ["floor-8", "floor-16", "floor-32", "qspinlock", "pthread-spin"]);
    for result in results {
        let ratios = result["ratio_to_floor"]["per_repetition"].as_array().expect("ratios");
        assert_eq!(ratios.len(), 3);
        has_fields(&result["ratio_to_floor"], &["median", "min", "max"]);
        assert!(result["pair_ns"]["median"].as_f64() > Some(0.0), "{result}");
    }
    let is_floor = |result: &&serde_json::Value| result["ratio_to_floor"]["max"] == 1.0;
    let fastest: Vec<_> = results.iter().filter(is_floor).collect();
    assert!(fastest.iter().any(|one| one["ratio_to_floor"]["min"] == 1.0), "{results:?}");
}

#[test]
fn an_alias_is_the_lock_itself() {
    let document = json("bench --lock fifo,qspinlock --threads 1 --secs 0.02 --runs 1 --json -");
    assert_eq!(document["results"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["results"][0]["lock"], "qspinlock");
}

#[test]
fn a_command_writes_every_format_at_once_and_nothing_else() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = "bench --lock unfair --threads 1,2 --secs 0.02 --runs 2 \
                --json out.json --csv out.csv --plot out.svg";
    let output = lockwright_in(directory.path(), line);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut files = files_in(directory.path());
    files.sort();
    assert_eq!(files, ["out.csv", "out.json", "out.svg"]);
    let read = |name| std::fs::read_to_string(directory.path().join(name)).expect("readable");
    assert_eq!(read("out.csv").lines().count(), 3);
    assert!(read("out.svg").starts_with("<svg"));
    assert!(read("out.json").contains("lockwright.bench/1"));
    assert!(stdout(&output).contains("Mops/s"), "people get a table with units");
}

#[test]
fn a_lock_that_takes_nothing_makes_a_benchmark_fail() {
    let output = lockwright("bench --lock busted --threads 2 --secs 0.3 --runs 1");
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("does not exclude"), "{}", stderr(&output));
}

#[test]
fn quiet_means_quiet() {
    let output = lockwright("bench --lock unfair --threads 1 --secs 0.02 --runs 1 --quiet");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", stderr(&output));
}

/// A fifth of a second for each lock, short sections.
const STARVE: &str =
    "bench --workload starve --threads 4 --section-ns 200us --secs 0.2 --runs 1 --quiet";

#[test]
fn a_starved_thread_has_its_row_for_each_lock_with_the_sections_and_the_difference() {
    let locks = "rwlock,rwlock-fair,percpu-rwlock,mutex,fair-mutex,semaphore,std,std-rwlock,parking_lot,parking_lot-rwlock";
    let document = json(&format!("{STARVE} --lock {locks} --json -"));
    assert_eq!(document["workload"]["role"], "writer");
    let results = document["results"].as_array().expect("results");
    assert_eq!(results.len(), locks.split(',').count());
    for result in results {
        let starving = &result["starving"];
        has_fields(starving, &["waits", "p50_ns", "longest", "farthest", "window_longest_ns"]);
        let wait = &starving["longest"];
        let of = |key: &str| wait[key].as_u64().expect("nanoseconds");
        assert!(of("wait_ns") > 0, "{result}");
        assert_eq!(of("difference_ns"), of("wait_ns").saturating_sub(of("sections_ns")));
        let shares = result["lock"].as_str().is_some_and(|name| name.contains("rwlock"));
        assert_eq!(result["reader_wait_ns"].is_object(), shares, "{result}");
        assert_eq!(result["readers"], 3);
    }
    let text = stdout(&lockwright(&format!("{STARVE} --lock {locks}")));
    for words in ["sections", "difference", "overtaken", "tenth", "p99.9"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    assert!(locks.split(',').all(|name| text.lines().any(|line| line.starts_with(name))), "{text}");
}

#[test]
fn each_role_waits_with_the_locks_that_have_it_also_in_a_forked_child() {
    for (more, role) in [
        ("--role upgrader --lock rwlock,rwlock-fair,parking_lot-rwlock --forked", "upgrader"),
        ("--role reader --lock rwlock,std-rwlock --section spin", "reader"),
        ("--role owner --lock mutex,std-rwlock --section compute --priority nice", "writer"),
        // Not std: its owners may overtake the thread for as long as the run lasts.
        ("--role notified --lock mutex,parking_lot --waiter-priority nice:5", "notified"),
    ] {
        let document = json(&format!("{STARVE} {more} --json -"));
        for result in document["results"].as_array().expect("results") {
            assert!(result["starving"]["waits"].as_u64() > Some(0), "{more}: {result}");
            let waits = match role {
                "writer" => &result["wait_ns"],
                role => &result[format!("{role}_wait_ns")],
            };
            has_fields(waits, &["p999", "max"]);
        }
    }
}

#[test]
fn more_threads_than_cpus_are_warned_about() {
    let cpus = std::thread::available_parallelism().expect("a number of CPUs").get();
    let threads = cpus + 1;
    let line = format!("bench --lock unfair,all --threads {threads} --secs 0.01 --runs 1");
    let text = stdout(&lockwright(&line));
    let (_, warnings) = text.split_once("\n\nwarning: ").expect("they come below the table");
    assert!(warnings.contains("left out") && warnings.contains("ticket"), "{text}");
}

#[test]
fn a_fair_spinlock_that_is_oversubscribed_is_measured_all_the_same_if_it_is_named() {
    let line = "bench --lock fifo,hybrid-bounded --threads 8 --secs 0.05 --runs 1 --json out.json";
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = lockwright_in(directory.path(), line);
    let said = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(output.status.success(), "{}", stderr(&output));
    let is_oversubscribed = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 8);
    assert_eq!(
        said.contains("these locks are very slow: qspinlock; "),
        is_oversubscribed,
        "{said}"
    );
    let document = std::fs::read(directory.path().join("out.json")).expect("written");
    let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    let has_warning = document["warnings"].as_array().is_some_and(|all| {
        all.iter().any(|one| one.as_str().is_some_and(|one| one.contains("slow: qspinlock;")))
    });
    assert_eq!(has_warning, is_oversubscribed, "{document}");
}
