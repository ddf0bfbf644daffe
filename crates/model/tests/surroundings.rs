//! The programs where their arguments or their surroundings are bad.

#[path = "../../lab/tests/it/surroundings.rs"]
mod surroundings;

use surroundings::{endures, line, no_text};

#[test]
fn check_endures_bytes_and_bad_surroundings() {
    let prints = [line("", "--help".as_ref()), line("ticket", "--list".as_ref())];
    let refuses = ["", "ticket --client", "ticket --on"].map(|words| line(words, no_text()));
    endures(env!("CARGO_BIN_EXE_check"), &prints, &refuses);
}

#[cfg(feature = "samples")]
#[test]
fn sample_endures_bytes_and_bad_surroundings() {
    let prints = [line("", "--help".as_ref())];
    let refuses = ["", "ticket --client", "ticket --replay"].map(|words| line(words, no_text()));
    endures(env!("CARGO_BIN_EXE_sample"), &prints, &refuses);
}
