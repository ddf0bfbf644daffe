//! A sweep: its parts, what is left after a kill or a full disk, and what comes out in the end.

use super::{files_in, lockwright_in, stderr, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const QUESTION: &str = r#"
asks = "Does it pay?"
samples = 4
seeds = 2
[machine]
name = "x5-4"
set.transfer_remote = { from = 60, to = 300 }
[lock]
name = ["qspinlock", "cna"]
[workload]
name = "counter"
[run]
threads = [2, 8, 36]
window_us = 400
"#;
/// A question with a list of machines, and with locks with and without a tunable.
const LINES: &str = r#"
asks = "How much?"
seeds = 2
[machine]
name = "x5-4"
set.sockets = [2, 4]
[[lock]]
name = "qspinlock"
set.numa_spinlock = 1
[[lock]]
name = "cna"
set.numa_spinlock = 1
[[lock]]
name = "cna"
set.numa_spinlock = 1
set.numa_spinlock_threshold = [2, 16]
[workload]
name = "counter"
[run]
threads = [2, 8]
window_us = 400
"#;
const TRIALS: usize = 4 * 2 * 2 * 3;

/// A folder with the question.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("q.toml"), QUESTION).expect("writable");
    folder
}

fn succeeds(folder: &Path, line: &str) -> String {
    let output = lockwright_in(folder, line);
    assert!(output.status.success(), "`{line}`: {}", stderr(&output));
    stdout(&output)
}

/// What one process that nobody disturbs makes of it.
fn undisturbed() -> String {
    let folder = folder();
    let told = succeeds(folder.path(), "sweep q.toml --quiet");
    assert!(
        told.starts_with(&format!("{TRIALS} trials: 0 were there, {TRIALS} ran now;")),
        "{told}"
    );
    succeeds(folder.path(), "sweep merge q.sweep")
}

#[test]
fn parts_that_are_killed_and_started_again_make_the_same_bytes() {
    const PARTS: u32 = 3;
    let expected = undisturbed();
    assert_eq!(expected.lines().count(), TRIALS);
    let folder = folder();
    let start = |part: u32| {
        Command::new(env!("CARGO_BIN_EXE_lockwright"))
            .args(["sweep", "q.toml", "--quiet", "--jobs", "1"])
            .arg(format!("--shard={part}/{PARTS}"))
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("the binary starts")
    };
    for kill_after_ms in [20, 70, 40, 130] {
        let mut parts: Vec<_> = (1..=PARTS).map(start).collect();
        std::thread::sleep(Duration::from_millis(kill_after_ms));
        for part in &mut parts {
            part.kill().expect("a child of ours");
            part.wait().expect("a child of ours");
        }
    }
    // Another number of parts finds what is there, too.
    for part in ["1/2", "2/2"] {
        succeeds(folder.path(), &format!("sweep q.toml --quiet --shard {part}"));
    }
    let again = succeeds(folder.path(), "sweep q.toml --quiet");
    assert!(again.contains(&format!("{TRIALS} were there, 0 ran now")), "{again}");
    assert_eq!(succeeds(folder.path(), "sweep merge q.sweep"), expected);
    succeeds(folder.path(), "sweep merge q.sweep q.sweep --jsonl q.jsonl --csv q.csv");
    let written = std::fs::read_to_string(folder.path().join("q.jsonl")).expect("written");
    assert_eq!(written, expected);
    let table = std::fs::read_to_string(folder.path().join("q.csv")).expect("written");
    assert_eq!(table.lines().count(), 1 + TRIALS);
    assert!(table.starts_with("key,code,digest,events."), "{table}");
}

#[test]
fn a_full_disk_ends_it_and_loses_nothing() {
    let expected = undisturbed();
    let folder = folder();
    // A process that may write no files of more than some kilobytes sees an error, as on a full disk.
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" sweep q.toml --quiet";
    let output = Command::new("bash")
        .args(["-c", limited, env!("CARGO_BIN_EXE_lockwright")])
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("cannot write q.sweep/results-1-of-1.jsonl"),
        "{}",
        stderr(&output)
    );
    let results = folder.path().join("q.sweep/results-1-of-1.jsonl");
    let kept = std::fs::read_to_string(results).expect("there");
    assert!(kept.ends_with('\n') && kept.lines().count() > 1, "{kept}");
    let told = succeeds(folder.path(), "sweep q.toml --quiet");
    assert!(told.contains(&format!("{} were there", kept.lines().count())), "{told}");
    assert_eq!(succeeds(folder.path(), "sweep merge q.sweep"), expected);
}

#[test]
fn a_dry_run_says_how_much_there_is_to_do_and_does_nothing() {
    let folder = folder();
    let plan = succeeds(folder.path(), "sweep q.toml --dry-run");
    assert!(plan.starts_with(&format!("Does it pay?\n{TRIALS} trials (code ")), "{plan}");
    assert_eq!(plan.lines().filter(|line| line.starts_with("{\"machine\":\"x5-4\",")).count(), 5);
    assert_eq!(files_in(folder.path()), ["q.toml"]);
}

#[test]
fn a_report_says_where_a_lock_gains_in_every_format() {
    let folder = folder();
    succeeds(folder.path(), "sweep q.toml --quiet");
    let line = "sweep report q.toml --map set.transfer_remote,threads --plot m.svg --html p.html --csv g.csv";
    let text = succeeds(folder.path(), line);
    assert!(text.contains("simulated: throughput of cna over qspinlock"), "{text}");
    let threads: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next()?.parse::<u32>().ok())
        .collect();
    assert_eq!(threads, [2, 8, 36], "{text}");
    let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("written");
    assert!(read("m.svg").starts_with("<svg ") && read("m.svg").contains("set.transfer_remote"));
    let page = read("p.html");
    assert_eq!(page.matches("<tr>").count(), 1 + 4 * 3, "a row for each point");
    assert_eq!(page.matches("http").count(), 1, "offline: there is only the name of SVG");
    assert_eq!(read("g.csv").lines().next(), Some("set.transfer_remote,threads,gain"));
    let other = succeeds(folder.path(), "sweep report q.toml --of qspinlock --over cna --json -");
    let other: serde_json::Value = serde_json::from_str(&other).expect("JSON");
    assert_eq!((&other["simulated"], &other["over"]), (&true.into(), &"cna".into()));
    let saltelli = QUESTION.replacen("samples", "sampling = \"saltelli\"\nsamples", 1);
    std::fs::write(folder.path().join("s.toml"), saltelli).expect("writable");
    succeeds(folder.path(), "sweep s.toml --quiet");
    let text = succeeds(folder.path(), "sweep report s.toml");
    assert!(text.contains("Sobol indices") && text.contains("set.transfer_remote  "), "{text}");
}

#[test]
fn lines_show_all_locks_over_a_column() {
    let folder = folder();
    std::fs::write(folder.path().join("l.toml"), LINES).expect("writable");
    succeeds(folder.path(), "sweep l.toml --quiet");
    let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("written");
    let line = "sweep report l.toml --lines threads --plot l.svg --csv l.csv --html l.html";
    let text = succeeds(folder.path(), line);
    assert!(text.contains("throughput over that of qspinlock"), "{text}");
    let csv = read("l.csv");
    let head = "set.sockets,threads,lock,runs,ops_per_us,ops_per_us_min,ops_per_us_max,fairness_factor,least_of_average,gain";
    assert_eq!(csv.lines().next(), Some(head));
    let keys: Vec<_> = csv.lines().skip(1).map(|line| line.splitn(5, ',').take(4)).collect();
    let keys: Vec<_> = keys.into_iter().map(|key| key.collect::<Vec<_>>().join(",")).collect();
    let locks =
        ["qspinlock", "cna", "cna numa_spinlock_threshold=2", "cna numa_spinlock_threshold=16"];
    let of = |sockets: u32, threads: u32| locks.map(|lock| format!("{sockets},{threads},{lock},2"));
    assert_eq!(keys, [of(2, 2), of(2, 8), of(4, 2), of(4, 8)].concat());
    let of_plain = csv.lines().filter(|line| line.contains(",qspinlock,"));
    assert!(of_plain.clone().all(|line| line.ends_with(",1")), "{csv}");
    assert!(read("l.svg").contains("qspinlock, sockets 2") && read("l.html").contains("<svg "));

    // Another number is in all of them.
    let line =
        "sweep report l.toml --lines threads --show longest_wait_ns --plot n.svg --csv n.csv";
    assert!(succeeds(folder.path(), line).contains("longest_wait_ns"));
    let shown = read("n.csv");
    assert!(shown.lines().next().is_some_and(|line| line.ends_with(",gain,longest_wait_ns")));
    let waits =
        shown.lines().skip(1).filter_map(|line| line.rsplit(',').next()?.parse::<f64>().ok());
    assert_eq!(waits.filter(|&ns| ns > 0.0).count(), csv.lines().count() - 1);
    assert!(read("n.svg").contains("longest_wait_ns over threads"));
    let output = lockwright_in(folder.path(), "sweep report l.toml --lines threads --show love");
    assert!(stderr(&output).contains("no result has a number `love`"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(2));

    // The lock without the tunable is the same everywhere.
    let tunable = "sweep report l.toml --lines tunables.numa_spinlock_threshold --json -";
    let json: serde_json::Value =
        serde_json::from_str(&succeeds(folder.path(), tunable)).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    let plain = |x: f64| rows.iter().find(|row| row["x"] == x && row["lock"] == "qspinlock");
    assert_eq!(plain(2.0).map(|row| &row["ops_per_us"]), plain(16.0).map(|row| &row["ops_per_us"]));
    let locks: Vec<_> = rows[..3].iter().map(|row| row["lock"].as_str()).collect();
    assert_eq!(locks, ["qspinlock", "cna (default)", "cna"].map(Some));
    assert_eq!(
        (rows.len(), &json["simulated"], &json["missing"]),
        (8 * 3, &true.into(), &0.into())
    );

    // A row that cannot be compared is not drawn; the others are.
    let results = folder.path().join("l.sweep/results-1-of-1.jsonl");
    let all = std::fs::read_to_string(&results).expect("there");
    let without = |part: &str| {
        let kept =
            all.lines().filter(|line| !line.contains("\"qspinlock\"") || !line.contains(part));
        std::fs::write(&results, kept.map(|line| format!("{line}\n")).collect::<String>())
    };
    without("\"threads\":8,").expect("writable");
    let text = succeeds(folder.path(), "sweep report l.toml --lines threads --of cna --plot p.svg");
    assert!(
        text.contains("4 trials have no result") && read("p.svg").contains("times the throughput")
    );
    without("").expect("writable");
    let line = "sweep report l.toml --lines threads --of cna --plot none.svg";
    let output = lockwright_in(folder.path(), line);
    assert!(stderr(&output).contains("leave out --plot"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path().join("none.svg").exists());
}

#[test]
fn bad_input_gets_one_sentence() {
    let folder = folder();
    for (line, said) in [
        ("sweep none.toml", "none.toml cannot be read"),
        ("sweep q.toml --shard 4/3", "write --shard 3/8"),
        ("sweep q.toml --shard auto", "no variable of Slurm"),
        ("sweep merge none", "name a folder with results"),
        ("sweep merge . --csv t.csv", "has no results"),
        ("sweep", "<FILE.toml>"),
        ("sweep report q.toml", "run `lockwright sweep q.toml` first"),
        ("sweep report q.toml --from none", "name a folder with results"),
        ("sweep report q.toml --from . --plot m.svg", "add --map X,Y or --lines X"),
        ("sweep report q.toml --lines threads --map threads,seed", "leave one of them out"),
        ("sweep report q.toml --from . --lines lock", "write one of set.transfer_remote, threads"),
        (
            "sweep report q.toml --from . --lines threads",
            "run `lockwright sweep` with this question",
        ),
    ] {
        let output = lockwright_in(folder.path(), line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{line}: {}", stderr(&output));
    }
    assert_eq!(files_in(folder.path()), ["q.toml"]);
}
