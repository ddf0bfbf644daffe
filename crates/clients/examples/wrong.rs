//! Programs that are wrong on purpose: a tool that says nothing about them sees nothing.
//!
//! `wrong busted` races, `wrong busted-rw` races as soon as a thread reads, `wrong busted-relaxed` has a release that
//! orders nothing, `wrong late-touch` reads a lock after the next owner has freed it. Run it under Miri or a sanitizer.

use lockwright_catalog::busted::{BustedLock, BustedRelaxedLock, BustedRwLock};
use lockwright_clients::free::Free;
use lockwright_clients::owners::MutualExclusion;
use lockwright_clients::shared::ReadersAndWriters;
use lockwright_clients::{Client, ClientType, NativeThreads};
use lockwright_core::native::Native;
use lockwright_core::raw::{Order, RawLock};
use std::ffi::OsStr;
use std::process::ExitCode;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

const ROUNDS: u32 = if cfg!(miri) { 20 } else { 1_000 };
/// Short runs may end before the threads meet.
const RUNS: u32 = if cfg!(miri) { 1 } else { 50 };

fn main() -> ExitCode {
    let run = match std::env::args_os().nth(1).as_deref().and_then(OsStr::to_str) {
        Some("busted") => run::<MutualExclusion<Native, BustedLock<Native>>>,
        Some("busted-rw") => run::<ReadersAndWriters<Native, BustedRwLock<Native>>>,
        Some("busted-relaxed") => run::<MutualExclusion<Native, BustedRelaxedLock<Native>>>,
        Some("late-touch") => run::<Free<Native, LateTouch>>,
        _ => {
            eprintln!("wrong: name a program: busted, busted-rw, busted-relaxed or late-touch");
            return ExitCode::from(2);
        }
    };
    run();
    ExitCode::SUCCESS
}

fn run<C: Client>() {
    for _ in 0..RUNS {
        NativeThreads::client(ClientType::of::<C>(), 2, ROUNDS);
    }
}

/// A lock whose unlock looks for sleepers after the release: what glibc's mutex and semaphore did.
struct LateTouch(AtomicU32);

const SLEEPERS: u32 = 2;
static UNLOCKS: AtomicU32 = AtomicU32::new(0);

impl RawLock for LateTouch {
    const ORDER: Order = Order::Broken;

    fn new() -> Self {
        Self(AtomicU32::new(0))
    }
    fn lock(&self) {
        while !self.try_lock() {
            std::hint::spin_loop();
        }
    }
    fn try_lock(&self) -> bool {
        self.0.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }
    unsafe fn unlock(&self) {
        self.0.store(0, Release);
        // Every other time long enough for the next owner to come and go.
        if UNLOCKS.fetch_add(1, Relaxed).is_multiple_of(2) {
            std::thread::sleep(Duration::from_micros(50));
        }
        assert!(self.0.load(Relaxed) & SLEEPERS == 0, "nobody sleeps here");
    }
    fn is_locked(&self) -> bool {
        self.0.load(Relaxed) != 0
    }
}
