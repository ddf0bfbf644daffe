//! A configuration that every request reads, and that an operator changes every few minutes.
//!
//! `cargo run --release --package lockwright --example configuration`

use lockwright::PercpuRwLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The settings that requests need.
#[derive(Clone, Debug)]
struct Configuration {
    revision: u32,
    requests_max: usize,
    greeting: String,
}

static CONFIGURATION: PercpuRwLock<Configuration> =
    PercpuRwLock::new(Configuration { revision: 0, requests_max: 100, greeting: String::new() });

/// Reads the configuration in place: nothing is cloned, and reading threads do not disturb each other.
fn answer(request: usize) -> Option<usize> {
    let configuration = CONFIGURATION.read();
    (request < configuration.requests_max).then(|| configuration.greeting.len() + request)
}

/// Replaces the configuration. The new one is made before the lock is taken, and the old one is dropped after it is
/// released, so the lock is held for a moment only. Works for one operator: two at once could undo each other's change.
fn change(greeting: &str) {
    let now = CONFIGURATION.read().clone();
    let new = Configuration { revision: now.revision + 1, greeting: greeting.into(), ..now };
    let old = std::mem::replace(&mut *CONFIGURATION.write(), new);
    drop(old);
}

fn main() {
    change("hello");
    let is_over = AtomicBool::new(false);
    let answered: u64 = thread::scope(|scope| {
        let serve = || {
            let mut answered = 0;
            while !is_over.load(Relaxed) {
                answered += (0..100).filter_map(answer).count() as u64;
            }
            answered
        };
        let servers = [(); 2].map(|()| scope.spawn(serve));
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(300) {
            thread::sleep(Duration::from_millis(50));
            change("good morning");
        }
        is_over.store(true, Relaxed);
        servers.map(|server| server.join().expect("no panic")).into_iter().sum()
    });
    let configuration = CONFIGURATION.read();
    println!("{answered} answers in 0.3 s, under {} configurations", configuration.revision);
}
