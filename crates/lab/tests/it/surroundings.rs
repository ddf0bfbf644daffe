//! A program in surroundings that are bad: tests of other programs of the workspace use this file, too.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

/// Where a shell sends what a program says, and the exit code of a program that prints something. The environment is
/// empty in all of them.
const SURROUNDINGS: [(&str, i32); 6] = [
    ("", 0),
    (">/dev/full", 2),
    ("2>/dev/full", 0),
    (">&-", 0),
    ("<&- >&- 2>&-", 0),
    (A_CLOSED_PIPE, 0),
];
/// For the shell it is a remark.
const A_CLOSED_PIPE: &str = "# to a pipe without a reader";

/// More lines than that are no message for a person.
const LINES_MAX: usize = 3;

/// Bytes that are no UTF-8.
pub fn no_text() -> &'static OsStr {
    OsStr::from_bytes(b"\xff\xfe")
}

/// The words of a line, and `last` behind them.
pub fn line(words: &str, last: &OsStr) -> Vec<OsString> {
    words.split_whitespace().map(Into::into).chain([last.into()]).collect()
}

/// Runs `program` with each list of words in all surroundings. It prints with those of `prints` and refuses those of
/// `refuses`, and in no case panics or says more than a few lines.
pub fn endures(program: &str, prints: &[Vec<OsString>], refuses: &[Vec<OsString>]) {
    for (surrounding, code) in SURROUNDINGS {
        for words in prints {
            ends(program, surrounding, words, code);
        }
        for words in refuses {
            ends(program, surrounding, words, 2);
        }
    }
}

fn ends(program: &str, surrounding: &str, words: &[OsString], code: i32) {
    let mut shell = Command::new("/bin/sh");
    let script = format!("exec \"$0\" \"$@\" {surrounding}");
    shell.args(["-c", &script, program]).args(words).env_clear();
    shell.stdin(Stdio::null()).stderr(Stdio::piped());
    if surrounding == A_CLOSED_PIPE {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        shell.stdout(writer);
    }
    let output = shell.output().expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    let what = format!("{program} {words:?} {surrounding} said: {said}");
    assert_eq!(output.status.code(), Some(code), "{what}");
    assert!(said.lines().count() <= LINES_MAX && !said.contains("panicked"), "{what}");
}
