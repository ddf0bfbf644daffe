//! `compare`: the shape of what comes out. What it means is tested where it is computed.

use super::{files_in, has_fields, json, lockwright, lockwright_in, stderr, stdout};
use lockwright_sheets::digits;
use std::path::Path;

/// Two cells with two threads at most, two peers, and no time.
const TINY: &str = "compare --cell pair,cs1-t2 --peer std,parking_lot --runs 2 --secs 0.02 --quiet";

#[test]
fn the_document_has_the_fields_of_the_schema() {
    let document = json(&format!("{TINY} --json -"));
    assert_eq!(document["schema"], "lockwright.compare/1");
    assert_eq!((&document["ours"], &document["on"]["kind"]), (&"mutex".into(), &"native".into()));
    has_fields(&document["on"], &["machine", "cpus", "kernel"]);
    has_fields(&document, &["foreign_load_percent", "usual_peers", "exclusive", "rw"]);
    has_fields(&document["exclusive"], &["geometric_mean", "worst"]);
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2);
    for cell in cells {
        has_fields(cell, &["workload", "kind", "threads", "ours", "best_peer", "ratio"]);
        let locks = cell["locks"].as_object().expect("locks by name");
        for name in ["mutex", "std", "parking_lot", "parking_lot-0.12", "parking_lot-0.13"] {
            let lock = locks.get(name).unwrap_or_else(|| panic!("no {name} in {cell}"));
            let fields =
                ["ops_per_s", "pair_ns", "cpu_s", "min_max", "wait_p999_ns", "wait_max_ns"];
            has_fields(lock, &fields);
            assert!(lock["ops_per_s"].as_f64() > Some(0.0), "{lock}");
        }
        let best = cell["best_peer"].as_str().expect("there are peers");
        assert!(
            best != "mutex" && !best.starts_with("floor") && locks.contains_key(best),
            "{best}"
        );
        assert!(cell["ratio"].as_f64() > Some(0.0));
        assert_eq!(cell["ratio_ci95"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn pairs_have_a_time_and_a_floor_and_contended_cells_have_waits() {
    let document = json(&format!("{TINY} --json -"));
    let (pair, counter) = (&document["cells"][0], &document["cells"][1]);
    assert_eq!((&pair["kind"], &pair["workload"]["name"]), (&"pair".into(), &"uncontended".into()));
    let floor = pair["floor"].as_str().expect("the fastest one");
    assert!(["floor-8", "floor-16", "floor-32"].contains(&floor), "{floor}");
    assert_eq!(pair["locks"]["floor"], pair["locks"][floor]);
    for name in ["floor-8", "floor-16", "floor-32"] {
        assert!(pair["locks"][name]["pair_ns"].as_f64() > Some(0.0), "{name}");
    }
    assert!(pair["locks"]["mutex"]["wait_max_ns"].is_null());
    assert_eq!(counter["kind"], "exclusive");
    assert_eq!((&counter["workload"]["cs_load"], &counter["threads"]), (&1.into(), &2.into()));
    assert!(counter["locks"]["mutex"]["wait_max_ns"].as_u64() > Some(0));
    assert!(counter["floor"].is_null() && counter["locks"]["floor"].is_null());
    assert!(counter["locks"]["std"]["pair_ns"].is_null());
}

#[test]
fn people_get_a_table_and_files_are_complete() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = "compare --cell cs1-t2 --peer std --runs 2 --secs 0.1 --json out.json --csv out.csv";
    let output = lockwright_in(directory.path(), line);
    assert!(output.status.success(), "{}", stderr(&output));
    for words in ["best peer", "geometric mean"] {
        assert!(stdout(&output).contains(words), "no `{words}` in {}", stdout(&output));
    }
    says_what_else_decides(&stdout(&output), &directory.path().join("out.json"));
    let said = stderr(&output);
    assert!(
        said.contains("mutex against std in 1 cell") && said.contains("cs1-t2: mutex "),
        "{said}"
    );
    let mut files = files_in(directory.path());
    files.sort();
    assert_eq!(files, ["out.csv", "out.json"]);
    let csv = std::fs::read_to_string(directory.path().join("out.csv")).expect("it was written");
    assert_eq!(csv.lines().count(), 3, "a header, ours and a peer: {csv}");
}

/// The table has the CPU time of an operation and the spread of the repetitions, and the head of the report what other
/// processes used, as the document has them.
fn says_what_else_decides(text: &str, document: &Path) {
    let document = std::fs::read_to_string(document).expect("it was written");
    let document: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
    let cell = &document["cells"][0];
    let spread = |lock: &str| {
        let lock = &cell["locks"][lock];
        let median = lock["ops_per_s"].as_f64().expect("a rate");
        let rates = lock["per_repetition"].as_array().expect("rates").iter();
        let mut parts: Vec<f64> = rates.filter_map(|rate| Some(rate.as_f64()? / median)).collect();
        parts.sort_by(f64::total_cmp);
        format!("[{}, {}]", digits(parts[0]), digits(parts[parts.len() - 1]))
    };
    let cpu = digits(cell["cpu_per_op_ratio"].as_f64().expect("CPU time is known"));
    let load = document["foreign_load_percent"].as_f64().expect("it ran for long enough");
    let load = format!("of which other processes used {load:.1} %");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [spread("mutex"), spread("std"), cpu, "CPU/op".into(), "spread".into(), load] {
        assert!(text.contains(&words), "no `{words}` in {text}");
    }
}

#[test]
fn a_run_without_membarrier_says_so() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .args("compare --cell pair --peer parking_lot --runs 2 --secs 0.01 --quiet".split(' '))
        .env("LOCKWRIGHT_MEMBARRIER", "off")
        .output()
        .expect("the binary starts");
    let text = stdout(&output);
    assert!(text.contains("without membarrier"), "{text}");
}

#[test]
fn another_lock_of_ours_can_be_compared() {
    let output = lockwright(
        "compare --ours hybrid-lock --cell cs1-t2 --peer std --runs 2 --secs 0.01 --quiet",
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("cna-hybrid-bounded against"), "{}", stdout(&output));
}

#[test]
fn cells_with_readers_have_the_better_of_our_locks_and_the_numbers_of_all() {
    let document = json(
        "compare --ours rwsem-current,rwsem-v5_10 --peer std,parking_lot --runs 2 --secs 0.01 --quiet \
         --cell r90-cs1-t2,r90-cs20-t2,read-pair-* --json -",
    );
    assert_eq!(document["ours_rw"], serde_json::json!(["rwsem-current", "rwsem-v5_10"]));
    has_fields(&document["rw"], &["geometric_mean", "worst"]);
    assert!(document["exclusive"].is_null());
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 4);
    let of_rw: Vec<_> = cells.iter().filter(|cell| cell["kind"] == "rw").collect();
    assert_eq!(of_rw.len(), 2);
    assert_eq!(of_rw[0]["ours"], of_rw[1]["ours"], "they are of one reader share");
    for cell in cells {
        let locks = cell["locks"].as_object().expect("locks by name");
        for name in ["rwsem-current", "rwsem-v5_10", "std-rwlock", "parking_lot-rwlock"] {
            assert!(locks.get(name).is_some_and(|lock| lock["ops_per_s"].as_f64() > Some(0.0)));
        }
        assert!(locks.get("std").is_none() && locks.get("floor").is_none(), "{cell}");
        assert!(cell["ratio"].as_f64() > Some(0.0));
    }
    assert_eq!(
        (&of_rw[0]["workload"]["read_percent"], &of_rw[0]["threads"]),
        (&90.into(), &2.into())
    );
}

#[test]
fn a_read_pair_is_the_time_of_each_thread() {
    let document = json(
        "compare --kind pair --cell read-pair-t2 --peer std --runs 2 --secs 0.02 --quiet --json -",
    );
    let cell = &document["cells"][0];
    assert_eq!((&cell["kind"], &cell["threads"]), (&"pair".into(), &2.into()));
    let lock = &cell["locks"]["std-rwlock"];
    let (ops_per_s, pair_ns) = (lock["ops_per_s"].as_f64(), lock["pair_ns"].as_f64());
    let product = ops_per_s.expect("a rate") * pair_ns.expect("a time");
    assert!((product / 2e9 - 1.0).abs() < 1e-6, "{lock}");
}

#[test]
fn cells_of_real_use_have_cpu_time_switches_a_bound_and_waits() {
    let line = "compare --cell q1/1/1-one,cs50us-x1-t8,rwmap-w10-t2,timed-t8 --runs 2 \
                --secs 0.02 --quiet --json -";
    let document = json(line);
    assert_eq!(document["real_use_runs"], 2);
    has_fields(&document, &["queue", "blocking", "work"]);
    assert!(document["busy"].is_null() && document["exclusive"].is_null());
    let cells = document["cells"].as_array().expect("cells");
    let names: Vec<&str> = cells.iter().filter_map(|cell| cell["name"].as_str()).collect();
    assert_eq!(names, ["q1/1/1-one", "cs50us-x1-t8", "rwmap-w10-t2", "timed-t8"]);
    for cell in cells {
        has_fields(cell, &["ratio", "cpu_per_op_ratio", "best_peer"]);
        let is_queue = cell["kind"] == "queue";
        let lock = &cell["locks"][cell["ours"].as_str().expect("ours")];
        assert!(lock["cpu_ns_per_op"].as_f64() > Some(0.0), "{lock}");
        assert!(lock["voluntary_switches_per_op"].as_f64() >= Some(0.0), "{lock}");
        assert_eq!(lock["condvar_waits_per_op"].is_number(), is_queue, "{lock}");
        assert_eq!(lock["futile_wakeups_per_op"].is_number(), is_queue, "{lock}");
        let has_bound = ["cs50us-x1-t8", "timed-t8"].contains(&cell["name"].as_str().unwrap_or(""));
        assert_eq!(cell["bound_ops_per_s"].is_number(), has_bound, "{cell}");
    }
    assert!(cells[3]["locks"]["std"].is_null(), "it has no attempts with a deadline");
}

#[test]
fn a_cell_with_neighbours_says_so_and_is_chosen_by_an_option() {
    let line =
        "compare --cell cs5us-x4-t2* --neighbours with --peer std --runs 2 --secs 0.02 --quiet";
    let document = json(&format!("{line} --json -"));
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 1);
    assert_eq!(
        (&cells[0]["name"], &cells[0]["has_neighbours"]),
        (&"cs5us-x4-t2+busy".into(), &true.into())
    );
    has_fields(&document["busy"], &["geometric_mean", "cpu_per_op"]);
}

#[test]
fn rwlock_has_a_section_of_its_own_also_where_readers_sleep() {
    let line = "compare --only rwlock --cell r90-cs1-t2,sleep20us-w50-t8,sleep20us-w50-t8-both-random+busy \
                --runs 2 --secs 0.02 --quiet";
    let document = json(&format!("{line} --json -"));
    let section = &document["rwlock"];
    assert_eq!(section["lock"], "rwlock");
    let names = |of: &serde_json::Value| -> Vec<String> {
        let cells = of["cells"].as_array().expect("cells").iter();
        cells.filter_map(|cell| Some(cell["name"].as_str()?.into())).collect()
    };
    assert_eq!(names(section), names(&document));
    assert_eq!(names(section).len(), 3);
    for cell in section["cells"].as_array().expect("cells") {
        has_fields(cell, &["best_peer", "ratio", "ratio_ci95", "cpu_per_op_ratio"]);
        assert!(cell["best_peer"].as_str().is_some_and(|best| best.contains("rwlock")), "{cell}");
    }
    let groups = section["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 3, "{groups:?}");
    let is_counted = |group: &serde_json::Value| group["cells"] == 1;
    assert!(groups.iter().all(is_counted) && document["busy"].is_null());
    let text = stdout(&lockwright(line));
    for words in
        ["rwlock against reader-writer locks", "wholly below 0.95", "readers and writers sleep"]
    {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
}

#[test]
fn simulated_numbers_repeat_with_the_seed_and_are_called_simulated() {
    let line = "compare --on x5-4 --set cpus=2,pause=45 --cell cs1-t2,cs1-t4,q1/1/1-one,churn-t4 \
                --runs 2 --secs 0.001 --quiet";
    let (first, second) = (stdout(&lockwright(line)), stdout(&lockwright(line)));
    assert_eq!(first, second);
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["simulated x5-4 with cpus=2 pause=45, 2 CPUs", "All numbers are simulated", ": churn-t4"]
    {
        assert!(first.contains(words), "no `{words}` in {first}");
    }
    let csv = stdout(&lockwright(&format!("{line} --csv -")));
    assert!(csv.lines().skip(1).all(|row| row.starts_with("simulated,x5-4 with cpus=2")), "{csv}");
    let document = json(&format!("{line} --json -"));
    assert_eq!(document["on"]["kind"], "simulated");
    let cells = document["cells"].as_array().expect("cells");
    let names: Vec<&str> = cells.iter().filter_map(|cell| cell["name"].as_str()).collect();
    assert_eq!(names, ["cs1-t2", "cs1-t4", "q1/1/1-one"]);
    for cell in cells {
        let lock = &cell["locks"]["mutex"];
        let shares_cpus = cell["threads"].as_u64() > Some(2);
        assert!(cell["ratio"].as_f64() > Some(0.0) && lock["ops_per_s"].is_number(), "{cell}");
        assert_eq!(lock["cpu_s"].is_number(), shares_cpus, "{lock}");
        assert_eq!(lock["voluntary_switches_per_op"].is_number(), shares_cpus, "{lock}");
    }
    assert!(cells[0]["locks"]["kernel-mutex"].is_object());
    assert!(cells[2]["locks"]["kernel-mutex"].is_null(), "it has no condition variable");
}
