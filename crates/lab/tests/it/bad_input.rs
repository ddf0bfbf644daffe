//! Bad input: at most two lines, exit code 2, and nothing left behind.

use super::surroundings::{endures, line, no_text};
use super::{files_in, lockwright, lockwright_in, stderr, stdout};
use lockwright_core::tunables::Tunable;
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Runs `line` in an empty directory; it must be refused. Returns what was said.
fn refused(line: &str) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = lockwright_in(directory.path(), line);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "`{line}` said: {said}");
    assert!(output.stdout.is_empty(), "`{line}` wrote to standard output");
    assert!((1..=2).contains(&said.lines().count()), "`{line}` said: {said}");
    assert!(files_in(directory.path()).is_empty(), "`{line}` left a file behind");
    said
}

#[test]
fn a_mistyped_name_gets_the_nearest_one() {
    for (line, nearest) in [
        ("bench --lock qspinlok --json out.json", "qspinlock"),
        ("bench --workload contuer --json out.json", "counter"),
        ("bench --on x5_4 --json out.json", "x5-4"),
        ("bench --on nativ", "native"),
        ("torture --lock tickte", "ticket"),
        ("bench --on haswell-2s --vcpus 2 --start-state random", "random-queue"),
        ("bench --workload kbiuld", "kbuild"),
        ("explore --lock ticket --client shared", "--client"),
        ("bench --lock ticket --read-percent 101", "between 0 and 100"),
        ("bench --on haswell-2s --vcpus -4", "whole number"),
        ("bench --workload kbuild --units -1", "whole number"),
        ("bench --on haswell-2s --vcpus 4 --lock std", "leave it out"),
        ("explore --lock tickte", "ticket"),
        ("explore --client nothing", "lockwright clients"),
        ("explore --bug LinkBeforInit", "`LinkBeforeInit`"),
        (
            "explore --bug linkbeforeinit",
            "run `cargo xtask zoo --only 9` in the source tree (loom)",
        ),
        (
            "explore --bug 32a --json out.json",
            "`cargo xtask zoo --only 32a` in the source tree (fairness (simulated))",
        ),
        ("explore --bug 87", "`cargo xtask zoo --only 87` in the source tree (native tests)"),
        ("explore --on x5_4", "x5-4"),
        ("bench --workload opne1", "open1"),
        ("bench --workload hadoff", "handoff"),
        ("bench --on dl890", "dl980"),
    ] {
        let said = refused(line);
        assert!(said.contains(nearest), "`{line}` said: {said}");
    }
}

#[test]
fn a_comparison_of_what_there_is_not_says_what_to_type() {
    for (line, instead) in [
        ("compare --cell cs1-t9 --json out.json", "cs20-t8"),
        ("compare --cell 'cs3-*'", "--cell takes"),
        ("compare --cell r80-cs1-t8", "r50-cs1-t8"),
        ("compare --cell sleep100us-w20-t9", "did you mean `sleep100us-w20-t8`?"),
        ("compare --on x5-5", "did you mean `x5-4`?"),
        ("compare --on x5-4 --cell churn-t4", "leave out --on"),
        ("compare --on x5-4 --cell q1/1/1-one+busy", "busy neighbours"),
        ("compare --on x5-4 --set pauses=1", "did you mean `pause`?"),
        ("compare --on x5-4 --set cpus=0", "1 or more"),
        ("compare --ours mutex --cell r50-* --json out.json", "readers share"),
        ("compare --peer pthread-adaptive --cell r50-cs1-t2", "std-rwlock"),
    ] {
        let said = refused(line);
        assert!(said.contains(instead), "`{line}` said: {said}");
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    for line in [
        "bench --threads 1,0 --json out.json",
        "bench --threads many",
        "bench --on haswell-2s --vcpus 0",
        "bench --on haswell-2s --vcpus 36,many",
        "bench --on haswell-2s --vcpus 100000 --json out.json",
        "bench --workload kbuild --lock-count 0",
        "bench --workload kbuild --compute-ns -1",
        "bench --workload handoff --section-ns 1000000001",
        "bench --workload handoff --section-ns -1 --json out.json",
        "bench --on dl980 --workload aim7 --start-state after-preemption",
        "bench --workload aim7 --lock-count 0",
        "bench --workload aim7 --lock-count 65",
        "bench --workload aim7 --unit-ops 0",
        "torture --on haswell-2s --vcpus 0",
        "bench --secs NaN",
        "torture --threads 0 --json out.json",
        "torture --secs inf",
        "torture --nested 1.5",
        "torture --long-hold -1",
        "torture --stutter 5 --json out.json",
        "explore --threads 0",
        "explore --threads 27",
        "compare --secs 0",
        "compare --secs NaN --json out.json",
    ] {
        refused(line);
    }
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    for line in [
        "bench --lock floor --workload counter",
        "torture --lock floor",
        "bench --workload locktorture --cs-load 3",
        "bench --workload counter --section sleep",
        "bench --workload handoff --compute-ns 5",
        "bench --workload aim7 --section sleep --json out.json",
        "bench --workload counter --long-hold",
        "torture --vcpus 4 --json out.json",
        "bench --on haswell-2s --vcpus 4 --threads 4",
        "bench --on haswell-2s --vcpus 4 --placement compact",
        "bench --on haswell-2s --threads 4 --virtual-numa",
        "bench --threads 64 --start-state all",
        "bench --on haswell-2s --workload uncontended --vcpus 2",
        "bench --workload counter --units 3",
        "bench --workload kbuild --cs-load 3",
        "torture --on haswell-2s --vcpus 4 --faults",
        "torture --on haswell-2s --threads 64 --faults",
        "torture --on haswell-2s --vcpus 4 --placement spread",
        "torture --on x5-4 --shuffle 0.001",
        "explore --lock cna --client exclusion --policy random --replay 0:a",
        "explore --lock cna,mcs --client exclusion --replay 0:a",
        "compare --ours mutex,qspinlock --json out.json",
        "compare --ours busted --json out.json",
        "compare --peer busted",
        "compare --peer mutex",
        "compare --json - --csv -",
    ] {
        refused(line);
    }
}

#[test]
fn a_schedule_that_is_none_or_does_not_fit_is_refused() {
    let pair = "explore --lock ticket --client exclusion --threads 2 --replay";
    for schedule in ["garbled", "0:a!", "0:a4z", "0:a999999999999", "99:a", "0:aaAA", "x:y"] {
        assert!(refused(&format!("{pair} {schedule}")).contains("--replay"), "{schedule}");
    }
}

#[test]
fn a_plot_is_svg_or_refused() {
    for line in ["bench --plot out.png", "bench --plot out", "torture --plot out.svg.pdf"] {
        assert!(refused(line).contains(".svg"), "{line}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_anything_is_measured() {
    for line in [
        "bench --secs 1000 --json missing/out.json",
        "bench --secs 1000 --csv missing/out.csv",
        "bench --secs 1000 --plot missing/out.svg",
        "torture --secs 1000 --json .",
    ] {
        refused(line);
    }
}

#[test]
fn control_characters_in_a_name_do_not_reach_the_terminal() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .args(["bench", "--lock", "a\nb\nc\u{1b}[31m"])
        .output()
        .expect("the binary starts");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.lines().count() <= 2 && !said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn help_is_not_an_error() {
    for line in ["--help", "bench --help", "--version", "help", "help bench"] {
        let output = lockwright(line);
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}");
    }
}

/// Each command with its options, from the completion script that clap writes: `machines show` and `--help`.
fn commands() -> Vec<(String, Vec<String>)> {
    let script = stdout(&lockwright("completions bash"));
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut name = String::new();
    for line in script.lines().map(str::trim) {
        if let Some(command) = line.strip_suffix(')').filter(|line| line.starts_with("lockwright"))
        {
            name = command.trim_start_matches("lockwright").replace("__subcmd__", " ");
        }
        let options = line.strip_prefix("opts=\"").and_then(|line| line.strip_suffix('"'));
        if let Some(options) = options.filter(|options| options.contains("--help")) {
            let options = options.split(' ').filter(|option| option.starts_with("--"));
            found.push((name.trim().into(), options.map(String::from).collect()));
        }
    }
    assert!(found.len() > 20 && found.iter().any(|(name, _)| name == "machines show"), "{found:?}");
    found
}

/// A file whose content is no UTF-8.
fn file_of_bytes(directory: &Path) -> OsString {
    let file = directory.join("bytes.toml");
    std::fs::write(&file, b"name = \"\xff\"\n").expect("written");
    file.into()
}

#[test]
fn every_command_endures_bytes_and_bad_surroundings() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = file_of_bytes(directory.path());
    let (mut prints, mut refuses) = (vec![line("help", "bench".as_ref()), vec![]], vec![]);
    for (command, _) in commands() {
        prints.push(line(&command, "--help".as_ref()));
        refuses.extend([line(&command, no_text()), line(&command, &file)]);
    }
    prints.extend(["locks", "machines show x5-4", "man"].map(|words| {
        let (words, last) = words.rsplit_once(' ').unwrap_or(("", words));
        line(words, last.as_ref())
    }));
    endures(env!("CARGO_BIN_EXE_lockwright"), &prints, &refuses);
    assert_eq!(files_in(directory.path()), ["bytes.toml"]);
}

#[test]
fn every_option_endures_bytes() {
    for (command, options) in commands() {
        for option in options.iter().filter(|option| !["--help", "--version"].contains(&&***option))
        {
            let mut words = line(&format!("{command} {option}"), no_text());
            // Nothing runs, whatever the option takes.
            words.push("--no-such-option".into());
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_lockwright"))
                .args(&words)
                .output()
                .expect("the binary starts");
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{words:?} said: {said}");
            assert_eq!(said.lines().count(), 1, "{words:?} said: {said}");
        }
    }
}

#[test]
fn a_file_with_bytes_in_its_name_is_written_and_a_machine_of_that_name_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join(no_text());
    let runs = |words: &str, last: &OsStr| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lockwright"));
        command.args(line(words, last)).output().expect("the binary starts")
    };
    assert_eq!(runs("locks --json", file.as_ref()).status.code(), Some(0));
    let kept = std::fs::read(&file).expect("it was written");
    serde_json::from_slice::<serde_json::Value>(&kept).expect("a whole document");
    let said = stderr(&runs("machines check", file.as_ref()));
    assert!(said.contains("is not UTF-8: give it another name"), "{said}");
}

#[test]
fn a_file_whose_content_is_no_text_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = file_of_bytes(directory.path());
    let lines = ["bench --on", "bench --on x5-4 --calibration", "sweep report", "sweep merge"];
    endures(env!("CARGO_BIN_EXE_lockwright"), &[], &lines.map(|words| line(words, &file)));
}

/// Of the library and of those that others read.
fn variables() -> Vec<String> {
    let tunables = Tunable::ALL.iter().map(|tunable| tunable.name().to_uppercase());
    let others = ["MEMBARRIER", "NUMA_SPINLOK", "POLICIES"].map(String::from);
    tunables.chain(others).map(|name| format!("LOCKWRIGHT_{name}")).collect()
}

#[test]
fn every_bad_variable_is_named_on_a_line() {
    for value in [no_text(), "maybe\n".as_ref(), "x".repeat(200).as_ref()] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_lockwright"))
            .args(["torture", "--lock", "ticket", "--threads", "1", "--secs", "1ms"])
            .env_clear()
            .env("LOCKWRIGHT_LIBRARY", value)
            .envs(variables().iter().map(|name| (name, value)))
            .output()
            .expect("the binary starts");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let of = |name: &String| said.matches(&format!("lockwright: {name}=")).count();
        assert!(variables().iter().all(|name| of(name) == 1), "{said}");
        assert_eq!(said.matches("lockwright: ").count(), variables().len(), "{said}");
    }
}

#[test]
fn what_was_measured_is_not_lost_where_a_disk_is_full() {
    let short = "--on haswell-2s --lock ticket --quiet";
    let bench = format!("bench {short} --threads 2 --secs 1ms --runs 1");
    let torture = format!("torture {short} --threads 2 --secs 1ms");
    let explore = "explore --lock ticket --client exclusion --schedules 10 --quiet".to_string();
    for command in [bench, torture, explore] {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let runs = |rest: &str| {
            let script = format!("exec \"$0\" {command} {rest}");
            let mut shell = std::process::Command::new("/bin/sh");
            let shell = shell.args(["-c", &script, env!("CARGO_BIN_EXE_lockwright")]);
            let output = shell.current_dir(directory.path()).output().expect("there is a shell");
            assert_eq!(output.status.code(), Some(2), "{script}: {}", stderr(&output));
            output
        };
        let output = runs("--json /dev/full");
        assert!(stdout(&output).contains("ticket"), "{command}");
        let said = stderr(&output);
        assert!(said.contains("the results are on standard output"), "{said}");
        let said = stderr(&runs("--json out.json >/dev/full"));
        assert!(said.contains("the results are in") && said.contains("out.json"), "{said}");
        let kept = std::fs::read(directory.path().join("out.json")).expect("it was written");
        serde_json::from_slice::<serde_json::Value>(&kept).expect("a whole document");
        let said = stderr(&runs(">/dev/full"));
        assert!(said.contains("ticket") && said.contains("the results are above"), "{said}");
    }
}

#[test]
fn a_run_that_writes_a_file_goes_on_without_a_reader() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let line = "torture --on haswell-2s --lock ticket,mcs --threads 2 --secs 1ms --json out.json";
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .args(line.split(' '))
        .current_dir(directory.path())
        .stdout(writer)
        .status()
        .expect("the binary starts");
    assert_eq!(status.code(), Some(0));
    let kept = std::fs::read(directory.path().join("out.json")).expect("it was written");
    let kept: serde_json::Value = serde_json::from_slice(&kept).expect("a whole document");
    assert_eq!(kept["results"].as_array().map(Vec::len), Some(2), "{kept}");
}

#[test]
fn a_seeded_bug_is_built_with_the_toolchain_of_the_tree_wherever_that_is_called_from() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let cargo = directory.path().join("cargo");
    std::fs::write(&cargo, "#!/bin/sh\necho \"$RUSTUP_TOOLCHAIN\"\n").expect("written");
    let runs = || {
        std::process::Command::new(env!("CARGO_BIN_EXE_lockwright"))
            .args(["explore", "--lock", "mutex", "--bug", "45"])
            .current_dir(directory.path())
            .env_clear()
            .env("PATH", directory.path())
            .output()
            .expect("the binary starts")
    };
    let output = runs();
    assert_eq!(output.status.code(), Some(2), "there is no cargo: {}", stderr(&output));
    std::fs::set_permissions(&cargo, Permissions::from_mode(0o755)).expect("it is ours");
    let channel = stdout(&runs());
    let of_tree = include_str!("../../../../rust-toolchain.toml");
    assert!(of_tree.contains(&format!("channel = \"{}\"", channel.trim())), "{channel}");
}
