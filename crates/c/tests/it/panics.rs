//! A panic in the library.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

const IN_CHILD: &str = "LOCKWRIGHT_TEST_PANICS";

#[test]
fn a_panic_prints_one_line_and_ends_the_process() {
    if std::env::var_os(IN_CHILD).is_some() {
        lockwright_c::end_by_abort();
        panic!("seven {}", "locks");
    }
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", "panics::a_panic_prints_one_line_and_ends_the_process", "--nocapture"]);
    let output = child.env(IN_CHILD, "1").output().expect("it runs");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{printed}");
    let [line] = printed.lines().collect::<Vec<_>>()[..] else { panic!("{printed}") };
    assert!(
        line.starts_with("lockwright: internal error at crates/c/tests/it/panics.rs:"),
        "{line}"
    );
    assert!(line.ends_with(": seven locks"), "{line}");
}
