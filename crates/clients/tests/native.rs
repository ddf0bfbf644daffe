//! The platform of programs keeps the laws of `PLATFORM.md`, as far as running it can show. Under
//! Miri this is also a search for undefined behaviour, races and weak memory.

use lockwright::native::Native;
use lockwright_clients::conformance::laws;
use lockwright_clients::{NativeThreads, Threads};

#[test]
fn native_keeps_every_law() {
    // A law with threads is a race that one execution decides by luck.
    let executions = if cfg!(miri) { 3 } else { 200 };
    for law in laws::<Native, NativeThreads>() {
        println!("{} {}", law.number, law.name);
        for _ in 0..executions {
            (law.check)(&NativeThreads);
        }
    }
}

#[test]
#[should_panic(expected = "panicked")]
fn a_body_that_panics_fails_its_law() {
    let threads = NativeThreads;
    threads.run((), &[|()| (), |()| panic!("the law is broken")], |()| ());
}
