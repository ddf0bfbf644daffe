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
fn bad_input_gets_one_sentence() {
    let folder = folder();
    for (line, said) in [
        ("sweep none.toml", "none.toml cannot be read"),
        ("sweep q.toml --shard 4/3", "write --shard 3/8"),
        ("sweep q.toml --shard auto", "no variable of Slurm"),
        ("sweep merge none", "name the folder of a sweep"),
        ("sweep merge . --csv t.csv", "has no results"),
        ("sweep", "<FILE.toml>"),
        ("sweep report q.toml", "name the folder of a sweep"),
        ("sweep report q.toml --from . --plot m.svg", "--map"),
    ] {
        let output = lockwright_in(folder.path(), line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{line}: {}", stderr(&output));
    }
    assert_eq!(files_in(folder.path()), ["q.toml"]);
}
