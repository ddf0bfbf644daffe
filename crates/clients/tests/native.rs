//! The platform of programs keeps the laws of `PLATFORM.md`, as far as running it can show. Under
//! Miri this is also a search for undefined behaviour, races and weak memory.

use lockwright_clients::NativeThreads;
use lockwright_conformance::{Threads, laws};
use lockwright_core::native::Native;

/// Checks the laws whose numbers begin with one of these letters.
fn keeps(letters: &str) {
    // A law with threads is a race that one execution decides by luck.
    let executions = if cfg!(miri) { 3 } else { 200 };
    let laws = laws::<Native, NativeThreads>();
    for law in laws.filter(|law| law.number.starts_with(|c| letters.contains(c))) {
        println!("{} {}", law.number, law.name);
        for _ in 0..executions {
            (law.check)(&NativeThreads);
        }
    }
}

macro_rules! native_keeps {
    ($($test:ident: $letters:literal;)+) => {
        $(#[test]
        fn $test() {
            keeps($letters);
        })+

        #[test]
        fn every_law_is_in_this_table() {
            let letters = concat!($($letters),+);
            for law in laws::<Native, NativeThreads>() {
                assert!(law.number.starts_with(|c| letters.contains(c)), "{}", law.number);
            }
        }
    };
}

native_keeps! {
    native_keeps_the_laws_of_cells: "C";
    native_keeps_the_laws_of_lock_words: "W";
    native_keeps_the_laws_of_waiting: "A";
    native_keeps_the_laws_of_barriers: "B";
    native_keeps_the_laws_of_queue_nodes: "N";
    native_keeps_the_laws_of_the_lock_hash: "K";
    native_keeps_the_laws_of_the_storage_of_sleepers: "D";
    native_keeps_the_laws_of_metadata: "M";
    native_keeps_the_laws_of_placement_and_hints: "LH";
    native_keeps_the_laws_of_sleeping: "S";
    native_keeps_the_laws_of_time_and_events: "TE";
}

#[test]
#[should_panic(expected = "panicked")]
fn a_body_that_panics_fails_its_law() {
    let threads = NativeThreads;
    threads.run((), &[|()| (), |()| panic!("the law is broken")], |()| ());
}
