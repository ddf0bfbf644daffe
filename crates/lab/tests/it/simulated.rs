//! The same commands on a simulated machine.

use super::{
    has_fields, json, lockwright, lockwright_in, one_seed_decides_every_byte, stderr, stdout,
};

const BENCH: &str = "bench --on x5-4 --workload locktorture --lock fifo,cna,cna-v15 \
                     --threads 1,8,142 --runs 2 --secs 0.001 --json -";

#[test]
fn one_seed_gives_identical_bytes_from_two_processes() {
    one_seed_decides_every_byte(BENCH);
}

#[test]
fn speed_is_told_on_standard_error_only() {
    let line = BENCH.replace("1,8,142", "142");
    let (plain, timed) = (lockwright(&line), lockwright(&format!("{line} --speed")));
    assert!(stderr(&timed).contains("simulated lock operations per wall second"));
    assert!(!stderr(&plain).contains("wall second"));
    assert!(plain.stdout == timed.stdout, "--speed changes the document");
}

#[test]
fn the_document_has_the_fields_of_the_schema() {
    let document = json(BENCH);
    assert_eq!(document["schema"], "lockwright.bench/1");
    assert_eq!(document["on"]["kind"], "simulated");
    assert_eq!(document["on"]["machine"], "x5-4");
    let results = document["results"].as_array().expect("results");
    assert_eq!(results.len(), 9);
    for result in results {
        has_fields(
            result,
            &["lock", "threads", "ops_per_s", "per_thread_ops", "wait_ns", "events"],
        );
        assert!(result["ops_per_s"]["median"].as_f64() > Some(0.0), "{result}");
    }
    let oversubscribed = results.iter().find(|r| r["lock"] == "cna" && r["threads"] == 142);
    assert!(oversubscribed.expect("a result")["events"]["lock_slowpath"].as_u64() > Some(0));
}

#[test]
fn people_are_told_that_it_is_a_simulation() {
    let text = stdout(&lockwright("bench --on x5-4 --lock mcs --threads 2 --runs 1"));
    assert!(text.lines().next().is_some_and(|line| line.contains("simulated x5-4")), "{text}");
    let text = stdout(&lockwright("torture --on x5-4 --lock mcs --secs 0.001"));
    assert!(text.lines().all(|l| l.starts_with("Writes:") || l.contains("simulated")), "{text}");
}

#[test]
fn readers_reach_the_simulation_and_those_that_take_nothing_fail() {
    one_seed_decides_every_byte(
        "bench --on x5-4 --lock cna --threads 8 --runs 2 --secs 0.001 --read-percent 50 --reader-order \
         random --json -",
    );
    let bench = "bench --on x5-4 --threads 4 --runs 1 --secs 0.001 --cs-load 20 --think-load 60";
    let busted = format!("{bench} --lock busted-rw");
    let mixed = lockwright(&format!("{busted} --read-percent 50"));
    assert_eq!(mixed.status.code(), Some(1), "{}", stdout(&mixed));
    let said = stderr(&mixed);
    assert!(said.contains("does not exclude") && said.contains(" --read-percent 50 "), "{said}");
    assert!(said.contains(" --empty-section on"), "as in the published benchmark: {said}");
    assert_eq!(lockwright(&replay_of(&said)).status.code(), Some(1));
    let rate = |more: &str| {
        let document = json(&format!("{busted} {more} --json -"));
        document["results"][0]["ops_per_s"]["median"].as_f64().expect("a rate")
    };
    // Readers that take no lock wait for no other thread.
    assert!(rate("--read-percent 100") > 2.0 * rate("--read-percent 0"));
    let text = stdout(&lockwright(&format!("{bench} --lock cna --read-percent 25")));
    assert!(text.contains("--read-percent 25") && text.contains(" write"), "{text}");
}

#[test]
fn loads_are_run_in_turn_and_told_apart() {
    let bench = "bench --on x5-4 --lock cna,mcs --threads 2,8 --runs 1 --secs 0.0005";
    let of = |more: &str| json(&format!("{bench} {more} --json -"))["results"].clone();
    let both = of("--cs-load 20,1");
    let apart: Vec<_> = ["--cs-load 20", "--cs-load 1"]
        .iter()
        .flat_map(|load| of(load).as_array().expect("results").clone())
        .collect();
    let mut of_both = both.as_array().expect("results").clone();
    let loads: Vec<_> =
        of_both.iter().map(|result| result["parameters"]["cs_load"].as_u64()).collect();
    assert_eq!(loads, [20, 20, 20, 20, 1, 1, 1, 1].map(Some));
    for result in of_both.iter_mut().filter_map(|result| result.as_object_mut()) {
        result.remove("parameters");
    }
    assert_eq!(of_both, apart);
    let text = stdout(&lockwright(&format!("{bench} --cs-load 20,1")));
    assert!(text.contains("(--cs-load 20,1)") && text.contains("cs load"), "{text}");
}

#[test]
fn knobs_and_tunables_reach_the_simulation() {
    let line = "bench --on x5-4 --lock cna --threads 36 --runs 1 --secs 0.001 --json -";
    let of = |more: &str| json(&format!("{line} {more}"))["results"].clone();
    let usual = of("");
    for more in ["--cs-load 50", "--think-load 200", "--numa-spinlock off", "--placement spread"] {
        assert_ne!(usual, of(more), "{more} makes no difference");
    }
}

#[test]
fn a_window_below_the_threshold_of_a_lock_says_what_to_type_to_see_its_fairness() {
    let bench =
        "bench --on x5-4 --lock cna,mcs,mutex --threads 36 --placement spread --runs 1 --json -";
    let of = |more: &str| {
        let results = json(&format!("{bench} {more}"))["results"].clone();
        [0, 1, 2].map(|lock| results[lock]["fairness"].as_str().unwrap_or_default().to_string())
    };
    let [cna, mcs, mutex] = of("--secs 0.001");
    assert!(cna.starts_with("1 ms is too short to show the fairness of cna, "), "{cna}");
    assert!(cna.contains("65536 handoffs") && cna.contains("4 nodes take turns"), "{cna}");
    assert!(mutex.contains("a waiter be overtaken for 4 ms: give --secs 0.008"), "{mutex}");
    assert_eq!(mcs, "", "it keeps the order all the time");
    let [cna, ..] = of("--secs 0.001 --numa-spinlock-threshold 12");
    let (_, secs) = cna.split_once("4096 handoffs, about ").expect("the tunable decides");
    let (_, secs) = secs.split_once("give --secs ").expect("what to type");
    let [cna, ..] = of(&format!("--secs {secs} --numa-spinlock-threshold 12"));
    assert_eq!(cna, "", "--secs {secs} was enough");
    let [cna, ..] = of("--secs 0.001 --numa-spinlock off");
    assert_eq!(cna, "", "no waiter is set aside");
}

/// The command after `replay: lockwright`, which must be there once.
pub fn replay_of(said: &str) -> String {
    let mut lines = said.lines().filter_map(|line| line.strip_prefix("replay: lockwright "));
    let line = lines.next().unwrap_or_else(|| panic!("no `replay:` in {said}"));
    assert_eq!(lines.next(), None, "{said}");
    line.into()
}

#[test]
fn a_bench_that_fails_prints_the_command_that_fails_in_the_same_way() {
    let error = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("error: "));
        line.unwrap_or_else(|| panic!("no error in {said}")).to_string()
    };
    let line = "bench --on x5-4 --workload locktorture --lock ticket,busted --threads 1,8 \
                --runs 2 --secs 0.001 --seed 4";
    let first = lockwright(line);
    let said = stderr(&first);
    let again = lockwright(&replay_of(&said));
    assert_eq!((first.status.code(), again.status.code()), (Some(1), Some(1)), "{said}");
    assert_eq!(error(&said), error(&stderr(&again)));
}

#[test]
fn threads_and_locks_that_the_machine_does_not_have_are_refused() {
    for (line, reason) in [
        ("bench --on x5-4 --lock std", "std"),
        ("torture --on x5-4 --lock floor", "floor"),
        ("torture --on x5-4 --threads 0", "--threads"),
    ] {
        let output = lockwright(line);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "`{line}` said: {said}");
        assert!(said.contains(reason) && said.lines().count() <= 2, "`{line}` said: {said}");
    }
}

#[test]
fn a_machine_file_is_read_and_a_broken_one_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let good = include_str!("../../../../machines/x5-4.toml");
    let write = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).expect("written");
    };
    write("good.toml", good);
    write("broken.toml", &good.replace("transfer_local", "transfer_locale"));
    write("nonsense.toml", "this is no machine");
    let bench = |on: &str| {
        lockwright_in(directory.path(), &format!("bench --on {on} --lock mcs --threads 2 --runs 1"))
    };
    let output = bench("good.toml");
    assert!(output.status.success(), "{}", stderr(&output));
    for on in ["broken.toml", "nonsense.toml", "missing.toml", "./missing"] {
        let output = bench(on);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{on}: {said}");
        assert!(said.lines().count() <= 2 && said.contains(on.trim_start_matches("./")), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_document_names_the_placement_of_its_workload_and_what_was_fitted_for_it() {
    let on = |line: &str| {
        json(&format!("{line} --on x5-4 --lock mcs --secs 0.001 --json -"))["on"].clone()
    };
    let torture = on("torture");
    assert_eq!(torture["placement"], "scheduler-5.6");
    let fields = ["fitted_on", "residual_percent", "parameters", "hash"];
    has_fields(&torture["calibration"], &fields);
    assert!(torture["calibration"]["parameters"]["locktorture.inside_ns"].is_number());

    let counter = on("bench --threads 2 --runs 1");
    assert_eq!(counter["placement"], "compact");
    has_fields(&counter["calibration"], &fields);
    assert!(counter["calibration"]["parameters"]["locktorture.inside_ns"].is_null());

    let directory = tempfile::tempdir().expect("a temporary directory");
    let text = include_str!("../../../../machines/x5-4.toml");
    let text = text.replace("ns = 7.0", "ns = 8.0");
    std::fs::write(directory.path().join("bare.toml"), text).expect("written");
    let line = "torture --on bare.toml --lock mcs --secs 0.001 --json -";
    let output = lockwright_in(directory.path(), line);
    let bare: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(bare["on"]["placement"], "compact");
    assert!(bare["on"]["calibration"].is_null(), "{bare}");
}

#[test]
fn a_file_that_is_named_like_a_machine_is_asked_for_by_its_path() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::create_dir(directory.path().join("machines")).expect("made");
    let refused = |path: &str| {
        std::fs::write(directory.path().join(path), "").expect("written");
        let output = lockwright_in(directory.path(), "bench --on mine");
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(said.contains(&format!("`--on {path}`")) && said.lines().count() == 1, "{said}");
    };
    refused("machines/mine.toml");
    refused("mine.toml");
}
