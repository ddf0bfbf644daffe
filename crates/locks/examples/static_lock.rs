//! Locks in statics: no set-up, no allocation, four bytes beside the value.
//!
//! `cargo run --release --package lockwright --example static_lock`

use lockwright::{Mutex, RwLock, Semaphore, SpinLock};
use std::collections::BTreeMap;
use std::thread;

/// Names, and how often each was seen.
static SEEN: Mutex<BTreeMap<&str, u32>> = Mutex::new(BTreeMap::new());
/// Read by everybody, written by a few.
static GREETING: RwLock<&str> = RwLock::new("hello");
/// Held for some instructions by threads that have a CPU each.
static LAST: SpinLock<Option<&str>> = SpinLock::new(None);
/// No more than two at once.
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
