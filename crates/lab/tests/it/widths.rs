//! Reports fit the terminal.

use super::{ONE_AT_A_TIME, lockwright_in};
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::PoisonError;

/// The two ends of a pseudo-terminal with that many columns.
fn terminal(columns: u16) -> (OwnedFd, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let (no_name, no_modes) = (std::ptr::null_mut(), std::ptr::null());
    let size = libc::winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the descriptors and the size are of this frame, and openpty keeps no pointer to them; the
    // name and the modes may be null.
    let opened = unsafe { libc::openpty(&mut ours, &mut theirs, no_name, no_modes, &size) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: openpty succeeded, so this descriptor is open, and nothing else owns it.
    let ours = unsafe { OwnedFd::from_raw_fd(ours) };
    // SAFETY: as above.
    let theirs = unsafe { OwnedFd::from_raw_fd(theirs) };
    (ours, theirs)
}

/// What `line` prints on a terminal with that many columns.
fn on_a_terminal(directory: &Path, columns: u16, line: &str) -> String {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (ours, theirs) = terminal(columns);
    let mut child = Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .args(line.split_whitespace())
        .current_dir(directory)
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .stdout(theirs)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let reader = std::thread::spawn(move || {
        // Reading fails when the other end is closed.
        let (mut text, mut ours) = (Vec::new(), File::from(ours));
        let mut some = [0; 4096];
        while let Ok(count @ 1..) = ours.read(&mut some) {
            text.extend_from_slice(&some[..count]);
        }
        String::from_utf8(text).expect("text")
    });
    let mut said = String::new();
    let mut errors = child.stderr.take().expect("it was piped");
    errors.read_to_string(&mut said).expect("text");
    let code = child.wait().expect("it ends").code();
    let text = reader.join().expect("it was read");
    assert!(matches!(code, Some(0 | 1)), "`{line}`: {said}");
    assert!(text.lines().count() > 1, "`{line}` printed: {text}");
    text
}

fn fits(directory: &Path, line: &str) {
    let text = on_a_terminal(directory, 80, line);
    let long: Vec<_> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "`{line}` is wider than 80 columns:\n{}\n{text}", long.join("\n"));
}

fn all_fit(lines: &[&str]) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    lines.iter().for_each(|line| fits(directory.path(), line));
}

#[test]
fn benchmarks_fit_a_terminal_of_80_columns() {
    all_fit(&[
        "bench --workload uncontended --lock floor,mutex,percpu-rwlock-in_slots --secs 0.001 --runs 2",
        "bench --workload counter --lock mutex,cna-hybrid-bounded --threads 1,2 --secs 0.002 --runs 2",
        "bench --lock mutex,hybrid-bounded,unfair --threads 16 --secs 0.002 --runs 1",
        "bench --workload kbuild --lock mutex,std --threads 1,2 --units 10 --unit-ops 10 --runs 2",
        "bench --workload starve --lock percpu-rwlock,parking_lot-rwlock --secs 0.02 --runs 1",
        "bench --workload handoff --lock mutex,std --threads 1,2 --secs 0.002 --runs 2",
        "bench --on x5-4 --workload locktorture --lock cna-v10_limited,unfair --threads 8 --secs 0.0005",
        "bench --on x5-4 --lock cna,mcs --threads 2,8 --runs 2 --secs 0.0005 --cs-load 20,1",
        "bench --on haswell-2s --vcpus 36,72 --lock hybrid,unfair --secs 0.001",
        "bench --on haswell-2s --workload kbuild --vcpus 40 --lock cna-hybrid-bounded --secs 0.001",
        "bench --on dl980 --workload aim7 --lock rwsem-v3_12_wake_flag --threads 320 --secs 0.001",
    ]);
}

#[test]
fn comparisons_fit_a_terminal_of_80_columns() {
    all_fit(&[
        "compare --cells pair,read-pair-t2,cs1-t2,cs100-t8,r90-cs1-t2 --runs 2 --secs 0.002",
        "compare --cells cs20-t32 --ours hybrid-lock --peer std --runs 2 --secs 0.002",
        "compare --only rwlock --cell sleep20us-w20-t8-both-random+busy,r90-cs1-t2 --runs 2 --secs 0.01",
        "compare --cells q10/10/10-one-timed,cs20us-x4-t32,rwmap-w10-t2+busy --runs 2 --secs 0.01",
    ]);
}

#[test]
fn tortures_and_explorations_fit_a_terminal_of_80_columns() {
    all_fit(&[
        "torture --lock cna-hybrid-bounded,qrwlock,busted-rw --secs 0.02",
        "torture --workload starve --lock rwlock-fair --secs 0.05",
        "torture --on x5-4 --lock rwsem-v5_10_limit_rspin,busted --secs 0.001",
        "torture --on haswell-2s --vcpus 144 --lock unfair-backoff --secs 0.01",
        "explore --lock busted,cna --client exclusion --schedules 200",
        "explore --lock rwsem-v3_12_wake_flag_as_posted --client rwsem-last-round --replay \
         1:b7B2b2Bc9Cc2Cd4Dd7Dd2a7Aa3Aa3AaAb17B2b3B.dd16Db4Bb3c7d4a7B2",
        "explore --lock busted --client try-lock --threads 3 --rounds 3 --seed 4",
        "explore --lock mutex --client condvar-reused-by-percpu-rwlock --schedules 100 --threads 6",
    ]);
}

#[test]
fn tables_and_lists_fit_a_terminal_of_80_columns() {
    all_fit(&[
        "reproduce cna_v10_locktorture_x5_4 --quick",
        "reproduce rwsem_handoff_fairness_2s40c80t --quick",
        "reproduce rwsem_wakeup_perf_profile_dl980 --quick",
        "locks",
        "locks cna-v15",
        "machines",
        "workloads",
        "events",
    ]);
}

#[test]
fn a_check_of_a_machine_fits_a_terminal_of_80_columns() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let probe = lockwright_in(directory.path(), "machines probe --quick --quiet --out here.toml");
    assert!(probe.status.success());
    let line = "machines check here.toml --lock unfair,hybrid-bounded --threads 2 --runs 1";
    fits(directory.path(), line);
}

#[test]
fn a_wide_terminal_is_used_and_a_pipe_is_as_wide_as_it_is_told() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = "bench --on x5-4 --lock hybrid,cna --threads 8,142 --runs 2 --secs 0.0005";
    let tables = |text: &str| text.lines().filter(|line| line.starts_with("lock ")).count();
    let wide = on_a_terminal(directory.path(), 200, line);
    assert_eq!(tables(&wide), 1, "{wide}");
    let piped = lockwright_in(directory.path(), line);
    let piped = String::from_utf8(piped.stdout).expect("text");
    assert!(tables(&piped) > 1 && piped.lines().all(|line| line.len() <= 80), "{piped}");
    let told = Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .args(line.split_whitespace())
        .env("COLUMNS", "200")
        .output()
        .expect("the binary starts");
    assert_eq!(tables(&String::from_utf8(told.stdout).expect("text")), 1);
}

#[test]
fn a_program_gets_the_lines_of_locktorture_and_commands_whole() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let torture = "torture --on x5-4 --lock mcs --secs 0.001";
    let piped =
        |line: &str| String::from_utf8(lockwright_in(directory.path(), line).stdout).expect("text");
    let is_whole = |line: &str| line.contains("-torture:--- ") && line.contains(" stutter=");
    assert_eq!(piped(torture).lines().filter(|line| is_whole(line)).count(), 2);
    let on_terminal = on_a_terminal(directory.path(), 80, torture);
    assert_eq!(on_terminal.lines().filter(|line| is_whole(line)).count(), 0, "{on_terminal}");
    assert_eq!(on_terminal.matches("mcs-torture:--- ").count(), 2, "{on_terminal}");
    let explore = "explore --lock busted --client exclusion --schedules 9";
    assert!(piped(explore).contains("--seed 1 --replay 0:"), "{}", piped(explore));
}
