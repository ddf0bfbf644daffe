//! The platform of programs keeps the laws of `PLATFORM.md`, as far as running it can show. Under
//! Miri this is also a search for undefined behaviour, races and weak memory.

use lockwright::native::Native;
use lockwright_clients::NativeThreads;
use lockwright_clients::conformance::laws;

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
