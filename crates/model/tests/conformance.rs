//! Both checkers keep the laws of `PLATFORM.md`.

use lockwright_conformance::laws;
use lockwright_model::{Loom, LoomRun, LoomThreads, Shuttle, ShuttleRun, ShuttleThreads};

#[test]
fn loom_keeps_every_law() {
    for law in laws::<Loom, LoomThreads>() {
        eprintln!("{} {}", law.number, law.name);
        LoomRun::all(3).model(move || (law.check)(&LoomThreads));
    }
}

#[test]
fn shuttle_keeps_every_law() {
    for law in laws::<Shuttle, ShuttleThreads>() {
        eprintln!("{} {}", law.number, law.name);
        ShuttleRun::new(3, 200).model(move || (law.check)(&ShuttleThreads));
    }
}
