//! Locks in statics: no set-up, no allocation, four or eight bytes next to the value.
//!
//! `cargo run --release --package lockwright --example static_lock`

use lockwright::{Mutex, RwLock, Semaphore, SpinLock};
use std::collections::BTreeMap;
use std::thread;

/// How often each name was seen.
static SEEN: Mutex<BTreeMap<&str, u32>> = Mutex::new(BTreeMap::new());
/// Read by all threads, written by few.
static GREETING: RwLock<&str> = RwLock::new("hello");
/// Held for some instructions only, by threads that each have a CPU: a spinlock is enough.
static LAST: SpinLock<Option<&str>> = SpinLock::new(None);
/// At most two threads greet at once.
static DESKS: Semaphore = Semaphore::new(2);

fn greet(name: &'static str) {
    let _desk = DESKS.acquire();
    *SEEN.lock().entry(name).or_default() += 1;
    *LAST.lock() = Some(name);
    println!("{} {name}", GREETING.read());
}

fn main() {
    thread::scope(|scope| {
        for name in ["ada", "grace", "ada"] {
            scope.spawn(move || greet(name));
        }
    });
    *GREETING.write() = "good night";
    greet("grace");
    assert_eq!(SEEN.lock().values().copied().collect::<Vec<_>>(), [2, 2]);
    assert_eq!(*LAST.lock(), Some("grace"));
}
