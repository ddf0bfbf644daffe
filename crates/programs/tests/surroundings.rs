//! The program where its arguments or its surroundings are bad.

#[path = "../../lab/tests/it/surroundings.rs"]
mod surroundings;

use surroundings::{endures, line, no_text};

#[test]
fn the_program_endures_bytes_and_bad_surroundings() {
    let prints = [line("", "--help".as_ref()), line("", "--show".as_ref())];
    let refuses = ["", "--seed", "--shard", "--replay"].map(|words| line(words, no_text()));
    endures(env!("CARGO_BIN_EXE_lockwright-programs"), &prints, &refuses);
}
